//! Findings of traces written by hand.

use expect_test::{Expect, expect};
use raddle_model::{
    BlockSort, End, Event, Finding, Misuse, ObjectId, OpKind, PickerSpec, Place, Plan, SiteId,
    ThreadId,
};
use raddle_trace::{ObjectClass, Region, Site, Trace};

use super::{bucket, finding};
use crate::fake::{ToySymbols, TraceExt, trace};

fn heap(site: SiteId, ordinal: u32, offset: u64, size: u32) -> Region {
    Region::Heap {
        site,
        ordinal,
        offset,
        size,
        thread: ThreadId(1),
        stack: 0,
        sort: BlockSort::Heap,
    }
}

fn find(trace: &Trace) -> Finding {
    let plan = Plan::new(PickerSpec::Walk, 7);
    finding(trace, &plan, 42, "out", &mut ToySymbols).expect("bug: the trace fails")
}

fn check(trace: &Trace, expect: Expect) {
    let finding = find(trace);
    let cycle: Vec<u32> = finding.cycle.iter().map(|it| it.0).collect();
    let sites: Vec<u32> = finding.sites.iter().map(|it| it.line).collect();
    assert_eq!(finding.is_cycle, !cycle.is_empty());
    assert_eq!(bucket(trace, &mut ToySymbols), Some(finding.bucket));
    expect.assert_eq(&format!(
        "{}: {}\ncycle {cycle:?}, lines {sites:?}\n",
        finding.kind.word(),
        raddle_report::words::fault::line(&finding)
    ));
}

#[test]
fn good_ends_are_no_findings() {
    let plan = Plan::new(PickerSpec::Walk, 7);
    for end in [End::Exit(0), End::Bug, End::Lost(0)] {
        assert_eq!(finding(&trace(end, 1), &plan, 0, "", &mut ToySymbols), None);
    }
}

