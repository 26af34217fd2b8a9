//! No picker allocates from step to step.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use crate::{
    PICKERS,
    toy::{How, Running, Toy, on, write},
};

struct Counting;

thread_local! {
    static N_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator that counts")]
// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending has no count any more.
        let _ = N_ALLOCATIONS.try_with(|it| it.set(it.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// 40 threads on 50 objects. In the first steps every thread and object appears; after that, nothing.
#[test]
fn no_picker_allocates_from_step_to_step() {
    let mut toy = Toy::default();
    for thread in 0..40 {
        let read = on(raddle_model::OpKind::Read, thread % 50 + 1);
        toy.code
            .push((0..300).map(|it| if it % 3 == 0 { write(it % 50 + 1) } else { read }).collect());
    }
    let profile = toy.profile();
    for picker in PICKERS {
        let how = How { picker, seed: 7, profile: &profile };
        let mut chooser = how.chooser();
        let mut running = Running::new(&toy);
        for _ in 0..8_000 {
            running.step(&mut chooser);
        }
        let before = N_ALLOCATIONS.with(Cell::get);
        for _ in 0..2_000 {
            running.step(&mut chooser);
        }
        let n_allocations = N_ALLOCATIONS.with(Cell::get) - before;
        assert_eq!(n_allocations, 0, "{picker:?}");
    }
}
