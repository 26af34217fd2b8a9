//! Every schedule of a program, and every choice that the rules allow.

use raddle_analysis::hb::{Access, Causality, Place, Reading, Stores, Way};
use raddle_model::{MemoryModel, ObjectId, ThreadId};

use crate::program::{Instr, N_PLACES, Outcome, Outcomes, Program};

/// All outcomes, and how many executions there are.
pub(crate) fn explore(program: &Program) -> (Outcomes, u64) {
    explore_as(MemoryModel::C11, program)
}

/// The same under another model.
pub(crate) fn explore_as(model: MemoryModel, program: &Program) -> (Outcomes, u64) {
    let mut outcomes = Outcomes::new();
    let mut path = Vec::new();
    let mut n_executions = 0;
    loop {
        outcomes.insert(Run::new(model, program).run(&mut path));
        n_executions += 1;
        while path.last().is_some_and(|(choice, n_choices)| choice + 1 == *n_choices) {
            path.pop();
        }
        let Some((choice, _)) = path.last_mut() else { return (outcomes, n_executions) };
        *choice += 1;
    }
}

struct Run<'a> {
    program: &'a Program,
    causality: Causality,
    stores: Stores,
    places: [Place; N_PLACES],
    next: Vec<usize>,
    reads: Vec<Vec<u64>>,
    ways: Vec<Way>,
}

impl Run<'_> {
    fn new(model: MemoryModel, program: &Program) -> Run<'_> {
        let mut causality = Causality::new();
        let n_threads = program.threads.len();
        for child in 1..=n_threads as u32 {
            causality.spawn(ThreadId(0), ThreadId(child), ObjectId(child));
        }
        Run {
            program,
            causality,
            stores: Stores::new(model),
            places: std::array::from_fn(|_| Place::new(0)),
            next: vec![0; n_threads],
            reads: vec![Vec::new(); n_threads],
            ways: Vec::new(),
        }
    }

    fn run(mut self, path: &mut Vec<(usize, usize)>) -> Outcome {
        let mut position = 0;
        let mut choose = |n_choices: usize| {
            if position == path.len() {
                path.push((0, n_choices));
            }
            assert_eq!(path[position].1, n_choices, "the same choices lead to the same ones");
            position += 1;
            path[position - 1].0
        };
        loop {
            let is_there = |it: &usize| self.next[*it] < self.program.threads[*it].len();
            let enabled: Vec<usize> = (0..self.next.len()).filter(is_there).collect();
            if enabled.is_empty() {
                break;
            }
            let idx = enabled[choose(enabled.len())];
            let instr = self.program.threads[idx][self.next[idx]];
            self.next[idx] += 1;
            self.step(idx, instr, &mut choose);
        }
        Outcome {
            reads: self.reads.concat(),
            end: std::array::from_fn(|at| self.places[at].newest().value),
        }
    }

    fn step(&mut self, idx: usize, instr: Instr, choose: &mut impl FnMut(usize) -> usize) {
        let thread = ThreadId(idx as u32 + 1);
        let Run { causality, stores, places, ways, reads, .. } = self;
        let (at, access, order) = match instr {
            Instr::Fence { order } => return stores.fence(thread, order, causality),
            Instr::Load { at, order } => (at, Access::Load, order),
            Instr::Store { at, order, .. } => (at, Access::Store, order),
            Instr::Add { at, order, .. } => (at, Access::Rmw, order),
            Instr::Cas { at, expected, order, failure, is_weak, .. } => {
                (at, Access::Cas { expected, failure, is_weak }, order)
            }
        };
        let place = &mut places[at];
        stores.ways(place, thread, access, order, causality, ways);
        let way = ways[choose(ways.len())];
        let of = |value| Reading { value, step: 0 };
        match instr {
            Instr::Fence { .. } => {}
            Instr::Load { .. } => {
                reads[idx].push(stores.load(place, thread, order, way, causality).value);
            }
            Instr::Store { value, .. } => {
                stores.store(place, thread, order, way, of(value), causality);
            }
            Instr::Add { value, .. } => {
                let seen = stores.peek(place, way).value;
                stores.receive(place, thread, order, way, causality);
                stores.update(place, thread, order, way, of(seen + value), causality);
                reads[idx].push(seen);
            }
            Instr::Cas { new, failure, .. } => {
                let seen = stores.peek(place, way).value;
                match way.is_load {
                    true => {
                        stores.load(place, thread, failure, way, causality);
                    }
                    false => {
                        stores.receive(place, thread, order, way, causality);
                        stores.update(place, thread, order, way, of(new), causality);
                    }
                }
                reads[idx].extend([seen, u64::from(!way.is_load)]);
            }
        }
    }
}
