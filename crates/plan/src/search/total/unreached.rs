//! What a search that has ended has not covered: it says that nothing fails only if there is nothing of it.
//!
//! The last thing that is asked of the model is a value or an answer that no thread was seen to get where it can get it. If
//! there is none, and the model is exact, every order that was not executed is impossible. So what counts is what the
//! model does not know, and what it has foreseen that did not come.

use raddle_model::Unreached;

use super::Total;

impl Total {
    /// See the module.
    pub(super) fn unreached(&self) -> Vec<Unreached> {
        let figures = &self.figures;
        let n = self.n_unreached();
        let n_open = figures.n_untried + figures.n_unsettled;
        let mixed = self.has_mixed.then_some("partial reads");
        let calls: Vec<&str> = self.unforeseen.iter().copied().chain(mixed).collect();
        let all = [
            (n > 0, Unreached::Guidelines { n, of: figures.n_guidelines.max(n) }),
            (figures.is_model_cut || self.model.n_left_out > 0, Unreached::States),
            (!calls.is_empty(), Unreached::Outcomes(calls)),
            (self.has_ties, Unreached::Ties),
            (self.is_cut_off, Unreached::CutOff),
            (self.has_last, Unreached::LastThread),
            (figures.is_reduced, Unreached::Combinations),
            (n_open > 0, Unreached::Races(n_open)),
        ];
        all.into_iter().filter(|it| it.0).map(|it| it.1).collect()
    }

    /// Guidelines that were neither followed nor shown to be impossible.
    pub(super) fn n_unreached(&self) -> u64 {
        self.model.n_missed() + self.figures.n_unwoven + self.figures.n_unlucky
    }
}
