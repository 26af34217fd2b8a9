//! What an analysis has found, in words: TSan's first and in its order, so that its readers feel at home
//! (both accesses with size, thread, locks and stack; the location; threads), then the sentence that says
//! what is missing.

use std::fmt::Write as _;

use raddle_model::{
    Access, Certainty, Contrast, Evidence, Finding, Flags, Held, Home, Kind, Link, Location,
    NamedObject, OpKind, ThreadId, ThreadState,
};

use crate::{
    finding::{
        shown::Shown,
        stacks::{self, beside},
    },
    layout::{
        number,
        style::{self, Ink, Style},
    },
    words::{
        access, doubt, orders,
        place::{self, Sources},
    },
};

/// `data race on `queue.len` (8 bytes)`: the headline's text.
pub(crate) fn headline(finding: &Finding) -> Option<String> {
    let evidence = finding.evidence.as_deref()?;
    let is_potential = finding.certainty != Certainty::Shown;
    let possible = if is_potential { "possible " } else { "" };
    if !evidence.links.is_empty() {
        let threads: Vec<String> =
            evidence.links.iter().map(|it| format!("T{}", it.thread.0)).collect();
        let title = if is_potential { "potential deadlock" } else { "deadlock" };
        return Some(format!("lock-order inversion ({title}) of {}", listed(&threads)));
    }
    let title = if access::is_order(finding) { "order violation" } else { finding.kind.title() };
    let memory = memory_name(evidence);
    let size = evidence.accesses.iter().map(|it| it.size).max().unwrap_or(0);
    let size =
        if size > 0 { format!(" ({})", number::count(size.into(), "byte")) } else { "".into() };
    Some(format!("{possible}{title} on {memory}{size}"))
}

/// All that is known, below the headline.
pub(crate) fn body(
    out: &mut String,
    shown: &Shown<'_>,
    evidence: &Evidence,
    style: &Style,
    sources: &mut Sources<'_>,
) {
    let mut teller = Teller { out, shown, style, sources };
    if evidence.links.is_empty() {
        teller.accesses(evidence);
        teller.location(evidence);
        teller.mutexes(evidence);
    } else {
        teller.cycle(&evidence.links);
    }
    teller.threads(evidence);
    teller.verdict(evidence);
}

/// What is missing, how sure that is, and what it does, in sentences.
pub(crate) fn verdict(finding: &Finding, evidence: &Evidence, style: &Style) -> Vec<String> {
    let mut all = Vec::from_iter(unordered(finding, evidence));
    all.extend(is_volatile(finding, evidence).then(|| {
        "`volatile` does not order accesses between threads; use an atomic or a lock".to_owned()
    }));
    all.extend(doubt::why(finding).map(|it| format!("unconfirmed: {it}")));
    all.extend(doubt::effect(evidence).map(|it| format!("tested: {it}")));
    all.extend(evidence.contrast.as_ref().map(|it| contrast(it, style)));
    all.extend(orders::text(evidence, style));
    all
}

/// Where the memory is: "`hits` is a global of 4 bytes, declared at bank.c:3".
pub(crate) fn location(finding: &Finding, evidence: &Evidence) -> Option<String> {
    let text = location_text(&evidence.location, finding)?;
    let at = match &evidence.location.home {
        Home::Heap { stack, .. } => stack.iter().find(|it| !place::is_library(it)),
        _ => None,
    };
    let at = at.map(place::short).filter(|it| !it.is_empty());
    let at = at.map(|it| format!(" at {it}")).unwrap_or_default();
    Some(format!("location: {text}{at}"))
}

/// The place that a summary names: that of the later access.
pub(crate) fn main_place(evidence: &Evidence) -> Option<&raddle_model::Place> {
    let of_link = || evidence.links.first().map(|it| &it.wants_at);
    evidence.accesses.last().map(|it| &it.place).or_else(of_link)
}

struct Teller<'t, 's> {
    out: &'t mut String,
    shown: &'t Shown<'s>,
    style: &'t Style,
    sources: &'t mut Sources<'s>,
}

