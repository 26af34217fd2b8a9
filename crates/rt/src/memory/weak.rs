//! Atomics under a weak memory model: which store is read, and where a new one stands, is a choice of the schedule.
//!
//! The program's memory holds what is newest in modification order. A load of an older store, a store that goes before a
//! newer one, and a read-modify-write of an older one do not touch it. What is found in memory and was not stored there
//! by an atomic op was written otherwise: then everybody knows of it, and of nothing older. The same holds for memory that was
//! freed, or written plainly while it was a variable.
//!
//! Who reads the same again and again gets the newest: a loop that waits ends, as real memory makes it.

use raddle_analysis::hb::{Access, Atomic, Reading, Way};
use raddle_model::{Event, Flags, MemoryModel, MemoryOrder, ObjectId, Op};

use crate::{
    abi::x86_64::peek,
    control::Control,
    state::{detect::Touch, weak::Found},
};

/// An atomic op, as the rules of memory see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) access: Access,
    pub(crate) order: MemoryOrder,
}

/// How one is performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    place: u32,
    way: Way,
    /// What was in memory.
    found: u64,
    /// What is read.
    pub(crate) seen: u64,
    /// Does it write to a place that is not the last, so that memory stays as it is?
    pub(crate) is_hidden: bool,
    /// Does a compare-exchange only load?
    pub(crate) is_load: bool,
}

impl Control {
    /// Begins an execution under the memory model of its plan.
    pub(super) fn begin_memory(&mut self) {
        // SAFETY: the header is mapped for as long as the process lives.
        let number = unsafe { (*self.header).request.memory_model };
        let model = MemoryModel::from_number(number);
        self.memory.weak.restart(model);
        self.memory.detect.is_on |= !model.is_sc();
    }

    /// Which way an atomic op of the thread that runs is performed, whose step has just been told. `None`: in memory, as
    /// if that were sequentially consistent.
    #[inline(never)]
    pub(crate) fn choose_weakly(&mut self, touch: &Touch, op: &Op, ask: Ask) -> Option<Chosen> {
        if !self.memory.detect.is_on || touch.size > 8 {
            return None;
        }
        // SAFETY: the program is about to use so many bytes there.
        let found = unsafe { peek(touch.address, touch.size) };
        let (me, weak) = (self.me, &mut self.memory.weak);
        let place = match weak.find(op.object, touch.address, touch.size, found) {
            Found::Place(place) => place,
            found => {
                if found == Found::NowMixed {
                    self.memory.detect.causality.know_all_at(me, op.object);
                }
                return None;
            }
        };
        if weak.place(place).newest().value != found {
            weak.place(place).reset(found);
        }
        let (stores, at, ways) = weak.parts(place);
        stores.ways(at, me, ask.access, ask.order, &self.memory.detect.causality, ways);
        ways.truncate(Event::ACCESS_CHOICES);
        let has_room =
            op.arg < Event::CHOSEN_OFFSETS && self.recorder.emit.n_steps < u64::from(u32::MAX);
        let n_ways = if has_room && !op.flags.has(Flags::SPIN) { ways.len() as u32 } else { 1 };
        let mut way = ways[0];
        if n_ways > 1 {
            let step = self.recorder.emit.n_steps - 1;
            let choice = self.scheduler.chooser.choose_read(n_ways, step);
            if !self.recorder.options.is_null() {
                let idx = self.recorder.emit.last_idx();
                // SAFETY: the area has the events' room, which the index is cut to.
                unsafe { (*self.recorder.options.add(idx)).n_choices = n_ways };
            }
            way = self.memory.weak.ways[choice as usize];
            let passed = self.memory.weak.place(place).after(way).filter(|_| way.age > 0);
            self.recorder.emit.set_chosen(me, choice, passed.map(|it| it.step));
        }
        let (stores, at, _) = self.memory.weak.parts(place);
        let seen = stores.peek(at, way).value;
        Some(Chosen { place, way, found, seen, is_hidden: way.age > 0, is_load: way.is_load })
    }

    /// An atomic op was performed in this way, and has written this value, if it writes: what it orders, and what it races
    /// with.
    #[inline(never)]
    pub(crate) fn settle_weakly(
        &mut self,
        touch: &Touch,
        object: ObjectId,
        atomic: Atomic,
        ask: Ask,
        chosen: &Chosen,
        written: u64,
    ) {
        let Chosen { place, way, found, .. } = *chosen;
        let me = self.me;
        let step = self.recorder.emit.n_steps - 1;
        let is_store = ask.access == Access::Store;
        if way.is_load {
            let (stores, at, _) = self.memory.weak.parts(place);
            stores.load(at, me, atomic.order, way, &mut self.memory.detect.causality);
        } else if !is_store {
            let (stores, at, _) = self.memory.weak.parts(place);
            stores.receive(at, me, atomic.order, way, &mut self.memory.detect.causality);
        }
        self.inspect_weakly(touch, object, atomic, found);
        let new = Reading { value: written, step };
        let (stores, at, _) = self.memory.weak.parts(place);
        let causality = &mut self.memory.detect.causality;
        if is_store {
            stores.store(at, me, atomic.order, way, new, causality);
            if !chosen.is_hidden {
                causality.forget_wakes(object);
            }
        } else if !way.is_load {
            stores.update(at, me, atomic.order, way, new, causality);
        }
        self.set_mine();
    }
}
