//! Executions that begin with a function of the program (`check`): how one process serves many of them, and
//! processes that only find out whether that can be.

use std::sync::atomic::Ordering::Relaxed;

use raddle_model::{Handlers, Points};
use raddle_trace::Header;

use super::{begin_execution, read_plan};
use crate::{
    begin::check,
    control::Control,
    process::launcher::{answer, begin_summary, count, linger, reset_streams},
};

/// Executions begin with a function, and this is one of them: its plan becomes the chooser.
pub(crate) fn begin_at_function(control: &mut Control) {
    let header = control.header;
    // SAFETY: the header and the block's entries are mapped for as long as the process lives.
    let (entry, plan_number) = unsafe {
        let idx = (*header).live.n_done.load(Relaxed) as usize;
        (*control.segment.entries().add(idx), (*header).request.plan_number)
    };
    if control.process.plan_number != plan_number {
        read_plan(control);
    }
    control.expose_known();
    begin_execution(control, &entry);
    control.set_mine();
    control.watch_stack();
}

/// An execution that began with a function has ended well, and said so: counts it. Is there another one for
/// this process? It waits for the next block if it must.
pub(crate) fn next_execution(control: &Control, resets_streams: bool, may_linger: bool) -> bool {
    // SAFETY: the thread that runs is inside a hook; no execution runs.
    unsafe {
        let header = control.header;
        let is_last = (*header).live.n_done.load(Relaxed) + 1 >= u64::from((*header).live.n_block);
        if !control.may_go_back() {
            return false;
        }
        count(header, &control.segment);
        if is_last {
            (*header).live.child.store(0, Relaxed);
            answer(header);
            if !may_linger {
                return false;
            }
            linger(header);
        } else {
            begin_summary(header);
            if resets_streams {
                reset_streams();
            }
        }
        true
    }
}

impl Control {
    /// What comes before the function is always the same, whatever the plan: nobody looks for anything in it.
    pub(crate) fn prepare_for_function(&mut self) {
        self.scheduler.chooser = check::baseline();
        self.recorder.options = std::ptr::null_mut();
        self.set_shared(Vec::new());
        self.scheduler.points = Points::Visible;
        self.scheduler.machine.may_wake_spuriously = false;
        self.scheduler.machine.may_reorder = false;
        self.process.signals.handlers = Handlers::Nested;
        // What the plan says comes into force with the function.
        self.process.plan_number = u32::MAX;
        self.forget_detection();
    }

    /// Can this process run another execution?
    fn may_go_back(&self) -> bool {
        // SAFETY: the header is mapped for as long as the process lives.
        self.scheduler.has_fibers
            && unsafe { (*self.header).may_be_rewound() }
            && !self.process.is_copy
    }
}

/// What processes of a block have told, beside summaries.
pub(super) struct FunctionEnd {
    n_races: u32,
    n_sightings: u32,
    n_pairs: u32,
    n_shared_found: u32,
    n_block: u32,
    n_briefs: u32,
    n_brief_words: u32,
}

impl FunctionEnd {
    pub(super) fn of(header: *const Header) -> FunctionEnd {
        // SAFETY: the header is mapped; no execution runs.
        unsafe {
            FunctionEnd {
                n_races: (*header).result.n_races,
                n_sightings: (*header).result.n_sightings,
                n_pairs: (*header).result.n_pairs,
                n_shared_found: (*header).result.n_shared_found,
                n_block: (*header).live.n_block,
                n_briefs: (*header).result.n_briefs,
                n_brief_words: (*header).result.n_brief_words,
            }
        }
    }
}

/// What came before a process's first execution has told nothing.
pub(crate) fn forget_told(header: *mut Header) {
    // SAFETY: the header is mapped; no execution runs.
    unsafe {
        (*header).result.n_pairs = (*header).live.n_pairs_before;
        (*header).result.n_shared_found = (*header).live.n_shared_before;
    }
}

/// Was what the last process ran no execution? Then all is as before, but for notes.
pub(super) fn take_void(header: *mut Header, told: &FunctionEnd) -> bool {
    // SAFETY: the header is mapped; no execution runs.
    unsafe {
        if (*header).live.is_void == 0 {
            return false;
        }
        (*header).live.is_void = 0;
        (*header).result.n_races = told.n_races.min((*header).result.n_races);
        (*header).result.n_sightings = told.n_sightings.min((*header).result.n_sightings);
        (*header).result.n_pairs = told.n_pairs.min((*header).result.n_pairs);
        (*header).result.n_shared_found = told.n_shared_found.min((*header).result.n_shared_found);
        (*header).live.n_block = told.n_block;
        (*header).result.n_briefs = told.n_briefs;
        (*header).result.n_brief_words = told.n_brief_words;
    }
    begin_summary(header);
    reset_streams();
    true
}
