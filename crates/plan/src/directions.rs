//! Which hypothesis is tried next.
//!
//! Families take turns as in stride scheduling: each try costs a family the inverse of its weight, and the family that has
//! paid least is next. Within a family, the hypothesis that was given least often is next, and of those one with a place
//! that no earlier execution had come to, else the one that was suggested first. A hypothesis costs twice as much each time that it is given again, so that a family of one does not
//! get every other turn, and one of hundreds is still tried as a whole. Nothing is dropped: constraints that could not
//! be met in one execution may be in another. Where the user has said where to look, all others are as if they had been
//! given a few times already.
//!
//! What came of a try is heard, too. Each one whose orders did not come to be counts as three, so that what cannot be met
//! comes last; and where the tries that were met have changed nothing so often, or so many could not be met at all, the
//! hypothesis counts as refuted.
//!
//! One try in some asks for nothing: the price of that stays the same, while that of hypotheses grows, so that an
//! execution is the freer, the more often everything has been tried. A program that fails only where no order is asked
//! for is not lost.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use raddle_model::{Family, Hypothesis, Kept, Tried};

/// Hypotheses that are remembered.
const KNOWN_MAX: usize = 4_096;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    /// With their index among those of their family.
    known: BTreeMap<Hypothesis, usize>,
    /// Those of executions that count, and how that went.
    tried: BTreeMap<Hypothesis, Tries>,
    /// Those where the user wants to look.
    near: BTreeSet<Hypothesis>,
    /// Places of all.
    places: BTreeSet<u32>,
    /// Executions that have suggested something.
    n_heard: u32,
    /// By family.
    families: [Turns; Family::ALL.len()],
    /// What tries that ask for nothing have cost.
    paid_free: u64,
    /// Of which family they are all to be, if of one.
    only: Option<Family>,
}

/// What came of the tries of a hypothesis.
#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    n_kept: u32,
    n_others: u32,
    /// One of them showed a new failure.
    is_confirmed: bool,
}

impl Tries {
    const fn is_refuted(&self) -> bool {
        !self.is_confirmed
            && (KEPT_MAX <= self.n_kept || self.n_kept == 0 && UNMET_MAX <= self.n_others)
    }
}

/// How new the places of a hypothesis were when it was suggested: the newest come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// One of them was not known before this suggestion, among so many.
    New(Reverse<u32>),
    /// All were known, or nothing was.
    Known,
}

/// A family's hypotheses, and what its turns have cost.
#[derive(Clone, Debug, Default)]
struct Turns {
    all: Vec<Hypothesis>,
    /// How often each was given, with its rank and its index in `all`: the first is next.
    given: BTreeSet<(u64, Rank, usize)>,
    /// By index: where it is in `given`.
    ranks: Vec<(u64, Rank)>,
    paid: u64,
}

impl Turns {
    fn add(&mut self, hypothesis: Hypothesis, n_given: u64, rank: Rank) {
        self.given.insert((n_given, rank, self.all.len()));
        self.ranks.push((n_given, rank));
        self.all.push(hypothesis);
    }

    /// One counts as given more often than it was.
    fn put_back(&mut self, idx: usize, n_more: u64) {
        let (n_given, rank) = self.ranks[idx];
        self.given.remove(&(n_given, rank, idx));
        self.given.insert((n_given + n_more, rank, idx));
        self.ranks[idx].0 += n_more;
    }

    /// The one that was given least often, and how often that was.
    fn give(&mut self) -> Option<(Hypothesis, u64)> {
        let (n_given, _, idx) = *self.given.first()?;
        self.put_back(idx, 1);
        Some((self.all[idx], n_given))
    }
}

/// Tries of a family per try of one whose weight is 1.
const fn weight(family: Family) -> u64 {
    match family {
        Family::Cycle | Family::Late => 6,
        Family::Torn | Family::Across | Family::Order | Family::Object => 3,
        Family::Twice => 1,
    }
}

/// What the first try of a hypothesis costs a family of weight 1.
const PRICE: u64 = 60;
/// No try costs more than so many doublings.
const DOUBLINGS_MAX: u64 = 16;
/// What a try that asks for nothing costs.
const PRICE_FREE: u64 = 120;
/// So many tries that were met and changed nothing refute a hypothesis.
const KEPT_MAX: u32 = 8;
/// So many tries that were not met refute it, if none was.
const UNMET_MAX: u32 = 4;
/// As how many more a try counts that was not met.
const UNMET_COST: u64 = 2;
/// How often one elsewhere counts as given, when the user has said where to look.
const ELSEWHERE: u64 = 3;

