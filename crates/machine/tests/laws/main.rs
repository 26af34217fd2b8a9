//! Laws that hold for every toy program under every schedule, and the number of schedules of some.

#[path = "../toy/mod.rs"]
mod toy;

mod counts;
mod crowd;
mod posix;
mod programs;
mod properties;
