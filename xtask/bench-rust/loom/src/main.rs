//! Explores a closure with Loom, which tries all schedules, up to so many: `bench-loom NAME EXECUTIONS`.

#[path = "../../closures.rs"]
mod closures;

mod model {
    pub use loom::{sync, thread};
}

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().expect("the name of a closure");
    let n_executions = args.next().expect("executions").parse().expect("a number");
    let mut builder = loom::model::Builder::new();
    builder.max_permutations = Some(n_executions);
    builder.max_branches = 100_000;
    builder.check(closures::closure(&name));
}
