//! Seed paper 3's algorithms as it prints them, against every schedule.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect;
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use raddle_model::{
    Scope,
    flows::{Flows, Shown, Sink, SinkKind},
};
use raddle_plan::search::{LocksetRace, Run, SearchSpec, Start, lockset_races};

use crate::{
    total,
    toy::{
        library::*,
        program::{
            If,
            Ins::{self, *},
            Program,
            Val::{self, In, Is},
            Var::{self, At, Off},
        },
        vm::{Outcome, Toy},
    },
};

const FORMS: [&str; 4] = ["total:reachability", "total:groups", "total:guidelines", "total:tpair"];

/// What a search comes to.
#[derive(Debug, Default)]
struct Found {
    races: BTreeSet<LocksetRace>,
    outcomes: BTreeSet<Outcome>,
    /// Who accesses what from where.
    accesses: BTreeSet<(u32, u32)>,
    n_executions: u64,
    is_whole: bool,
}

impl Found {
    /// Outcomes of executions that came to an end.
    fn ends(&self) -> usize {
        self.outcomes.iter().filter(|it| !it.is_deadlock).count()
    }
}

fn explore(spec: &str, program: &Program, flows: &Flows, max: u64) -> Found {
    let toy = Toy::new(program.clone());
    let start = Start { may_time_out: false, ..Start::default() };
    let mut search = SearchSpec::parse(spec).expect("a search has this name").start(start);
    search.hear_flows(flows);
    let mut found = Found::default();
    let mut judged = BTreeSet::new();
    let mut run = Run::default();
    while let Some(task) = search.next(1).pop() {
        let outcome = toy.run(&task.prefix, task.tail, &mut run);
        assert_eq!(
            outcome.diverged_at, None,
            "{spec} of {} follows {:?}",
            program.name, task.prefix
        );
        found.outcomes.insert(outcome);
        found.races.extend(lockset_races(&run));
        let accesses = run.steps.iter().filter(|it| it.kind.is_access());
        found.accesses.extend(accesses.map(|it| (it.site.0, it.object.0)));
        search.learn(task.number, &run);
        judged.extend(search.judged().iter().map(|it| race(&run, *it)));
        found.n_executions += 1;
        if max < found.n_executions {
            return found;
        }
    }
    assert!(search.is_finished(), "{spec} of {}: not finished", program.name);
    let progress = search.progress();
    assert!(progress.is_cut || !FORMS.contains(&spec), "{spec} claims something");
    assert_eq!(progress.n_executions, found.n_executions, "{spec}");
    if let Scope::Derived(it) = progress.scope {
        // Judged as executions come, and each by itself: the same.
        assert_eq!(judged, found.races, "{spec} of {}", program.name);
        assert_eq!(it.judged.n_races, judged.len() as u64, "{spec} of {}", program.name);
    }
    found.is_whole = true;
    found
}

/// Two steps by what is the same in all executions.
fn race(run: &Run, pair: [u32; 2]) -> LocksetRace {
    let steps = pair.map(|it| run.steps[it as usize]);
    let place = |site: u32| run.sites.get(site as usize).copied().unwrap_or(site.into());
    let mut places = steps.map(|it| place(it.site.0));
    places.sort_unstable();
    LocksetRace { object: run.objects[steps[0].object.idx()].name, places }
}

