//! Which orders are too weak: the smallest set of places that, with stronger orders, makes a finding go away.
//!
//! All places sequentially consistent: if that fails, the orders are not the cause. Else places are put back to their own
//! order, many at once, then fewer (delta debugging), until none can be. That set may not be the smallest: all smaller sets
//! are tried, as far as there is room for that. Then each place gets the weakest order that will do.
//!
//! Acquire, release and fences come first, sequentially consistent accesses only where those are not enough. Of the latter we
//! explore one order, that of execution; among weaker accesses the standard allows more, so what rests on them is not proved.

use raddle_model::{Finding, MemoryOrder, OpKind, OrderAt, Reordered, Repair, Support, Weakness};

use super::lab::{Answer, Lab};
use crate::target::TargetError;

/// How many smaller sets are tried.
const SETS_MAX: usize = 3_000;
/// How often a set that did not fail at first may turn out to fail.
const ROUNDS: usize = 6;
/// Of so many executions a set must survive one part at first.
const SCREENED: u64 = 16;

/// Why the search for a set ended without one.
enum Stop {
    OutOfTime,
    Error(TargetError),
}

impl From<TargetError> for Stop {
    fn from(error: TargetError) -> Stop {
        Stop::Error(error)
    }
}

/// Which orders are too weak for a finding not to happen. What is not proved is tested in so many executions.
pub fn too_weak(lab: &mut Lab<'_>, finding: &Finding, n: u64) -> Result<Weakness, TargetError> {
    lab.know(finding);
    let all: Vec<Reordered> =
        lab.sites()?.into_iter().filter(|it| it.from != MemoryOrder::SeqCst).collect();
    match (Search { lab, all, n, strongest: Vec::new() }).run(finding) {
        Ok(weakness) => Ok(weakness),
        Err(Stop::OutOfTime) => Ok(Weakness::Undecided),
        Err(Stop::Error(error)) => Err(error),
    }
}

struct Search<'s, 'a> {
    lab: &'s mut Lab<'a>,
    /// The places that could have stronger orders.
    all: Vec<Reordered>,
    n: u64,
    /// The strongest orders that are tried.
    strongest: Orders,
}

/// By place: the order that it is to have. `None`: its own.
type Orders = Vec<Option<MemoryOrder>>;

impl Search<'_, '_> {
    fn run(&mut self, finding: &Finding) -> Result<Weakness, Stop> {
        let n_places = self.all.len() as u64;
        let mut others_remain = false;
        if self.all.is_empty() {
            return Ok(Weakness::NotOrders { n_places });
        }
        let mut strongest: Orders = self.all.iter().map(without_sc).collect();
        if self.fails(&strongest, self.n)? {
            strongest = vec![Some(MemoryOrder::SeqCst); self.all.len()];
        }
        self.strongest.clone_from(&strongest);
        if let Answer::Fails(other) = self.ask(&strongest, self.n)? {
            others_remain = other.bucket != finding.bucket;
            self.lab.count_only(finding.bucket);
            if !others_remain || self.fails(&strongest, self.n)? {
                return Ok(Weakness::NotOrders { n_places });
            }
        }
        let mut n_screen = (self.n / SCREENED).max(1);
        for _ in 0..ROUNDS {
            let mut orders = self.minimal(strongest.clone(), n_screen)?;
            let is_smallest = self.smaller(&mut orders, n_screen)?;
            self.lower(&mut orders, n_screen)?;
            match self.ask(&orders, self.n)? {
                Answer::Passes(mut support) => {
                    let changes = self.changes(&orders);
                    support.is_proved &= !self.rests_on_sc(&orders);
                    let repair = Repair { changes, support, is_smallest, others_remain };
                    return Ok(Weakness::Repaired(repair));
                }
                // It has seldom failed: now that is known, and more is looked at.
                _ => n_screen = (4 * n_screen).min(self.n),
            }
        }
        let support = match self.ask(&strongest, self.n)? {
            Answer::Passes(support) => support,
            _ => Support::default(),
        };
        let changes = self.changes(&strongest);
        Ok(Weakness::Repaired(Repair { changes, support, is_smallest: false, others_remain }))
    }

