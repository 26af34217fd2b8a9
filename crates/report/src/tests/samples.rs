//! Findings made by hand.

use raddle_model::{
    BlockSort, Bucket, Certainty, Drawing, DrawnEdge, DrawnNode, Fault, Finding, Home, Kind,
    Location, Miss, Missed, NamedObject, ObjectClass, ObjectId, OpKind, OpResult, PickerSpec,
    Place, Plan, Shape, Step, ThreadId, ThreadState, WaitFor,
};

/// A place in `bank.c`.
pub(crate) fn at(line: u32, function: &str) -> Place {
    Place {
        function: function.into(),
        file: "/home/me/examples/bank.c".into(),
        line,
        column: 5,
        module: "bank".into(),
        offset: 0,
    }
}

/// The source text of a line, as if `bank.c` were there.
pub(crate) fn source_line(place: &Place) -> Option<String> {
    Some(match place.line {
        30 => "\tpthread_mutex_lock(&from->lock);".into(),
        31 => "\tpthread_mutex_lock(&to->lock);".into(),
        35 => "\tfrom->balance -= amount;".into(),
        40 => "\tassert(left.balance + right.balance == 200);".into(),
        50 => "\tpthread_create(&first, NULL, to_right, NULL);".into(),
        51 => "\tpthread_create(&second, NULL, to_left, NULL);".into(),
        52 => "\tpthread_join(first, NULL);".into(),
        60 => "\tpthread_cond_wait(&ready, &lock);".into(),
        _ => return None,
    })
}

fn thread(number: u32) -> NamedObject {
    NamedObject::at(ObjectClass::Thread, Home::Thread(ThreadId(number)))
}

/// Something so many bytes into a global.
fn shifted(class: ObjectClass, name: &str, shift: u64) -> NamedObject {
    NamedObject::new(class, Location { name: name.into(), shift, ..Location::default() })
}

/// A finding without steps, threads `main`, `T1`, `T2`… about to go on.
pub(crate) fn blank(kind: Kind, n_threads: u32) -> Finding {
    let state = |number: u32| ThreadState {
        thread: ThreadId(number),
        name: String::new(),
        parent: (number > 0).then_some(ThreadId(0)),
        created_at: if number > 0 { at(49 + number, "main") } else { Place::default() },
        creation: Vec::new(),
        function: String::new(),
        is_finished: false,
        pending: None,
        waits_for: None,
        stack: Vec::new(),
    };
    Finding {
        kind,
        bucket: Bucket(0x02c1),
        fault: Fault::default(),
        thread: None,
        sites: Vec::new(),
        is_cycle: false,
        cycle: Vec::new(),
        threads: (0..n_threads).map(state).collect(),
        steps: Vec::new(),
        n_steps_dropped: 0,
        objects: vec![
            NamedObject::default(),
            NamedObject::called(ObjectClass::Mutex, "left"),
            NamedObject::called(ObjectClass::Mutex, "right"),
            thread(1),
            thread(2),
            shifted(ObjectClass::Variable, "left", 40),
            NamedObject::called(ObjectClass::Cond, "ready"),
        ],
        places: vec![Place::default()],
        stacks: Vec::new(),
        plan: Plan::new(PickerSpec::Walk, 7),
        execution: 1942,
        n_switches: 0,
        trace_digest: 0xfeed,
        output: String::new(),
        strategy: "walk".into(),
        position: None,
        certainty: Certainty::Shown,
        evidence: None,
        freed: None,
        delay_us: 0,
    }
}

/// Adds steps and counts their switches.
pub(crate) fn add(finding: &mut Finding, steps: &[(u32, OpKind, u32, u32)]) {
    for (thread, kind, object, line) in steps {
        let function = match line {
            30..=35 => "transfer",
            50..=53 => "main",
            _ => "worker",
        };
        let place = if *line == 0 { Place::default() } else { at(*line, function) };
        let known = finding.places.iter().position(|it| *it == place);
        let place = known.unwrap_or_else(|| {
            finding.places.push(place);
            finding.places.len() - 1
        });
        let value = match (kind, object) {
            (OpKind::Spawn, object) => u64::from(*object - 2),
            (OpKind::Read, _) => 100,
            _ => 0,
        };
        let is_switch = finding.steps.last().is_some_and(|it| it.thread != ThreadId(*thread));
        finding.n_switches += u64::from(is_switch);
        finding.steps.push(Step {
            thread: ThreadId(*thread),
            kind: *kind,
            object: ObjectId(*object),
            place: place as u32,
            value,
            ..Step::default()
        });
    }
}