/// What flows where in a toy, whatever the order of its instructions: every read into a register is in it, and what is
/// under a branch depends on that.
fn flows(program: &Program) -> Flows {
    let mut flows = Flows::default();
    for (number, thread) in program.threads.iter().enumerate() {
        let place = |pc: usize| (number * 100 + pc + 1) as u64;
        let regs = regs(thread, place);
        let of = |reg: usize| regs.get(&reg).cloned().unwrap_or_default();
        let of_value = |it: Val| if let In(reg) = it { of(reg) } else { BTreeSet::new() };
        let mut control = BTreeSet::new();
        for ins in thread {
            if let Goto(If::Equal(reg, _) | If::Differs(reg, _), _) = ins {
                control.extend(of(*reg));
            }
        }
        let with = |reads: BTreeSet<u64>| reads.union(&control).copied().collect::<Vec<u64>>();
        for (pc, ins) in thread.iter().enumerate() {
            let sink = |kind: SinkKind, reads: Vec<u64>| Sink {
                place: place(pc),
                kind,
                reads,
                shown: Shown::Never,
            };
            if let Goto(If::Equal(reg, _) | If::Differs(reg, _), _) = *ins {
                flows.add_sink(sink(SinkKind::Branch, with(of(reg))));
            }
            if let Cas(..) = ins {
                // Whether it writes depends on what it reads.
                flows.add_sink(sink(SinkKind::Branch, with(BTreeSet::from([place(pc)]))));
            }
            if let Some(Off(_, reg)) = variable(ins) {
                flows.add_sink(sink(SinkKind::Reference, with(of(reg))));
            }
            let written = match *ins {
                Store(_, value) => Some(of_value(value)),
                Add(..) => Some(BTreeSet::from([place(pc)])),
                Cas(_, _, from, to) => {
                    let own = BTreeSet::from([place(pc)]);
                    Some(own.into_iter().chain(of_value(from)).chain(of_value(to)).collect())
                }
                _ => None,
            };
            flows.writes.extend(written.map(|it| (place(pc), with(it))));
            if matches!(ins, Load(..) | Add(..) | Cas(..)) {
                flows.reads.entry(place(pc)).or_default();
            }
        }
    }
    flows
}

/// By register: the reads that can be in it.
fn regs(thread: &[Ins], place: impl Fn(usize) -> u64) -> BTreeMap<usize, BTreeSet<u64>> {
    let mut regs: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for _ in thread {
        for (pc, ins) in thread.iter().enumerate() {
            match *ins {
                Load(reg, var) | Add(reg, var, _) | Cas(reg, var, _, _) => {
                    let by = if let Off(_, by) = var { regs.get(&by).cloned() } else { None };
                    let of = regs.entry(reg).or_default();
                    of.insert(place(pc));
                    of.extend(by.unwrap_or_default());
                }
                Set(reg, In(from)) => {
                    let from = regs.get(&from).cloned().unwrap_or_default();
                    regs.entry(reg).or_default().extend(from);
                }
                _ => {}
            }
        }
    }
    regs
}

fn variable(ins: &Ins) -> Option<Var> {
    match *ins {
        Load(_, var) | Store(var, _) | Add(_, var, _) | Cas(_, var, _, _) => Some(var),
        _ => None,
    }
}

/// Everything that is small enough to be enumerated, but for what is done before there are two threads, which is no step of
/// real programs, and for threads that spin, of which traces do not say why they could not go on.
fn programs() -> impl Iterator<Item = Program> {
    let spins = |it: &Program| it.threads.iter().flatten().any(|it| matches!(it, Spin(..)));
    small().into_iter().filter(move |it| it.name != "bluetooth" && !spins(it))
}

