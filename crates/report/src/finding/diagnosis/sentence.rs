//! The first sentence: what happened to which data, by whom.

use raddle_model::{
    Access, Blocked, Certainty, Fault, Finding, Home, Kind, Miss, Misuse, Misused, NamedObject,
    ObjectId, OpKind, ThreadId, signal_name,
};

use super::{
    aba::aba,
    mark::{Mark, Moment},
    round, stale, thread,
};
use crate::{
    finding::evidence,
    layout::style::{Style, width},
    words::{
        act::{self, listed, noun, short, verb},
        fault,
    },
};

/// Names of threads are left out of a longer sentence.
const SENTENCE_MAX: usize = 100;
/// A message of the program that is longer is left to the line that it is about.
const SAID_MAX: usize = 72;

/// The sentence, without `error[id]: `.
pub(super) fn sentence(finding: &Finding, marks: &[Mark], style: &Style) -> String {
    let title = title(finding);
    let told = match finding.kind {
        Kind::Race | Kind::Atomicity => unordered(finding),
        Kind::Deadlock if finding.evidence.is_some() => {
            evidence::headline(finding).map(|it| (it, true))
        }
        Kind::Deadlock => {
            let forlorn = || Some(forlorn(finding)? + &because(finding, marks));
            cycle(finding).or_else(forlorn).map(|it| (it, false))
        }
        Kind::Misuse => misuse(finding, marks).map(|it| (it, true)),
        Kind::Livelock => round::sentence(finding).map(|it| (it, false)),
        _ => {
            let aba = aba(finding, marks).map(|it| it.sentence(finding));
            let stale = aba.or_else(|| stale::sentence(finding, style));
            stale.or_else(|| interplay(finding, marks)).map(|it| (it, false))
        }
    };
    let text = match told {
        Some((told, true)) => told,
        Some((told, false)) => format!("{title}: {told}"),
        None => plain(finding, &title, style),
    };
    introduced(finding, &style.tame(&text))
}

/// What the program or the kernel says itself.
fn plain(finding: &Finding, title: &str, style: &Style) -> String {
    let message = fault::line(finding);
    let is_said = title.contains(&message) || message.starts_with(title);
    match message.as_str() {
        "" => title.to_owned(),
        message if is_said && message.starts_with(title) => message.to_owned(),
        _ if is_said => title.to_owned(),
        message => format!("{title}: {}", style.cut(message, 4 * SAID_MAX)),
    }
}

/// "assertion failed", "crash (SIGSEGV)", "exit code 3".
fn title(finding: &Finding) -> String {
    match &finding.fault {
        Fault::Signal { number, .. } => format!("crash ({})", signal_name(*number)),
        Fault::ExitCode(code) => format!("exit code {code}"),
        _ => finding.kind.title().to_owned(),
    }
}

/// With the names of its threads, where they come first, if there is room.
fn introduced(finding: &Finding, text: &str) -> String {
    let mut long = text.to_owned();
    for state in &finding.threads {
        let (number, named) = (short(state.thread), thread(finding, state.thread));
        let is_number = |at: &usize| {
            let after = long[at + number.len()..].chars().next();
            let before = long[..*at].chars().next_back();
            !after.is_some_and(|it| {
                it.is_alphanumeric() || it == ' ' && long[at + number.len()..].starts_with(" (")
            }) && !before.is_some_and(|it| it.is_alphanumeric() || it == '`')
                && !long[at + number.len()..].starts_with("'s")
        };
        let at = long.match_indices(&number).map(|it| it.0).find(is_number);
        if let Some(at) = at {
            long.replace_range(at..at + number.len(), &named);
        }
    }
    if width(&long) <= SENTENCE_MAX { long } else { text.to_owned() }
}

