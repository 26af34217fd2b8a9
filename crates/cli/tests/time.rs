//! Virtual time as users see it: a watchdog that goes off only if all threads stand still is a warning (docs/time.md).

mod common;

use std::{fs, path::Path};

use common::{code, folder, raddle, stdout, write};

/// Explores a program of the repository that relies on time: exit code and standard output.
fn run(program: &str, args: &[&str]) -> (Option<i32>, String) {
    let folder = folder();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(program);
    let program = program.display().to_string();
    let mut all = [&["run", &program, "--progress", "none"], args].concat();
    if !args.contains(&"--execs") {
        all.extend(["--execs", "400"]);
    }
    let output = raddle(folder.path(), &all).output().expect("raddle starts");
    (code(&output), stdout(&output))
}

#[test]
fn a_watchdog_is_a_timing_assumption() {
    let (code, text) = run("pass/time/watchdog.c", &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("warning[abort-"), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("note: timing assumption: this schedule delays every runnable thread"),
        "{text}"
    );
    assert!(text.contains(" for 60 s, until T0's wait at watchdog.c:"), "{text}");
    assert!(text.contains("no finding, 1 timing assumption"), "{text}");
}

#[test]
fn strict_runs_are_inconclusive_then() {
    assert_eq!(run("pass/time/watchdog.c", &["--strict"]).0, Some(3));
    assert_eq!(run("pass/time/watchdog.c", &["--strict", "--timeouts", "last"]).0, Some(0));
}

#[test]
fn delays_are_in_the_json() {
    let (_, text) = run("pass/time/watchdog.c", &["--message-format", "json"]);
    let lines = text.lines().map(|it| serde_json::from_str(it).expect("a line of JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let finding = lines.iter().find(|it| it["type"] == "finding").expect("a timing assumption");
    assert_eq!(finding["certainty"], "timing");
    let delay = &finding["delays"][0];
    assert_eq!(delay["thread"], 0);
    assert!(delay["ns"].as_u64().is_some_and(|it| it > 59_000_000_000), "{delay}");
}

/// One of a millisecond is an error as any other, and says what it takes.
#[test]
fn a_short_delay_is_told() {
    let (code, text) = run("fail/time/short_delay.c", &[]);
    assert_eq!(code, Some(2), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("note: this schedule delays every runnable thread for 1 ms"), "{text}");
}

/// A failure reported as a timing assumption is reported as an error once an execution shows it without a delay.
#[test]
fn an_error_replaces_a_timing_assumption() {
    let all = ["--execs", "4000"];
    let (code, text) = run("fail/time/late_or_unlucky.c", &all);
    assert_eq!(code, Some(2), "{text}");
    let titles: Vec<&str> = text.lines().filter(|it| it.contains("]: assertion failed")).collect();
    let [warning, error] = titles[..] else { panic!("{text}") };
    let id = |it: &str| it.split(['[', ']']).nth(1).map(str::to_owned);
    assert_eq!(id(warning), id(error), "{text}");
    assert!(error.starts_with("error[assert-"), "{text}");
    assert!(warning.starts_with("warning[assert-"), "{text}");
    let args = [&all[..], &["--message-format", "json"]].concat();
    let (_, text) = run("fail/time/late_or_unlucky.c", &args);
    let lines = text.lines().map(|it| serde_json::from_str(it).expect("a line of JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let findings = lines.iter().filter(|it| it["type"] == "finding");
    let certainties: Vec<_> = findings.map(|it| it["certainty"].as_str()).collect();
    assert_eq!(certainties, [Some("timing"), Some("shown")]);
}

/// An error that takes the place of a timing assumption changes the places of findings after it: races that wait for
/// their turn must be run again all the same.
#[test]
fn races_are_run_again_when_an_error_takes_the_place_of_a_timing_assumption() {
    let each = |line: fn(u32) -> String| (0..12).map(line).collect::<String>();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let text =
        fs::read_to_string(programs.join("fail/time/late_or_unlucky.c")).expect("it is there");
    let variables = each(|it| format!("static int plain{it};\n"));
    let writes = each(|it| format!("    if (n_turns == 2) plain{it} = 1;\n"));
    let reads = each(|it| format!("    sum += plain{it};\n"));
    let variables = format!("{variables}static volatile int sum;\nstatic atomic_int is_late");
    let text = text.replace("static atomic_int is_late", &variables);
    let text = text.replace("    assert(", &format!("{writes}    assert("));
    let text =
        text.replace("= 2 * i + 1;\n    return", &format!("= 2 * i + 1;\n{reads}    return"));
    let folder = folder();
    write(folder.path(), "prog.c", &text);
    let line = "run prog.c --detect race --execs 4000 --no-explain --message-format json";
    let args: Vec<&str> = line.split(' ').collect();
    let text = stdout(&raddle(folder.path(), &args).output().expect("raddle starts"));
    let lines = text.lines().map(|it| serde_json::from_str(it).expect("a line of JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let is_it = |it: &&serde_json::Value, kind| it["type"] == "finding" && it["kind"] == kind;
    assert_eq!(lines.iter().filter(|it| is_it(it, "assert")).count(), 2, "{text}");
    let races: Vec<_> = lines.iter().filter(|it| is_it(it, "race")).collect();
    assert_eq!(races.len(), 12, "{text}");
    assert!(races.iter().all(|it| !it["reproduced"].is_null()), "{text}");
}
