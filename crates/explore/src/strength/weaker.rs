//! Which orders could be weaker: for each place, the weakest order with which no execution fails.
//!
//! Place after place, in the order of the source, each with those before it as weak as they have become: what comes out
//! was tried together. Another sequence may give another answer.
//!
//! Sequentially consistent accesses come first. We explore one order of theirs, that of execution; among weaker accesses the
//! standard allows more. So nothing else may become weak as long as it could rest on them, and what does is not proved.

use raddle_model::{Finding, MemoryOrder, OpKind, OrderAt, Reordered, Support};

use super::lab::{Answer, Lab};
use crate::target::TargetError;

/// How often orders that did not fail at first may turn out to fail.
const ROUNDS: usize = 6;
/// Of so many executions orders must survive one part at first.
const SCREENED: u64 = 8;

/// What came of weaker orders.
#[derive(Clone, Debug)]
pub enum Relaxation {
    /// The program fails as it is.
    Fails(Box<Finding>),
    /// All places, each with the weakest order that was seen to do.
    Relaxed {
        /// In the order of the source.
        sites: Vec<SiteRelaxation>,
        /// How it is known that these orders together are enough.
        support: Support,
        /// Executions, all in all.
        n_executions: u64,
        /// Time was over: the places that are left have their own orders.
        is_cut: bool,
    },
    /// Time was over before the program was seen not to fail.
    Undecided,
}

/// One place.
#[derive(Clone, Debug)]
pub struct SiteRelaxation {
    /// Where, its order and the weakest one.
    pub site: Reordered,
    /// Why it is not weaker; `None` if it is as weak as can be, or was not tried.
    pub needed: Option<Needed>,
}

/// What happens with a weaker order.
#[derive(Clone, Debug)]
pub struct Needed {
    /// With this one.
    pub order: MemoryOrder,
    /// How it fails then.
    pub finding: Box<Finding>,
}

/// Which orders of a program that does not fail can be weaker. What is not proved is tested in so many executions.
pub fn relaxable(lab: &mut Lab<'_>, n: u64) -> Result<Relaxation, TargetError> {
    let first = lab.fails(&[], n)?;
    let support = match first {
        Answer::Fails(finding) => return Ok(Relaxation::Fails(finding)),
        Answer::OutOfTime => return Ok(Relaxation::Undecided),
        Answer::Passes(support) => support,
    };
    let sites = lab.sites()?;
    let mut found = Relaxer { lab, sites, support, is_cut: false };
    let mut n_screen = (n / SCREENED).max(1);
    let mut relaxed = found.own();
    for round in 0..=ROUNDS {
        relaxed = if round < ROUNDS { found.relax(n_screen)? } else { found.own() };
        if found.is_cut {
            break;
        }
        let orders = changed(&relaxed);
        if orders.is_empty() {
            break;
        }
        match found.lab.fails(&orders, n)? {
            Answer::Passes(support) => {
                let is_proved = support.is_proved && !rests_on_sc(&relaxed);
                found.support = Support { is_proved, ..support };
                break;
            }
            Answer::Fails(_) => n_screen = (4 * n_screen).min(n),
            Answer::OutOfTime => found.is_cut = true,
        }
        if found.is_cut {
            break;
        }
    }
    if found.is_cut {
        relaxed = found.own();
    }
    let n_executions = found.lab.n_executions;
    let Relaxer { support, is_cut, .. } = found;
    Ok(Relaxation::Relaxed { sites: relaxed, support, n_executions, is_cut })
}

struct Relaxer<'l, 'a> {
    lab: &'l mut Lab<'a>,
    sites: Vec<Reordered>,
    support: Support,
    is_cut: bool,
}

impl Relaxer<'_, '_> {
    /// The orders of the source.
    fn own(&self) -> Vec<SiteRelaxation> {
        let of = |site: &Reordered| SiteRelaxation { site: site.clone(), needed: None };
        self.sites.iter().map(of).collect()
    }

    fn relax(&mut self, n: u64) -> Result<Vec<SiteRelaxation>, TargetError> {
        let mut all = self.own();
        let is_sc = |it: &SiteRelaxation| it.site.from == MemoryOrder::SeqCst;
        let sc_first = (0..all.len()).filter(|it| is_sc(&all[*it])).map(|it| (it, true));
        let tries: Vec<(usize, bool)> =
            sc_first.chain((0..all.len()).map(|it| (it, false))).collect();
        for (idx, is_first) in tries {
            let (kind, now) = (all[idx].site.kind, all[idx].site.at.order);
            let weaker: Vec<MemoryOrder> = MemoryOrder::of_kind(kind)
                .iter()
                .copied()
                .filter(|it| now.is_stronger_than(*it))
                .collect();
            // At first, sequential consistency is given up, and no more.
            let n_left_out = if is_first { weaker.len().saturating_sub(1) } else { 0 };
            for order in weaker.into_iter().skip(n_left_out) {
                let before = all[idx].site.at.order;
                all[idx].site.at.order = order;
                match self.lab.fails(&changed(&all), n)? {
                    Answer::Passes(_) => break,
                    Answer::Fails(finding) => {
                        all[idx].site.at.order = before;
                        all[idx].needed = Some(Needed { order, finding });
                    }
                    Answer::OutOfTime => {
                        self.is_cut = true;
                        return Ok(all);
                    }
                }
            }
        }
        Ok(all)
    }
}

/// Does it matter that sequentially consistent accesses, among weaker ones, take effect in the order of execution?
fn rests_on_sc(all: &[SiteRelaxation]) -> bool {
    let is_sc = |it: &SiteRelaxation| it.site.at.order == MemoryOrder::SeqCst;
    all.iter().any(|it| it.site.kind != OpKind::Fence && is_sc(it)) && !all.iter().all(is_sc)
}

/// The orders that are not those of the source.
fn changed(all: &[SiteRelaxation]) -> Vec<OrderAt> {
    let is_other = |it: &&SiteRelaxation| it.site.at.order != it.site.from;
    let mut orders: Vec<OrderAt> = all.iter().filter(is_other).map(|it| it.site.at).collect();
    orders.sort();
    orders
}