/// "data race on `hits`: T1's write and T2's read are not ordered".
fn unordered(finding: &Finding) -> Option<(String, bool)> {
    let head = evidence::headline(finding)?;
    let accesses = &finding.evidence.as_deref()?.accesses;
    let who = |it: &Access| format!("T{}'s {}", it.thread.0, noun(it.kind));
    let text = match accesses.as_slice() {
        [first, second] if finding.kind == Kind::Race => {
            let are = if finding.certainty == Certainty::Shown { "are" } else { "may be" };
            format!("{head}: {} and {} {are} unordered", who(first), who(second))
        }
        [first, second] => format!("{head}: {} comes before {}", who(first), who(second)),
        [first, between @ .., last] if !between.is_empty() => {
            let verbs: Vec<String> = between.iter().map(|it| verb(it.kind).to_owned()).collect();
            let other = between[0].thread.0;
            let to = match (noun(first.kind), noun(last.kind)) {
                (one, other) if one == other => format!("T{}'s two {one}s", first.thread.0),
                (_, other) => format!("{} and {other}", who(first)),
            };
            format!("{head}: T{other} {} between {to}", listed(&verbs))
        }
        _ => head,
    };
    Some((text, true))
}

/// "T1 and T2 wait for each other".
fn cycle(finding: &Finding) -> Option<String> {
    let threads: Vec<String> = finding.cycle.iter().map(|it| short(*it)).collect();
    let waits = finding.cycle.iter().filter_map(|thread| {
        finding.threads.iter().find(|it| it.thread == *thread)?.waits_for.as_ref()
    });
    let mut names: Vec<String> = Vec::new();
    for wait in waits.filter(|it| !matches!(it.object.location.home, Home::Thread(_))) {
        let name = act::name(&wait.object);
        if wait.object.own_name().is_some() && !names.contains(&name) {
            names.push(name);
        }
    }
    let locks = match names.as_slice() {
        [] => String::new(),
        names => format!(" ({})", listed(names)),
    };
    Some(match threads.as_slice() {
        [] => return None,
        [alone] => match names.first() {
            Some(name) => format!("{alone} waits for {name}, which it already holds"),
            None => format!("{alone} waits for itself"),
        },
        [_, _] => format!("{} wait for each other{locks}", listed(&threads)),
        _ => format!("{} wait for each other in a cycle{locks}", listed(&threads)),
    })
}

/// "T1 waits on `ready`, but T2's signal came before the wait".
fn forlorn(finding: &Finding) -> Option<String> {
    let Fault::Forlorn(all) = &finding.fault else { return None };
    let is_join = |it: &&Blocked| it.kind == OpKind::Join;
    let waiting: Vec<&Blocked> = match all.iter().any(|it| !is_join(&it)) {
        true => all.iter().filter(|it| !is_join(it)).collect(),
        false => all.iter().collect(),
    };
    let told = fault::told_wait(finding)?;
    let is_like = |it: &&&Blocked| it.kind == told.kind && it.object == told.object;
    let threads: Vec<String> = waiting.iter().filter(is_like).map(|it| short(it.thread)).collect();
    let is_on_condition = |it: &&Blocked| {
        let kinds = [OpKind::CondWait, OpKind::CondWake, OpKind::FutexWait, OpKind::FutexWake];
        kinds.contains(&it.kind) && it.std_wait.is_none() && it.holder.is_none()
    };
    let are_apart = threads.len() < waiting.len() && waiting.iter().all(is_on_condition);
    if told.missed.is_none() && are_apart {
        let each = waiting.iter().map(|it| {
            let name = act::name(&it.object);
            format!("{} waits on {name}", short(it.thread))
        });
        let each: Vec<String> = each.collect();
        return Some(format!("{}, and no thread is left to wake them", listed(&each)));
    }
    let is_one = threads.len() == 1;
    let (who, wait) = (listed(&threads), if is_one { "waits" } else { "wait" });
    let name = act::name(&told.object);
    let on = match told.kind {
        _ if told.std_wait.is_some() => return None,
        OpKind::CondWait | OpKind::CondWake | OpKind::FutexWait | OpKind::FutexWake
            if told.holder.is_none() =>
        {
            format!("{wait} on {name}")
        }
        OpKind::BarrierArrive | OpKind::BarrierLeave => format!("{wait} at {name}"),
        OpKind::SigWait => format!("{wait} for a signal"),
        _ => format!("{wait} for {name}"),
    };
    let why = match (&told.missed, &told.holder) {
        (Some(missed), _) => {
            let what = format!("T{}'s {}", missed.thread.0, noun(missed.kind));
            match missed.why {
                Miss::TooEarly => format!("but {what} came before the wait"),
                Miss::TooLate => format!("but {what} came after the wait had timed out"),
                Miss::Another(other) if missed.kind == OpKind::SemPost => {
                    format!("but {what} was taken by T{}", other.0)
                }
                Miss::Another(other) if threads.contains(&short(other)) => {
                    format!("but {what} woke T{}, which waits again", other.0)
                }
                Miss::Another(other) => format!("but {what} woke T{}", other.0),
            }
        }
        (None, Some((holder, _))) => {
            format!("which T{} holds and will never release", holder.0)
        }
        (None, None) => match told.kind {
            OpKind::BarrierArrive | OpKind::BarrierLeave => {
                "and no further thread will arrive".to_owned()
            }
            OpKind::Lock | OpKind::WriteLock | OpKind::ReadLock => {
                "which no thread will release".to_owned()
            }
            _ => format!("and no thread is left to wake {}", if is_one { "it" } else { "them" }),
        },
    };
    Some(format!("{who} {on}, {why}"))
}

