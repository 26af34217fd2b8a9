//! A program that has more races than fit into the record of a block: none is lost, whatever the blocks are.

mod common;

use std::fmt::Write as _;

use common::{folder, raddle, write};
use raddle_explore::target::{Block, BlockResult, Session, Target as _};
use raddle_launch::{CompileRequest, CompilerChoice, Native, NativeOptions, Toolchain, compile};
use raddle_model::{PickerSpec, Plan, Record};
use raddle_trace::Entry;

const N_VARIABLES: usize = 98;
/// More than one block has room for.
const N_EXECUTIONS: u64 = 800;

/// Threads that count in so many variables.
fn program() -> String {
    let mut text = "#include <pthread.h>\n".to_owned();
    for idx in 0..N_VARIABLES {
        let _ = writeln!(text, "static int v{idx};");
    }
    text += "static void *work(void *arg) {\n";
    for idx in 0..N_VARIABLES {
        let _ = writeln!(text, "    v{idx}++;");
    }
    text + "    return arg;\n}\n\
        int main(void) {\n\
        pthread_t one, other;\n\
        pthread_create(&one, 0, work, 0);\n\
        pthread_create(&other, 0, work, 0);\n\
        pthread_join(one, 0);\n\
        return pthread_join(other, 0);\n\
        }\n"
}

fn run(session: &mut dyn Session, plan: &Plan, seeds: std::ops::Range<u64>) -> BlockResult {
    let entries = seeds.map(|seed| Entry::new(PickerSpec::Walk, seed)).collect();
    let block = Block { plan: plan.clone(), entries, exit_is_fine: false, common: 0 };
    session.run(&block).expect("executions")
}

/// The races of executions, one after the other, in blocks that are as long as they can be, and no longer than `n_max`;
/// and how many blocks there were.
fn told(session: &mut dyn Session, plan: &Plan, n_max: u64) -> (Vec<Vec<u64>>, usize) {
    let (mut all, mut n_blocks) = (Vec::new(), 0);
    while (all.len() as u64) < N_EXECUTIONS {
        let start = all.len() as u64;
        let result = run(session, plan, start..N_EXECUTIONS.min(start + n_max));
        let mut races = vec![Vec::new(); result.summaries.len()];
        assert!(!races.is_empty());
        for (execution, race) in result.races.iter() {
            races[execution as usize].push(race.key);
        }
        all.extend(races);
        n_blocks += 1;
    }
    (all, n_blocks)
}

#[test]
fn each_execution_tells_all_of_its_races() {
    let folder = folder();
    write(folder.path(), "many.c", &program());
    let toolchain = Toolchain::open(CompilerChoice::Gcc).expect("a compiler");
    let request = CompileRequest { inputs: vec![folder.path().join("many.c")], flags: Vec::new() };
    let program = compile(&toolchain, &request).expect("the program compiles").program;
    let options = NativeOptions::new(program, Vec::new(), toolchain.runtime);
    let mut session = Native::new(options).open().expect("the program starts");
    let mut plan = Plan::new(PickerSpec::Walk, 0);
    plan.record = Record { races: true, ..Record::NONE };
    plan.shared = run(&mut *session, &plan, 0..1).shared_found;
    let (alone, _) = told(&mut *session, &plan, 1);
    let (few, _) = told(&mut *session, &plan, 7);
    let (many, n_blocks) = told(&mut *session, &plan, N_EXECUTIONS);
    assert!(n_blocks > 1, "there was room for all: this test does not test what it should");
    let n_races = alone.iter().map(Vec::len).sum::<usize>();
    assert!(N_VARIABLES * N_EXECUTIONS as usize / 2 < n_races, "{n_races} races");
    for (execution, expected) in alone.iter().enumerate() {
        assert_eq!(&few[execution], expected, "execution {execution}, in a block of 7");
        assert_eq!(&many[execution], expected, "execution {execution}, in a long block");
    }
}

/// The text that says how many executions showed each race.
fn counts(jobs: &str) -> Vec<String> {
    let folder = folder();
    write(folder.path(), "many.c", &program());
    let args = ["run", "many.c", "-k", "--execs", "1500", "-j", jobs, "--no-explain"];
    let mut command = raddle(folder.path(), &[&args[..], &["--progress", "none"]].concat());
    let output = command.env("RADDLE_DETECT", "race").output().expect("raddle starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|it| it.contains('×')).map(common::without_times).collect()
}

/// Each race was shown by as many executions, whoever ran them.
#[test]
fn counts_are_the_same_whatever_the_workers() {
    let (one, three) = (counts("1"), counts("3"));
    assert!(!one.is_empty());
    assert_eq!(one, three);
}