impl Directions {
    /// Tries none but those of a family, if there is one.
    pub fn only(family: Option<Family>) -> Directions {
        Directions { only: family, ..Directions::default() }
    }

    /// Takes in what an execution suggests where the user wants to look, and elsewhere: the likeliest to matter first.
    pub fn learn(&mut self, near: &[Hypothesis], others: &[Hypothesis]) {
        let known = self.places.clone();
        for it in near {
            if self.add(*it, 0, &known) {
                self.near.insert(*it);
            }
        }
        let n_given = if self.near.is_empty() { 0 } else { ELSEWHERE };
        for it in others {
            self.add(*it, n_given, &known);
        }
        self.n_heard += u32::from(!near.is_empty() || !others.is_empty());
    }

    /// Is it new, and wanted?
    fn add(&mut self, hypothesis: Hypothesis, n_given: u64, known: &BTreeSet<u32>) -> bool {
        let is_wanted = self.only.is_none_or(|only| hypothesis.family == only);
        let is_new =
            is_wanted && self.known.len() < KNOWN_MAX && !self.known.contains_key(&hypothesis);
        if is_new {
            let idx = self.turns(hypothesis.family).all.len();
            self.known.insert(hypothesis, idx);
            let places = hypothesis.orders.iter().flat_map(|it| [it.first, it.second]);
            let places = places.filter(|it| *it != 0);
            let has_new = self.n_heard > 0 && places.clone().any(|it| !known.contains(&it));
            let rank = if has_new { Rank::New(Reverse(self.n_heard)) } else { Rank::Known };
            self.places.extend(places);
            self.families[hypothesis.family as usize].add(hypothesis, n_given, rank);
        }
        is_new
    }

    /// Is there nothing to try?
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// An execution that tried this one counts: one that was planned may not.
    pub fn count(&mut self, hypothesis: Hypothesis, kept: Kept, is_new_finding: bool) {
        let tries = self.tried.entry(hypothesis).or_default();
        tries.is_confirmed |= is_new_finding;
        match kept {
            Kept::Unknown => {}
            Kept::Yes => tries.n_kept += 1,
            Kept::Unreached | Kept::Broken => {
                tries.n_others += 1;
                if let Some(idx) = self.known.get(&hypothesis) {
                    self.families[hypothesis.family as usize].put_back(*idx, UNMET_COST);
                }
            }
        }
    }

    /// Hypotheses that are known, and how many of them were tried.
    pub fn tried(&self) -> Vec<Tried> {
        let of_family = |family| {
            let turns = self.turns(family);
            let tried: Vec<&Tries> = turns.all.iter().filter_map(|it| self.tried.get(it)).collect();
            Tried {
                family,
                known: turns.all.len() as u64,
                tried: tried.len() as u64,
                refuted: tried.iter().filter(|it| it.is_refuted()).count() as u64,
            }
        };
        Family::ALL.into_iter().map(of_family).filter(|it| it.known > 0).collect()
    }

    /// How many are known where the user wants to look, and how many of them were tried.
    pub fn near(&self) -> (u64, u64) {
        let tried = self.near.iter().filter(|it| self.tried.contains_key(it));
        (self.near.len() as u64, tried.count() as u64)
    }

    /// The next one to try; nothing, if an execution is to be free or there is none.
    pub fn next_try(&mut self) -> Option<Hypothesis> {
        let has_any = Family::ALL.into_iter().filter(|it| !self.turns(*it).all.is_empty());
        let family = has_any.min_by_key(|it| (self.turns(*it).paid, *it))?;
        if self.paid_free + PRICE_FREE < self.turns(family).paid {
            self.paid_free += PRICE_FREE;
            return None;
        }
        let turns = &mut self.families[family as usize];
        let (next, n_given) = turns.give()?;
        turns.paid += (PRICE / weight(family)) << n_given.min(DOUBLINGS_MAX);
        Some(next)
    }

