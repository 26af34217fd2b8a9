//! Tasks of async runtimes: what they are called, where they wait, in which order they were polled.

use raddle_model::{Home, NamedObject, OpKind, Place, Step, TaskState, ThreadId};

use super::{act, place};

/// "the task spawned at queue.rs:40".
pub(crate) fn name(task: &NamedObject) -> String {
    let Home::Task { stack, .. } = &task.location.home else { return task.name() };
    let at = stack.first().map(place::short).filter(|it| !it.is_empty());
    let counted = match task.n_before {
        0 => String::new(),
        n => format!(" ({})", n + 1),
    };
    at.map_or_else(|| format!("a task{counted}"), |at| format!("the task spawned at {at}{counted}"))
}

/// Where a task waits, if that is known.
pub(crate) fn awaits(task: &NamedObject) -> Option<&Place> {
    match &task.location.home {
        Home::Task { state: TaskState::Waiting, awaits, .. } if **awaits != Place::default() => {
            Some(awaits)
        }
        _ => None,
    }
}

/// "the task spawned at queue.rs:40 waits at queue.rs:44, and nothing is left to wake it".
pub(crate) fn forlorn(tasks: &[NamedObject]) -> String {
    const SHOWN: usize = 3;
    let one = |it: &NamedObject| {
        let at = awaits(it).map(place::short).filter(|it| !it.is_empty());
        let at = at.map(|it| format!(" at {it}")).unwrap_or_default();
        format!("{} waits{at}", name(it))
    };
    let mut all: Vec<String> = tasks.iter().take(SHOWN).map(one).collect();
    if tasks.len() > SHOWN {
        all.push(format!("{} more wait", tasks.len() - SHOWN));
    }
    let whom = if tasks.len() == 1 { "it" } else { "them" };
    format!("{}, and nothing is left to wake {whom}", act::listed(&all))
}

/// "T1 polls the task spawned at queue.rs:40", when the execution ends.
pub(crate) fn polled(objects: &[NamedObject], thread: ThreadId) -> Option<String> {
    let is_it = |it: &&NamedObject| match &it.location.home {
        Home::Task { thread: by, .. } => *by == Some(thread),
        _ => false,
    };
    let task = objects.iter().find(is_it)?;
    Some(format!("T{} polls {}", thread.0, name(task)))
}

/// "T1 polls the task spawned at queue.rs:44 before the one spawned at queue.rs:40, which was ready first".
pub(crate) fn orders(steps: &[Step], objects: &[NamedObject]) -> Option<String> {
    const SHOWN: usize = 2;
    let task = |step: &Step| objects.get(step.object.idx()).filter(|_| !step.object.is_none());
    let polls: Vec<(&Step, &NamedObject)> = steps
        .iter()
        .filter(|it| it.kind == OpKind::Task)
        .filter_map(|it| Some((it, task(it)?)))
        .collect();
    let is_put_off = |step: &Step| step.event().choice().is_some_and(|it| it > 0);
    let mut all: Vec<String> = Vec::new();
    for (idx, (step, late)) in polls.iter().enumerate().filter(|(_, it)| is_put_off(it.0)) {
        let mut rest = polls[idx + 1..].iter().take_while(|it| it.0.object != step.object);
        let Some((_, first)) = rest.find(|it| !is_put_off(it.0)) else { continue };
        let text = format!(
            "T{} polls {} before {}, which was ready first",
            step.thread.0,
            name(first),
            name(late)
        );
        if !all.contains(&text) {
            all.push(text);
        }
    }
    let n_more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    let more = if n_more > 0 { format!("; {n_more} more such orders") } else { String::new() };
    (!all.is_empty()).then(|| format!("{}{more}", all.join("; ")))
}

#[cfg(test)]
mod tests {
    use raddle_model::{ObjectClass, ObjectId, TaskState};

    use super::*;

    fn at(line: u32) -> Place {
        Place { file: "src/queue.rs".into(), line, ..Place::default() }
    }

    fn task(line: u32, state: TaskState, awaits: Place) -> NamedObject {
        let stack = vec![at(line)];
        let (awaits, thread) = (Box::new(awaits), Some(ThreadId(1)));
        let home = Home::Task { nth: 1, stack, state, awaits, thread };
        NamedObject::at(ObjectClass::Task, home)
    }

    #[test]
    fn tasks_that_wait_are_named_with_their_places() {
        let one = task(40, TaskState::Waiting, at(44));
        assert_eq!(
            forlorn(std::slice::from_ref(&one)),
            "the task spawned at queue.rs:40 waits at queue.rs:44, and nothing is left to wake it"
        );
        let unknown = NamedObject { n_before: 1, ..task(40, TaskState::Waiting, Place::default()) };
        assert_eq!(
            forlorn(&[one, unknown]),
            "the task spawned at queue.rs:40 waits at queue.rs:44 and the task spawned at queue.rs:40 (2) waits, and nothing \
             is left to wake them"
        );
    }

    #[test]
    fn orders_other_than_the_queues_are_told() {
        let poll = |object: u32, choice: u32| {
            let mut step = Step { kind: OpKind::Task, object: ObjectId(object), ..Step::default() };
            step.detail = choice + 1;
            step
        };
        let objects = [
            NamedObject::default(),
            task(40, TaskState::Finished, Place::default()),
            task(44, TaskState::Polled, Place::default()),
        ];
        assert_eq!(
            orders(&[poll(1, 1), poll(2, 0), poll(1, 0)], &objects).as_deref(),
            Some(
                "T0 polls the task spawned at queue.rs:44 before the task spawned at queue.rs:40, which was ready first"
            )
        );
        assert_eq!(orders(&[poll(1, 0), poll(2, 0)], &objects), None);
        assert_eq!(
            polled(&objects, ThreadId(1)).as_deref(),
            Some("T1 polls the task spawned at queue.rs:40")
        );
    }
}
