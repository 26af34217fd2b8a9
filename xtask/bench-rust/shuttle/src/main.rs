//! Explores a closure with Shuttle's random walk: `bench-shuttle NAME EXECUTIONS`.

#[path = "../../closures.rs"]
mod closures;

mod model {
    pub use shuttle::{sync, thread};
}

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().expect("the name of a closure");
    let n_executions = args.next().expect("executions").parse().expect("a number");
    shuttle::check_random(closures::closure(&name), n_executions);
}
