//! What a search that has ended has not covered, in words: it says that nothing fails only if there is nothing of it.
//!
//! The last thing that is asked of the model is a value or an answer that no thread was seen to get where it can get it. If
//! there is none, and the model is exact, every order that was not executed is impossible. So what counts is what the
//! model does not know, and what it has foreseen that did not come.

use super::{Total, figures::grouped};

impl Total {
    /// See the module.
    pub(super) fn gaps(&self) -> Vec<String> {
        let figures = &self.figures;
        let mut gaps = Vec::new();
        let n_unreached = self.n_unreached();
        if n_unreached > 0 {
            let (n, of) = (grouped(n_unreached), grouped(figures.n_guidelines.max(n_unreached)));
            gaps.push(format!("{n} of {of} orders could not be reached"));
        }
        if figures.is_model_cut || self.model.n_left_out > 0 {
            gaps.push("there are too many states to look at all".to_owned());
        }
        if !self.unforeseen.is_empty() {
            let calls: Vec<&str> = self.unforeseen.iter().copied().collect();
            gaps.push(format!("other outcomes of {} were not tried", calls.join(", ")));
        }
        if self.has_ties {
            gaps.push("several waits timed out at the same time".to_owned());
        }
        if self.is_cut_off {
            gaps.push("threads were alive at the exit".to_owned());
        }
        if self.has_last {
            gaps.push("the last thread to run was seen alone only".to_owned());
        }
        if figures.is_reduced {
            gaps.push("not every combination of known decisions was executed".to_owned());
        }
        let n_open = figures.n_untried + figures.n_unsettled;
        if n_open > 0 {
            gaps.push(format!("{} potential races are not settled", grouped(n_open)));
        }
        gaps
    }

    /// Guidelines that were neither followed nor shown to be impossible.
    pub(super) fn n_unreached(&self) -> u64 {
        self.model.n_missed() + self.figures.n_unwoven + self.figures.n_unlucky
    }
}
