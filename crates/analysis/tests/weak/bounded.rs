//! What is kept of a location does not grow.

use raddle_analysis::hb::{Access, Causality, Place, Reading, Stores};
use raddle_model::{MemoryModel, MemoryOrder, ObjectId, ThreadId};

/// Two threads store and load, ten million times, and none knows what the other does.
#[test]
fn stores_that_nobody_can_read_are_dropped() {
    let (mut causality, mut place) = (Causality::new(), Place::new(0));
    let mut stores = Stores::new(MemoryModel::C11);
    causality.spawn(ThreadId(0), ThreadId(1), ObjectId(1));
    let mut ways = Vec::new();
    for step in 0..10_000_000_u64 {
        let thread = ThreadId((step / 3 % 2) as u32);
        let order = if step % 5 == 0 { MemoryOrder::Release } else { MemoryOrder::Relaxed };
        let access = if step % 3 == 0 { Access::Load } else { Access::Store };
        let order = if access == Access::Load { MemoryOrder::Relaxed } else { order };
        stores.ways(&place, thread, access, order, &causality, &mut ways);
        let way = ways[step as usize * 7 % ways.len()];
        match access {
            Access::Load => {
                stores.load(&mut place, thread, order, way, &mut causality);
            }
            _ => stores.store(
                &mut place,
                thread,
                order,
                way,
                Reading { value: step, step },
                &mut causality,
            ),
        }
        if step % 1000 == 0 {
            stores.fence(thread, MemoryOrder::SeqCst, &mut causality);
        }
        assert!(place.n_kept() <= 32);
    }
}
