//! Which hypothesis is tried next.
//!
//! Families take turns as in stride scheduling: each try costs a family the inverse of its weight, and the family that has
//! paid least is next. With every round through a family's list a try costs twice as much, so that a family of one
//! does not get every other turn, and one of hundreds is still tried as a whole. Nothing is dropped: constraints
//! that could not be met in one execution may be in another.

use std::collections::BTreeSet;

use raddle_model::{Family, Hypothesis, Tried};

/// Hypotheses that are remembered.
const KNOWN_MAX: usize = 4_096;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    known: BTreeSet<Hypothesis>,
    /// Those of executions that count.
    tried: BTreeSet<Hypothesis>,
    /// By family.
    families: [Turns; Family::ALL.len()],
    /// Of which family they are all to be, if of one.
    only: Option<Family>,
}

/// A family's hypotheses, and how often it had its turn.
#[derive(Clone, Debug, Default)]
struct Turns {
    all: Vec<Hypothesis>,
    n_given: u64,
    paid: u64,
}

/// Tries of a family per try of one whose weight is 1.
const fn weight(family: Family) -> u64 {
    match family {
        Family::Cycle | Family::Late => 6,
        Family::Torn | Family::Order => 3,
        Family::Twice => 1,
    }
}

/// What a try costs a family of weight 1 in its first round.
const PRICE: u64 = 60;
/// No try costs more than so many doublings.
const DOUBLINGS_MAX: u64 = 16;

impl Directions {
    /// Tries none but those of a family, if there is one.
    pub fn only(family: Option<Family>) -> Directions {
        Directions { only: family, ..Directions::default() }
    }

    /// Takes in what an execution suggests, the likeliest to matter first.
    pub fn learn(&mut self, hypotheses: &[Hypothesis]) {
        for it in hypotheses {
            let is_wanted = self.only.is_none_or(|only| it.family == only);
            if is_wanted && self.known.len() < KNOWN_MAX && self.known.insert(*it) {
                self.families[it.family as usize].all.push(*it);
            }
        }
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

    /// The next one to try.
    pub fn next_try(&mut self) -> Option<Hypothesis> {
        let has_any = Family::ALL.into_iter().filter(|it| !self.turns(*it).all.is_empty());
        let family = has_any.min_by_key(|it| (self.turns(*it).paid, *it))?;
        let turns = &mut self.families[family as usize];
        let n_all = turns.all.len() as u64;
        let n_rounds = turns.n_given / n_all;
        let next = turns.all[(turns.n_given % n_all) as usize];
        turns.paid += (PRICE / weight(family)) << n_rounds.min(DOUBLINGS_MAX);
        turns.n_given += 1;
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
            Family::Order => 'o',
            Family::Twice => 'w',
        }
    }

    #[test]
    fn families_take_turns() {
        let mut directions = Directions::default();
        assert!(directions.next_try().is_none());
        directions.learn(&hypotheses(Family::Order, 20));
        directions.learn(&hypotheses(Family::Late, 4));
        directions.learn(&hypotheses(Family::Cycle, 1));
        directions.learn(&hypotheses(Family::Late, 4));
        let given: Vec<Hypothesis> = (0..24).filter_map(|_| directions.next_try()).collect();
        let turns: String = given.iter().map(|it| letter(it.family)).collect();
        assert_eq!(turns, "dlodllodllolodlololoodlo");
        let late = given.iter().filter(|it| it.family == Family::Late);
        let places: Vec<u32> = late.map(|it| it.orders[0].second).collect();
        assert_eq!(places[..6], [1, 2, 3, 4, 1, 2]);
    }

    /// A list of one gives way to longer ones: with each try it costs twice as much.
    #[test]
    fn the_long_list_comes_through() {
        let mut directions = Directions::default();
        directions.learn(&hypotheses(Family::Cycle, 1));
        directions.learn(&hypotheses(Family::Order, 100));
        let given: Vec<Hypothesis> = (0..115).filter_map(|_| directions.next_try()).collect();
        assert!(given.iter().filter(|it| it.family == Family::Order).count() >= 100);
        assert!(directions.tried().iter().all(|it| it.tried == 0), "none was executed yet");
        given.iter().for_each(|it| directions.count(*it));
        let tried = |family, n| Tried { family, known: n, tried: n };
        assert_eq!(directions.tried(), [tried(Family::Cycle, 1), tried(Family::Order, 100)]);
    }
}
