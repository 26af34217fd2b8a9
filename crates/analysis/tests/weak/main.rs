//! What atomics may read under C++20's memory model: the rules (`raddle_analysis::hb::Stores`) with every schedule and
//! every choice, against an enumeration of candidate executions by the axioms, which shares no code with them.

mod axioms;
mod bounded;
mod cases;
mod explored;
mod generated;
mod generator;
mod litmus;
mod models;
mod program;