    fn turns(&self, family: Family) -> &Turns {
        &self.families[family as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use raddle_model::{Family, Hypothesis, Kept, PlaceOrder, Tried};

    use super::Directions;

    fn hypotheses(family: Family, n: u32) -> Vec<Hypothesis> {
        let order = |second| [PlaceOrder { first: 1, second }, PlaceOrder::NONE];
        (1..=n).map(|second| Hypothesis { family, orders: order(second) }).collect()
    }

    /// The next one that asks for something.
    fn give(directions: &mut Directions) -> Hypothesis {
        iter::repeat_with(|| directions.next_try()).flatten().next().expect("there are some")
    }

    fn letter(family: Family) -> char {
        match family {
            Family::Cycle => 'd',
            Family::Late => 'l',
            Family::Torn => 't',
            Family::Across => 'a',
            Family::Order => 'o',
            Family::Twice => 'w',
            Family::Object => 'b',
        }
    }

    #[test]
    fn families_take_turns() {
        let mut directions = Directions::default();
        assert!(directions.next_try().is_none());
        directions.learn(&[], &hypotheses(Family::Order, 20));
        directions.learn(&[], &hypotheses(Family::Late, 4));
        directions.learn(&[], &hypotheses(Family::Cycle, 1));
        directions.learn(&[], &hypotheses(Family::Late, 4));
        let given: Vec<Hypothesis> = (0..24).map(|_| give(&mut directions)).collect();
        let turns: String = given.iter().map(|it| letter(it.family)).collect();
        assert_eq!(turns, "dlodllodllolodlololoodlo");
        let late = given.iter().filter(|it| it.family == Family::Late);
        let places: Vec<u32> = late.map(|it| it.orders[0].second).collect();
        assert_eq!(places[..6], [1, 2, 3, 4, 1, 2]);
    }

    /// What a later execution suggests is next, before anything is tried again; and what is new in it stays before what
    /// was tried as often.
    #[test]
    fn what_is_new_comes_first() {
        let mut directions = Directions::default();
        let (first, later) = (hypotheses(Family::Order, 3), hypotheses(Family::Order, 6));
        directions.learn(&[], &first);
        let mut next = || give(&mut directions).orders[0].second;
        assert_eq!([next(), next(), next(), next()], [1, 2, 3, 1]);
        directions.learn(&[], &later);
        let mut next = || give(&mut directions).orders[0].second;
        assert_eq!([next(), next(), next(), next(), next(), next()], [4, 5, 6, 4, 5, 6]);
    }

    /// Where the user has said where to look, those are tried a few times before any other.
    #[test]
    fn near_ones_come_first() {
        let mut directions = Directions::default();
        let all = hypotheses(Family::Order, 5);
        directions.learn(&all[3..], &all);
        let mut next = || give(&mut directions).orders[0].second;
        assert_eq!([next(), next(), next(), next(), next(), next()], [4, 5, 4, 5, 4, 5]);
        assert_eq!([next(), next(), next(), next(), next()], [4, 5, 1, 2, 3]);
        directions.count(all[3], Kept::Yes, false);
        directions.count(all[0], Kept::Yes, false);
        assert_eq!(directions.near(), (2, 1));
    }

    /// What could not be met comes after what could, and is refuted in the end; so is what was met without effect, unless it
    /// has shown something.
    #[test]
    fn what_cannot_be_met_comes_last() {
        let mut directions = Directions::default();
        directions.learn(&[], &hypotheses(Family::Order, 4));
        let mut n_given = [0_u32; 5];
        for _ in 0..400 {
            let Some(next) = directions.next_try() else { continue };
            let place = next.orders[0].second;
            n_given[place as usize] += 1;
            let kept = if place == 1 { Kept::Broken } else { Kept::Yes };
            directions.count(next, kept, place == 3 && n_given[3] == 1);
        }
        assert!(n_given[1] > 0 && 2 * n_given[1] < n_given[2], "{n_given:?}");
        let refuted = directions.tried()[0].refuted;
        assert!(n_given[1] >= 4 && n_given[2] >= 8 && refuted == 3, "{n_given:?} {refuted}");
    }

    /// The more often everything has been tried, the more executions are free.
    #[test]
    fn freedom_grows() {
        let mut directions = Directions::default();
        directions.learn(&[], &hypotheses(Family::Late, 6));
        let mut n_free = |n: usize| (0..n).filter(|_| directions.next_try().is_none()).count();
        assert_eq!(n_free(9), 0);
        assert!((20..40).contains(&n_free(60)));
        assert!(n_free(1_000) > 900);
    }

    /// A list of one gives way to longer ones: with each try it costs twice as much.
    #[test]
    fn the_long_list_comes_through() {
        let mut directions = Directions::default();
        directions.learn(&[], &hypotheses(Family::Cycle, 1));
        directions.learn(&[], &hypotheses(Family::Order, 100));
        let given: Vec<Hypothesis> = (0..115).map(|_| give(&mut directions)).collect();
        assert!(given.iter().filter(|it| it.family == Family::Order).count() >= 100);
        assert!(directions.tried().iter().all(|it| it.tried == 0), "none was executed yet");
        given.iter().for_each(|it| directions.count(*it, Kept::Unknown, false));
        let tried = |family, n| Tried { family, known: n, tried: n, refuted: 0 };
        assert_eq!(directions.tried(), [tried(Family::Cycle, 1), tried(Family::Order, 100)]);
    }
}
