//! What could not be controlled, told to the launcher.

use std::slice;

use raddle_model::{Escape, SiteId};
use raddle_trace::NoteEntry;

use crate::control::Control;

impl Control {
    /// Says what could not be controlled, once for each place.
    pub(crate) fn note(&mut self, what: Escape, site: SiteId) {
        let n_max = self.segment.caps().notes;
        let place = self.recorder.emit.site_entry(site);
        // SAFETY: the header is mapped for as long as the process lives; between its blocks nobody else looks at results.
        let result = unsafe { &mut (*self.header).result };
        result.summary.n_uncontrolled += 1;
        let n_notes = result.n_notes.min(n_max);
        // SAFETY: the area has room for so many, of plain integers.
        let notes = unsafe { slice::from_raw_parts_mut(self.segment.notes(), n_max as usize) };
        let (known, free) = notes.split_at_mut(n_notes as usize);
        let is_same = |it: &&mut NoteEntry| it.frames[0] == place && it.what == what as u32;
        if let Some(it) = known.iter_mut().find(is_same) {
            it.count += 1;
            return;
        }
        let Some(it) = free.first_mut() else { return };
        (it.what, it.count, it.n_frames) = (what as u32, 1, 1);
        it.frames[0] = place;
        // They get no numbers: a note is new in one execution, and known in the next.
        for (frame, pc) in it.frames[1..].iter_mut().zip(self.hot.stack.callers()) {
            *frame = self.recorder.modules.site_entry(pc);
            it.n_frames += 1;
        }
        result.n_notes = n_notes + 1;
    }
}
