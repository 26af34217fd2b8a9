//! Explores a closure with Loom, at least so often: `bench-loom NAME EXECUTIONS`. Loom tries all schedules, of which there
//! may be fewer, and asks itself only now and then whether that is enough. Prints how many executions there were.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[path = "../../closures.rs"]
mod closures;

mod model {
    pub use loom::{sync, thread};
}

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().expect("the name of a closure");
    let n_executions: u64 = args.next().expect("executions").parse().expect("a number");
    let mut builder = loom::model::Builder::new();
    builder.max_permutations = Some(n_executions as usize);
    builder.max_branches = 100_000;
    let closure = closures::closure(&name);
    static N_EXECUTIONS: AtomicU64 = AtomicU64::new(0);
    while N_EXECUTIONS.load(Relaxed) < n_executions {
        builder.check(move || {
            N_EXECUTIONS.fetch_add(1, Relaxed);
            closure();
        });
    }
    println!("{}", N_EXECUTIONS.load(Relaxed));
}
