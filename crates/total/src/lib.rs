//! Total replay: from one execution, which interleavings can change a branch, a reference or a lock?
//!
//! T. E. Setiadi's dissertation (seed paper 3), as values over an abstract execution, a [`History`]. What is
//! corrected against the text is said in each file's head; docs/total-replay.md has the list. The most important:
//! everything is about *steps* (instances), never about lines, for the same line executed twice writes two
//! values; and dependence on control counts, through the flows that a history carries.
//!
//! - `history`: steps, and which reads flow into what; `order`: what must come before what, whatever the
//!   schedule; `locks`: what is held when.
//! - `uses`: use-defines, potential use-defines, define sets (§3.13).
//! - `variants`: reachability testing (Algorithm 2, §5.2) and TPAIR, as what total replay is measured against.
//! - `groups`: branch-affect groups and the branch-condition table (Algorithms 3 to 5).
//! - `graph`: concurrent dependency graphs and guidelines (Algorithms 6 to 9).
//! - `weave`: a schedule that follows a guideline (Algorithms 10 and 11, for many constraints at once); `known`: what
//!   threads do, out of many executions, and `reach`: every schedule that there is of it; `follow`:
//!   the same schedule, as like another as it can be.
//! - `manners`: access-manners, race-equivalence, concurrent pairs, no-race (§3.9 to 3.12, Algorithm 1);
//!   `check`: verdicts that are kept (§5.4), and combinations of what was seen apart (Algorithm 12).

mod check;
mod follow;
mod graph;
mod groups;
mod history;
mod known;
mod locks;
mod manners;
mod order;
mod reach;
mod rules;
mod uses;
mod variants;
mod weave;

pub use check::{Checked, Checker, PotentialRace};
pub use follow::follow;
pub use graph::{Graph, Guideline, Root};
pub use groups::{BranchTable, Group, Tried, affect_groups, related_uses};
pub use history::{Act, Flow, History, Step};
pub use known::{Known, Labels, Made, first_value, label_of};
pub use locks::{HeldAt, Locks};
pub use manners::{Deed, Manner, MannerUse, conflicting_steps, fold, is_race, manners};
pub use order::MustOrder;
pub use reach::{At, Goal, Reached, reach, reach_after};
pub use rules::{is_in_time, ways, woken};
pub use uses::{DefineSets, UseDefine};
pub use variants::{Taken, Variants, count_pairs, of_pairs};
pub use weave::{Constraint, Policy, Woven, complete, meet, weave};

#[cfg(test)]
mod tests;
