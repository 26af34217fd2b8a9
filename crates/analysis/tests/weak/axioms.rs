//! Candidate executions and the axioms that they must satisfy: C++20's \[intro.races\] and \[atomics.order\], and that no
//! load reads what is after it in program order and reads-from (RC11); those of total store order (x86's, as in Alglave,
//! Maranget and Tautschnig, *Herding cats*, TOPLAS 2014); and sequential consistency's. Written from the definitions, with
//! relations as matrices of bits.

use std::array::from_fn;

use raddle_model::MemoryOrder::{self, SeqCst};

use crate::program::{Instr, N_PLACES, Outcome, Outcomes, Program};

/// Whose axioms. C++20's, where the order S of sequentially consistent events must agree with this:
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sc {
    /// Strongly-happens-before, as in the standard.
    Standard,
    /// Program order and reads-from of all events: it can be the order of execution.
    Executed,
    /// None of C++20's: total store order, with `seq_cst` stores and all that exchanges as locked instructions.
    Buffered,
    /// None of C++20's: sequential consistency.
    Whole,
}

impl Sc {
    /// Can a weak compare-exchange fail for no reason?
    fn fails_at_will(self) -> bool {
        matches!(self, Sc::Standard | Sc::Executed)
    }
}

#[derive(Clone, Copy, Debug)]
struct Event {
    thread: usize,
    /// None of a fence.
    place: Option<usize>,
    is_read: bool,
    is_write: bool,
    order: MemoryOrder,
    instr: Option<Instr>,
}

/// By event: which ones it is related to, as a set of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Relation(Vec<u32>);

impl Relation {
    fn new(n_events: usize) -> Relation {
        Relation(vec![0; n_events])
    }

    fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] & 1 << b != 0
    }

    fn join(&mut self, other: &Relation) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    fn closed(mut self) -> Relation {
        for k in 0..self.0.len() {
            let row = self.0[k];
            for it in &mut self.0 {
                if *it & 1 << k != 0 {
                    *it |= row;
                }
            }
        }
        self
    }

    /// Is a closed relation free of cycles?
    fn is_acyclic(&self) -> bool {
        self.0.iter().enumerate().all(|(idx, row)| row & 1 << idx == 0)
    }
}

/// All outcomes that the axioms allow.
pub(crate) fn outcomes(program: &Program, sc: Sc) -> Outcomes {
    let is_cas = |it: &&Instr| matches!(it, Instr::Cas { .. });
    let n_cas = program.threads.iter().flatten().filter(is_cas).count();
    let mut outcomes = Outcomes::new();
    for successes in 0..1_u32 << n_cas {
        Candidates::new(program, successes).each_rf(sc, &mut outcomes);
    }
    outcomes
}

struct Candidates {
    events: Vec<Event>,
    sb: Relation,
}

/// Of one of those: what is read from where.
struct Candidate<'a> {
    all: &'a Candidates,
    /// By event; its own number of what reads nothing.
    rf: &'a [usize],
    /// What each write leaves, and each read reads.
    written: Vec<u64>,
    read: Vec<u64>,
}

impl Candidates {
    fn new(program: &Program, successes: u32) -> Candidates {
        let init = |place| Event {
            thread: usize::MAX,
            place: Some(place),
            is_read: false,
            is_write: true,
            order: MemoryOrder::Relaxed,
            instr: None,
        };
        let mut events: Vec<Event> = (0..N_PLACES).map(init).collect();
        let mut n_cas = 0;
        for (thread, instrs) in program.threads.iter().enumerate() {
            for instr in instrs {
                let (place, is_read, is_write, order) = match *instr {
                    Instr::Load { at, order } => (Some(at), true, false, order),
                    Instr::Store { at, order, .. } => (Some(at), false, true, order),
                    Instr::Add { at, order, .. } => (Some(at), true, true, order),
                    Instr::Fence { order } => (None, false, false, order),
                    Instr::Cas { at, order, failure, .. } => {
                        let is_done = successes & 1 << n_cas != 0;
                        n_cas += 1;
                        (Some(at), true, is_done, if is_done { order } else { failure })
                    }
                };
                events.push(Event { thread, place, is_read, is_write, order, instr: Some(*instr) });
            }
        }
        let mut sb = Relation::new(events.len());
        for a in 0..events.len() {
            for b in a + 1..events.len() {
                let is_first = a < N_PLACES && b >= N_PLACES;
                if is_first || a >= N_PLACES && events[a].thread == events[b].thread {
                    sb.add(a, b);
                }
            }
        }
        Candidates { events, sb }
    }

