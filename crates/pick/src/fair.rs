//! Fair spells: what keeps a picker that is not fair from starving threads (as Coyote's bound on unfair steps).
//!
//! The runtime takes most spin loops for the waiting that they are. What it does not recognise, a picker
//! by priorities would let spin until the steps run out. So after 20,000 choices of such a picker a
//! thousand are made uniformly at random, and each time it happens the next spell comes twice as soon.
//!
//! The bound is on all choices, not on choices without a switch: two spinning threads that hand over to
//! each other starve a third although neither runs alone. Executions with fewer choices than the bound
//! see nothing of it, and in longer ones the guarantees of the papers are worth little anyway: PCT's is
//! 1 / (n k^(d-1)).

/// Choices before the first spell.
const UNFAIR_MAX: u32 = 20_000;
/// Choices of one spell.
const SPELL: u32 = 1_000;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Fair {
    /// Choices left in the spell or before it.
    n_left: u32,
    /// Choices before the next spell.
    n_unfair: u32,
    is_spell: bool,
}

impl Fair {
    pub(crate) const fn new() -> Fair {
        Fair { n_left: UNFAIR_MAX, n_unfair: UNFAIR_MAX, is_spell: false }
    }

    /// Counts a choice: is it to be made uniformly at random?
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        if self.n_left == 0 {
            self.turn();
        }
        self.n_left -= 1;
        self.is_spell
    }

    #[cold]
    fn turn(&mut self) {
        self.is_spell = !self.is_spell;
        if self.is_spell {
            self.n_unfair = (self.n_unfair / 2).max(SPELL);
            self.n_left = SPELL;
        } else {
            self.n_left = self.n_unfair;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fair;

    /// 20,000, then a thousand fair ones; 10,000, a thousand; …; and in the end a thousand each.
    #[test]
    fn spells_come_sooner_and_sooner() {
        let mut fair = Fair::new();
        let mut turns = Vec::new();
        let mut was_due = false;
        for choice in 0..60_000 {
            let is_due = fair.is_due();
            if is_due != was_due {
                turns.push(choice);
            }
            was_due = is_due;
        }
        assert_eq!(turns[..6], [20_000, 21_000, 31_000, 32_000, 37_000, 38_000]);
        let last = turns.windows(2).rev().take(6).map(|it| it[1] - it[0]);
        assert!(last.clone().all(|it| it == 1_000), "{turns:?}");
    }
}