impl Teller<'_, '_> {
    fn finding(&self) -> &Finding {
        self.shown.finding
    }

    /// The later access of a race first; what was meant to be one in the order in which it happened.
    fn accesses(&mut self, evidence: &Evidence) {
        if self.finding().kind == Kind::Atomicity {
            let is_order = access::is_order(self.finding());
            for (idx, access) in evidence.accesses.iter().enumerate() {
                let is_remote = !is_order && access.thread != evidence.accesses[0].thread;
                let when = if is_remote { "In between, " } else { "Then " };
                self.access(access, if idx == 0 { "" } else { when });
            }
            return;
        }
        let [most @ .., last] = evidence.accesses.as_slice() else { return };
        self.access(last, "");
        for access in most.iter().rev() {
            self.access(access, "Previous ");
        }
    }

    /// `Previous write of size 8 by thread T1 worker (mutexes: write `lock`):`, and the stack.
    fn access(&mut self, access: &Access, previous: &str) {
        let what = what(access);
        let what = if previous.is_empty() { capital(&what) } else { what };
        let who = self.thread(access.thread);
        let locks = mutexes(&access.holds);
        self.line(&format!("{previous}{what} by {who}{locks}:"));
        if access.stack.is_empty() {
            let at = place::with_function(&access.place, self.shown.base);
            let at = if at.is_empty() { "where is not known".to_owned() } else { at };
            let _ = writeln!(self.out, "      {at}");
        } else {
            stacks::render(self.out, self.shown, &access.stack, 6, self.style, self.sources);
        }
    }

    fn location(&mut self, evidence: &Evidence) {
        let location = &evidence.location;
        let Some(text) = location_text(location, self.shown.finding) else { return };
        match &location.home {
            Home::Heap { stack, .. } if !stack.is_empty() => {
                self.line(&format!("Location is {text}:"));
                stacks::render(self.out, self.shown, stack, 6, self.style, self.sources);
            }
            _ => self.line(&format!("Location is {text}")),
        }
    }

    /// Where the locks were taken that the sides held.
    fn mutexes(&mut self, evidence: &Evidence) {
        for access in evidence.accesses.iter().rev() {
            for held in &access.holds {
                let who = self.thread(access.thread);
                self.line(&format!("{} held by {who}, taken at:", capital(&held.lock.to_string())));
                self.taken(held);
            }
        }
    }

    fn taken(&mut self, held: &Held) {
        let at = format!("      {}", place::with_function(&held.taken_at, self.shown.base));
        let source = (self.sources)(&held.taken_at);
        let _ = writeln!(self.out, "{}", beside(&at, source.as_deref(), self.style));
    }

    /// TSan's words for a cycle in the order of locks.
    fn cycle(&mut self, links: &[Link]) {
        let mut names: Vec<String> = links.iter().map(|it| it.holds.lock.name()).collect();
        names.extend(names.first().cloned());
        self.line(&format!("Cycle in lock order graph: {}", names.join(" => ")));
        for link in links {
            let (wants, holds) = (capital(&link.wants.to_string()), &link.holds.lock);
            let who = self.thread(link.thread);
            self.line(&format!("{wants} acquired here while holding {holds} in {who}:"));
            let at = place::with_function(&link.wants_at, self.shown.base);
            let source = (self.sources)(&link.wants_at);
            let _ = writeln!(
                self.out,
                "{}",
                beside(&format!("      {at}"), source.as_deref(), self.style)
            );
            let since = place::with_function(&link.holds.taken_at, self.shown.base);
            let source = (self.sources)(&link.holds.taken_at);
            let since = format!("      {} since {since}", holds.name());
            let _ = writeln!(self.out, "{}", beside(&since, source.as_deref(), self.style));
        }
    }

