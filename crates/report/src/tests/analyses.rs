//! What analyses find: races, cycles in the order of locks, atomicity violations.

use expect_test::expect;
use raddle_model::{
    Access, BlockSort, Certainty, Doubt, Evidence, Fault, Finding, Held, Home, Kind, Link,
    Location, NamedObject, ObjectClass, ObjectId, OpKind, Place, Remedy, ThreadId,
};

use super::{
    ASCII, check,
    samples::{add, at, blank},
};
use crate::{finding::shown::Shown, formats::json, layout::style::Style};

fn held(lock: &str, id: u32, line: u32, is_shared: bool) -> Held {
    let lock = NamedObject::called(ObjectClass::Mutex, lock);
    Held { lock, lock_id: ObjectId(id), taken_at: at(line, "transfer"), is_shared }
}

fn access(thread: u32, kind: OpKind, step: u64, place: Place) -> Access {
    let stack = vec![place.clone(), at(45, "worker")];
    let holds = Vec::new();
    Access { thread: ThreadId(thread), kind, size: 8, step, place, stack, holds }
}

/// T1 writes a field of a heap block under a lock, main reads it without.
fn race(home: Home) -> Finding {
    let mut finding = blank(Kind::Race, 2);
    finding.threads[1].function = "pay(int)".into();
    finding.threads[1].creation = vec![at(50, "main")];
    finding.threads[1].is_finished = true;
    add(
        &mut finding,
        &[
            (0, OpKind::Spawn, 3, 50),
            (1, OpKind::Start, 0, 0),
            (1, OpKind::Lock, 1, 30),
            (0, OpKind::Read, 5, 40),
        ],
    );
    let write = Access {
        holds: vec![held("left", 1, 30, false)],
        ..access(1, OpKind::Write, 3, at(35, "transfer"))
    };
    let mut read = access(0, OpKind::Read, 4, at(40, "worker"));
    read.stack.truncate(1);
    finding.fault =
        Fault::Said("`Account.balance`: T1 writes at bank.c:35, T0 reads at bank.c:40".into());
    finding.sites = vec![at(35, "transfer"), at(40, "audit")];
    finding.evidence = Some(Box::new(Evidence {
        memory: vec![NamedObject::called(ObjectClass::Variable, "Account.balance")],
        memory_id: ObjectId(5),
        location: Location {
            name: "Account.balance".into(),
            field_of: "struct Account".into(),
            type_name: "struct Account".into(),
            size: 48,
            home,
            ..Location::default()
        },
        accesses: vec![write, read],
        ..Evidence::default()
    }));
    finding
}

pub(crate) fn on_the_heap() -> Finding {
    let stack = vec![at(20, "make"), at(49, "main")];
    race(Home::Heap { thread: ThreadId(0), nth: 1, offset: 40, stack, sort: BlockSort::Heap })
}

