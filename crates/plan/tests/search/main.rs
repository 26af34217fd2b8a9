//! Searches over toy programs: counts that are known from papers, and what holds for every program.

mod explore;
mod generated;
mod golden;
mod hapset;
mod laws;
mod levels;
mod oracle;
mod published;
mod rank;
mod thesis;
mod total;
mod toy;
