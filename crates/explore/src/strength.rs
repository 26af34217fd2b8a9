//! Which memory orders of a program are too weak, and which are stronger than they need be.
//!
//! The program is run under plans that put other orders in place of those in its source. What does not fail then was
//! tested, or proved, if a search has explored every schedule and every choice of memory. More executions can only refute
//! it: nothing here is derived from the code.
//!
//! Both questions go through sets of places. Most sets fail, and soon: each schedule that has failed is tried first on the
//! next set. So it is those that do not fail that cost.

mod lab;
mod sites;
mod stronger;
mod weaker;

pub use self::{
    lab::Lab,
    stronger::too_weak,
    weaker::{Needed, Relaxation, SiteRelaxation, relaxable},
};
