//! How small a schedule became, in one line, and how many orders it takes.

use raddle_model::{Explanation, Minimising, MinimisingEnd, Reason, Size};

use crate::layout::{number, style::Style};

/// `27 → 1 preemptions, 3 threads, depth 2, 62 replays`; `None` if there is nothing to say.
pub fn line(explanation: &Explanation, style: &Style) -> Option<String> {
    let Minimising { before, after, n_replays, ending } = &explanation.minimising;
    if *ending == MinimisingEnd::NotReproduced {
        return None;
    }
    let what = change(before, after, style);
    let threads = number::count(after.n_threads, "thread");
    let depth = explanation.reason.as_ref().and_then(Reason::depth).filter(|it| *it > 0);
    let depth = depth.map(|it| format!("depth {it}, ")).unwrap_or_default();
    let replays = number::count(*n_replays, "replay");
    let left = match ending {
        MinimisingEnd::Done | MinimisingEnd::NotReproduced => "",
        MinimisingEnd::Budget => " (stopped at the replay limit; `raddle min` continues)",
        MinimisingEnd::Time => {
            " (stopped at the time limit: the result depends on the machine's speed)"
        }
    };
    Some(format!("{what}, {threads}, {depth}{replays}{left}"))
}

/// What became smaller: preemptions, or else switches, or else steps.
fn change(before: &Size, after: &Size, style: &Style) -> String {
    let arrow = style.arrow_right();
    let grouped = number::grouped;
    let counts = [
        (before.n_preemptions, after.n_preemptions, "preemption"),
        (before.n_switches, after.n_switches, "switch"),
        (before.n_steps, after.n_steps, "step"),
    ];
    // What is known to be shared is a step from then on: there can be more of them.
    let changed = counts.into_iter().find(|(before, after, _)| before != after);
    let changed = changed.filter(|(before, after, _)| after < before);
    match changed {
        Some((before, after, what)) => {
            let plural = if what == "switch" { "switches".into() } else { format!("{what}s") };
            format!("{} {arrow} {} {plural}", grouped(before), grouped(after))
        }
        None => number::count(after.n_preemptions, "preemption"),
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Explanation, Minimising, MinimisingEnd, Size};

    use super::line;
    use crate::layout::style::Style;

    #[test]
    fn what_became_smaller() {
        let size = |n_preemptions, n_switches| Size {
            n_preemptions,
            n_switches,
            n_steps: 90,
            n_threads: 3,
        };
        let text = |before, after, ending| {
            let minimising = Minimising { before, after, n_replays: 62, ending };
            let explanation = Explanation { minimising, ..Explanation::default() };
            line(&explanation, &Style::default()).unwrap_or_default()
        };
        let done = MinimisingEnd::Done;
        assert_eq!(
            text(size(1_027, 1_040), size(1, 4), done),
            "1,027 → 1 preemptions, 3 threads, 62 replays"
        );
        assert_eq!(text(size(1, 9), size(1, 4), done), "9 → 4 switches, 3 threads, 62 replays");
        assert_eq!(text(size(1, 4), size(1, 4), done), "1 preemption, 3 threads, 62 replays");
        assert_eq!(text(size(1, 4), size(1, 4), MinimisingEnd::NotReproduced), "");
        expect_test::expect![
            "1 preemption, 3 threads, 62 replays (stopped at the time limit: the result depends on the machine's speed)"
        ]
        .assert_eq(&text(size(1, 4), size(1, 4), MinimisingEnd::Time));
    }
}