/// ": T4 reads `n_waiting` before T3 updates it": of a wait that no notification came for, what the orderings say about data.
fn because(finding: &Finding, marks: &[Mark]) -> String {
    let told = fault::told_wait(finding);
    if told.is_none_or(|it| it.missed.is_some() || it.holder.is_some() || it.std_wait.is_some()) {
        return String::new();
    }
    let sides: Vec<&Mark> = marks.iter().filter(|it| it.is_access() && it.is_order).collect();
    let why = both_looked(finding, &sides)
        .or_else(|| between(finding, &sides))
        .or_else(|| after(finding, &sides));
    why.map(|it| format!(": {it}")).unwrap_or_default()
}

/// "T2 unlocks `lock`, which T1 holds".
fn misuse(finding: &Finding, marks: &[Mark]) -> Option<String> {
    let Fault::Misuse(it) = &finding.fault else { return None };
    let Misused { thread, misuse, object, block, gone, .. } = &**it;
    let who = thread.map_or_else(|| "a thread".to_owned(), short);
    if let Some(error) = &it.heap {
        let what = match misuse {
            Misuse::HeapUnderflow => "heap buffer underflow",
            Misuse::MismatchedFree => "alloc-dealloc mismatch",
            _ => "heap buffer overflow",
        };
        return Some(format!("{what}: {who} {}", fault::heap(error, &fault::block_name(error))));
    }
    let block = block.as_ref().map(|it| format!("`{it}`"));
    let name = block.unwrap_or_else(|| act::name(object));
    let name = if name.is_empty() { "an object".to_owned() } else { name };
    let gone = gone
        .as_ref()
        .map(|it| (short(it.0), if it.1 == OpKind::Destroy { "destroyed" } else { "freed" }));
    let holder = marks
        .iter()
        .find(|it| Some(it.thread) != *thread && it.kind.is_some_and(OpKind::takes_lock));
    let holder = holder.map(|it| short(it.thread));
    Some(match (misuse, gone, holder) {
        (Misuse::UnlockUnlocked, ..) => format!("{who} unlocks {name}, which no thread holds"),
        (Misuse::UnlockNotOwner, _, Some(holder)) => {
            format!("{who} unlocks {name}, which {holder} holds")
        }
        (Misuse::LockHeldAtFork, _, Some(holder)) => {
            format!("{who} forks while {holder} holds {name}; the child waits for it forever")
        }
        (Misuse::LockHeldAtFork, _, None) => {
            let other = changed_by(finding, marks, *thread)?;
            format!("{who} forks after {other} changed {name}; the child waits for it forever")
        }
        (Misuse::ThreadsLeft, ..) => {
            let left = finding.threads.iter().filter(|it| !it.is_finished);
            let left: Vec<String> =
                left.map(|it| it.thread).filter(|it| Some(*it) != *thread).map(short).collect();
            let are = match left.as_slice() {
                [] => return None,
                [_] => "is",
                _ => "are",
            };
            let left = listed(&left);
            format!("{who} returns from the checked function while {left} {are} still running")
        }
        (Misuse::DestroyHeld, _, Some(holder)) => {
            format!("{who} destroys {name} while {holder} holds it")
        }
        (Misuse::DoubleFree, Some((by, _)), _) => {
            let already = if by == who { "it".to_owned() } else { by };
            format!("double free: {who} frees {name}, which {already} already freed")
        }
        (Misuse::UseAfterFree, Some((by, _)), _) => {
            let by =
                if by == who { "freeing it itself".to_owned() } else { format!("{by} freed it") };
            format!("use after free: {who} uses {name} after {by}")
        }
        (Misuse::BadFree, ..) => format!("bad free: {who} frees {name}, which was not allocated"),
        (Misuse::JoinTwice, ..) => {
            let whom = name.strip_prefix("thread ").unwrap_or(&name);
            format!("{who} joins {whom}, which was joined or detached before")
        }
        (Misuse::UseDestroyed, Some((by, how)), _) => {
            format!("{who} uses {name} after {by} {how} it")
        }
        _ => return None,
    })
}

