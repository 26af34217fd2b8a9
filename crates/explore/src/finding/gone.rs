//! Where that went away which a thread uses all the same.

use raddle_model::{Event, Misuse, ObjectId, OpKind};
use raddle_trace::{Region, Trace};

use super::{names::Names, program::place_text};

/// ", which T0 freed at x.c:36", if the trace has it.
pub(super) fn text(trace: &Trace, misuse: Misuse, names: &mut Names<'_>) -> Option<String> {
    let (kind, verb) = match misuse {
        Misuse::UseDestroyed => (OpKind::Destroy, "destroyed"),
        Misuse::UseAfterFree | Misuse::DoubleFree => (OpKind::Free, "freed"),
        _ => return None,
    };
    let block = block(trace, trace.end_object);
    let is_it = |it: &&Event| {
        let is_same = it.object == trace.end_object;
        it.kind == kind && (is_same || (block.is_some() && block == self::block(trace, it.object)))
    };
    let event = trace.events.iter().rfind(is_it)?;
    let at = match place_text(&names.place(event.site)).as_str() {
        "" => String::new(),
        at => format!(" at {at}"),
    };
    Some(format!(", which T{} {verb}{at}", event.thread.0))
}

/// The heap block that an object is in: where it was allocated, and which one of those.
fn block(trace: &Trace, object: ObjectId) -> Option<(u32, u32)> {
    match trace.objects.get(object.idx())?.region {
        Region::Heap { site, ordinal, .. } => Some((site.0, ordinal)),
        _ => None,
    }
}
