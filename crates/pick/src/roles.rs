//! Threads' roles, worked out as threads appear: never in a step.

use raddle_model::{Role, ThreadId};

use crate::view::Threads;

/// The roles of all threads that have appeared so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles {
    /// By thread.
    roles: Vec<Role>,
    /// By thread: how many it has created.
    n_children: Vec<u32>,
}

/// A thread that has just appeared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) thread: ThreadId,
    pub(crate) parent: Option<ThreadId>,
    pub(crate) role: Role,
}

impl Roles {
    pub(crate) fn new() -> Roles {
        Roles { roles: Vec::with_capacity(16), n_children: Vec::with_capacity(16) }
    }

    /// The next thread that was not there before, if there is one. To be asked until there is none.
    #[inline]
    pub(crate) fn next<T: Threads>(&mut self, threads: &T) -> Option<Newcomer> {
        if self.roles.len() as u32 == threads.n_threads() {
            return None;
        }
        Some(self.add(threads))
    }

    #[cold]
    fn add<T: Threads>(&mut self, threads: &T) -> Newcomer {
        let thread = ThreadId(self.roles.len() as u32);
        let parent = threads.parent(thread);
        let role = match parent {
            None => Role::MAIN,
            Some(parent) => {
                let n = self.n_children[parent.idx()];
                self.n_children[parent.idx()] += 1;
                self.roles[parent.idx()].child(n)
            }
        };
        self.roles.push(role);
        self.n_children.push(0);
        Newcomer { thread, parent, role }
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::Role;

    use super::Roles;
    use crate::fake::Fake;

    /// A thread's role depends on who created it and as which of its children, not on its number.
    #[test]
    fn roles_follow_the_path_of_creation() {
        let roles = |parents: &[u32]| {
            let mut threads = Fake::new(parents.len() as u32 + 1, &[0], &[]);
            threads.parents = parents.to_vec();
            let mut roles = Roles::new();
            std::iter::from_fn(|| roles.next(&threads)).map(|it| it.role).collect::<Vec<_>>()
        };
        let main = Role::MAIN;
        let (a, b) = (main.child(0), main.child(1));
        assert_eq!(roles(&[0, 0, 1, 1, 2]), [main, a, b, a.child(0), a.child(1), b.child(0)]);
        assert_eq!(roles(&[0, 1, 1, 0, 4]), [main, a, a.child(0), a.child(1), b, b.child(0)]);
    }
}
