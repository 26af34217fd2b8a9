//! One step in words: `lock left`, `read balance → 10`, `write balance ← 7`, `wait ready: timed out`.

use raddle_model::{Flags, ObjectId, OpKind, OpResult, Step, WaitFor};

use crate::{
    layout::style::{Style, width},
    words::names::Names,
};

/// A space and enough of an object's name to recognise it.
const NAME_MIN: usize = 3;

/// A step in words, in two parts: where there is no room, the first is cut.
pub(crate) struct Words {
    /// `read balance`.
    pub(crate) op: String,
    /// ` → 10`, `: busy`, or empty.
    pub(crate) result: String,
}

impl Words {
    /// Columns that it takes.
    pub(crate) fn width(&self) -> usize {
        width(&self.op) + width(&self.result)
    }

    /// In exactly so many columns. A value whose object has no room says nothing.
    pub(crate) fn fit(&self, columns: usize, style: &Style) -> String {
        let verb = self.op.find(' ').unwrap_or_default();
        let least = width(&self.op).min(verb + NAME_MIN);
        let is_value = self.result.starts_with(&format!(" {} ", style.arrow_left()))
            || self.result.starts_with(&format!(" {} ", style.arrow_right()));
        if is_value && verb > 0 && columns < least + width(&self.result) {
            return style.fit(&self.op, columns);
        }
        let room = columns.saturating_sub(width(&self.result));
        style.fit(&format!("{}{}", style.cut(&self.op, room), self.result), columns)
    }
}

/// What a step did.
pub(crate) fn words(step: &Step, names: &mut Names<'_>, style: &Style) -> Words {
    let op = match step.kind {
        OpKind::Spawn => format!("spawn T{}", step.value),
        OpKind::Start | OpKind::Finish => step.kind.verb().to_owned(),
        _ => op(step.kind, step.object, names, style),
    };
    let mut result = String::new();
    let is_written = step.kind == OpKind::AtomicStore || Flags(step.flags).has(Flags::WRITTEN);
    if is_written || has_value(step.kind) {
        let arrow = if is_written { style.arrow_left() } else { style.arrow_right() };
        let value = names.value(step.object, step.value, style);
        result = value.map(|it| format!(" {arrow} {it}")).unwrap_or_default();
    }
    if let Some(ending) = ending(step) {
        result.push_str(": ");
        result.push_str(ending);
    }
    Words { op, result }
}

/// What a step did, where it is not known what it read or wrote.
pub(crate) fn without_value(step: &Step, names: &mut Names<'_>, style: &Style) -> Words {
    Words { op: op(step.kind, step.object, names, style), result: String::new() }
}

/// What a thread waits to do when the execution ends.
pub(crate) fn stuck(kind: OpKind, wait: &WaitFor, names: &mut Names<'_>, style: &Style) -> Words {
    let kind = match kind {
        // It was woken, and somebody holds the mutex.
        OpKind::CondWake if !wait.holders.is_empty() => OpKind::Lock,
        OpKind::CondWake => OpKind::CondWait,
        OpKind::FutexWake => OpKind::FutexWait,
        OpKind::BarrierLeave => OpKind::BarrierArrive,
        kind => kind,
    };
    Words { op: op(kind, wait.object_id, names, style), result: String::new() }
}

fn op(kind: OpKind, object: ObjectId, names: &mut Names<'_>, style: &Style) -> String {
    match names.short(object).as_str() {
        "" => kind.verb().to_owned(),
        // A block is freed as a whole.
        object if kind == OpKind::Free => {
            let block = object.split(['.', '[']).next().unwrap_or_default();
            format!("{} {}", kind.word(), style.tame(block))
        }
        object => format!("{} {}", kind.word(), style.tame(object)),
    }
}

/// Does the event's value say what was read?
const fn has_value(kind: OpKind) -> bool {
    matches!(kind, OpKind::Read | OpKind::AtomicLoad | OpKind::AtomicRmw | OpKind::AtomicCas)
}

fn ending(step: &Step) -> Option<&'static str> {
    let flags = Flags(step.flags);
    Some(match step.result {
        OpResult::Busy if step.event().passed().is_some() => "busy, stale",
        OpResult::Busy => "busy",
        OpResult::TimedOut => "timed out",
        OpResult::WouldDeadlock => "would deadlock",
        OpResult::OwnerDied => "its owner died",
        OpResult::NotRecoverable => "not recoverable",
        OpResult::NotOwner => "not the owner",
        OpResult::Overflow => "overflow",
        OpResult::Interrupted => "interrupted",
        _ if flags.has(Flags::TIMED_OUT) => "timed out",
        _ if flags.has(Flags::SPURIOUS) => "spurious",
        _ if step.event().passed().is_some() => match step.kind {
            OpKind::AtomicStore => "overtaken",
            _ => "stale",
        },
        OpResult::Done | OpResult::Chosen | OpResult::Misused => return None,
    })
}

/// What a blocked thread is doing to its object: `waits for`, `waits to be woken at`.
pub(crate) const fn waiting(kind: OpKind, wait: &WaitFor) -> &'static str {
    match kind {
        _ if !wait.holders.is_empty() => "waits for",
        OpKind::Join => "waits for the end of",
        OpKind::CondWait | OpKind::CondWake => "waits to be woken at",
        OpKind::FutexWait | OpKind::FutexWake => "waits to be woken at",
        OpKind::BarrierArrive | OpKind::BarrierLeave => "waits for the others at",
        _ => "waits for",
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use crate::layout::style::Style;

    #[test]
    fn a_value_gives_way_to_the_name_that_it_is_of() {
        let style = Style { unicode: true, ..Style::default() };
        let fit = |op: &str, result: &str, columns| {
            Words { op: op.into(), result: result.into() }.fit(columns, &style)
        };
        assert_eq!(fit("read function", " → 0x…fc0", 22), "read function → 0x…fc0");
        assert_eq!(fit("read function", " → 0x…fc0", 14), "read function ");
        assert_eq!(fit("read items", " → 1", 12), "read it… → 1");
        assert_eq!(fit("read function", " → 0", 14), "read func… → 0");
        assert_eq!(fit("wait a_long_name", ": timed out", 16), "wait…: timed out");
    }
}