/// What a thread waits for at the end.
pub(crate) fn wait(
    finding: &mut Finding,
    thread: u32,
    pending: OpKind,
    object: u32,
    at: Place,
    holders: Vec<(ThreadId, Place)>,
) {
    let object_name = finding.objects[object as usize].clone();
    let state = &mut finding.threads[thread as usize];
    state.pending = Some(pending);
    state.waits_for = Some(WaitFor {
        object: object_name,
        object_id: ObjectId(object),
        at,
        holders,
        missed: None,
    });
}

/// Two threads, two locks, taken the wrong way round.
pub(crate) fn ab_ba() -> Finding {
    let mut finding = blank(Kind::Deadlock, 3);
    finding.fault =
        Fault::Said("T1 waits for `right` held by T2 (taken at bank.c:30), T2 waits …".into());
    finding.is_cycle = true;
    finding.cycle = vec![ThreadId(1), ThreadId(2)];
    finding.sites = vec![at(30, "transfer"), at(31, "transfer")];
    add(
        &mut finding,
        &[
            (0, OpKind::Spawn, 3, 50),
            (0, OpKind::Spawn, 4, 51),
            (1, OpKind::Start, 0, 0),
            (1, OpKind::Lock, 1, 30),
            (2, OpKind::Start, 0, 0),
            (2, OpKind::Lock, 2, 30),
        ],
    );
    let taken = at(30, "transfer");
    wait(&mut finding, 0, OpKind::Join, 3, at(52, "main"), vec![]);
    let wants = at(31, "transfer");
    wait(&mut finding, 1, OpKind::Lock, 2, wants.clone(), vec![(ThreadId(2), taken.clone())]);
    wait(&mut finding, 2, OpKind::Lock, 1, wants, vec![(ThreadId(1), taken)]);
    finding.output = "moving 10 to the right\nmoving 20 to the left\n".into();
    finding
}

/// A signal that came before the wait.
pub(crate) fn lost_wakeup() -> Finding {
    let mut finding = blank(Kind::Deadlock, 2);
    finding.fault = Fault::Said("T1 waits for a signal on `ready` that nobody will send".into());
    finding.sites = vec![at(60, "worker")];
    finding.threads[1].name = "consumer".into();
    add(
        &mut finding,
        &[
            (0, OpKind::Spawn, 3, 50),
            (1, OpKind::Start, 0, 0),
            (0, OpKind::Lock, 1, 30),
            (0, OpKind::Signal, 6, 61),
            (0, OpKind::Unlock, 1, 62),
            (1, OpKind::Lock, 1, 59),
            (1, OpKind::CondWait, 6, 60),
        ],
    );
    finding.steps[6].other = ObjectId(1);
    wait(&mut finding, 0, OpKind::Join, 3, at(52, "main"), vec![]);
    wait(&mut finding, 1, OpKind::CondWake, 6, at(60, "worker"), vec![]);
    if let Some(wait) = &mut finding.threads[1].waits_for {
        let (thread, kind, why) = (ThreadId(0), OpKind::Signal, Miss::TooEarly);
        wait.missed = Some(Missed { thread, kind, at: at(61, "main"), step: 4, why });
    }
    finding
}

/// Two threads and an assertion that one of them sees fail.
pub(crate) fn assertion() -> Finding {
    let mut finding = blank(Kind::Assert, 2);
    finding.fault = Fault::Said("left.balance + right.balance == 200".into());
    finding.thread = Some(ThreadId(1));
    finding.sites = vec![at(40, "audit")];
    finding.threads[1].stack = vec![at(40, "audit"), at(45, "worker")];
    finding.threads[0].pending = Some(OpKind::Write);
    add(
        &mut finding,
        &[
            (0, OpKind::Spawn, 3, 50),
            (0, OpKind::Lock, 1, 30),
            (0, OpKind::Read, 5, 35),
            (1, OpKind::Start, 0, 0),
            (1, OpKind::Read, 5, 40),
        ],
    );
    finding.output = "bank: bank.c:40: audit: Assertion failed.\n".into();
    finding
}