#[test]
fn race_on_the_heap() {
    check(
        &on_the_heap(),
        &Style::default(),
        expect![[r#"
            error[dl-02c1]: data race on `Account.balance` (8 bytes): T1's write and
                T0's read are unordered
              --> examples/bank.c:40 in worker
               |
            35 |     from->balance -= amount;
               |     ------------- 1. T1 (pay) writes `Account.balance`, holding `left`
            40 |     assert(left.balance + right.balance == 200);
               |            ^^^^^^^^^^^^ 2. T0 (main) reads `Account.balance` = 100, holding
               |                         no lock
               |
               = note: 1 and 2 are unordered: T1 holds `left`, T0 holds nothing, and no
                       release-acquire pair orders them
               = note: location: `Account.balance`, field of `struct Account`, 40 bytes into
                       a heap block of size 48 allocated by main thread at bank.c:20
               = replay: raddle replay dl-02c1

              step  T0 main             T1 pay                  4 steps, 2 switches
                 1  spawn T1                                    bank.c:50  pthread_create(&…
                    ── switch (preempted) ──
                 2  .                    start
                 3  .                   │lock left              bank.c:30  pthread_mutex_lo…
            1▸      .                   │write Account.balance  bank.c:35  ← race
                    ── switch (preempted) ──
            2▸   4  read left+40 → 100  │                       bank.c:40  ← race
              │ holds a lock

            SUMMARY: raddle: race at examples/bank.c:40 in worker
        "#]],
    );
}

#[test]
fn race_in_ascii() {
    let mut finding = on_the_heap();
    let evidence = finding.evidence.as_mut().expect("it has some");
    evidence.effect = Some(Remedy::OtherFirst);
    evidence.accesses[0].holds.clear();
    evidence.accesses[0].kind = OpKind::AtomicRmw;
    evidence.accesses[1].stack.clear();
    check(
        &finding,
        &ASCII,
        expect![[r#"
            error[dl-02c1]: data race on `Account.balance` (8 bytes): T1's update and
                T0's read are unordered
              --> examples/bank.c:40 in worker
               |
            35 |     from->balance -= amount;
               |     ------------- 1. T1 (pay) updates `Account.balance`, holding no lock
            40 |     assert(left.balance + right.balance == 200);
               |            ^^^^^^^^^^^^ 2. T0 (main) reads `Account.balance` = 100, holding
               |                         no lock
               |
               = note: 1 and 2 are unordered: neither thread holds a lock, and no
                       release-acquire pair orders them
               = note: tested: the execution fails, but passes if T0's read comes before
                       T1's rmw
               = note: location: `Account.balance`, field of `struct Account`, 40 bytes into
                       a heap block of size 48 allocated by main thread at bank.c:20
               = replay: raddle replay dl-02c1

              step  T0 main              T1 pay                4 steps, 2 switches
                 1  spawn T1                                   bank.c:50  pthread_create(...
                    -- switch (preempted) --
                 2  .                     start
                 3  .                    |lock left            bank.c:30  pthread_mutex_l...
            1>      .                    |rmw Account.balance  bank.c:35  <- race
                    -- switch (preempted) --
            2>   4  read left+40 -> 100  |                     bank.c:40  <- race
              | holds a lock

            SUMMARY: raddle: race at examples/bank.c:40 in worker
        "#]],
    );
}

#[test]
fn race_on_globals_and_stacks() {
    let location = |home: Home, name: &str| {
        let mut finding = race(home);
        let evidence = finding.evidence.as_mut().expect("it has some");
        evidence.location.name = name.into();
        let shown = Shown {
            finding: &finding,
            id: "r",
            seed: None,
            reproduced: None,
            base: "",
            explanation: None,
            test: None,
        };
        let text = crate::finding::text::finding(&shown, &Style::default(), &mut |_| None);
        let lines = text.lines().skip_while(|it| !it.contains("location: "));
        let lines = lines.take_while(|it| !it.contains("= replay"));
        lines.map(|it| format!("{}\n", it.trim_start())).collect::<String>()
    };
    let global =
        |function: &str| Home::Global { declared_at: at(12, ""), function: function.into() };
    let stack = |function: &str| Home::Stack {
        thread: ThreadId(1),
        function: function.into(),
        declared_at: at(33, ""),
    };
    let mut text = location(global(""), "accounts[1].balance");
    text += &location(global(""), "total");
    text += &location(global("audit(int)"), "calls");
    text += &location(stack("transfer"), "sum");
    text += &location(stack(""), "");
    text += &location(Home::Unknown, "");
    expect![[r#"
        = note: location: global `accounts` of size 48, declared at bank.c:12:
        `accounts[1].balance`, field of `struct Account`
        = note: location: global `total` of size 48, declared at bank.c:12
        = note: location: `calls` of size 48, static variable of audit, declared at
        bank.c:12
        = note: location: stack of thread T1 pay: variable `sum` of transfer,
        declared at bank.c:33
        = note: location: stack of thread T1 pay
    "#]]
    .assert_eq(&text);
}

#[test]
fn cycle_that_was_not_shown() {
    let mut finding = blank(Kind::Deadlock, 3);
    add(
        &mut finding,
        &[
            (1, OpKind::Lock, 1, 30),
            (1, OpKind::Lock, 2, 31),
            (1, OpKind::Unlock, 2, 36),
            (1, OpKind::Unlock, 1, 37),
            (2, OpKind::Lock, 2, 30),
            (2, OpKind::Lock, 1, 31),
        ],
    );
    let link = |thread: u32, holds: Held, wants: (&str, u32), steps: [u64; 2]| Link {
        thread: ThreadId(thread),
        holds,
        wants: NamedObject::called(ObjectClass::Mutex, wants.0),
        wants_id: ObjectId(wants.1),
        wants_at: at(31, "transfer"),
        steps,
    };
    let (left, right) = ("left", "right");
    finding.certainty = Certainty::Potential(Box::new(Doubt::Astray));
    finding.evidence = Some(Box::new(Evidence {
        links: vec![
            link(1, held(left, 1, 30, false), (right, 2), [1, 2]),
            link(2, held(right, 2, 30, false), (left, 1), [5, 6]),
        ],
        ..Evidence::default()
    }));
    check(
        &finding,
        &Style::default(),
        expect![[r#"
            warning[dl-02c1]: lock-order inversion (potential deadlock) of T1 and T2
              --> examples/bank.c:31 in transfer
               |
            30 |     pthread_mutex_lock(&from->lock);
               |     ------------------------------- 1. T1 locks `left`
            31 |     pthread_mutex_lock(&to->lock);
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 2. T1 locks `right`
            30 |     pthread_mutex_lock(&from->lock);
               |     ------------------------------- 3. T2 locks `right`
            31 |     pthread_mutex_lock(&to->lock);
               |     ----------------------------- 4. T2 locks `left`
               |
               = note: unconfirmed: the schedule constructed to confirm it diverged
               = replay: raddle replay dl-02c1

              step  T1             T2           6 steps, 1 switch
            1▸   1  │lock left      .           bank.c:30  pthread_mutex_lock(&from->lock);
            2▸   2  ║lock right     .           bank.c:31  pthread_mutex_lock(&to->lock);
                 3  ║unlock right   .           bank.c:36
                 4  │unlock left    .           bank.c:37
                    ── switch (preempted) ──
            3▸   5   .             │lock right  bank.c:30  pthread_mutex_lock(&from->lock);
            4▸   6   .             ║lock left   bank.c:31  pthread_mutex_lock(&to->lock);
              │ holds a lock, ║ holds several locks

            SUMMARY: raddle: deadlock at examples/bank.c:31 in transfer
        "#]],
    );
}

#[test]
fn atomicity() {
    let mut finding = race(Home::Global { declared_at: at(12, ""), function: String::new() });
    finding.kind = Kind::Atomicity;
    finding.certainty = Certainty::Potential(Box::new(Doubt::Untried));
    let evidence = finding.evidence.as_mut().expect("it has some");
    evidence.location.name = "left.balance".into();
    evidence.accesses.push(access(1, OpKind::Write, 4, at(36, "transfer")));
    check(
        &finding,
        &Style::default(),
        expect![[r#"
            warning[dl-02c1]: possible atomicity violation on `left.balance` (8 bytes):
                T0 (main) reads between T1's two writes
              --> examples/bank.c:36 in transfer, called from worker (:45)
               |
            35 |     from->balance -= amount;
               |     ------------- 1. T1 (pay) writes `left.balance`, holding `left`
            40 |     assert(left.balance + right.balance == 200);
               |            ------------ 2. T0 (main) reads `left.balance` = 100, holding no
               |                         lock
            36 | 3. T1 writes `left.balance`, holding no lock
               |
               = note: unconfirmed: no execution has shown it
               = note: location: global `left` of size 48, declared at bank.c:12:
                       `left.balance`, field of `struct Account`
               = replay: raddle replay dl-02c1

              step  T0 main             T1 pay               4 steps, 2 switches
                 1  spawn T1                                 bank.c:50  pthread_create(&fir…
                    ── switch (preempted) ──
                 2  .                    start
                 3  .                   │lock left           bank.c:30  pthread_mutex_lock(…
            1▸      .                   │write left.balance  bank.c:35  ← meant to be one
                    ── switch (preempted) ──
            2▸   4  read left+40 → 100  │                    bank.c:40  ← in between
            3▸      .                   │write left.balance  bank.c:36  ← meant to be one
              │ holds a lock

            SUMMARY: raddle: atomicity at examples/bank.c:36 in transfer
        "#]],
    );
}

#[test]
fn evidence_in_json() {
    let finding = on_the_heap();
    let shown = Shown {
        finding: &finding,
        id: "race-02c1",
        seed: None,
        reproduced: None,
        base: "",
        explanation: None,
        test: None,
    };
    let line: serde_json::Value = serde_json::from_str(&json::finding(&shown)).expect("JSON");
    let part = serde_json::json!({
        "certainty": line["certainty"],
        "why_potential": line["why_potential"],
        "evidence": line["evidence"],
        "function": line["threads"][1]["function"],
        "creation": line["threads"][1]["creation"],
    });
    let text = serde_json::to_string_pretty(&part).expect("JSON");
    expect![[r#"
        {
          "certainty": "shown",
          "creation": [
            {
              "column": 5,
              "file": "/home/me/examples/bank.c",
              "function": "main",
              "line": 50,
              "module": "bank"
            }
          ],
          "evidence": {
            "accesses": [
              {
                "at": {
                  "column": 5,
                  "file": "/home/me/examples/bank.c",
                  "function": "transfer",
                  "line": 35,
                  "module": "bank"
                },
                "holds": [
                  {
                    "lock": "mutex `left`",
                    "shared": false,
                    "taken_at": {
                      "column": 5,
                      "file": "/home/me/examples/bank.c",
                      "function": "transfer",
                      "line": 30,
                      "module": "bank"
                    }
                  }
                ],
                "op": "write",
                "size": 8,
                "stack": [
                  {
                    "column": 5,
                    "file": "/home/me/examples/bank.c",
                    "function": "transfer",
                    "line": 35,
                    "module": "bank"
                  },
                  {
                    "column": 5,
                    "file": "/home/me/examples/bank.c",
                    "function": "worker",
                    "line": 45,
                    "module": "bank"
                  }
                ],
                "steps_before": 3,
                "thread": 1
              },
              {
                "at": {
                  "column": 5,
                  "file": "/home/me/examples/bank.c",
                  "function": "worker",
                  "line": 40,
                  "module": "bank"
                },
                "holds": [],
                "op": "read",
                "size": 8,
                "stack": [
                  {
                    "column": 5,
                    "file": "/home/me/examples/bank.c",
                    "function": "worker",
                    "line": 40,
                    "module": "bank"
                  }
                ],
                "steps_before": 4,
                "thread": 0
              }
            ],
            "contrast": null,
            "effect": null,
            "links": [],
            "location": {
              "allocated_at": [
                {
                  "column": 5,
                  "file": "/home/me/examples/bank.c",
                  "function": "make",
                  "line": 20,
                  "module": "bank"
                },
                {
                  "column": 5,
                  "file": "/home/me/examples/bank.c",
                  "function": "main",
                  "line": 49,
                  "module": "bank"
                }
              ],
              "declared_at": null,
              "field_of": "struct Account",
              "function": null,
              "home": "heap",
              "name": "Account.balance",
              "offset": 40,
              "shift": 0,
              "size": 48,
              "thread": 0,
              "type": "struct Account"
            },
            "memory": "`Account.balance`",
            "orders": null
          },
          "function": "pay(int)",
          "why_potential": null
        }"#]]
    .assert_eq(&text);
}
