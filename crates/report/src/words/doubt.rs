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
    const GUESS: &str = "the intended atomicity is inferred";
    match doubt {
        Doubt::Untried => "no execution has shown it".to_owned(),
        Doubt::OtherOrder => {
            "it requires another order of critical sections or waits than in the observed execution, \
             and no execution has shown it"
                .to_owned()
        }
        Doubt::Astray => "the schedule constructed to confirm it diverged".to_owned(),
        Doubt::Unlocked(doubt, usage) => format!("{}; {}", words(doubt), locks(usage)),
        Doubt::MeantFirst => "the intended order is inferred".to_owned(),
        Doubt::MeantAsOne(None) => GUESS.to_owned(),
        Doubt::MeantAsOne(Some(intention)) => format!("{}; {GUESS}", shows(intention)),
        Doubt::Library(name) => {
            format!(
                "{name} runs parts of the program and is not instrumented: it may order the two accesses"
            )
        }
        Doubt::Unhooked(place) => {
            let at = place.text();
            let at = if at.is_empty() { "the program" } else { &at };
            format!(
                "{at} has an uninstrumented atomic instruction, which may order the two accesses"
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
                "a value read under {lock} is written after {lock} was released and acquired again"
            )
        }
        Intention::Checked(lock) => {
            format!(
                "a value checked under {lock} is used after {lock} was released and acquired again"
            )
        }
        Intention::Update => "a loaded value is updated and stored".to_owned(),
        Intention::Together(pair) => {
            let [lock, other] = &**pair;
            format!(
                "critical sections of {lock} write it together with {other}, but here the two are accessed \
                 separately"
            )
        }
    }
}

/// "the execution fails, but passes if …".
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
    Some(format!("the execution fails, but passes if {without}"))
}
