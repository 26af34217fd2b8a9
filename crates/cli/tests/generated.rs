//! Programs that nobody would write: every search finds the same ends of them, however it is carried out.
//!
//! All are one C program, which is told by its arguments what its threads do: compiled once, and explored by the
//! whole of Raddle, checkpoints and workers included.

use std::{collections::BTreeSet, path::Path, sync::atomic::AtomicBool};

use raddle_explore::{
    Campaign, CampaignEvent, Method, Observer, Options, Outcome, SearchOptions, target::Target,
};
use raddle_launch::{
    CompileRequest, CompilerChoice, Native, NativeOptions, Symbols, Toolchain, compile,
};
use raddle_model::{Conditions, Points, Rng};
use raddle_plan::search::SearchSpec;

/// More schedules than this are not enumerated.
const SCHEDULES_MAX: u64 = 3_000;
/// So many programs are compared.
const PROGRAMS: usize = 24;

/// How executions ended: how, and in which state.
#[derive(Default)]
struct Ends(BTreeSet<(String, String)>);

impl Observer for Ends {
    fn see(&mut self, event: CampaignEvent<'_>) {
        let CampaignEvent::Executed { execution, .. } = event else { return };
        let end = format!("{:?}", execution.trace.end);
        // An assertion that fails tells the process.
        let is_whole = execution.output.starts_with(|it: char| it.is_ascii_digit());
        let state = if is_whole { execution.output.clone() } else { String::new() };
        self.0.insert((end, state));
    }
}

struct Compiled {
    program: std::path::PathBuf,
    runtime: std::path::PathBuf,
}

/// How a search is carried out.
#[derive(Clone, Copy, Debug)]
struct How {
    strategy: &'static str,
    jobs: usize,
    checkpoints: u64,
    points: Points,
}

impl How {
    const DPOR: How = How { strategy: "dpor", jobs: 1, checkpoints: 0, points: Points::Visible };
}

impl Compiled {
    fn new(name: &str) -> Compiled {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
        let toolchain = Toolchain::open(CompilerChoice::Gcc).expect("a compiler");
        let request = CompileRequest { inputs: vec![source], flags: Vec::new() };
        let program = compile(&toolchain, &request).expect("the program compiles").program;
        Compiled { program, runtime: toolchain.runtime }
    }

    fn explore(&self, threads: &[String], how: How) -> (Ends, Outcome) {
        let args = threads.iter().map(Into::into).collect();
        let mut native = NativeOptions::new(self.program.clone(), args, self.runtime.clone());
        native.checkpoints = how.checkpoints;
        native.checkpoint_gap = Some(1);
        let target: &dyn Target = &Native::new(native);
        let spec = SearchSpec::parse(how.strategy).expect("a search has this name");
        let options = Options {
            method: Method::Search(Box::new(SearchOptions::new(spec))),
            executions: Some(SCHEDULES_MAX),
            jobs: how.jobs,
            keep_going: true,
            confirmations: 0,
            verbose: true,
            conditions: Conditions { points: how.points, ..Conditions::DEFAULT },
            ..Options::default()
        };
        let mut ends = Ends::default();
        let outcome = Campaign::new(target, options)
            .run(&mut Symbols::new(), &mut ends, &AtomicBool::new(false))
            .unwrap_or_else(|error| panic!("{threads:?}, {how:?}: {error}"));
        (ends, outcome)
    }
}

/// What one thread does: so many ops, of which critical sections are two.
fn thread(rng: &mut Rng, n_ops: u32) -> String {
    let (sections, inner) = (b"[[{!(<", b"rwlsac");
    let any = [&inner[..], b"axpdtvnu", sections].concat();
    let mut ops = String::new();
    let mut n_done = 0;
    let mut letters = &any[..];
    while n_done < n_ops || letters == inner {
        let letter = letters[rng.below(letters.len() as u32) as usize];
        ops.push(letter as char);
        ops.push(if rng.below(6) == 0 { '1' } else { '0' });
        letters = if sections.contains(&letter) { inner } else { &any };
        n_done += 1;
    }
    ops
}

/// Two threads of up to four ops, or three of which one has two.
fn program(rng: &mut Rng) -> Vec<String> {
    let lengths = match rng.below(3) {
        0 => [1, 1, 1 + rng.below(2)].to_vec(),
        _ => [1 + rng.below(4), 2 + rng.below(3)].to_vec(),
    };
    lengths.into_iter().map(|n_ops| thread(rng, n_ops)).collect()
}

