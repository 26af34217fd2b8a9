//! What the reads of an execution decide, each as what a dependency graph begins with.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::flows::Flows;
use raddle_total::{Flow, History};

use super::reached::Reached;

/// Something that is decided once a read is made.
#[derive(Clone, Debug)]
pub(super) struct Decided {
    /// The read.
    pub(super) read: u32,
    /// What, by its number; `None` if that is not known: then it is all that the thread does from here on.
    pub(super) sink: Option<u32>,
    /// The reads that decide it together. Sorted.
    pub(super) reads: Vec<u32>,
}

/// Says of each write which reads flow into it; gives back what each read decides, of those that are asked for.
pub(super) fn roots(
    history: &mut History,
    flows: &Flows,
    reached: &Reached,
    is_wanted: impl Fn(u32, Option<u32>) -> bool,
) -> Vec<Decided> {
    let mut latest: Vec<BTreeMap<u64, u32>> = vec![BTreeMap::new(); history.n_threads()];
    let mut earlier: Vec<Vec<u32>> = vec![Vec::new(); history.n_threads()];
    let mut found = Vec::new();
    for idx in 0..history.steps.len() {
        let (step, read) = (history.steps[idx], idx as u32);
        let latest = &mut latest[step.thread.idx()];
        let of = |latest: &BTreeMap<u64, u32>, places: &[u64]| -> BTreeSet<u32> {
            places.iter().filter_map(|it| latest.get(it).copied()).collect()
        };
        if step.act.is_read() {
            latest.insert(step.place, read);
            earlier[step.thread.idx()].push(read);
            match reached.sinks_of(step.thread, step.place) {
                Some(sinks) => found.extend(
                    sinks.iter().filter(|it| is_wanted(read, Some(**it))).map(|sink| {
                        let reads = of(latest, &flows.sinks[*sink as usize].reads);
                        Decided { read, sink: Some(*sink), reads: reads.into_iter().collect() }
                    }),
                ),
                None if is_wanted(read, None) => {
                    let reads = earlier[step.thread.idx()].clone();
                    found.push(Decided { read, sink: None, reads });
                }
                None => {}
            }
        }
        if step.act.is_write() {
            history.flows[idx] = match flows.writes.get(&step.place) {
                Some(places) => {
                    let reads = of(latest, places).into_iter().filter(|it| *it < read);
                    Flow::Reads(reads.collect())
                }
                None => Flow::Earlier,
            };
        }
    }
    found
}