    fn each_rf(&self, sc: Sc, outcomes: &mut Outcomes) {
        let mut rf: Vec<usize> = (0..self.events.len()).collect();
        self.fill_rf(0, &mut rf, sc, outcomes);
    }

    fn fill_rf(&self, from: usize, rf: &mut [usize], sc: Sc, outcomes: &mut Outcomes) {
        let Some(event) = self.events.get(from) else {
            return self.check_rf(rf, sc, outcomes);
        };
        if !event.is_read {
            return self.fill_rf(from + 1, rf, sc, outcomes);
        }
        for (idx, other) in self.events.iter().enumerate() {
            if other.is_write && other.place == event.place && idx != from {
                rf[from] = idx;
                self.fill_rf(from + 1, rf, sc, outcomes);
            }
        }
    }

    /// No value out of thin air, and each compare-exchange ends as it was supposed to.
    fn check_rf(&self, rf: &[usize], sc: Sc, outcomes: &mut Outcomes) {
        let n_events = self.events.len();
        let mut order = self.sb.clone();
        (0..n_events).filter(|it| rf[*it] != *it).for_each(|it| order.add(rf[it], it));
        let order = order.closed();
        if !order.is_acyclic() {
            return;
        }
        let mut by_order: Vec<usize> = (0..n_events).collect();
        by_order.sort_by_key(|it| (0..n_events).filter(|before| order.has(*before, *it)).count());
        let (mut written, mut read) = (vec![0; n_events], vec![0; n_events]);
        for idx in by_order {
            read[idx] = written[rf[idx]];
            written[idx] = match self.events[idx].instr {
                Some(Instr::Store { value, .. }) => value,
                Some(Instr::Add { value, .. }) => read[idx] + value,
                Some(Instr::Cas { new, .. }) => new,
                _ => 0,
            };
            if let Some(Instr::Cas { expected, is_weak, .. }) = self.events[idx].instr {
                let is_equal = read[idx] == expected;
                let is_done = self.events[idx].is_write;
                if is_done && !is_equal || !is_done && is_equal && !(is_weak && sc.fails_at_will())
                {
                    return;
                }
            }
        }
        let candidate = Candidate { all: self, rf, written, read };
        candidate.each_mo(0, &mut from_fn(|place| vec![place]), sc, outcomes);
    }
}

