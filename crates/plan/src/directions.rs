//! Which hypothesis is tried next.
//!
//! Families take turns as in stride scheduling: each try costs a family the inverse of its weight, and the family that has
//! paid least is next. Within a family, the hypothesis that was given least often is next, and of those one with a place
//! that no earlier execution had come to, else the one that was suggested first. A hypothesis costs twice as much each time that it is given again, so that a family of one does not
//! get every other turn, and one of hundreds is still tried as a whole. Nothing is dropped: constraints that could not
//! be met in one execution may be in another. Where the user has said where to look, all others are as if they had been
//! given a few times already.

use std::{cmp::Reverse, collections::BTreeSet};

use raddle_model::{Family, Hypothesis, Tried};

/// Hypotheses that are remembered.
const KNOWN_MAX: usize = 4_096;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    known: BTreeSet<Hypothesis>,
    /// Those of executions that count.
    tried: BTreeSet<Hypothesis>,
    /// Those where the user wants to look.
    near: BTreeSet<Hypothesis>,
    /// Places of all.
    places: BTreeSet<u32>,
    /// Executions that have suggested something.
    n_heard: u32,
    /// By family.
    families: [Turns; Family::ALL.len()],
    /// Of which family they are all to be, if of one.
    only: Option<Family>,
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
    paid: u64,
}

impl Turns {
    fn add(&mut self, hypothesis: Hypothesis, n_given: u64, rank: Rank) {
        self.given.insert((n_given, rank, self.all.len()));
        self.all.push(hypothesis);
    }

    /// The one that was given least often, and how often that was.
    fn give(&mut self) -> Option<(Hypothesis, u64)> {
        let (n_given, rank, idx) = self.given.pop_first()?;
        self.given.insert((n_given + 1, rank, idx));
        Some((self.all[idx], n_given))
    }
}

/// Tries of a family per try of one whose weight is 1.
const fn weight(family: Family) -> u64 {
    match family {
        Family::Cycle | Family::Late => 6,
        Family::Torn | Family::Across | Family::Order => 3,
        Family::Twice => 1,
    }
}

/// What the first try of a hypothesis costs a family of weight 1.
const PRICE: u64 = 60;
/// No try costs more than so many doublings.
const DOUBLINGS_MAX: u64 = 16;
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
        let is_new = is_wanted && self.known.len() < KNOWN_MAX && self.known.insert(hypothesis);
        if is_new {
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
    pub fn count(&mut self, hypothesis: Hypothesis) {
        self.tried.insert(hypothesis);
    }

    /// Hypotheses that are known, and how many of them were tried.
    pub fn tried(&self) -> Vec<Tried> {
        let of_family = |family| {
            let turns = self.turns(family);
            let tried = turns.all.iter().filter(|it| self.tried.contains(it)).count() as u64;
            Tried { family, known: turns.all.len() as u64, tried }
        };
        Family::ALL.into_iter().map(of_family).filter(|it| it.known > 0).collect()
    }

    /// How many are known where the user wants to look, and how many of them were tried.
    pub fn near(&self) -> (u64, u64) {
        let tried = self.near.iter().filter(|it| self.tried.contains(it));
        (self.near.len() as u64, tried.count() as u64)
    }

    /// The next one to try.
    pub fn next_try(&mut self) -> Option<Hypothesis> {
        let has_any = Family::ALL.into_iter().filter(|it| !self.turns(*it).all.is_empty());
        let family = has_any.min_by_key(|it| (self.turns(*it).paid, *it))?;
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
    use raddle_model::{Family, Hypothesis, PlaceOrder, Tried};

    use super::Directions;

    fn hypotheses(family: Family, n: u32) -> Vec<Hypothesis> {
        let order = |second| [PlaceOrder { first: 1, second }, PlaceOrder::NONE];
        (1..=n).map(|second| Hypothesis { family, orders: order(second) }).collect()
    }

    fn letter(family: Family) -> char {
        match family {
            Family::Cycle => 'd',
            Family::Late => 'l',
            Family::Torn => 't',
            Family::Across => 'a',
            Family::Order => 'o',
            Family::Twice => 'w',
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
        let given: Vec<Hypothesis> = (0..24).filter_map(|_| directions.next_try()).collect();
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
        let mut next = || directions.next_try().expect("there are some").orders[0].second;
        assert_eq!([next(), next(), next(), next()], [1, 2, 3, 1]);
        directions.learn(&[], &later);
        let mut next = || directions.next_try().expect("there are some").orders[0].second;
        assert_eq!([next(), next(), next(), next(), next(), next()], [4, 5, 6, 4, 5, 6]);
    }

    /// Where the user has said where to look, those are tried a few times before any other.
    #[test]
    fn near_ones_come_first() {
        let mut directions = Directions::default();
        let all = hypotheses(Family::Order, 5);
        directions.learn(&all[3..], &all);
        let mut next = || directions.next_try().expect("there are some").orders[0].second;
        assert_eq!([next(), next(), next(), next(), next(), next()], [4, 5, 4, 5, 4, 5]);
        assert_eq!([next(), next(), next(), next(), next()], [4, 5, 1, 2, 3]);
        directions.count(all[3]);
        directions.count(all[0]);
        assert_eq!(directions.near(), (2, 1));
    }

    /// A list of one gives way to longer ones: with each try it costs twice as much.
    #[test]
    fn the_long_list_comes_through() {
        let mut directions = Directions::default();
        directions.learn(&[], &hypotheses(Family::Cycle, 1));
        directions.learn(&[], &hypotheses(Family::Order, 100));
        let given: Vec<Hypothesis> = (0..115).filter_map(|_| directions.next_try()).collect();
        assert!(given.iter().filter(|it| it.family == Family::Order).count() >= 100);
        assert!(directions.tried().iter().all(|it| it.tried == 0), "none was executed yet");
        given.iter().for_each(|it| directions.count(*it));
        let tried = |family, n| Tried { family, known: n, tried: n };
        assert_eq!(directions.tried(), [tried(Family::Cycle, 1), tried(Family::Order, 100)]);
    }
}
