//! Guidelines: planned, made ready to be executed, and what comes of those that came to nothing.

use std::collections::{BTreeSet, VecDeque};

use raddle_model::{PickerSpec, mix};
use raddle_total::{Constraint, DefineSets, is_in_time};

use super::{
    Aim, Attempt, Guide, QUEUE_MAX, TRIES, Total,
    causes::{Cause, cause_of, ways},
    constrain,
    decide::{Decisions, name},
    guideline::{Guided, constraints, guideline},
    model::Asked,
    named,
    past::Past,
};

/// Guidelines for one situation.
const KNOWN_MAX: usize = 64;

/// A situation that an execution is to have.
#[derive(Debug, Default)]
pub(super) struct Planned {
    /// Guidelines for it, each read with its define by name.
    known: BTreeSet<u64>,
    /// Those that wait for the one before to come to nothing: the execution that they are from, and what is to be read.
    others: VecDeque<(usize, Constraint)>,
    /// One is under way.
    is_tried: bool,
}

impl Planned {
    /// Adds a guideline; `true` if it is to be tried now.
    fn add(&mut self, id: u64, from: (usize, Constraint)) -> bool {
        if self.known.len() >= KNOWN_MAX || !self.known.insert(id) {
            return false;
        }
        let is_next = !std::mem::replace(&mut self.is_tried, true);
        if !is_next {
            self.others.push_back(from);
        }
        is_next
    }

    /// The one that was tried came to nothing: the next, if there is any.
    fn next(&mut self) -> Option<(usize, Constraint)> {
        let next = self.others.pop_front();
        self.is_tried = next.is_some();
        next
    }
}

impl Total {
    /// Everything that reads could have read beside what they did, unless that is known.
    pub(super) fn plan(
        &mut self,
        past: &Past,
        sets: &DefineSets<'_>,
        decisions: &Decisions,
        causes: &[Cause],
    ) {
        for decider in &decisions.deciders {
            // What is left out now is planned when a later execution has it too.
            if self.queue.len() >= QUEUE_MAX {
                self.figures.is_queue_full = true;
                return;
            }
            for define in sets.potential(decider.read) {
                let name = named(past, &decisions.inputs, decider.read, define);
                let value = self.values.get(&name).copied().unwrap_or(name);
                let keys = decider.situations.iter().map(|it| it.key(value));
                let from = (self.pasts.len(), Constraint { use_step: decider.read, define });
                let mut keys: Vec<u64> = keys.filter(|it| !self.seen.contains(it)).collect();
                // The same after something else may be possible where it was not.
                let led = define.map_or(0, |it| causes[it as usize].whole);
                let led = mix(led, causes[decider.read as usize].before);
                let id = mix(mix(name, self::name(&past.instances[decider.read as usize])), led);
                keys.retain(|it| self.planned.entry(*it).or_default().add(id, from));
                if !keys.is_empty() {
                    self.figures.n_guidelines += 1;
                    self.queue.push_back(Guide { keys, from: Some(from), ..Guide::default() });
                }
            }
        }
    }

    /// Makes a schedule for the guideline that is next; those for which there is none are infeasible.
    pub(super) fn make_ready(&mut self) {
        while let Some((execution, target)) = self.queue.front().and_then(|it| it.from) {
            let guide = self.queue.pop_front().unwrap_or_default();
            match self.ask_for(execution, target) {
                Asked::Schedule(attempt) => {
                    self.queue.push_front(Guide { attempt, from: None, ..guide });
                    return;
                }
                Asked::Had => {
                    self.seen.extend(guide.keys);
                    continue;
                }
                Asked::Never => {
                    self.figures.n_infeasible += 1;
                    self.fall_back(&guide.keys);
                    continue;
                }
                Asked::Unknown => {}
            }
            let Some(kept) = self.pasts.get(execution).and_then(Option::as_ref) else {
                self.fall_back(&guide.keys);
                continue;
            };
            // What would lead to the read as an execution did already shows nothing.
            let is_had =
                |it: &[u32]| self.had.contains(&cause_of(&kept.past.history, it, target.use_step));
            let constraints = constraints(&kept.past, &kept.reads, target);
            let value = |read: u32, define: Option<u32>| {
                self.values.get(&named(&kept.past, &kept.inputs, read, define)).copied()
            };
            let Guided { mut orders, is_loose } =
                guideline(&kept.past, &constraints, is_had, value);
            let may_time_out = self.model.may_time_out;
            orders.retain(|it| may_time_out || is_in_time(&kept.past.history, it));
            orders.truncate(TRIES);
            if orders.is_empty() {
                self.figures.n_unwoven += 1;
                self.fall_back(&guide.keys);
                continue;
            }
            let instance = |it: u32| kept.past.instances[it as usize];
            let (read, define) = (instance(target.use_step), target.define.map(instance));
            let name = named(&kept.past, &kept.inputs, target.use_step, target.define);
            let woven = |it: Vec<u32>| Attempt {
                ways: ways(&kept.past.history, it.iter().copied()),
                ..Attempt::woven(kept.past.prefix(&it))
            };
            let mut others: Vec<Attempt> = orders.into_iter().map(woven).collect();
            let prefix = constrain::script(&kept.past, &constraints);
            others.push(Attempt {
                prefix,
                picker: PickerSpec::LeastSwitching,
                ..Attempt::default()
            });
            let (attempt, aim) =
                (others.remove(0), Some(Aim { read, define, name: is_loose.then_some(name) }));
            self.queue.push_front(Guide { attempt, aim, others, from: None, ..guide });
            return;
        }
    }

    /// A guideline came to nothing: another one for the same situations, if there is any.
    pub(super) fn fall_back(&mut self, keys: &[u64]) {
        for key in keys.iter().filter(|it| !self.seen.contains(it)) {
            let Some(other) = self.planned.get_mut(key).and_then(Planned::next) else { continue };
            self.figures.n_guidelines += 1;
            let (keys, from) = (vec![*key], Some(other));
            self.queue.push_back(Guide { keys, from, ..Guide::default() });
        }
    }

    pub(super) fn try_again(&mut self, mut guide: Guide) {
        if guide.others.is_empty() {
            self.figures.n_unlucky += u64::from(guide.aim.is_some());
            self.fall_back(&guide.keys);
        } else {
            self.figures.n_again += 1;
            guide.attempt = guide.others.remove(0);
            self.queue.push_back(guide);
        }
    }
}
