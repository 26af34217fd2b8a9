//! Searches where memory is weak: small programs of atomics, performed by the rules of `raddle_analysis::hb::Stores`. What a
//! search finds is what the axioms allow, which share no code with those rules and none with searches.

#[path = "../../../analysis/tests/weak/axioms.rs"]
mod axioms;
#[path = "../../../analysis/tests/weak/cases.rs"]
mod cases;
mod explore;
mod families;
mod generated;
#[path = "../../../analysis/tests/weak/generator.rs"]
mod generator;
mod litmus;
#[path = "../../../analysis/tests/weak/program.rs"]
mod program;
mod vm;