#[test]
fn self_deadlock() {
    let mut trace = trace(End::Deadlock, 2);
    let mutex = trace.global(ObjectClass::Mutex, 0);
    trace.threads[0].is_finished = true;
    trace.block(1, OpKind::Lock, mutex, 12, &[(1, 7)]);
    check(
        &trace,
        expect![[r#"
            deadlock: T1 waits for `a`, which it already holds (taken at toy.c:7)
            cycle [1], lines [7, 12]
        "#]],
    );
}

/// T1 and T2, in either role, and `main` that joins T1.
fn ab_ba(first: u32, second: u32) -> Trace {
    let mut trace = trace(End::Deadlock, 3);
    let a = trace.global(ObjectClass::Mutex, 0);
    let b = trace.global(ObjectClass::Mutex, 64);
    let joined = trace.object(ObjectClass::Thread, Region::Thread(ThreadId(1)));
    trace.block(0, OpKind::Join, joined, 50, &[]);
    trace.block(first, OpKind::Lock, a, 12, &[(second, 21)]);
    trace.block(second, OpKind::Lock, b, 22, &[(first, 11)]);
    trace
}

#[test]
fn ab_ba_deadlock() {
    check(
        &ab_ba(1, 2),
        expect![[r#"
            deadlock: T1 waits for `a` held by T2 (taken at toy.c:21), T2 waits for `b` held by T1 (taken at toy.c:11)
            cycle [1, 2], lines [11, 12, 21, 22]
        "#]],
    );
    assert_eq!(find(&ab_ba(1, 2)).bucket, find(&ab_ba(2, 1)).bucket);
    let states = find(&ab_ba(1, 2)).threads;
    let waits: Vec<String> = states
        .iter()
        .map(|it| format!("{:?}", it.waits_for.as_ref().map(|it| it.object.to_string())))
        .collect();
    assert_eq!(waits, [r#"Some("thread T1")"#, r#"Some("mutex `a`")"#, r#"Some("mutex `b`")"#]);
}

#[test]
fn ring_of_three() {
    let mut trace = trace(End::Deadlock, 4);
    let forks: Vec<ObjectId> =
        (0..3).map(|number| trace.global(ObjectClass::Mutex, number * 64)).collect();
    trace.threads[0].is_finished = true;
    trace.block(1, OpKind::Lock, forks[2], 31, &[(3, 30)]);
    trace.block(2, OpKind::Lock, forks[0], 31, &[(1, 30)]);
    trace.block(3, OpKind::Lock, forks[1], 31, &[(2, 30)]);
    check(
        &trace,
        expect![[r#"
            deadlock: T1 waits for `c` held by T3 (taken at toy.c:30), T3 waits for `b` held by T2 (taken at toy.c:30), T2 waits for `a` held by T1 (taken at toy.c:30)
            cycle [1, 3, 2], lines [30, 31, 30, 31, 30, 31]
        "#]],
    );
}

#[test]
fn join_cycle() {
    let mut trace = trace(End::Deadlock, 2);
    let mutex = trace.global(ObjectClass::Mutex, 0);
    let joined = trace.object(ObjectClass::Thread, Region::Thread(ThreadId(1)));
    trace.block(0, OpKind::Join, joined, 50, &[]);
    trace.block(1, OpKind::Lock, mutex, 12, &[(0, 49)]);
    check(
        &trace,
        expect![[r#"
            deadlock: T0 waits for T1 to finish, T1 waits for `a` held by T0 (taken at toy.c:49)
            cycle [0, 1], lines [12, 49, 50]
        "#]],
    );
}

#[test]
fn lost_wakeup() {
    let mut trace = trace(End::Deadlock, 4);
    let cond = trace.global(ObjectClass::Cond, 128);
    let semaphore = trace.object(ObjectClass::Semaphore, Region::Unknown);
    let joined = trace.object(ObjectClass::Thread, Region::Thread(ThreadId(1)));
    trace.block(0, OpKind::Join, joined, 50, &[]);
    trace.block(1, OpKind::CondWake, cond, 12, &[]);
    trace.block(2, OpKind::CondWake, cond, 12, &[]);
    trace.block(3, OpKind::SemWait, semaphore, 14, &[]);
    check(
        &trace,
        expect![[r#"
            deadlock: T1 and T2 wait for a signal on condition variable `c` that no thread will send; T3 waits for a post of semaphore #2 that no thread will make
            cycle [], lines [12, 14]
        "#]],
    );
}

#[test]
fn woken_waiter_wants_the_mutex() {
    let mut trace = trace(End::Deadlock, 3);
    let mutex = trace.global(ObjectClass::Mutex, 0);
    let cond = trace.global(ObjectClass::Cond, 64);
    trace.threads[0].is_finished = true;
    trace.block(1, OpKind::CondWake, cond, 12, &[(2, 30)]);
    trace.threads[1].pending.other = mutex;
    trace.threads[2].is_finished = true;
    check(
        &trace,
        expect![[r#"
            deadlock: T1 waits for `a` held by T2 (taken at toy.c:30), which has finished
            cycle [], lines [12]
        "#]],
    );
}

#[test]
fn failures_of_one_thread() {
    let mut failed = trace(End::Assert, 2);
    failed.ended_by(1, &[31, 22, 14, 3]);
    failed.message = "balance >= 0".into();
    check(
        &failed,
        expect![[r#"
            assert: balance >= 0
            cycle [], lines [31, 22, 14]
        "#]],
    );
    failed.end = Some(End::Exception);
    failed.message = "std::runtime_error: no".into();
    check(
        &failed,
        expect![[r#"
            exception: std::runtime_error: no
            cycle [], lines [31, 22, 14]
        "#]],
    );
    failed.end = Some(End::Abort);
    failed.message = String::new();
    check(
        &failed,
        expect![[r#"
            abort: aborted at toy.c:31 in f3
            cycle [], lines [31, 22, 14]
        "#]],
    );
    failed.end = Some(End::Exit(3));
    check(
        &failed,
        expect![[r#"
            exit: exit code 3
            cycle [], lines [31, 22, 14]
        "#]],
    );
    failed.end = Some(End::Lost(4 << 8));
    check(
        &failed,
        expect![[r#"
            exit: exit code 4
            cycle [], lines [31, 22, 14]
        "#]],
    );
    failed.end = Some(End::Lost(9));
    check(
        &failed,
        expect![[r#"
            crash: SIGKILL at toy.c:31 in f3
            cycle [], lines [31, 22, 14]
        "#]],
    );
}

#[test]
fn crash() {
    let mut trace = trace(End::Crash(11), 1);
    trace.ended_by(0, &[31, 22]);
    check(
        &trace,
        expect![[r#"
            crash: SIGSEGV at toy.c:31 in f3
            cycle [], lines [31, 22]
        "#]],
    );
}

#[test]
fn frames_of_libraries_do_not_count() {
    let mut trace = trace(End::Abort, 1);
    trace.sites.push(Site { module: Some(1), offset: 7, via: None });
    let raise = SiteId(trace.sites.len() as u32 - 1);
    trace.ended_by(0, &[raise.0, 31]);
    check(
        &trace,
        expect![[r#"
            abort: aborted at toy.c:31 in f3
            cycle [], lines [31]
        "#]],
    );
    let stack: Vec<String> =
        find(&trace).threads[0].stack.iter().map(|it| it.function.clone()).collect();
    assert_eq!(stack, ["raise", "f3"]);
}

#[test]
fn misuse() {
    let mut trace = trace(End::Misuse(Misuse::UnlockNotOwner), 3);
    trace.end_object = trace.object(ObjectClass::Mutex, heap(SiteId(31), 1, 8, 24));
    trace.ended_by(2, &[40]);
    check(
        &trace,
        expect![[r#"
            misuse: T2 unlocks a mutex that another thread holds: mutex in heap block of 24 bytes allocated at toy.c:31 by T1 (#2) +8
            cycle [], lines [40]
        "#]],
    );
}

#[test]
fn livelock_is_told_apart_by_functions() {
    let spinning = |line: u32| {
        let mut trace = trace(End::Livelock, 2);
        trace.summary.n_steps = 1_000_000;
        trace.threads[0].is_finished = true;
        trace.threads[1].pending.site = SiteId(line);
        trace
    };
    check(
        &spinning(31),
        expect![[r#"
            livelock: the same state repeats forever
            cycle [], lines [0]
        "#]],
    );
    assert_eq!(find(&spinning(31)).bucket, find(&spinning(33)).bucket);
    assert_ne!(find(&spinning(31)).bucket, find(&spinning(43)).bucket);
}

#[test]
fn buckets_do_not_know_schedules() {
    let failed = |thread: u32, message: &str, n_steps: u32| {
        let mut trace = trace(End::Assert, 3);
        trace.ended_by(thread, &[31, 22, 14, 3 + n_steps]);
        trace.message = message.into();
        for step in 0..n_steps {
            trace.step(step % 3, OpKind::Yield, ObjectId::NONE, 20);
        }
        find(&trace).bucket
    };
    assert_eq!(failed(1, "n == 3", 0), failed(2, "n == 17", 5));
    assert_ne!(failed(1, "n == 3", 0), failed(1, "m == 3", 0));
}

#[test]
fn names_of_objects() {
    let mut trace = trace(End::Abort, 1);
    let heap = heap(SiteId(31), 0, 0, 16);
    let stack = |offset| Region::Stack { thread: ThreadId(1), offset, frame: None };
    let objects = [
        (ObjectClass::Variable, Region::Global { module: 0, offset: 64 }),
        (ObjectClass::Variable, Region::Global { module: 0, offset: 72 }),
        (ObjectClass::Rwlock, Region::Global { module: 0, offset: 128 }),
        (ObjectClass::Variable, heap),
        (ObjectClass::Spin, heap),
        (ObjectClass::Variable, stack(16)),
        (ObjectClass::Variable, stack(24)),
        (ObjectClass::Mutex, stack(64)),
        (ObjectClass::Thread, Region::Thread(ThreadId(2))),
        (ObjectClass::Descriptor, Region::Descriptor(5)),
        (ObjectClass::Once, Region::Unknown),
        (ObjectClass::Barrier, Region::Global { module: 9, offset: 0 }),
    ];
    for (class, region) in objects {
        let object = trace.object(class, region);
        trace.step(0, OpKind::Init, object, 20);
    }
    trace.step(0, OpKind::Init, ObjectId(99), 20);
    let objects = find(&trace).objects;
    let names: Vec<String> = objects.iter().take(13).map(ToString::to_string).collect();
    expect![[r#"

        `b`
        `b`+8
        rwlock `c`
        heap block of 16 bytes allocated at toy.c:31 by T1 (#1)
        spin lock in heap block of 16 bytes allocated at toy.c:31 by T1 (#1)
        stack variable of T1
        stack variable of T1 (2)
        mutex on the stack of T1
        thread T2
        descriptor 5
        once #11
        barrier #12"#]]
    .assert_eq(&names.join("\n"));
}

#[test]
fn steps_and_choices() {
    let mut trace = trace(End::Assert, 3);
    let mutex = trace.global(ObjectClass::Mutex, 0);
    trace.step(0, OpKind::Lock, mutex, 12);
    trace.step(2, OpKind::Signal, mutex, 14);
    trace.events[1].detail = 6;
    trace.step(1, OpKind::Lock, mutex, 12);
    let found = find(&trace);
    assert_eq!(found.plan.prefix, [0, 2, 5, 1]);
    assert_eq!(found.plan.seed, 7);
    let places: Vec<u32> = found.steps.iter().map(|it| it.place).collect();
    assert_eq!(places, [1, 2, 1]);
    let lines: Vec<u32> = found.places.iter().map(|it| it.line).collect();
    assert_eq!(lines, [0, 12, 14]);
    assert_eq!(found.places[0], Place::default());
    assert_eq!((found.execution, found.output.as_str()), (42, "out"));

    trace.n_dropped = 1;
    assert_eq!(find(&trace).plan.prefix, Vec::<u32>::new());
    assert_eq!(find(&trace).n_steps_dropped, 1);
}

#[test]
fn steps_without_a_site() {
    let mut trace = trace(End::Assert, 1);
    trace.events.push(Event { site: SiteId(0), ..Event::default() });
    trace.events.push(Event { site: SiteId(77_777), ..Event::default() });
    let found = find(&trace);
    assert_eq!(found.places, [Place::default()]);
}
