//! What total replay has to say about itself.

use std::collections::{BTreeMap, BTreeSet};

use raddle_total::{Checker, Count, History, Variants, count_pairs};

use super::{decide::Decisions, draw::Drawn, flows::Flows};

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
    /// Threads can read what they were not seen to read, in situations that were all seen.
    pub(super) is_reduced: bool,
    /// Guidelines for which no schedule was found, where there were too many states to look at all.
    pub(super) n_unwoven: u64,
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

    /// By name. What was cut has its name twice, with `_cut`.
    pub(super) fn values(
        &self,
        flows: &Flows,
        checker: &Checker,
        n_waiting: u64,
    ) -> BTreeMap<&'static str, u64> {
        let mut all = BTreeMap::from([
            ("branches", flows.n_branches),
            ("branches_unknown", flows.n_unknown),
            ("branches_decided", self.affected.len() as u64),
            ("guidelines", self.n_guidelines),
            ("guidelines_waiting", n_waiting),
            ("guidelines_infeasible", self.n_infeasible),
            ("guidelines_unlucky", self.n_unlucky),
            ("guidelines_unwoven", self.n_unwoven),
            ("memory_full", u64::from(self.is_full && n_waiting > 0)),
            ("test_cases", self.n_test_cases()),
            ("led_elsewhere", self.n_astray),
            ("tried_again", self.n_again),
            ("witnesses", self.n_witnesses),
            ("repeated", self.n_repeats),
            ("pairs_checked", checker.n_checked),
            ("pairs_reused", checker.n_reused),
            ("groups", checker.n_groups() as u64),
            ("combinations", checker.n_combined),
            ("potential_races", self.n_potential),
            ("potential_races_open", self.n_untried + self.n_unsettled),
            ("states_cut", u64::from(self.is_model_cut)),
            ("graph_nodes", self.drawn.n_nodes.max(1)),
            ("graph_bytes", self.drawn.n_bytes),
        ]);
        let and_first = |it: Count| Count { n: it.n + u64::from(!it.is_cut), ..it };
        let bytes = self.variant_nodes.map(|it| Count { n: it.1, is_cut: it.0.is_cut });
        let counts = [
            (["reachability", "reachability_cut"], self.reachability.map(and_first)),
            (["thread_pairs", "thread_pairs_cut"], self.pairs.map(and_first)),
            (["variant_nodes", "variant_nodes_cut"], self.variant_nodes.map(|it| it.0)),
            (["variant_bytes", "variant_bytes_cut"], bytes),
        ];
        for ([name, cut], count) in counts {
            let Some(count) = count else { continue };
            all.insert(name, count.n);
            if count.is_cut {
                all.insert(cut, 1);
            }
        }
        all
    }

    /// All of it in one line. `n_waiting`: executions that are still to be made.
    pub(super) fn words(&self, flows: &Flows, checker: &Checker, n_waiting: u64) -> String {
        let mut parts = Vec::new();
        if flows.n_branches > 0 {
            let unknown = match flows.n_unknown {
                0 => String::new(),
                n => {
                    let percent = (n * 100).checked_div(flows.n_branches).unwrap_or(0);
                    format!(" ({} unknown, {percent}%)", grouped(n))
                }
            };
            parts.push(format!(
                "branches {}{unknown}, decided by interleaving {}",
                grouped(flows.n_branches),
                grouped(self.affected.len() as u64)
            ));
        }
        parts.push(self.guidelines(n_waiting));
        let need = |count: Option<Count>| match count {
            Some(Count { n, is_cut: false }) => grouped(n + 1),
            Some(Count { n, is_cut: true }) => format!("more than {}", grouped(n)),
            None => "many".to_owned(),
        };
        parts.push(format!(
            "executions {} (reachability testing would need {}, thread pairs {})",
            grouped(self.n_test_cases()),
            need(self.reachability),
            need(self.pairs)
        ));
        parts.push(format!(
            "pairs checked {}, reused {}",
            grouped(checker.n_checked),
            grouped(checker.n_reused)
        ));
        if let Some((nodes, bytes)) = self.variant_nodes {
            // The dissertation counts a root without reads as one node.
            parts.push(format!(
                "graph nodes {} ({} bytes) for {} ({})",
                grouped(self.drawn.n_nodes.max(1)),
                grouped(self.drawn.n_bytes),
                need(Some(Count { n: nodes.n.saturating_sub(1), ..nodes })),
                grouped(bytes)
            ));
        }
        if self.n_witnesses > 0 {
            parts.push(format!("witnesses {}", grouped(self.n_witnesses)));
        }
        if self.n_repeats > 0 {
            parts.push(format!("repeated {}", grouped(self.n_repeats)));
        }
        if checker.n_combined > 0 {
            let open = match (self.n_untried, self.n_unsettled) {
                (0, 0) => String::new(),
                (0, n) => format!(" ({} not settled)", grouped(n)),
                (n, 0) => format!(" ({} not tried)", grouped(n)),
                (n, m) => format!(" ({} not tried, {} not settled)", grouped(n), grouped(m)),
            };
            parts.push(format!(
                "combinations {}, no race {}, potential race {}{open}",
                grouped(checker.n_combined),
                grouped(checker.n_combined - self.n_potential),
                grouped(self.n_potential)
            ));
        }
        if self.is_full && n_waiting > 0 {
            parts.push("ended, for there is no memory for more".to_owned());
        }
        if self.is_model_cut {
            parts.push("too many states to look at all".to_owned());
        }
        parts.join(" · ")
    }

    /// How many guidelines there were, and what came of those that were not followed.
    fn guidelines(&self, n_waiting: u64) -> String {
        let more = if self.is_queue_full { " or more" } else { "" };
        let waiting = format!("{}{more} not tried yet", grouped(n_waiting));
        let kinds = [
            (n_waiting, waiting),
            (self.n_infeasible, format!("{} infeasible", grouped(self.n_infeasible))),
            (self.n_unwoven, format!("{} without a schedule", grouped(self.n_unwoven))),
            (self.n_unlucky, format!("{} unlucky", grouped(self.n_unlucky))),
            (self.n_astray, format!("{} led elsewhere", grouped(self.n_astray))),
            (self.n_again, format!("{} tried again", grouped(self.n_again))),
        ];
        let told: Vec<String> = kinds.into_iter().filter(|it| it.0 > 0).map(|it| it.1).collect();
        let told = if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) };
        format!("guidelines {}{told}", grouped(self.n_guidelines))
    }
}

pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