/// Who else wrote last to what is misused.
fn changed_by(finding: &Finding, marks: &[Mark], thread: Option<ThreadId>) -> Option<String> {
    let Fault::Misuse(misused) = &finding.fault else { return None };
    let is_it = |it: &&Mark| {
        finding.objects.get(it.object.idx()) == Some(&misused.object)
            && it.is_access()
            && it.kind.is_some_and(OpKind::is_write)
            && Some(it.thread) != thread
    };
    marks.iter().rfind(is_it).map(|it| short(it.thread))
}

/// What two threads do to each other's data, by the sides of the orderings. Without orderings nothing was measured: what
/// the failing access found is all that is known.
fn interplay(finding: &Finding, marks: &[Mark]) -> Option<String> {
    let sides: Vec<&Mark> = marks.iter().filter(|it| it.kind.is_some() && it.is_order).collect();
    both_looked(finding, &sides)
        .or_else(|| between(finding, &sides))
        .or_else(|| after(finding, &sides))
        .or_else(|| in_turn(finding, &sides))
        .or_else(|| found(finding, marks))
}

/// "T1 reads `is_closed` after T3 set it to 1": the access that failed, and the last write to its data by another thread.
fn found(finding: &Finding, marks: &[Mark]) -> Option<String> {
    let last = marks.iter().find(|it| it.is_primary && it.is_access())?;
    let is_write = |it: &&Mark| {
        (it.object, it.moment < last.moment) == (last.object, true)
            && it.thread != last.thread
            && it.is_access()
            && it.kind.is_some_and(OpKind::is_write)
    };
    after(finding, &[marks.iter().rev().find(is_write)?, last])
}

/// "T2 cancels T1 before T1 locks `m`": two threads, and what each does, nearest to the failure.
fn in_turn(finding: &Finding, sides: &[&Mark]) -> Option<String> {
    let (idx, second) =
        sides.iter().enumerate().rev().find(|(idx, second)| {
            sides[..*idx].iter().any(|first| first.thread != second.thread)
        })?;
    let first = sides[..idx].iter().rev().find(|it| it.thread != second.thread)?;
    let does = |it: &Mark| {
        let object = finding.objects.get(it.object.idx());
        let value = it.value.filter(|_| it.moment != Moment::Never);
        Some(act::act(it.kind?, object, value, &Style::default()))
    };
    let (one, other) = (short(first.thread), short(second.thread));
    Some(format!("{one} {} before {other} {}", does(first)?, does(second)?))
}

