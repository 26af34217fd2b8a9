//! What must be known of a finding, in a few lines: who did what where. For pages, trackers and annotations,
//! which have their own ways to write places.

use raddle_model::{Access, Finding, Held, Kind, OpKind, Place, ThreadState};

use crate::words::{access, place, steps};

/// Of more threads, the first are told.
const THREADS_MAX: usize = 8;

/// One thing that a thread did, or waits to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point<'a> {
    /// `T1 waits for mutex `right`, held by T2 since bank.c:30`.
    pub(crate) words: String,
    /// Where.
    pub(crate) place: &'a Place,
}

/// The lines; those that matter most first.
pub(crate) fn points(finding: &Finding) -> Vec<Point<'_>> {
    if let Some(evidence) = finding.evidence.as_deref() {
        let accesses = evidence.accesses.iter().map(|it| access(finding, it));
        let links = evidence.links.iter().map(|it| {
            let who = place::thread(finding, it.thread);
            let taken = since(&it.holds);
            let words = format!("{who} takes {} while it holds {taken}", it.wants);
            Point { words, place: &it.wants_at }
        });
        return accesses.chain(links).collect();
    }
    if finding.kind == Kind::Livelock {
        return everybody(finding);
    }
    let waits: Vec<Point<'_>> = in_order(finding).filter_map(|it| wait(finding, it)).collect();
    if !waits.is_empty() && finding.thread.is_none() {
        return waits;
    }
    let Some(place) = finding.sites.first() else { return Vec::new() };
    let who = finding.thread.map(|it| place::thread(finding, it));
    let words = who.map_or_else(|| "here".to_owned(), |it| format!("in {it}"));
    vec![Point { words, place }]
}

/// Where every thread was when it went on no more, or for ever: those that could go on first.
fn everybody(finding: &Finding) -> Vec<Point<'_>> {
    let (waiting, running): (Vec<&ThreadState>, Vec<&ThreadState>) =
        in_order(finding).filter(|it| !it.is_finished).partition(|it| it.waits_for.is_some());
    let running = running.into_iter().filter_map(|it| {
        let who = place::thread(finding, it.thread);
        let words = match it.pending {
            Some(pending) => format!("{who} is about to {}", pending.word()),
            None => format!("{who} runs"),
        };
        Some(Point { words, place: it.stack.first()? })
    });
    let waiting = waiting.into_iter().filter_map(|it| wait(finding, it));
    running.chain(waiting).take(THREADS_MAX).collect()
}

/// Threads of a cycle first, in its order; then those that wait for something else than another's end.
fn in_order(finding: &Finding) -> impl Iterator<Item = &ThreadState> {
    let mut states: Vec<&ThreadState> = finding.threads.iter().collect();
    states.sort_by_key(|it| {
        let in_cycle = finding.cycle.iter().position(|thread| *thread == it.thread);
        (in_cycle.unwrap_or(usize::MAX), it.pending == Some(OpKind::Join))
    });
    states.into_iter()
}

fn wait<'a>(finding: &Finding, state: &'a ThreadState) -> Option<Point<'a>> {
    let wait = state.waits_for.as_ref()?;
    let verb = state.pending.map_or("waits for", |it| steps::waiting(it, wait));
    let who = place::thread(finding, state.thread);
    let holders = wait.holders.iter().map(|(holder, taken)| {
        let is_ahead = place::is_ahead(finding, *holder, wait);
        let holder = place::thread_in_passing(finding, *holder);
        match place::short(taken).as_str() {
            _ if is_ahead => format!(", which lets {holder} go first"),
            "" => format!(", held by {holder}"),
            taken => format!(", held by {holder} since {taken}"),
        }
    });
    let holders: String = holders.collect();
    Some(Point { words: format!("{who} {verb} {}{holders}", wait.object), place: &wait.at })
}

fn access<'a>(finding: &Finding, access: &'a Access) -> Point<'a> {
    let who = place::thread(finding, access.thread);
    let evidence = finding.evidence.as_deref().expect("bug: an access is part of the evidence");
    let what = access::words(access, evidence);
    let holds: Vec<String> = access.holds.iter().map(since).collect();
    let holding = match holds.as_slice() {
        [] => "holding no lock".to_owned(),
        all => format!("holding {}", all.join(", ")),
    };
    Point { words: format!("{who}: {what}, {holding}"), place: &access.place }
}

/// `mutex `left` (since bank.c:30)`.
fn since(held: &Held) -> String {
    match place::short(&held.taken_at).as_str() {
        "" => held.lock.to_string(),
        taken => format!("{} (since {taken})", held.lock),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use raddle_model::{Finding, Kind, OpKind};

    use super::points;
    use crate::{
        tests::{
            analyses,
            samples::{self, at, blank},
        },
        words::place,
    };

    fn check(finding: &Finding, expect: Expect) {
        let lines = points(finding).into_iter();
        let lines = lines.map(|it| format!("{} | {}\n", it.words, place::short(it.place)));
        expect.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn who_waits_for_whom() {
        check(
            &samples::ab_ba(),
            expect![[r#"
            T1 waits for mutex `right`, held by T2 since bank.c:30 | bank.c:31
            T2 waits for mutex `left`, held by T1 since bank.c:30 | bank.c:31
            T0 main waits for the end of thread T1 | bank.c:52
        "#]],
        );
    }

    #[test]
    fn both_sides_of_a_race() {
        check(
            &analyses::on_the_heap(),
            expect![[r#"
            T1 pay: write Account.balance, holding mutex `left` (since bank.c:30) | bank.c:35
            T0 main: read Account.balance, holding no lock | bank.c:40
        "#]],
        );
    }

    #[test]
    fn where_it_failed() {
        check(
            &samples::assertion(),
            expect![[r#"
            in T1 | bank.c:40
        "#]],
        );
        check(&Finding { sites: Vec::new(), ..samples::assertion() }, expect![]);
    }

    #[test]
    fn everybody_of_a_livelock() {
        let mut finding = blank(Kind::Livelock, 4);
        finding.threads[1].stack = vec![at(16, "diner")];
        finding.threads[1].pending = Some(OpKind::Yield);
        finding.threads[2].stack = vec![at(20, "diner")];
        finding.threads[3].is_finished = true;
        samples::wait(&mut finding, 0, OpKind::Join, 3, at(52, "main"), vec![]);
        check(
            &finding,
            expect![[r#"
            T1 is about to yield | bank.c:16
            T2 runs | bank.c:20
            T0 main waits for the end of thread T1 | bank.c:52
        "#]],
        );
    }
}
