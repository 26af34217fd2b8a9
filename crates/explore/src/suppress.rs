//! Findings that the user knows of and does not want to hear of again.
//!
//! A rule names kinds of findings, and patterns for the places and the memory that they are about. It
//! comes from `raddle.toml` (read by `cli`, which knows the date) or from a suppression file of TSan
//! ([`tsan`]). What a rule suppresses does not end a campaign, is not kept and not told; it is counted, so
//! that rules which suppress nothing can be told.

mod pattern;
#[cfg(test)]
mod tests;
pub mod tsan;

use raddle_model::{Evidence, Finding, Frame, Home, Kind, NamedObject, Place, short_function};

pub use self::pattern::Pattern;

/// What is not to be told.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    /// In the order in which they are tried.
    pub rules: Vec<Rule>,
}

/// One rule. All that it says must be so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Where the rule is written: `raddle.toml:7`.
    pub origin: String,
    /// The rule in short: `race, function stats_*`.
    pub text: String,
    /// Why, as the user says.
    pub reason: String,
    /// Kinds of findings; empty for all.
    pub kinds: Vec<Kind>,
    /// A function in a stack of the finding.
    pub function: Option<Pattern>,
    /// The file of such a function.
    pub file: Option<Pattern>,
    /// The memory or a lock that it is about.
    pub object: Option<Pattern>,
    /// Any of those, or the executable or library: TSan's way.
    pub anything: Option<Pattern>,
    /// The executable or library of such a function.
    pub module: Option<Pattern>,
    /// Do only the innermost functions count?
    pub only_top: bool,
}

impl Suppressions {
    /// The first rule that a finding falls under, by number.
    pub fn find(&self, finding: &Finding) -> Option<usize> {
        if self.rules.is_empty() {
            return None;
        }
        let about = About::of(finding);
        self.rules.iter().position(|it| it.suppresses(finding.kind, &about))
    }
}

impl Rule {
    fn suppresses(&self, kind: Kind, about: &About<'_>) -> bool {
        let is_kind = self.kinds.is_empty() || self.kinds.contains(&kind);
        let frames = if self.only_top { &about.tops } else { &about.frames };
        let of_frames = |pattern: &Option<Pattern>, is_it: &dyn Fn(&Pattern, &Place) -> bool| {
            pattern.as_ref().is_none_or(|it| frames.iter().any(|frame| is_it(it, frame)))
        };
        let of_objects = |it: &Pattern| about.objects.iter().any(|object| it.matches(object));
        is_kind
            && of_frames(&self.function, &is_function)
            && of_frames(&self.file, &is_file)
            && of_frames(&self.module, &|it, frame| it.matches(&frame.module))
            && self.object.as_ref().is_none_or(of_objects)
            && self.anything.as_ref().is_none_or(|it| {
                let is_frame = |frame: &Frame| {
                    it.matches(&frame.function)
                        || it.matches(&frame.file)
                        || it.matches(&frame.module)
                };
                frames.iter().any(|frame| is_frame(frame)) || of_objects(it)
            })
    }
}

fn is_function(pattern: &Pattern, frame: &Place) -> bool {
    pattern.matches(&frame.function) || pattern.matches(&short_function(&frame.function))
}

/// A path is matched as a whole, or from any of its folders on: `src/stats.c` is `/home/me/src/stats.c`.
fn is_file(pattern: &Pattern, frame: &Place) -> bool {
    let mut rest = frame.file.as_str();
    if rest.is_empty() {
        return false;
    }
    loop {
        if pattern.matches(rest) {
            return true;
        }
        match rest.split_once('/') {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
}

/// What a finding is about, for patterns to look at.
struct About<'a> {
    frames: Vec<&'a Frame>,
    /// The innermost frame of each stack.
    tops: Vec<&'a Frame>,
    objects: Vec<String>,
}

impl<'a> About<'a> {
    fn of(finding: &'a Finding) -> About<'a> {
        let mut about = About { frames: Vec::new(), tops: Vec::new(), objects: Vec::new() };
        match &finding.evidence {
            Some(evidence) => about.add_evidence(finding, evidence),
            None => about.add_end(finding),
        }
        about
    }

    fn add_evidence(&mut self, finding: &'a Finding, evidence: &'a Evidence) {
        for access in &evidence.accesses {
            self.add_stack(&access.stack, &access.place);
        }
        for link in &evidence.links {
            self.add_stack(&[], &link.wants_at);
            self.add_stack(&[], &link.holds.taken_at);
            self.objects.extend([called(&link.wants), called(&link.holds.lock)]);
        }
        let of_links = evidence.links.iter().map(|it| it.thread);
        let threads: Vec<_> =
            evidence.accesses.iter().map(|it| it.thread).chain(of_links).collect();
        for state in finding.threads.iter().filter(|it| threads.contains(&it.thread)) {
            self.frames.extend(&state.creation);
        }
        if let Home::Heap { stack, .. } = &evidence.location.home {
            self.frames.extend(stack);
        }
        let name = &evidence.location.name;
        let whole = name.split(['.', '[']).next().unwrap_or_default();
        self.objects.extend(evidence.memory.iter().map(called));
        self.objects.extend([name.clone(), whole.to_owned()]);
        self.objects.retain(|it| !it.is_empty());
    }

    /// A failure: the thread that failed; of a deadlock, all that wait.
    fn add_end(&mut self, finding: &'a Finding) {
        let is_to_blame = |it: raddle_model::ThreadId| {
            finding.thread.is_none_or(|thread| thread == it)
                && (finding.cycle.is_empty() || finding.cycle.contains(&it))
        };
        for state in finding.threads.iter().filter(|it| is_to_blame(it.thread)) {
            if let Some(top) = state.stack.first() {
                self.add_stack(&state.stack, top);
            }
            if let Some(wait) = &state.waits_for {
                self.add_stack(&[], &wait.at);
                self.frames.extend(wait.holders.iter().map(|it| &it.1));
                self.objects.push(called(&wait.object));
            }
        }
        self.frames.extend(&finding.sites);
    }

    fn add_stack(&mut self, stack: &'a [Frame], place: &'a Place) {
        self.frames.push(place);
        self.frames.extend(stack);
        self.tops.push(stack.first().unwrap_or(place));
    }
}

/// What an object is called, without its class: `queue.lock`.
fn called(object: &NamedObject) -> String {
    match object.location.name.as_str() {
        "" => object.to_string(),
        name => name.to_owned(),
    }
}