    /// Puts places back to their own orders, until none can be.
    fn minimal(&mut self, mut orders: Orders, n: u64) -> Result<Orders, Stop> {
        let mut n_together = orders.len().div_ceil(2).max(1);
        loop {
            let raised: Vec<usize> = raised(&orders);
            for chunk in raised.chunks(n_together) {
                let mut fewer = orders.clone();
                chunk.iter().for_each(|idx| fewer[*idx] = None);
                if !self.fails(&fewer, n)? {
                    orders = fewer;
                }
            }
            if n_together == 1 {
                return Ok(orders);
            }
            n_together = n_together.div_ceil(2);
        }
    }

    /// Looks for a smaller set. Were all of them tried?
    fn smaller(&mut self, orders: &mut Orders, n: u64) -> Result<bool, Stop> {
        let mut n_sets = 0;
        let places = raised(&self.strongest);
        for n_places in 0..raised(orders).len() {
            let mut set: Vec<usize> = (0..n_places).collect();
            loop {
                n_sets += 1;
                if SETS_MAX < n_sets {
                    return Ok(false);
                }
                let mut fewer = vec![None; orders.len()];
                set.iter().map(|it| places[*it]).for_each(|it| fewer[it] = self.strongest[it]);
                if !self.fails(&fewer, n)? {
                    *orders = fewer;
                    return Ok(true);
                }
                if !next_set(&mut set, places.len()) {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// Each place gets the weakest order that will do.
    fn lower(&mut self, orders: &mut Orders, n: u64) -> Result<(), Stop> {
        for idx in raised(orders) {
            let Reordered { kind, from, .. } = self.all[idx];
            for order in MemoryOrder::of_kind(kind) {
                let is_weaker = orders[idx].is_some_and(|it| it.is_stronger_than(*order));
                if !order.is_stronger_than(from) || !is_weaker {
                    continue;
                }
                let mut lower = orders.clone();
                lower[idx] = Some(*order);
                if !self.fails(&lower, n)? {
                    *orders = lower;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Does it matter that sequentially consistent accesses, among weaker ones, take effect in the order of execution?
    fn rests_on_sc(&self, orders: &Orders) -> bool {
        let is_sc = |it: &Option<MemoryOrder>| *it == Some(MemoryOrder::SeqCst);
        let mut accesses =
            self.all.iter().zip(orders).filter(|it| it.0.kind != OpKind::Fence && is_sc(it.1));
        accesses.next().is_some() && !orders.iter().all(is_sc)
    }

    fn fails(&mut self, orders: &Orders, n: u64) -> Result<bool, Stop> {
        Ok(matches!(self.ask(orders, n)?, Answer::Fails(_)))
    }

    fn ask(&mut self, orders: &Orders, n: u64) -> Result<Answer, Stop> {
        let mut changed: Vec<OrderAt> = self.changes(orders).iter().map(|it| it.at).collect();
        changed.sort();
        match self.lab.fails(&changed, n)? {
            Answer::OutOfTime => Err(Stop::OutOfTime),
            answer => Ok(answer),
        }
    }

    /// The places whose order is another than their own.
    fn changes(&self, orders: &Orders) -> Vec<Reordered> {
        let of = |(site, order): (&Reordered, &Option<MemoryOrder>)| {
            let order = (*order)?;
            Some(Reordered { at: OrderAt { order, ..site.at }, ..site.clone() })
        };
        self.all.iter().zip(orders).filter_map(of).collect()
    }
}

/// The strongest order of a place but for sequentially consistent accesses; `None` if that is no stronger than its own.
fn without_sc(site: &Reordered) -> Option<MemoryOrder> {
    let is_wanted = |it: &&MemoryOrder| site.kind == OpKind::Fence || **it != MemoryOrder::SeqCst;
    let last = MemoryOrder::of_kind(site.kind).iter().rfind(is_wanted).copied();
    last.filter(|it| it.is_stronger_than(site.from))
}

fn raised(orders: &Orders) -> Vec<usize> {
    (0..orders.len()).filter(|it| orders[*it].is_some()).collect()
}

/// The next set of so many numbers below `n`, in the order of dictionaries. False: this was the last.
fn next_set(set: &mut [usize], n: usize) -> bool {
    let len = set.len();
    let Some(at) = (0..len).rev().find(|it| set[*it] + len - it < n) else { return false };
    set[at] += 1;
    for idx in at + 1..len {
        set[idx] = set[idx - 1] + 1;
    }
    true
}

#[cfg(test)]
mod unit {
    use super::next_set;

    #[test]
    fn sets_come_once_each() {
        let mut set = [0, 1];
        let mut all = vec![set];
        while next_set(&mut set, 4) {
            all.push(set);
        }
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert!(!next_set(&mut [], 4));
    }
}
