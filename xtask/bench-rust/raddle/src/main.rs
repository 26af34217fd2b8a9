//! Explores a closure with Raddle: `raddle run -- bench-raddle NAME`.

#[path = "../../closures.rs"]
mod closures;

mod model {
    pub use std::{sync, thread};
}

fn main() {
    let name = std::env::args().nth(1).expect("the name of a closure");
    raddle::check(closures::closure(&name));
}
