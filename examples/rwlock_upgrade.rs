//! A table of session numbers. It looks up under the read lock, and inserts under the write lock what it did not find.
use std::{collections::HashMap, sync::RwLock, thread};

#[derive(Default)]
struct Sessions {
    by_user: RwLock<HashMap<&'static str, u32>>,
}

impl Sessions {
    /// The user's number: the same one every time.
    fn number(&self, user: &'static str) -> u32 {
        if let Some(number) = self.by_user.read().unwrap().get(user) {
            return *number;
        }
        let mut table = self.by_user.write().unwrap();
        let next = table.len() as u32 + 1;
        table.insert(user, next);
        next
    }
}

fn main() {
    let sessions = Sessions::default();
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(|| sessions.number("ada"));
        let other = scope.spawn(|| sessions.number("ada"));
        (one.join().unwrap(), other.join().unwrap())
    });
    assert_eq!(one, other, "one user, two numbers");
}