/// A crash in a long execution.
pub(crate) fn crash() -> Finding {
    let mut finding = blank(Kind::Crash, 3);
    finding.fault = Fault::Said("SIGSEGV".into());
    finding.thread = Some(ThreadId(2));
    finding.sites = vec![at(35, "transfer")];
    finding.threads[2].stack = vec![at(35, "transfer"), at(47, "to_left")];
    finding.n_steps_dropped = 1_000;
    for _ in 0..60 {
        add(
            &mut finding,
            &[(1, OpKind::Lock, 1, 30), (1, OpKind::Write, 5, 35), (1, OpKind::Unlock, 1, 36)],
        );
    }
    add(&mut finding, &[(2, OpKind::Lock, 2, 30), (2, OpKind::Read, 5, 35)]);
    finding
}

/// An unlock of somebody else's mutex.
pub(crate) fn misuse() -> Finding {
    let mut finding = blank(Kind::Misuse, 2);
    finding.fault = Fault::Said("T1 unlocks a mutex that another thread holds: left.lock".into());
    finding.thread = Some(ThreadId(1));
    finding.sites = vec![at(36, "worker")];
    finding.threads[1].stack = vec![at(36, "worker")];
    finding.threads[0].pending = Some(OpKind::Unlock);
    add(
        &mut finding,
        &[
            (0, OpKind::Spawn, 3, 50),
            (0, OpKind::Lock, 1, 30),
            (1, OpKind::Start, 0, 0),
            (1, OpKind::Unlock, 1, 36),
        ],
    );
    finding.steps[3].result = OpResult::Misused;
    finding
}

/// Four philosophers and `main`.
pub(crate) fn five_threads() -> Finding {
    let mut finding = blank(Kind::Deadlock, 5);
    finding.fault =
        Fault::Said("T1 waits for `forks`+40 held by T2 (taken at bank.c:30), …".into());
    finding.is_cycle = true;
    finding.cycle = (1..=4).map(ThreadId).collect();
    finding.sites = vec![at(31, "dine")];
    finding.objects.truncate(1);
    finding.objects.extend((0..4).map(|it| shifted(ObjectClass::Mutex, "forks", it * 40)));
    finding.objects.push(thread(1));
    for thread in 1..=4 {
        add(&mut finding, &[(thread, OpKind::Start, 0, 0), (thread, OpKind::Lock, thread, 30)]);
    }
    for thread in 1..=4 {
        let next = thread % 4 + 1;
        let holders = vec![(ThreadId(next), at(30, "dine"))];
        wait(&mut finding, thread, OpKind::Lock, next, at(31, "dine"), holders);
    }
    wait(&mut finding, 0, OpKind::Join, 5, at(52, "main"), vec![]);
    finding
}

/// As [`ab_ba`], with locks that have no names.
pub(crate) fn heap_locks() -> Finding {
    let mut finding = ab_ba();
    for (object, ordinal) in [(1, 1), (2, 2)] {
        let (thread, sort) = (ThreadId(0), BlockSort::Heap);
        let stack = vec![at(20, "main")];
        let home = Home::Heap { thread, nth: ordinal, offset: 0, stack, sort };
        let location = Location { size: 48, home, ..Location::default() };
        finding.objects[object] = NamedObject::new(ObjectClass::Mutex, location);
    }
    for state in &mut finding.threads {
        if let Some(wait) = &mut state.waits_for {
            wait.object = finding.objects[wait.object_id.idx()].clone();
        }
    }
    finding
}

/// A branch that one read decides, which can read two writes.
pub(crate) fn drawing() -> Drawing<String> {
    let node = |parent, edge, shape, labels: &[&str]| DrawnNode {
        parent,
        edge,
        shape,
        labels: labels.iter().map(|it| (*it).to_owned()).collect(),
    };
    let define = DrawnEdge::Define("T1 writes at <a>.c:9".to_owned());
    Drawing {
        title: "decided at \"a\".c:3".to_owned(),
        nodes: vec![
            node(None, DrawnEdge::Plain, Shape::Box, &[]),
            node(Some(0), DrawnEdge::Plain, Shape::Circle, &["T2 reads at a.c:3"]),
            node(Some(1), DrawnEdge::First, Shape::Box, &[]),
            node(Some(1), define, Shape::Box, &["T1 reads at a.c:8", "T1 reads at a.c:7"]),
        ],
        is_cut: false,
    }
}
