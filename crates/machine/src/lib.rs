//! The controlled program as a pure state machine.
//!
//! Each thread first *announces* what it is about to do ([`Machine::announce`]); the machine knows
//! which announced ops can be performed now; somebody chooses one of those threads; then the op is
//! *performed* ([`Machine::perform`]), which may make other threads able or unable to go on. Nothing
//! runs to find out that it blocks: whether an op can be performed is computed from the objects.
//!
//! Every step costs the same however many threads there are: threads that want the same object stand
//! in its queue, and a queue opens and closes as a whole (`ready`).
//!
//! What it misses: priorities, process-shared objects, and memory models weaker than sequential
//! consistency.

mod fingerprint;
mod machine;
mod object;
mod perform;
mod ready;
mod restore;
#[cfg(test)]
mod script;
mod thread;
mod timeouts;

pub use machine::{Machine, Performed, Stuck};
pub use object::{MutexKind, ObjectState};
pub use ready::Queue;
pub use thread::Status;
pub use timeouts::MAY_WORK;
