//! Programs and strategies.

/// A program.
pub(super) struct Subject {
    /// Its file in `experiments/stride/programs`.
    pub(super) name: &'static str,
    /// What that includes from `programs/fail`, if anything.
    pub(super) kernel: &'static str,
    /// The paper's program of the same kind, and what it says of it.
    pub(super) paper: &'static str,
}

const fn of(name: &'static str, kernel: &'static str, paper: &'static str) -> Subject {
    Subject { name, kernel, paper }
}

pub(super) const PROGRAMS: &[Subject] = &[
    of("account", "papers/account", "account"),
    of("airline-tickets", "papers/airline_tickets", ""),
    of("allocation-vector", "papers/allocation_vector", ""),
    of("block-compressor", "", "pbzip2"),
    of("bluetooth-driver", "papers/bluetooth_driver", "bluetooth_driver"),
    of("bubble-sort", "papers/bubble_sort", ""),
    of("buffered-writer", "papers/buffered_writer", ""),
    of("chain-3-10", "papers/chain", ""),
    of("chain-4-5", "papers/chain", ""),
    of("chain-8-5", "papers/chain", ""),
    of("circular-buffer", "papers/circular_buffer", "circular_buffer"),
    of("clean", "papers/clean", ""),
    of("dining-3", "mutex/dining_philosophers", "din_phil3"),
    of("dining-5", "mutex/dining_philosophers", ""),
    of("dining-7", "mutex/dining_philosophers", ""),
    of("downloader", "", "aget-bug2"),
    of("fund-managers", "papers/fund_managers", ""),
    of("lazy-init", "papers/lazy_init", "lazy01"),
    of("linked-list", "papers/linked_list", ""),
    of("long-order", "papers/long_order", "radbench.bug1: by stride only"),
    of("manager", "papers/manager", ""),
    of("near-end", "", "radbench.bug1: by stride only"),
    of("ping-pong", "papers/ping_pong", ""),
    of("piper", "papers/piper", ""),
    of("producer-consumer", "papers/producer_consumer", ""),
    of("queue", "papers/queue", "queue"),
    of("quicksort", "", "qsort_mt"),
    of("reorder-10", "papers/reorder", "reorder_10: by stride only"),
    of("reorder-100", "papers/reorder", ""),
    of("reorder-20", "papers/reorder", "reorder_20: by stride only"),
    of("reorder-3", "papers/reorder", "reorder_3"),
    of("reorder-4", "papers/reorder", "reorder_4"),
    of("reorder-5", "papers/reorder", "reorder_5"),
    of("safe-stack", "papers/safe_stack", "safestack"),
    of("stack", "papers/stack", "stack"),
    of("stream-cluster", "", "parsec.streamcluster"),
    of("string-buffer", "", "stringbuffer"),
    of("tango", "papers/tango", ""),
    of("token-ring", "papers/token_ring", "token_ring"),
    of("trace-buffer", "", "ctrace-test"),
    of("twostage-100", "papers/twostage", "twostage_100: by stride only"),
    of("twostage-2", "papers/twostage", "twostage"),
    of("twostage-20", "papers/twostage", ""),
    of("work-steal-queue", "papers/work_steal_queue", "workstealqueue"),
    of("wronglock-1", "papers/wronglock", ""),
    of("wronglock-3", "papers/wronglock", "wronglock_3"),
    of("wronglock-7", "papers/wronglock", "wronglock"),
];

/// Random strategies that the paper compares, and what it calls them.
pub(super) const PAPERS: &[(&str, &str)] = &[
    ("walk", "original randomized scheduling"),
    ("stride:smax=2", "randomized stride, smax = 2"),
    ("stride:one,sum=paper,count=contended,profile=max", "randomized stride, one edge"),
    ("stride:two,sum=paper,count=contended,profile=max", "randomized stride, two edges"),
    ("pct:d=paper", "PCT"),
    ("rpro:d=paper,r=10", "RPro-10"),
    ("rpro:d=paper,r=50", "RPro-50"),
];

/// Random strategies that are ours, or newer than the paper.
pub(super) const OURS: &[&str] = &[
    "stride:one",
    "stride:two",
    "pct:d=drawn",
    "pos",
    "surw",
    "urw",
    "delay:n=drawn",
    "rstest:p=0.2",
    "sites",
    "directed",
    "portfolio",
];

/// Systematic searches, whose figures the paper takes from others.
pub(super) const SYSTEMATIC: &[(&str, &str)] = &[
    ("ipb", "iterative preemption bounding"),
    ("idb", "iterative delay bounding"),
    ("dfs", "depth-first search"),
];

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::PROGRAMS;
    use crate::experiment::root;

    /// Every program in the folder is compared, and its kernel is known.
    #[test]
    fn nothing_is_left_out() {
        let folder = root().join("experiments/stride/programs");
        let there: BTreeSet<String> = fs::read_dir(&folder)
            .expect("the folder is there")
            .filter_map(|it| it.ok()?.file_name().into_string().ok())
            .collect();
        let listed: BTreeSet<String> = PROGRAMS.iter().map(|it| format!("{}.c", it.name)).collect();
        assert_eq!(there, listed);
        for subject in PROGRAMS {
            let text =
                fs::read_to_string(folder.join(format!("{}.c", subject.name))).expect("a source");
            let include = format!("programs/fail/{}.c\"", subject.kernel);
            let is_included = text.contains("programs/fail/");
            assert_eq!(
                is_included,
                text.contains(&include) && !subject.kernel.is_empty(),
                "{}",
                subject.name
            );
        }
    }
}
