//! Why a finding is only potential, and what came of trying, in words.

use raddle_model::{Certainty, Doubt, Evidence, Finding, Intention, LockUsage, Remedy};

/// Why it is not sure, if it is not: the end of a sentence.
pub(crate) fn why(finding: &Finding) -> Option<String> {
    match &finding.certainty {
        Certainty::Shown => None,
        Certainty::Potential(doubt) => Some(words(doubt)),
    }
}

fn words(doubt: &Doubt) -> String {
    const GUESS: &str = "that the two were meant to be one is a guess";
    match doubt {
        Doubt::Untried => "no execution has shown it".to_owned(),
        Doubt::OtherOrder => {
            "it would take another order of critical sections, or of waits, than that of the \
                              execution that was looked at, and no execution has shown it"
                .to_owned()
        }
        Doubt::Astray => "a schedule that should lead there went another way".to_owned(),
        Doubt::Unlocked(doubt, usage) => format!("{}; {}", words(doubt), locks(usage)),
        Doubt::MeantFirst => "that the second was meant to come first is a guess".to_owned(),
        Doubt::MeantAsOne(None) => GUESS.to_owned(),
        Doubt::MeantAsOne(Some(intention)) => format!("{}; {GUESS}", shows(intention)),
        Doubt::Library(name) => {
            format!(
                "{name} runs parts of the program and has no hooks: it may order the two accesses"
            )
        }
        Doubt::Unhooked(place) => {
            let at = place.text();
            let at = if at.is_empty() { "the program" } else { &at };
            format!(
                "{at} has an atomic instruction without hooks, which may order the two accesses"
            )
        }
    }
}

/// "12 of 14 accesses hold mutex `m`".
fn locks(usage: &LockUsage) -> String {
    match &usage.usual {
        Some((lock, count)) => format!("{count} of {} accesses hold {lock}", usage.n_accesses),
        None => "no access holds a lock".to_owned(),
    }
}

fn shows(intention: &Intention) -> String {
    match intention {
        Intention::Stale(lock) => {
            format!(
                "what was read under {lock} is written when that has been given back and taken again"
            )
        }
        Intention::Checked(lock) => {
            format!(
                "what was seen under {lock} is acted upon when that has been given back and taken again"
            )
        }
        Intention::Update => "the value that was loaded is replaced by another".to_owned(),
        Intention::Together(pair) => {
            let [lock, other] = &**pair;
            format!(
                "sections of {lock} write it together with {other}, and one after the other they are seen, or \
                 changed, here"
            )
        }
    }
}

/// "the execution fails as it is, and ends well if …".
pub(crate) fn effect(evidence: &Evidence) -> Option<String> {
    let without = match (evidence.effect?, evidence.accesses.as_slice()) {
        (Remedy::OtherFirst, [first, second, ..]) => format!(
            "T{}'s {} comes before T{}'s {}",
            second.thread.0,
            second.kind.verb(),
            first.thread.0,
            first.kind.verb()
        ),
        (_, [first, ..]) => format!("T{} is not interrupted there", first.thread.0),
        (_, []) => return None,
    };
    Some(format!("the execution fails as it is, and ends well if {without}"))
}
