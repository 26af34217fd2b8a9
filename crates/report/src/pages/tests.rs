//! The page of a finding, as text; what a browser makes of it is tested in `crates/cli/tests/browser.rs`.

use std::time::Duration;

use raddle_model::{ArmYield, Coverage, CurvePoint, Figures, Finding, OpKind, Place};

use super::{
    FileSteps, FindingPage, RunFigures, RunFinding, RunPage, Source, View, data, finding, run,
};
use crate::{finding::shown::Shown, formats::Item, tests::samples};

fn page(of: &Finding, source: &Source) -> String {
    let shown = Shown {
        finding: of,
        id: "dl-02c1",
        seed: Some(7),
        reproduced: None,
        base: "/home/me",
        explanation: None,
        test: None,
    };
    let views = vec![View { label: "as found", finding: of, orders: &[], difference: None }];
    let page = FindingPage { shown, program: "bank.c", views, reason: Vec::new() };
    finding(&page, &mut |_| source.clone())
}

#[test]
fn nothing_comes_from_elsewhere() {
    let page = page(&samples::ab_ba(), &Source::Text("int main(void) {}\n".repeat(70)));
    for word in ["http://", "https://", "src=", "@import", "url(", "<link"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("prefers-color-scheme: dark"));
    assert!(page.contains("@media print"));
}

/// Every element that is opened is closed: what a browser would mend silently.
#[test]
fn elements_are_closed() {
    let page = page(&samples::ab_ba(), &Source::Missing);
    let markup = &page[page.find("<header>").expect("there is one")..];
    let markup = &markup[..markup.find("<script").expect("there is one")];
    for name in ["header", "h1", "ul", "li", "section", "div", "button", "span", "details", "pre"] {
        let n_open = markup.matches(&format!("<{name}>")).count()
            + markup.matches(&format!("<{name} ")).count();
        assert_eq!(n_open, markup.matches(&format!("</{name}>")).count(), "{name}");
    }
}

/// Names, messages, output and sources that would be markup if they were not text.
#[test]
fn what_comes_from_the_program_is_text() {
    const EVIL: &str =
        "\x01\x1b</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\"'&amp;";
    let mut finding = samples::ab_ba();
    finding.output = EVIL.into();
    finding.threads[1].name = EVIL.into();
    finding.threads[2].function = EVIL.into();
    for object in finding.objects.iter_mut().skip(1) {
        object.location.name.push_str(EVIL);
    }
    for state in &mut finding.threads {
        if let Some(wait) = &mut state.waits_for {
            wait.object.location.name.push_str(EVIL);
            wait.at.function = EVIL.into();
        }
    }
    for place in &mut finding.places {
        place.file = format!("/home/me/{EVIL}.c");
        place.function = EVIL.into();
    }
    let page = page(&finding, &Source::Text(format!("{EVIL}\n").repeat(70)));
    // Ours: the data, and the script itself.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert_eq!(page.matches("<img").count(), 0);
    assert_eq!(page.matches("<!--").count(), 0);
    assert!(!page.contains(['\x01', '\x1b']), "no letters that are none");
    assert!(page.contains("&lt;/script&gt;"), "in the markup it is text");
    assert!(page.contains("\\u003c/script>"), "in the data it is a string");
}

#[test]
fn data_is_escaped() {
    assert_eq!(data(&"</script>\u{2028}"), r#""\u003c/script>\u2028""#);
}

#[test]
fn sources_that_are_not_there_are_said_to_be() {
    let of = samples::ab_ba();
    assert!(page(&of, &Source::Missing).contains("was not found and is not shown"));
    assert!(page(&of, &Source::Changed).contains("has changed since this was found"));
    let mut bare = samples::assertion();
    let unknown = Place { module: "bank".into(), offset: 0x1f, ..Place::default() };
    bare.places.push(unknown);
    assert!(page(&bare, &Source::Missing).contains("bank has no debug information"));
}

#[test]
fn ten_thousand_steps_are_less_than_five_megabytes() {
    let mut long = samples::assertion();
    for idx in 0..5_000 {
        let thread = u32::from(idx % 7 == 0);
        samples::add(&mut long, &[(thread, OpKind::Lock, 1, 30), (thread, OpKind::Unlock, 1, 31)]);
    }
    // As many stacks as the runtime keeps of steps, each as deep as they come.
    let n_places = long.places.len() as u32;
    long.stacks =
        (0..4_096).map(|it| (0..12).map(|depth| (it + depth) % n_places).collect()).collect();
    for (idx, step) in long.steps.iter_mut().enumerate() {
        step.stack = idx as u32 % 4_096;
    }
    let page = page(&long, &Source::Text(format!("{}\n", "x".repeat(100)).repeat(100_000)));
    assert!(page.len() < 5_000_000, "{}", page.len());
    assert!(page.contains("10,005 steps"));
}

fn run_page(end: Option<RunFigures>) -> String {
    let finding = samples::ab_ba();
    let shown = Shown {
        finding: &finding,
        id: "dl-02c1",
        seed: Some(7),
        reproduced: None,
        base: "/home/me",
        explanation: None,
        test: None,
    };
    let item = Item { shown, program: "bank.c", reason: Vec::new() };
    let page = RunPage {
        program: "bank<.c",
        date: "2026-01-31T12:34:56Z",
        findings: vec![RunFinding { item, count: 3, first: 9 }],
        end,
        facts: vec![("flags", "-O<2>".to_owned())],
    };
    run(&page, &mut |place: &Place| samples::source_line(place))
}

#[test]
fn a_run_tells_what_it_came_to() {
    let strategy = "walk".into();
    let arm = ArmYield { strategy, executions: 80, new_traces: 20, ..ArmYield::default() };
    let point = |executions, traces, pairs| CurvePoint { executions, traces, pairs };
    let figures = Figures {
        executions: 100,
        elapsed: Duration::from_secs(2),
        distinct_traces: 20,
        stability: 99.5,
        coverage: Coverage { site_pairs: 13, both_ways: 5, lock_pairs: 2 },
        arms: vec![arm],
        is_saturated: true,
        ..Figures::default()
    };
    let page = run_page(Some(RunFigures {
        figures,
        curve: vec![point(1, 1, 1), point(10, 8, 5), point(100, 20, 15)],
        files: vec![FileSteps {
            file: "bank.c".into(),
            n_steps: 40,
            lines: vec![(31, "transfer".into(), 30), (0, String::new(), 10)],
        }],
        n_looked_at: 8,
        uncontrolled: vec![("read() on a <terminal>".into(), 3, "io.c:4".into())],
        ..RunFigures::default()
    }));
    for words in [
        "bank&lt;.c: <span class=\"severity\">1 finding</span>",
        "<b>100</b><span>executions in 2",
        "<b>13</b><span>pairs of code locations, 5 in both orders</span>",
        "further executions were unlikely to cover anything new",
        "3 executions, first in execution 9",
        "<th>walk</th><td>80</td>",
        "line 31 transfer (30)",
        "read() on a &lt;terminal&gt;",
        "<dt>flags</dt><dd>-O&lt;2&gt;</dd>",
        "T1 waits forever for `right`",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    assert_eq!(page.matches("<svg").count(), 2);
    assert_eq!(page.matches("<script").count(), 0);
}

#[test]
fn a_run_that_was_killed_tells_what_it_had_found() {
    let page = run_page(None);
    assert!(page.contains("This run is still going on or was killed"));
    assert!(page.contains("dl-02c1"));
    assert_eq!(page.matches("<svg").count(), 0);
}
