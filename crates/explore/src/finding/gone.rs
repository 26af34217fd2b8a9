//! Where that went away which a thread uses all the same; heap blocks that are used as they must not be.

use raddle_model::{
    Access, End, Event, FreedMemory, HeapError, Misuse, ObjectId, OpKind, Place, ThreadId,
};
use raddle_trace::{Region, Trace};

use super::{
    names::Names,
    program::{first_own, reported},
};

/// The free of the memory that the end is about, if it is known.
pub(super) fn freed(trace: &Trace, names: &mut Names<'_>) -> Option<Box<FreedMemory>> {
    let freed = trace.freed?;
    let stack = names.stack(freed.stack);
    let object = trace.objects.get(trace.end_object.idx()).copied().unwrap_or_default();
    let mut location = names.location(object, 0, 1);
    if let Some(name) = whole_block(trace, names) {
        location.name = name;
    }
    Some(Box::new(FreedMemory {
        free: Access {
            thread: freed.thread,
            kind: OpKind::Free,
            size: 0,
            step: freed.step,
            place: first_own(&stack),
            holds: Vec::new(),
            stack,
        },
        location,
    }))
}

/// How a heap block is used that must not be used so, and which it is.
pub(super) fn heap_error(trace: &Trace, names: &mut Names<'_>) -> Option<Box<HeapError>> {
    let fault = trace.heap_fault?;
    let object = trace.objects.get(trace.end_object.idx()).copied().unwrap_or_default();
    let mut location = names.location(object, 0, 1);
    if let Some(name) = whole_block(trace, names) {
        location.name = name;
    }
    Some(Box::new(HeapError { fault, location }))
}

/// The name of the block that an end is about which is about all of it, not about its first element or field.
pub(super) fn whole_block(trace: &Trace, names: &mut Names<'_>) -> Option<String> {
    let is_whole = trace.end == Some(End::Misuse(Misuse::DoubleFree)) || trace.heap_fault.is_some();
    let object = trace.objects.get(trace.end_object.idx()).filter(|_| is_whole)?;
    names.block_name(object.region)
}

/// Who had freed or destroyed it, and where, if the trace has it.
pub(super) fn gone(
    trace: &Trace,
    misuse: Misuse,
    freed: Option<&FreedMemory>,
    names: &mut Names<'_>,
) -> Option<(ThreadId, OpKind, Place)> {
    if let Some(FreedMemory { free, .. }) = freed {
        return Some((free.thread, OpKind::Free, reported(&free.place)));
    }
    let kind = match misuse {
        Misuse::UseDestroyed => OpKind::Destroy,
        Misuse::UseAfterFree | Misuse::DoubleFree => OpKind::Free,
        _ => return None,
    };
    let block = block(trace, trace.end_object);
    let is_it = |it: &&Event| {
        let is_same = it.object == trace.end_object;
        it.kind == kind && (is_same || (block.is_some() && block == self::block(trace, it.object)))
    };
    let event = trace.events.iter().rfind(is_it)?;
    Some((event.thread, kind, reported(&names.place(event.site))))
}

/// The heap block that an object is in: where it was allocated, and which one of those.
fn block(trace: &Trace, object: ObjectId) -> Option<(u32, u32)> {
    match trace.objects.get(object.idx())?.region {
        Region::Heap { site, ordinal, .. } => Some((site.0, ordinal)),
        _ => None,
    }
}
