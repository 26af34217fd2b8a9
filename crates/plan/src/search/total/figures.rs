//! What total replay counts.

use std::collections::BTreeSet;

use raddle_model::{Count, Decided, TraceSize};
use raddle_total::{Checker, History, Variants, count_pairs};

use super::{decide::Decisions, draw::Drawn};
use raddle_model::flows::Flows;

/// Nodes of reachability testing's graph, more than which are not counted.
const NODES_MAX: usize = 20_000;
/// Steps of an execution, more than which reachability testing is not measured.
const STEPS_MAX: usize = 20_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) n_executions: u64,
    /// Those of them that only show a race which is known.
    pub(super) n_witnesses: u64,
    /// Those of them that only show whether the program does the same again.
    pub(super) n_repeats: u64,
    pub(super) n_redundant: u64,
    pub(super) n_guidelines: u64,
    /// Guidelines for which no schedule could be woven.
    pub(super) n_infeasible: u64,
    /// Executions that did not follow their guideline, after which another schedule was tried.
    pub(super) n_again: u64,
    /// Executions whose threads did something else than was expected of them, for they had read something else.
    pub(super) n_astray: u64,
    /// Guidelines that no execution followed, though there were schedules for them.
    pub(super) n_unlucky: u64,
    /// No more executions could be kept.
    pub(super) is_full: bool,
    /// So many guidelines waited at once that others were left for later executions to show again.
    pub(super) is_queue_full: bool,
    /// Combinations of manners seen apart that would be a race.
    pub(super) n_potential: u64,
    /// Those of them that were too many to be looked at.
    pub(super) n_untried: u64,
    /// Those of them of which it is not known whether they can come together.
    pub(super) n_unsettled: u64,
    /// There were more states than could be looked at, so perhaps a situation that no execution had.
    pub(super) is_model_cut: bool,
    /// ThreadSet can read what they were not seen to read, in situations that were all seen.
    pub(super) is_reduced: bool,
    /// Guidelines for which no schedule was found, where there were too many states to look at all.
    pub(super) n_unwoven: u64,
    /// How large the first execution is.
    first: TraceSize,
    /// The dependency graphs of the first execution.
    pub(super) drawn: Drawn,
    branches: BTreeSet<u32>,
    affected: BTreeSet<u32>,
    /// What reachability testing would need after the first execution; `None` if nobody counted.
    reachability: Option<Count>,
    pairs: Option<Count>,
    /// Nodes of its graph, and bytes.
    variant_nodes: Option<(Count, u64)>,
}

impl Figures {
    /// Measures the first execution.
    pub(super) fn measure(&mut self, history: &History) {
        self.first = history.size();
        let shared = history.shared();
        if history.steps.len() <= STEPS_MAX {
            let variants = Variants::of(history, &shared, NODES_MAX);
            self.reachability = Some(variants.count());
            self.variant_nodes = Some((variants.n_nodes(), variants.n_bytes()));
            self.pairs = Some(count_pairs(history, &shared, NODES_MAX));
        }
    }

    /// Counts an execution.
    pub(super) fn count(&mut self, decisions: &Decisions, is_new: bool, is_witness: bool) {
        self.n_executions += 1;
        self.n_witnesses += u64::from(is_witness);
        self.n_redundant += u64::from(!is_new && !is_witness && self.n_executions > 1);
        self.branches.extend(&decisions.branches);
        self.affected.extend(&decisions.affected_branches);
    }

    /// Executions that were made because something may come out otherwise, and the first one.
    fn n_test_cases(&self) -> u64 {
        self.n_executions - self.n_witnesses - self.n_repeats
    }

    /// All of it. `n_waiting`: executions that are still to be made; then nodes and bytes of the model.
    pub(super) fn decided(
        &self,
        flows: &Flows,
        checker: &Checker,
        n_waiting: u64,
        (n_known_nodes, n_known_bytes): (u64, u64),
    ) -> Decided {
        Decided {
            first: self.first,
            n_known_nodes,
            n_known_bytes,
            n_reached: self.branches.len() as u64,
            n_branches: flows.n_branches,
            n_unknown: flows.n_unknown,
            n_affected: self.affected.len() as u64,
            n_guidelines: self.n_guidelines,
            n_waiting,
            is_queue_full: self.is_queue_full,
            n_infeasible: self.n_infeasible,
            n_unwoven: self.n_unwoven,
            n_unlucky: self.n_unlucky,
            n_astray: self.n_astray,
            n_again: self.n_again,
            n_test_cases: self.n_test_cases(),
            n_witnesses: self.n_witnesses,
            n_repeats: self.n_repeats,
            n_checked: checker.n_checked,
            n_reused: checker.n_reused,
            n_groups: checker.n_groups() as u64,
            n_combined: checker.n_combined,
            n_potential: self.n_potential,
            n_untried: self.n_untried,
            n_unsettled: self.n_unsettled,
            is_full: self.is_full && n_waiting > 0,
            is_model_cut: self.is_model_cut,
            // The dissertation counts a root without reads as one node.
            n_graph_nodes: self.drawn.n_nodes.max(1),
            n_graph_bytes: self.drawn.n_bytes,
            reachability: self.reachability,
            thread_pairs: self.pairs,
            variant_nodes: self.variant_nodes.map(|it| it.0),
            n_variant_bytes: self.variant_nodes.map_or(0, |it| it.1),
        }
    }
}
