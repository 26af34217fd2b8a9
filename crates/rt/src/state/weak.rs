//! Atomic locations under a weak memory model, by address.

use std::collections::{BTreeMap, BTreeSet};

use raddle_analysis::hb::{Place, Stores, Way};
use raddle_model::{MemoryModel, ObjectId};

/// What atomics may read: the rules are `raddle_analysis::hb::Stores`'.
#[derive(Debug)]
pub(crate) struct Weak {
    /// Is memory weaker than sequentially consistent?
    pub(crate) is_on: bool,
    pub(crate) stores: Stores,
    places: Vec<Spot>,
    /// Numbers of those that are used no more.
    free: Vec<u32>,
    /// The numbers of those that are used.
    by_address: BTreeMap<usize, u32>,
    /// By object: the one of them that was looked for last.
    of_object: Vec<u32>,
    /// Words (of eight bytes) whose parts are atomics of several sizes: sequentially consistent.
    mixed: BTreeSet<usize>,
    /// To work in.
    pub(crate) ways: Vec<Way>,
}

/// An atomic location.
#[derive(Debug, Default)]
struct Spot {
    address: usize,
    /// 0: it is used no more.
    size: usize,
    place: Place,
}

/// Where an op is to be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// At this place.
    Place(u32),
    /// In memory, which has become a mixed word just now.
    NowMixed,
    /// In memory.
    Memory,
}

impl Weak {
    pub(crate) const fn new() -> Weak {
        Weak {
            is_on: false,
            stores: Stores::new(MemoryModel::Sc),
            places: Vec::new(),
            free: Vec::new(),
            by_address: BTreeMap::new(),
            of_object: Vec::new(),
            mixed: BTreeSet::new(),
            ways: Vec::new(),
        }
    }

    /// Begins another execution.
    pub(crate) fn restart(&mut self, model: MemoryModel) {
        self.is_on = !model.is_sc();
        self.stores.restart(model);
        self.of_object.clear();
        self.mixed.clear();
        while let Some((_, number)) = self.by_address.pop_first() {
            self.places[number as usize].size = 0;
            self.free.push(number);
        }
    }

    /// The place of an atomic, which holds `value` if there was none.
    #[inline]
    pub(crate) fn find(
        &mut self,
        object: ObjectId,
        address: usize,
        size: usize,
        value: u64,
    ) -> Found {
        if let Some(number) = self.of_object.get(object.idx()) {
            let spot = &self.places[*number as usize];
            if spot.address == address && spot.size == size {
                return Found::Place(*number);
            }
        }
        self.look_up(object, address, size, value)
    }

    #[inline(never)]
    fn look_up(&mut self, object: ObjectId, address: usize, size: usize, value: u64) -> Found {
        if size > 8 || self.mixed.contains(&(address / 8)) {
            return Found::Memory;
        }
        let mut known = None;
        for (at, number) in self.by_address.range(address.saturating_sub(7)..address + size) {
            let spot = &self.places[*number as usize];
            if *at == address && spot.size == size {
                known = Some(*number);
            } else if at + spot.size > address {
                self.forget(address & !7, 8);
                self.mixed.insert(address / 8);
                return Found::NowMixed;
            }
        }
        let number = known.unwrap_or_else(|| self.add(address, size, value));
        if self.of_object.len() <= object.idx() {
            self.of_object.resize(object.idx() + 1, number);
        }
        self.of_object[object.idx()] = number;
        Found::Place(number)
    }

    fn add(&mut self, address: usize, size: usize, value: u64) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(Spot::default());
            self.places.len() as u32 - 1
        });
        let spot = &mut self.places[number as usize];
        (spot.address, spot.size) = (address, size);
        spot.place.reset(value);
        self.by_address.insert(address, number);
        number
    }

    #[inline]
    pub(crate) fn place(&mut self, number: u32) -> &mut Place {
        &mut self.places[number as usize].place
    }

    /// The rules, a place and room for ways.
    #[inline]
    pub(crate) fn parts(&mut self, number: u32) -> (&mut Stores, &mut Place, &mut Vec<Way>) {
        (&mut self.stores, &mut self.places[number as usize].place, &mut self.ways)
    }

    /// Memory is written otherwise, or is given back: what was stored there by atomics is gone, and everybody knows.
    pub(crate) fn forget(&mut self, address: usize, size: usize) {
        if !self.is_on {
            return;
        }
        let mut from = address.saturating_sub(7);
        while let Some((at, number)) =
            self.by_address.range(from..address + size).next().map(|it| (*it.0, *it.1))
        {
            from = at + 1;
            let spot = &mut self.places[number as usize];
            if at + spot.size > address {
                spot.size = 0;
                self.by_address.remove(&at);
                self.free.push(number);
            }
        }
    }
}