    /// Where the threads were created, as TSan tells it.
    fn threads(&mut self, evidence: &Evidence) {
        let of_accesses = evidence.accesses.iter().map(|it| it.thread);
        let mut threads: Vec<ThreadId> =
            of_accesses.chain(evidence.links.iter().map(|it| it.thread)).collect();
        threads.sort_unstable();
        threads.dedup();
        for thread in threads {
            let state = self.finding().threads.iter().find(|it| it.thread == thread).cloned();
            if let Some(state) = state.filter(|it| it.parent.is_some()) {
                self.created(&state);
            }
        }
    }

    fn created(&mut self, state: &ThreadState) {
        let who = capital(&self.thread(state.thread));
        let parent = state.parent.map(|it| self.thread(it)).unwrap_or_default();
        let how = if state.is_finished { "finished" } else { "running" };
        self.line(&format!("{who} ({how}) created by {parent} at:"));
        let only = std::slice::from_ref(&state.created_at);
        let stack = if state.creation.is_empty() { only } else { &state.creation };
        stacks::render(self.out, self.shown, stack, 6, self.style, self.sources);
    }

    /// Why it is a finding, and what came of it.
    fn verdict(&mut self, evidence: &Evidence) {
        let _ = writeln!(self.out);
        for sentence in verdict(self.finding(), evidence, self.style) {
            self.line(&sentence);
        }
    }

    /// A sentence, on as many lines as it takes.
    fn line(&mut self, text: &str) {
        let text = self.style.tame(text);
        let width = self.style.width.saturating_sub(2);
        for line in style::wrapped(&text, width) {
            let _ = writeln!(self.out, "  {}", self.style.paint(Ink::Strong, &line));
        }
    }

    /// `main thread`, `thread T1 worker`.
    fn thread(&self, thread: ThreadId) -> String {
        match thread.0 {
            0 => "main thread".to_owned(),
            _ => format!("thread {}", place::thread(self.finding(), thread)),
        }
    }
}

/// `write of size 8`, `atomic read of size 4`.
fn what(access: &Access) -> String {
    let verb = match access.kind {
        OpKind::Read => "read",
        OpKind::AtomicLoad => "atomic read",
        OpKind::AtomicStore | OpKind::AtomicRmw | OpKind::AtomicCas => "atomic write",
        OpKind::Free => return "free of the memory".to_owned(),
        OpKind::Write | OpKind::ReadWrite => "write",
        // A step that is no access, beside one that was interrupted.
        other => return other.verb().to_owned(),
    };
    format!("{verb} of size {}", access.size)
}

/// ` (mutexes: write `a`, read `b`)`, or nothing.
fn mutexes(holds: &[Held]) -> String {
    if holds.is_empty() {
        return String::new();
    }
    let each = holds.iter().map(|it| {
        let how = if it.is_shared { "read" } else { "write" };
        format!("{how} {}", it.lock.name())
    });
    format!(" (mutexes: {})", each.collect::<Vec<_>>().join(", "))
}

/// What the accesses are to: "`head` and `tail`".
pub(crate) fn memory(evidence: &Evidence) -> String {
    evidence.memory.iter().map(NamedObject::to_string).collect::<Vec<_>>().join(" and ")
}

fn memory_name(evidence: &Evidence) -> String {
    let Location { name, shift, .. } = &evidence.location;
    match (name.as_str(), shift) {
        ("", _) if evidence.memory.is_empty() => "memory that has no name".to_owned(),
        ("", _) => memory(evidence),
        (name, 0) => format!("`{name}`"),
        (name, shift) => format!("`{name}`+{shift}"),
    }
}