/// However a program is searched, it comes to the same ends; and the same search does the same, however it is
/// carried out. Programs with one end only, or too many schedules, are passed over.
#[test]
fn searches_agree() {
    let compiled = Compiled::new("generated.c");
    let mut rng = Rng::new(8);
    let mut n_compared = 0;
    let dpor = How::DPOR;
    while n_compared < PROGRAMS {
        let program = program(&mut rng);
        let (found, outcome) = compiled.explore(&program, How { strategy: "dpor:optimal", ..dpor });
        if found.0.len() < 2 || !outcome.is_exhaustive() {
            continue;
        }
        let (all, outcome) = compiled.explore(&program, How { strategy: "dfs", ..dpor });
        if !outcome.is_exhaustive() {
            continue;
        }
        n_compared += 1;
        assert_eq!(found.0, all.0, "dpor:optimal of {program:?}");
        let mut essences = Vec::new();
        for how in [dpor, How { jobs: 3, ..dpor }, How { checkpoints: 64 << 20, ..dpor }] {
            let (found, outcome) = compiled.explore(&program, how);
            assert_eq!(found.0, all.0, "{how:?} of {program:?}");
            let buckets: Vec<_> = outcome.findings.iter().map(|it| it.finding.bucket).collect();
            essences.push((outcome.figures.executions, outcome.figures.steps_total, buckets));
        }
        assert!(essences.iter().all(|it| *it == essences[0]), "{essences:?} of {program:?}");
    }
}

/// What one thread does to plain memory: accesses, behind a lock or not, and branches by what it reads.
fn plain_thread(rng: &mut Rng, n_ops: u32) -> String {
    let mut ops = String::new();
    let mut n_done = 0;
    while n_done < n_ops {
        let lock = rng.below(6);
        let (open, close) = match lock {
            0..=2 => ("[0", "]0"),
            3 => ("(0", ")0"),
            4 => ("<0", ")0"),
            _ => ("", ""),
        };
        ops += open;
        for _ in 0..=rng.below(2) {
            let it = rng.below(4) / 3;
            let letter = b"rrwiibop?tf"[rng.below(11) as usize] as char;
            ops += &format!("{letter}{it}");
            if "?t".contains(letter) {
                ops += &format!("{}{it}", b"riwof"[rng.below(5) as usize] as char);
            }
            n_done += 1;
        }
        ops += close;
    }
    ops
}

/// Which accesses are scheduling points changes how many schedules there are, not what a program can come to: by our
/// rule, by seed paper 1's, and if all are. Nor does a reduction: where there are few schedules, all of them agree.
///
/// `cargo xtask soak` does the same with 2,000 programs (`RADDLE_TEST_CASES`).
#[test]
fn points_agree() {
    let cases = std::env::var("RADDLE_TEST_CASES").ok().map(|it| it.parse().expect("a number"));
    let n_programs: u64 = cases.unwrap_or(300);
    let compiled = Compiled::new("generated_plain.c");
    let (mut n_compared, mut n_branching, mut n_enumerated, mut n_points) = (0, 0, 0, [0; 3]);
    let mut rng = Rng::new(raddle_tidy::seed(19));
    while n_compared < n_programs {
        let lengths = match rng.below(3) {
            0 => vec![1, 1, 1 + rng.below(2)],
            _ => vec![1 + rng.below(3), 1 + rng.below(3)],
        };
        let program: Vec<_> = lengths.iter().map(|it| plain_thread(&mut rng, *it)).collect();
        let all = [Points::All, Points::Visible, Points::Lockset]
            .map(|points| compiled.explore(&program, How { points, ..How::DPOR }));
        if all.iter().any(|(_, outcome)| !outcome.is_exhaustive()) {
            continue;
        }
        n_compared += 1;
        n_branching += u64::from(all[0].0.0.len() > 1);
        for (sum, (_, outcome)) in n_points.iter_mut().zip(&all) {
            *sum += outcome.figures.points_total;
        }
        assert_eq!(all[1].0.0, all[0].0.0, "visible points of {program:?}");
        assert_eq!(all[2].0.0, all[0].0.0, "lockset points of {program:?}");
        if n_compared % 4 == 0 {
            let mut busy = program.clone();
            busy[0].insert_str(0, "m0");
            let (ends, outcome) = compiled.explore(&busy, How::DPOR);
            assert!(outcome.is_exhaustive(), "{busy:?}");
            assert_eq!(ends.0, all[0].0.0, "visible points of a busy {program:?}");
        }
        let (every, outcome) = compiled.explore(&program, How { strategy: "dfs", ..How::DPOR });
        if outcome.is_exhaustive() {
            n_enumerated += 1;
            assert_eq!(every.0, all[0].0.0, "every schedule of {program:?}");
        }
    }
    assert!(n_branching * 2 > n_programs, "{n_branching} of {n_programs} depend on the schedule");
    assert!(n_enumerated * 4 > n_programs, "{n_enumerated} of {n_programs} were enumerated");
    assert!(n_points[1] <= n_points[2] && n_points[2] < n_points[0], "{n_points:?}");
}

/// What the last thread alive does may conflict with what those did who have finished, if it has not joined them: here
/// the first thread's write and the third's read, where the second came before both.
#[test]
fn a_thread_that_has_finished_could_be_later() {
    let compiled = Compiled::new("generated_plain.c");
    let program = ["[0w0]0", "[0r0]0", "r0"].map(str::to_owned);
    for strategy in ["dfs", "dpor", "dpor:optimal", "dpor:classic"] {
        let (ends, outcome) = compiled.explore(&program, How { strategy, ..How::DPOR });
        assert!(outcome.is_exhaustive(), "{strategy}");
        assert_eq!(ends.0.len(), 4, "{strategy}: {:?}", ends.0);
    }
}