impl Candidate<'_> {
    /// Writes are inserted one after the other, each at every place of its location's order.
    fn each_mo(
        &self,
        from: usize,
        mo: &mut [Vec<usize>; N_PLACES],
        sc: Sc,
        outcomes: &mut Outcomes,
    ) {
        let Some(event) = self.all.events.get(from) else {
            if self.is_atomic(mo) && self.is_consistent(mo, sc) {
                outcomes.insert(self.outcome(mo));
            }
            return;
        };
        let place = event.place.filter(|_| event.is_write && from >= N_PLACES);
        let Some(place) = place else { return self.each_mo(from + 1, mo, sc, outcomes) };
        for at in 1..=mo[place].len() {
            mo[place].insert(at, from);
            self.each_mo(from + 1, mo, sc, outcomes);
            mo[place].remove(at);
        }
    }

    /// A read-modify-write reads the write right before its own.
    fn is_atomic(&self, mo: &[Vec<usize>; N_PLACES]) -> bool {
        mo.iter().all(|it| {
            it.windows(2)
                .all(|pair| !self.all.events[pair[1]].is_read || self.rf[pair[1]] == pair[0])
        })
    }

    fn outcome(&self, mo: &[Vec<usize>; N_PLACES]) -> Outcome {
        let mut reads = Vec::new();
        for (idx, event) in self.all.events.iter().enumerate().filter(|(_, it)| it.is_read) {
            reads.push(self.read[idx]);
            if let Some(Instr::Cas { .. }) = event.instr {
                reads.push(u64::from(event.is_write));
            }
        }
        let end = from_fn(|place| self.written[*mo[place].last().expect("it begins with 0")]);
        Outcome { reads, end }
    }

    fn is_consistent(&self, mo: &[Vec<usize>; N_PLACES], sc: Sc) -> bool {
        if matches!(sc, Sc::Buffered | Sc::Whole) {
            return self.is_in_memory_order(mo, sc);
        }
        let n_events = self.all.events.len();
        let sw = self.synchronizes_with();
        let mut hb = self.all.sb.clone();
        hb.join(&sw);
        let hb = hb.closed();
        let eco = self.coherence_order(mo);
        let is_coherent =
            (0..n_events).all(|a| (0..n_events).all(|b| !hb.has(a, b) || a != b && !eco.has(b, a)));
        is_coherent && hb.is_acyclic() && self.has_sc_order(&sw, &hb, &eco, sc)
    }

    /// Is there one order of what happens in memory? Under total store order, a thread's load need not come after its earlier
    /// stores there, nor after the store of its own that it reads; but each location is sequentially consistent.
    fn is_in_memory_order(&self, mo: &[Vec<usize>; N_PLACES], sc: Sc) -> bool {
        let (events, sb) = (&self.all.events, &self.all.sb);
        let n_events = events.len();
        let eco = self.coherence_order(mo);
        let is_coherent = (0..n_events)
            .all(|a| !eco.has(a, a) && (0..n_events).all(|b| !sb.has(a, b) || !eco.has(b, a)));
        let is_plain = |it: usize, is_write: bool| {
            let Event { is_read, order, instr, .. } = events[it];
            let is_locked = matches!(instr, Some(Instr::Add { .. } | Instr::Cas { .. }));
            !is_locked
                && events[it].is_write == is_write
                && is_read != is_write
                && !(is_write && order == SeqCst)
        };
        let is_fenced = |a: usize, b: usize| {
            (0..n_events).any(|it| {
                events[it].place.is_none()
                    && events[it].order == SeqCst
                    && sb.has(a, it)
                    && sb.has(it, b)
            })
        };
        let mut order = Relation::new(n_events);
        for a in 0..n_events {
            for b in (0..n_events).filter(|b| sb.has(a, *b)) {
                let may_overtake = sc == Sc::Buffered
                    && a >= N_PLACES
                    && is_plain(a, true)
                    && is_plain(b, false)
                    && !is_fenced(a, b);
                let is_in_memory = events[a].place.is_some() && events[b].place.is_some();
                if is_in_memory && !may_overtake {
                    order.add(a, b);
                }
            }
        }
        for a in 0..n_events {
            for b in (0..n_events).filter(|b| eco.has(a, *b)) {
                let is_forwarded = self.rf[b] == a && events[a].thread == events[b].thread;
                // Of what is read after what was forwarded, coherence is asked for each location.
                if !is_forwarded && (events[b].is_write || self.rf[b] == a) {
                    order.add(a, b);
                }
            }
        }
        is_coherent && order.closed().is_acyclic()
    }

    /// Reads-from, modification order and from-read, one after the other.
    fn coherence_order(&self, mo: &[Vec<usize>; N_PLACES]) -> Relation {
        let n_events = self.all.events.len();
        let mut eco = Relation::new(n_events);
        for order in mo {
            for (idx, write) in order.iter().enumerate() {
                order[idx + 1..].iter().for_each(|later| eco.add(*write, *later));
            }
        }
        for read in (0..n_events).filter(|it| self.all.events[*it].is_read) {
            let write = self.rf[read];
            eco.add(write, read);
            let order = &mo[self.all.events[read].place.expect("a read is of a place")];
            let at =
                order.iter().position(|it| *it == write).expect("a write has a place in order");
            order[at + 1..].iter().filter(|it| **it != read).for_each(|it| eco.add(read, *it));
        }
        eco.closed()
    }

    fn synchronizes_with(&self) -> Relation {
        let events = &self.all.events;
        let n_events = events.len();
        let mut sw = Relation::new(n_events);
        for read in (0..n_events).filter(|it| events[*it].is_read) {
            let learns: Vec<usize> = (0..n_events)
                .filter(|it| {
                    let is_fence = events[*it].place.is_none() && self.all.sb.has(read, *it);
                    (*it == read || is_fence) && events[*it].order.is_acquire()
                })
                .collect();
            let mut head = self.rf[read];
            loop {
                for (tells, event) in events.iter().enumerate() {
                    let is_fence = event.place.is_none() && self.all.sb.has(tells, head);
                    if (tells == head || is_fence) && event.order.is_release() {
                        learns.iter().for_each(|it| sw.add(tells, *it));
                    }
                }
                if !events[head].is_read {
                    break;
                }
                head = self.rf[head];
            }
        }
        sw
    }

    fn has_sc_order(&self, sw: &Relation, hb: &Relation, eco: &Relation, sc: Sc) -> bool {
        let events = &self.all.events;
        let n_events = events.len();
        let is_sc = |it: &usize| *it >= N_PLACES && events[*it].order == SeqCst;
        let is_fence = |it: &usize| is_sc(it) && events[*it].place.is_none();
        let mut order = Relation::new(n_events);
        for a in 0..n_events {
            for b in (0..n_events).filter(|b| eco.has(a, *b)) {
                let first: Vec<usize> = (0..n_events)
                    .filter(|it| *it == a && is_sc(it) || is_fence(it) && hb.has(*it, a))
                    .collect();
                let second = (0..n_events)
                    .filter(|it| *it == b && is_sc(it) || is_fence(it) && hb.has(b, *it));
                second.for_each(|b| first.iter().for_each(|a| order.add(*a, b)));
            }
        }
        match sc {
            Sc::Executed => {
                order.join(&self.all.sb);
                (0..n_events)
                    .filter(|it| self.rf[*it] != *it)
                    .for_each(|it| order.add(self.rf[it], it));
            }
            Sc::Standard => {
                let strongly = self.strongly_happens_before(sw, hb);
                for a in (0..n_events).filter(is_sc) {
                    (0..n_events)
                        .filter(is_sc)
                        .filter(|b| strongly.has(a, *b))
                        .for_each(|b| order.add(a, b));
                }
            }
            Sc::Buffered | Sc::Whole => unreachable!("they have other axioms"),
        }
        order.closed().is_acyclic()
    }

    fn strongly_happens_before(&self, sw: &Relation, hb: &Relation) -> Relation {
        let events = &self.all.events;
        let n_events = events.len();
        let sb = &self.all.sb;
        let mut strongly = sb.clone();
        for a in 0..n_events {
            for b in 0..n_events {
                let are_sc = [a, b]
                    .iter()
                    .all(|it| events[*it].order == SeqCst && events[*it].place.is_some());
                let is_between = (0..n_events)
                    .any(|c| sb.has(a, c) && (0..n_events).any(|d| hb.has(c, d) && sb.has(d, b)));
                if are_sc && sw.has(a, b) || is_between {
                    strongly.add(a, b);
                }
            }
        }
        strongly.closed()
    }
}