/// What `Location is …` says.
fn location_text(location: &Location, finding: &Finding) -> Option<String> {
    let name = location.name.as_str();
    let whole = name.split(['.', '[']).next().unwrap_or(name);
    let field = match location.field_of.as_str() {
        "" => String::new(),
        of => format!(", field of `{of}`"),
    };
    let size = location.size;
    // Split debug information may know the variable, and not the names of its files.
    let declared = |place: &raddle_model::Place| match place::short(place) {
        at if at.is_empty() || place.file.is_empty() => String::new(),
        at => format!(", declared at {at}"),
    };
    Some(match &location.home {
        Home::Heap { thread, offset, sort, .. } => {
            let by = match thread.0 {
                0 => "main thread".to_owned(),
                _ => format!("thread {}", place::thread(finding, *thread)),
            };
            let into = match offset {
                0 => "at the start of".to_owned(),
                offset => format!("{} into", number::count(*offset, "byte")),
            };
            let (word, made) = (sort.word(), sort.made());
            let block = format!("{into} a {word} of size {size} {made} by {by}");
            if name.is_empty() { block } else { format!("`{name}`{field}, {block}") }
        }
        Home::Global { .. } if size == 0 => format!("global at {name}"),
        Home::Global { declared_at, function } => {
            let sort = match function.as_str() {
                "" => "global".to_owned(),
                function => format!("static variable of {}", place::function(function)),
            };
            let part = if whole == name { String::new() } else { format!(": `{name}`{field}") };
            let sort = if function.is_empty() {
                format!("{sort} `{whole}` of size {size}")
            } else {
                format!("`{whole}` of size {size}, {sort}")
            };
            format!("{sort}{}{part}", declared(declared_at))
        }
        Home::Stack { thread, function, declared_at } => {
            let of = match thread.0 {
                0 => "main thread".to_owned(),
                _ => format!("thread {}", place::thread(finding, *thread)),
            };
            if name.is_empty() {
                return Some(format!("stack of {of}"));
            }
            let part = if whole == name { String::new() } else { format!(" (`{name}`{field})") };
            let function = place::function(function);
            format!(
                "stack of {of}: variable `{whole}` of {function}{part}{}",
                declared(declared_at)
            )
        }
        _ => return None,
    })
}

/// "1 and 2 are unordered: T1 holds `queue.lock`, T2 holds nothing, and no release-acquire pair orders them".
fn unordered(finding: &Finding, evidence: &Evidence) -> Option<String> {
    let [first, second] = evidence.accesses.as_slice() else { return None };
    if access::is_order(finding) {
        return None;
    }
    let are =
        if finding.certainty == Certainty::Shown { "are unordered" } else { "may be unordered" };
    let holds = |it: &Access| {
        let name = |it: &Held| {
            let how = if it.is_shared { " for reading" } else { "" };
            format!("{}{how}", it.lock.name())
        };
        let locks: Vec<String> = it.holds.iter().map(name).collect();
        let locks = if locks.is_empty() { "nothing".to_owned() } else { listed(&locks) };
        format!("T{} holds {locks}", it.thread.0)
    };
    let holds = match (first.holds.as_slice(), second.holds.as_slice()) {
        ([], []) => "neither thread holds a lock".to_owned(),
        _ => format!("{}, {}", holds(first), holds(second)),
    };
    Some(format!("1 and 2 {are}: {holds}, and no release-acquire pair orders them"))
}

/// Is one of the accesses that race volatile? Those are always steps.
fn is_volatile(finding: &Finding, evidence: &Evidence) -> bool {
    let mut steps = evidence.accesses.iter().filter_map(|it| access::step_idx(finding, it));
    let is_race = finding.kind == Kind::Race && !access::is_order(finding);
    is_race && steps.any(|it| Flags(finding.steps[it].flags).has(Flags::VOLATILE))
}

/// "T2 reads 0 from `second` at x.c:32; then it reads 1, which T1 writes at x.c:23".
fn contrast(contrast: &Contrast, style: &Style) -> String {
    let Contrast { memory, read, values, writes } = contrast;
    let written = |write: &Option<Access>| match write {
        None => String::new(),
        Some(it) => format!(", which T{} writes at {}", it.thread.0, place::short(&it.place)),
    };
    let [a, b] = values.map(|it| number::value(it, style));
    let at = place::short(&read.place);
    format!(
        "T{} reads {a} from {memory} at {at}{}; then it reads {b}{}",
        read.thread.0,
        written(&writes[0]),
        written(&writes[1])
    )
}

/// `a, b and c`.
fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