/// "T1 and T2 both read `instance` = NULL before either sets it": each has looked before the other acts.
fn both_looked(finding: &Finding, sides: &[&Mark]) -> Option<String> {
    let looks = |it: &Mark| matches!(it.kind, Some(OpKind::Read | OpKind::AtomicLoad));
    let writes = |it: &Mark| it.is_access() && it.kind.is_some_and(OpKind::is_write);
    let happened = |it: &Mark| it.moment < Moment::Failure;
    let looks_at = sides.iter().enumerate().filter(|it| looks(it.1) && happened(it.1));
    for (i, one) in looks_at {
        let is_same = |it: &Mark| {
            looks(it)
                && happened(it)
                && it.thread != one.thread
                && it.object == one.object
                && it.value == one.value
        };
        let mut rest = sides.iter().enumerate().skip(i + 1);
        let Some((j, other)) = rest.find(|it| is_same(it.1)) else { continue };
        let of_object = |it: &&&Mark| it.object == one.object && writes(it);
        let acts = |thread| {
            sides[j + 1..].iter().filter(of_object).any(|it| it.thread == thread)
                && !sides[i + 1..=j].iter().any(|it| it.object == one.object && writes(it))
        };
        let value = act::value(finding, one.object, one.value);
        if acts(one.thread)
            && acts(other.thread)
            && let (Some(value), Some(name)) = (value, named(finding, one.object))
        {
            let (first, second) = match one.thread < other.thread {
                true => (short(one.thread), short(other.thread)),
                false => (short(other.thread), short(one.thread)),
            };
            // An address says nothing.
            let value = if value.starts_with("0x") { String::new() } else { format!(" = {value}") };
            return Some(format!(
                "{first} and {second} both read {name}{value} before either sets it"
            ));
        }
    }
    None
}

/// "T2 writes `stock` between T1's read and write".
fn between(finding: &Finding, sides: &[&Mark]) -> Option<String> {
    let mut best: Option<(u32, usize, usize)> = None;
    for (i, from) in sides.iter().enumerate() {
        for (j, to) in sides.iter().enumerate().skip(i + 2) {
            let inner = &sides[i + 1..j];
            let touches = |it: &&&Mark| {
                it.thread != from.thread && (it.object == from.object || it.object == to.object)
            };
            let writes = |it: &Mark| it.kind.is_some_and(OpKind::is_write);
            let conflicts = |it: &&Mark| {
                it.thread != from.thread
                    && (it.object == from.object && (writes(it) || writes(from))
                        || it.object == to.object && (writes(it) || writes(to)))
            };
            let is_one_thread = inner.iter().filter(touches).all(|it| it.thread == inner[0].thread);
            if to.thread != from.thread || !inner.iter().any(conflicts) || !is_one_thread {
                continue;
            }
            let is_failing = finding.thread == Some(from.thread);
            let is_data = [from, to].iter().all(|it| it.kind.is_some_and(OpKind::is_access));
            let is_same = from.object == to.object;
            let worth = u32::from(is_data) * 8
                + u32::from(is_failing) * 4
                + u32::from(is_same) * 2
                + u32::from(to.moment != Moment::Never);
            if best.is_none_or(|it| it.0 < worth) {
                best = Some((worth, i, j));
            }
        }
    }
    let (_, i, j) = best?;
    let (from, to) = (sides[i], sides[j]);
    let inner: Vec<&Mark> = sides[i + 1..j]
        .iter()
        .copied()
        .filter(|it| it.thread != from.thread && named(finding, it.object).is_some())
        .filter(|it| it.object == from.object || it.object == to.object)
        .collect();
    let other = inner.first()?.thread;
    let does =
        acts(finding, &inner.iter().copied().filter(|it| it.thread == other).collect::<Vec<_>>());
    let whose = short(from.thread);
    let (first, last) = (noun(from.kind?), noun(to.kind?));
    let (one, two) = (named(finding, from.object)?, named(finding, to.object)?);
    let is_all_same = one == two && inner.iter().all(|it| it.object == from.object);
    let span = match (one == two, first == last) {
        (true, true) => format!("{whose}'s two {first}s"),
        (true, false) => format!("{whose}'s {first} and {last}"),
        (false, true) => format!("{whose}'s {first}s of {one} and {two}"),
        (false, false) => format!("{whose}'s {first} of {one} and {last} of {two}"),
    };
    let of = if one == two && !is_all_same { format!(" of {one}") } else { String::new() };
    // What did not come is not the end of a span.
    if to.moment == Moment::Never {
        let same = if first == last { format!("next {last}") } else { last.to_owned() };
        let what = match (one == two, is_all_same) {
            (true, true) => format!("{whose}'s {first} and before its {same}"),
            (true, false) => format!("{whose}'s {first} of {one} and before its {same}"),
            (false, _) => format!("{whose}'s {first} of {one} and before its {last} of {two}"),
        };
        return Some(format!("{} {does} after {what}", short(other)));
    }
    Some(format!("{} {does} between {span}{of}", short(other)))
}