/// What each misses of the library: variants, outcomes; groups and guidelines, races, for they promise no more. Deadlocks
/// and lost wake-ups are infeasible schedules to the dissertation (§5.2), and calls that return something else no
/// variants: only versions of variables count. What `tpair` misses takes three threads.
#[test]
fn what_is_missed() {
    let mut text = String::new();
    for program in programs() {
        let flows = flows(&program);
        let all = explore("dfs", &program, &flows, 20_000);
        if !all.is_whole {
            continue;
        }
        let mut missed = Vec::new();
        for spec in FORMS {
            let found = explore(spec, &program, &flows, 1_000);
            assert!(found.outcomes.is_subset(&all.outcomes), "{spec} of {}", program.name);
            let name = spec.trim_start_matches("total:");
            let (ends, all_ends) = (found.ends(), all.ends());
            if ["reachability", "tpair"].contains(&name) && found.is_whole && ends < all_ends {
                missed.push(format!("{name} {ends} of {all_ends}"));
            }
            let has_deadlock = |it: &Found| it.ends() < it.outcomes.len();
            if has_deadlock(&all) && !has_deadlock(&found) {
                missed.push(format!("{name} a deadlock"));
            }
            let (races, all_races) = (found.races.len(), all.races.len());
            if found.is_whole && races < all_races {
                missed.push(format!("{name} {races} of {all_races} races"));
            }
        }
        if !missed.is_empty() {
            text += &format!("{}: {}\n", program.name, missed.join(", "));
        }
    }
    expect![[r#"
        readers_4: tpair 6 of 16
        deadlock01: reachability a deadlock, groups a deadlock, guidelines a deadlock, tpair a deadlock
        dinphil_2: reachability a deadlock, groups a deadlock, guidelines a deadlock, tpair a deadlock
        dinphil_3: reachability a deadlock, groups a deadlock, guidelines a deadlock, tpair a deadlock
        lostwake: reachability a deadlock, groups a deadlock, guidelines a deadlock, tpair a deadlock
        nakedsignal: reachability a deadlock, groups a deadlock, guidelines a deadlock, tpair a deadlock
        twosignals: groups a deadlock, guidelines a deadlock, tpair 1 of 2, tpair a deadlock
        broadcast: groups a deadlock, guidelines a deadlock, tpair 1 of 2, tpair a deadlock
        trylocks: reachability 2 of 4, tpair 2 of 4
        trylocked: reachability 1 of 4, tpair 1 of 4
        trytwice: reachability 1 of 4, tpair 1 of 4
        timedwait: reachability 1 of 2, tpair 1 of 2
        timedwaits: reachability 1 of 3, tpair 1 of 3
        spurious: reachability a deadlock, groups a deadlock, guidelines a deadlock, tpair a deadlock
        rwlock_3: tpair 5 of 8
        rwtries: reachability 1 of 3, tpair 1 of 3
        semtry: reachability 0 of 3, tpair 0 of 3
        barrier_2: reachability 1 of 2, tpair 1 of 2
        barrier_3: reachability 1 of 3, tpair 1 of 3
        rounds: reachability 1 of 4, tpair 1 of 4
        crowd: reachability 1 of 6, tpair 1 of 6
        once_2: reachability 1 of 2, reachability 1 of 2 races, groups 1 of 2 races, guidelines 1 of 2 races, tpair 1 of 2, tpair 1 of 2 races
        once_3: reachability 1 of 3, reachability 2 of 6 races, groups 2 of 6 races, guidelines 2 of 6 races, tpair 1 of 3, tpair 2 of 6 races
        cas_3: tpair 2 of 3, tpair 4 of 6 races
        futex: reachability 1 of 2, tpair 1 of 2
        futexes: reachability a deadlock, groups a deadlock, guidelines a deadlock, tpair a deadlock
        deepwait: groups a deadlock, guidelines a deadlock
        family: tpair 4 of 6
        joiners: tpair 7 of 8
    "#]].assert_eq(&text);
}

/// Executions: every schedule, `dpor`, the four, `total`.
#[test]
fn executions_of_each_form() {
    let mut text = String::new();
    for program in
        [pool(), inc(2), inc(3), lastzero(3), reorder(3), account(), twosignals(), two_references()]
    {
        let flows = flows(&program);
        text += &format!("{:14}", program.name);
        for spec in ["dfs", "dpor"].into_iter().chain(FORMS).chain(["total"]) {
            let found = explore(spec, &program, &flows, 20_000);
            assert!(found.is_whole, "{spec} of {}", program.name);
            text += &format!(" {:5}", found.n_executions);
        }
        text += "\n";
    }
    expect![[r#"
        pool              19     4     3     2     2     3     2
        inc_2             10     4     4     1     1     4     1
        inc_3            280    36    36     1     1    33     1
        lastzero_3      3355    12    12    12     5    12     2
        reorder_3        502    56    56    19    50    52     5
        account            6     6     6     1     1     6     1
        twosignals        84    28     5     1     1     1     4
        references       105     7     6     4     3     4     2
    "#]]
    .assert_eq(&text);
    for (name, called) in [
        ("pool", "pool (Experiment 1)"),
        ("inc_3", "inc_3"),
        ("lastzero_3", "lastzero_3"),
        ("reorder_3", "reorder_3"),
    ] {
        let figures = text.lines().find_map(|it| it.strip_prefix(name)).expect("it was explored");
        documented(called, figures.split_whitespace().map(with_comma));
    }
}

/// `3,355`.
fn with_comma(number: &str) -> String {
    match number.len().checked_sub(3) {
        Some(at @ 1..) => format!("{},{}", &number[..at], &number[at..]),
        _ => number.to_owned(),
    }
}

/// The documents have this row.
fn documented(name: &str, figures: impl Iterator<Item = String>) {
    let row = format!("| {name} | {} |", figures.collect::<Vec<_>>().join(" | "));
    assert!(
        include_str!("../../../../docs/total-replay.md").contains(&row),
        "not in the document: {row}"
    );
}

/// Experiment 1's structure: a race behind a branch that a third thread decides.
fn pool() -> Program {
    let factory = vec![Store(At(0), Is(1))];
    let branch = vec![Load(0, At(1)), Goto(If::Equal(0, 0), 3), Store(At(0), Is(2))];
    let active = vec![Store(At(1), Is(1)), Store(At(2), Is(1))];
    Program::new("pool", vec![factory, branch, active])
}

/// Two threads write through a reference that a third one decides: the race is there when both have read it after that.
fn two_references() -> Program {
    let plain = vec![Load(0, At(0)), Store(Off(1, 0), Is(1))];
    let locked = vec![Lock(0), Load(0, At(0)), Store(Off(1, 0), Is(1)), Unlock(0)];
    let decides = vec![Store(At(0), Is(1))];
    Program::new("references", vec![plain, locked, decides]).with_vars(3)
}

/// The smallest program of which guidelines and thread pairs miss a race. Each guideline is satisfied by an execution of
/// its own, and none asks for both; of no two threads alone do both references change.
#[test]
fn a_race_that_needs_two_guidelines_at_once() {
    let program = two_references();
    let flows = flows(&program);
    let races = |spec: &str| explore(spec, &program, &flows, 1_000).races.len();
    assert_eq!(races("dfs"), 4);
    assert_eq!(["total", "total:reachability", "total:groups"].map(races), [4; 3]);
    assert_eq!(["total:guidelines", "total:tpair"].map(races), [3; 2]);
}

/// A write that comes only if the other thread's comes first, and what a thread reads from it behind a branch that it
/// decides by its own write: no trace has both places, and each of the two guidelines is satisfied by one.
#[test]
fn an_access_behind_two_guidelines_at_once() {
    let writes =
        vec![Load(3, At(1)), Goto(If::Equal(3, 0), 4), Load(0, At(0)), Store(At(1), In(0))];
    let reads = vec![
        Lock(0),
        Store(At(1), Is(1)),
        Unlock(0),
        Load(3, At(1)),
        Goto(If::Equal(3, 0), 7),
        Load(0, At(1)),
        Store(Off(2, 0), Is(1)),
    ];
    let program = Program::new("behind", vec![writes, reads]).with_vars(4);
    let flows = flows(&program);
    let n_accesses = |spec: &str| explore(spec, &program, &flows, 1_000).accesses.len();
    assert_eq!(["dfs", "total", "total:reachability", "total:tpair"].map(n_accesses), [8; 4]);
    assert_eq!(n_accesses("total:guidelines"), 7);
}

/// A race that groups miss: the third thread reads the first one's write only if its own came before, and that turns
/// no branch by itself, so that the variant is left out from which the other would come.
#[test]
fn a_race_after_a_variant_that_changes_no_branch() {
    let overwrites = vec![Lock(1), Store(At(1), Is(0)), Unlock(1)];
    let other = vec![Store(At(2), Is(1))];
    let reads =
        vec![Store(At(1), Is(1)), Lock(1), Load(0, At(1)), Store(Off(2, 0), Is(1)), Unlock(1)];
    let program = Program::new("overwritten", vec![overwrites, other, reads]).with_vars(4);
    let flows = flows(&program);
    let races = |spec: &str| explore(spec, &program, &flows, 1_000).races.len();
    let others = ["dfs", "total", "total:reachability", "total:guidelines"];
    assert_eq!(others.map(races), [2; 4]);
    assert_eq!(races("total:groups"), 1);
}

/// Guidelines over wake-ups are feasible (§5.2), and the assertion behind the wait is found.
#[test]
fn an_assertion_behind_a_wait() {
    for call in [Signal(0), Broadcast(0)] {
        let program = consumers(call);
        let flows = flows(&program);
        for spec in ["dfs", "total"].into_iter().chain(FORMS) {
            let found = explore(spec, &program, &flows, 20_000);
            let is_found = found.outcomes.iter().any(|it| it.is_aborted);
            assert!(is_found, "{spec} with {call:?}: {} executions", found.n_executions);
        }
    }
}

/// Its parameters read back as the same, and one that is none is answered with all.
#[test]
fn names() {
    for spec in FORMS {
        assert_eq!(SearchSpec::parse(spec).expect("a search").to_string(), spec);
    }
    let error = raddle_plan::Strategy::parse("total:variants").expect_err("none").to_string();
    let is_named = |it: &&str| error.contains(it.trim_start_matches("total:"));
    assert!(FORMS.iter().all(is_named), "{error}");
}

fn is_of_two(program: &Program) -> bool {
    program.threads.len() == 2
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    /// Every outcome of programs whose threads share variables and locks, and do not deadlock; of two threads, those of the
    /// pair are all.
    #[test]
    fn reachability_finds_every_outcome(program in total::program()) {
        let flows = flows(&program);
        let all = explore("dfs", &program, &flows, 2_000);
        prop_assume!(all.is_whole);
        let forms = ["total:reachability", "total:tpair"];
        for spec in &forms[..1 + usize::from(is_of_two(&program))] {
            let found = explore(spec, &program, &flows, 2_000);
            prop_assert!(found.is_whole);
            prop_assert_eq!(&found.outcomes, &all.outcomes, "{}", spec);
            prop_assert_eq!(&found.races, &all.races, "{}", spec);
            prop_assert!(found.n_executions <= all.n_executions, "{}", spec);
        }
    }
}

/// Of 300 generated programs: in how many each form misses a race, in how many an access that a thread can come to, and all
/// executions, with and without knowledge of what flows where. The last line is `total`.
#[test]
fn of_generated_programs() {
    let mut runner = TestRunner::deterministic();
    let programs: Vec<Program> = std::iter::repeat_with(|| {
        let tree = total::program().new_tree(&mut runner).expect("a program");
        tree.current()
    })
    .filter(|it| explore("dfs", it, &Flows::default(), 1_000).is_whole)
    .take(300)
    .collect();
    let mut text = String::new();
    for spec in FORMS.into_iter().chain(["total"]) {
        text += &format!("{spec:19}");
        for is_known in [true, false] {
            let (mut n_races, mut n_accesses, mut n_executions) = (0, 0, 0);
            for program in &programs {
                let flows = if is_known { flows(program) } else { Flows::default() };
                let all = explore("dfs", program, &flows, 1_000);
                let found = explore(spec, program, &flows, 2_000);
                assert!(found.is_whole && found.races.is_subset(&all.races), "{program:?}");
                n_races += u32::from(found.races != all.races);
                n_accesses += u32::from(found.accesses != all.accesses);
                n_executions += found.n_executions;
            }
            text += &format!(" | {n_races:3} {n_accesses:3} {n_executions:6}");
        }
        text += "\n";
    }
    expect![[r#"
        total:reachability  |   0   0    712 |   0   0    712
        total:groups        |   1   1    508 |   1   1    577
        total:guidelines    |   0   0    504 |   0   0    597
        total:tpair         |   0   0    699 |   0   0    699
        total               |   0   0    442 |   0   0    481
    "#]]
    .assert_eq(&text);
    let row = text.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        format!("{} ({})", words[4], words[2])
    });
    documented("300 generated | |", row);
}
