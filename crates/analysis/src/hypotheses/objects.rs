//! Places that serve many objects, a lock's wrapper or a container's function: held back for one of these only.
//!
//! Who waits at such a place for whatever object it is about mostly waits at the wrong one. What the objects are called is
//! the same in every execution; blocks that were allocated at one place share a name, and count as one.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use raddle_model::{ObjectId, PlaceOrder, Side};
use raddle_trace::Trace;

use super::{Visits, Weight};

/// Objects by place, and what conflicts there.
#[derive(Default)]
pub(super) struct Objects {
    /// By object: its name, or 0.
    names: Vec<u64>,
    /// By place: the names of what it was about.
    served: BTreeMap<u32, BTreeSet<u64>>,
    /// How often a place was come to for an object.
    visits: BTreeMap<(u32, u64), Visits>,
    late: BTreeMap<(u32, u64), Weight>,
    orders: BTreeMap<(u32, u32, u64), Weight>,
}

impl Objects {
    pub(super) fn of(trace: &Trace) -> Objects {
        let names = trace.objects.iter().map(|it| it.name).collect();
        Objects { names, ..Objects::default() }
    }

    /// A place is come to for an object.
    pub(super) fn visit(&mut self, key: u32, object: ObjectId) {
        let Some(name) = self.name(object) else { return };
        self.served.entry(key).or_default().insert(name);
        let first = self.visits.len();
        let visits = self.visits.entry((key, name)).or_insert(Visits { n_times: 0, first });
        visits.n_times += 1;
    }

    /// Two places whose order matters, each for an object.
    pub(super) fn meet(&mut self, sides: [(u32, ObjectId); 2], weight: Weight) {
        let [one, other] = sides.map(|(key, object)| self.name(object).map(|it| (key, it)));
        for side in [one, other].into_iter().flatten() {
            self.late.entry(side).or_default().add(weight);
        }
        if let (Some((a, name)), Some((b, other))) = (one, other)
            && name == other
            && a != b
        {
            for order in [(a, b, name), (b, a, name)] {
                self.orders.entry(order).or_default().add(weight);
            }
        }
    }

    /// What is worth a try, where a place serves more than one: places that are left to last before orders of two.
    pub(super) fn ranked(&self) -> Vec<[PlaceOrder; 2]> {
        let serves_many = |key: u32| self.served.get(&key).is_some_and(|it| it.len() > 1);
        let visits = |key, name| self.visits.get(&(key, name)).copied().unwrap_or_default();
        let mut late: Vec<_> = self.late.iter().filter(|it| serves_many(it.0.0)).collect();
        late.sort_by_key(|((key, name), weight)| (Reverse(**weight), visits(*key, *name)));
        let is_one_of_many = |it: &(&(u32, u32, u64), &Weight)| serves_many(it.0.1);
        let mut orders: Vec<_> = self.orders.iter().filter(is_one_of_many).collect();
        orders.sort_by_key(|((first, second, name), weight)| {
            (Reverse(**weight), visits(*second, *name), visits(*first, *name))
        });
        let wait = |((key, name), _): (&(u32, u64), &Weight)| PlaceOrder {
            first: 0,
            second: Side::key_on(*key, *name),
        };
        let order = |((first, second, name), _): (&(u32, u32, u64), &Weight)| PlaceOrder {
            first: Side::key_on(*first, *name),
            second: Side::key_on(*second, *name),
        };
        let late = late.into_iter().map(wait);
        late.chain(orders.into_iter().map(order)).map(|it| [it, PlaceOrder::NONE]).collect()
    }

    fn name(&self, object: ObjectId) -> Option<u64> {
        self.names.get(object.idx()).copied().filter(|it| *it != 0)
    }
}