/// "writes `is_stopping` and `is_stopped`", "reads and writes `hits`".
fn acts(finding: &Finding, marks: &[&Mark]) -> String {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for mark in marks {
        let Some(kind) = mark.kind else { continue };
        let (verb, name) = (verb(kind).to_owned(), named(finding, mark.object).unwrap_or_default());
        match parts.iter_mut().find(|it| it.0 == verb) {
            Some(known) if known.1.contains(&name) => {}
            Some(known) => known.1.push(name),
            None => parts.push((verb, vec![name])),
        }
    }
    // One object, several verbs.
    if let [(_, first), rest @ ..] = parts.as_slice()
        && rest.iter().all(|it| it.1 == *first)
    {
        let verbs: Vec<String> = parts.iter().map(|it| it.0.clone()).collect();
        return format!("{} {}", listed(&verbs), listed(first));
    }
    let parts: Vec<String> =
        parts.iter().map(|(verb, names)| format!("{verb} {}", listed(names))).collect();
    listed(&parts)
}

/// "T1 reads `items` after T2 writes it".
fn after(finding: &Finding, sides: &[&Mark]) -> Option<String> {
    let writes = |it: &Mark| it.kind.is_some_and(OpKind::is_write);
    let mut best: Option<(u32, &Mark, &Mark)> = None;
    for (i, first) in sides.iter().enumerate() {
        for second in &sides[i + 1..] {
            let is_shared = |it: &Mark| it.kind.is_some_and(|it| it.is_access() || it.takes_lock());
            let is_conflict = first.object == second.object
                && is_shared(first)
                && is_shared(second)
                && first.object != ObjectId::NONE
                && first.thread != second.thread
                && (writes(first) || writes(second));
            if !is_conflict || named(finding, first.object).is_none() {
                continue;
            }
            let is_failing = |it: &Mark| finding.thread == Some(it.thread);
            let is_data = first.kind.is_some_and(OpKind::is_access);
            let worth = u32::from(is_data) * 8
                + u32::from(is_failing(first) || is_failing(second)) * 4
                + u32::from(second.moment != Moment::Never) * 2
                + u32::from(!writes(first) || !writes(second));
            // Of two that say as much, the later one is nearer to the failure.
            if best.is_none_or(|it| it.0 <= worth) {
                best = Some((worth, first, second));
            }
        }
    }
    let (_, first, second) = best?;
    let name = named(finding, first.object)?;
    let (one, other) = (short(first.thread), short(second.thread));
    let (does, then) = (verb(first.kind?), verb(second.kind?));
    let is_use = finding.kind == Kind::Crash && !writes(second);
    let then = if is_use { "uses" } else { then };
    let set = act::value(finding, first.object, first.value.filter(|_| writes(first)));
    let is_stale = first.kind.is_some_and(is_plain_write)
        && matches!((first.value, second.value), (Some(set), Some(read)) if set != read);
    Some(match (writes(first), writes(second)) {
        // It has not read it, or has read what another wrote.
        _ if second.moment == Moment::Never || !writes(second) && is_stale => {
            let again = if second.is_next(finding) { " again" } else { "" };
            format!("{one} {does} {name} before {other} {then} it{again}")
        }
        (true, false) if first.kind.is_some_and(is_plain_write) && set.is_some() => {
            let set = set.unwrap_or_default();
            format!("{other} {then} {name} after {one} set it to {set}")
        }
        (true, false) => format!("{other} {then} {name} after {one} {does} it"),
        (false, true) => format!("{one} {does} {name} before {other} {then} it"),
        _ if does == then => format!("{one} {does} {name} before {other} does"),
        _ => format!("{one} {does} {name} before {other} {then} it"),
    })
}

/// Does a write replace what was there, whatever that was?
const fn is_plain_write(kind: OpKind) -> bool {
    matches!(kind, OpKind::Write | OpKind::AtomicStore)
}

/// What an object is called in a sentence, if that is short.
fn named(finding: &Finding, object: ObjectId) -> Option<String> {
    let object: &NamedObject = finding.objects.get(object.idx()).filter(|it| !it.is_none())?;
    let name = act::name(object);
    Some(if width(&name) <= 40 { name } else { format!("a {}", object.class.word()) })
}
