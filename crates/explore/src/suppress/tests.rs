//! Which findings rules suppress, and what files of rules may say.

use expect_test::{Expect, expect};
use raddle_model::{End, Finding, Kind, Place, Plan, ThreadId};

use super::{Pattern, Rule, Suppressions, tsan};
use crate::{
    fake::{ToySymbols, TraceExt, trace},
    finding::finding,
};

/// A failed assertion of T1, in `f3` at line 31 called by `f2` at line 22.
fn failure() -> Finding {
    let mut trace = trace(End::Assert, 2);
    trace.ended_by(1, &[31, 22]);
    trace.message = "x == 3".into();
    let plan = Plan::new(raddle_model::PickerSpec::Walk, 7);
    finding(&trace, &plan, 0, "", &mut ToySymbols).expect("it failed")
}

/// The same with evidence of a race on `queue.len`, allocated in `make`.
fn race() -> Finding {
    use raddle_model::{
        Access, BlockSort, Evidence, Home, Location, NamedObject, ObjectClass, OpKind,
    };
    let place = |function: &str, file: &str| Place {
        function: function.into(),
        file: file.into(),
        line: 3,
        module: "prog".into(),
        ..Place::default()
    };
    let access = |thread: u32, stack: Vec<Place>| Access {
        thread: ThreadId(thread),
        kind: OpKind::Write,
        size: 8,
        step: 4,
        place: stack[0].clone(),
        stack,
        holds: Vec::new(),
    };
    let inner = place("bank::Queue<int>::push(int)", "/home/me/src/queue.h");
    let library = Place { module: "libnet.so.2".into(), ..place("send", "/home/me/net/send.c") };
    let stack = vec![place("make", "/home/me/src/make.c")];
    let home = Home::Heap { thread: ThreadId(0), nth: 1, offset: 8, stack, sort: BlockSort::Heap };
    Finding {
        kind: Kind::Race,
        evidence: Some(Box::new(Evidence {
            memory: vec![NamedObject::called(ObjectClass::Variable, "queue.len")],
            location: Location { name: "queue.len".into(), home, ..Location::default() },
            accesses: vec![
                access(0, vec![inner.clone(), place("main", "/home/me/src/main.c")]),
                access(1, vec![inner, library]),
            ],
            ..Evidence::default()
        })),
        ..failure()
    }
}

fn suppresses(rule: Rule, finding: &Finding) -> bool {
    Suppressions { rules: vec![rule] }.find(finding) == Some(0)
}

#[test]
fn rules_of_our_own() {
    let rule = |set: fn(&mut Rule, Pattern), pattern: &str| {
        let mut rule = Rule { kinds: vec![Kind::Race], ..Rule::default() };
        set(&mut rule, Pattern::whole(pattern));
        rule
    };
    let function: fn(&mut Rule, Pattern) = |rule, it| rule.function = Some(it);
    let file: fn(&mut Rule, Pattern) = |rule, it| rule.file = Some(it);
    let object: fn(&mut Rule, Pattern) = |rule, it| rule.object = Some(it);
    for (set, pattern, is_suppressed) in [
        (function, "bank::Queue::push", true),
        (function, "*::push", true),
        (function, "push", false),
        (function, "main", true),
        (file, "src/queue.h", true),
        (file, "queue.h", true),
        (file, "eue.h", false),
        (file, "/home/me/src/*", true),
        (object, "queue.len", true),
        (object, "queue", true),
        (object, "queue.*", true),
        (object, "len", false),
    ] {
        assert_eq!(suppresses(rule(set, pattern), &race()), is_suppressed, "{pattern}");
    }
    let both = Rule { object: Some(Pattern::whole("other")), ..rule(function, "main") };
    assert!(!suppresses(both, &race()));
    assert!(!suppresses(rule(function, "f3"), &failure()), "another kind");
    let any = Rule { kinds: Vec::new(), ..rule(function, "f2") };
    assert!(suppresses(any, &failure()));
}

#[test]
fn rules_of_tsan() {
    for (line, is_suppressed) in [
        ("race:push", true),
        ("race:^bank", true),
        ("race:queue.h", true),
        ("race:queue.len", true),
        ("race:libnet", true),
        ("race:make.c", true),
        ("race:pull", false),
        ("race_top:push", true),
        ("race_top:main", false),
        ("called_from_lib:libnet.so", true),
        ("called_from_lib:libother", false),
        ("deadlock:push", false),
        ("thread:push", false),
    ] {
        let rules = tsan::parse("s", line).expect(line);
        let found = Suppressions { rules }.find(&race());
        assert_eq!(found, is_suppressed.then_some(0), "{line}");
    }
}

fn check(text: &str, expect: Expect) {
    let told = match tsan::parse("tsan.supp", text) {
        Ok(rules) => rules.iter().map(|it| format!("{}: {}\n", it.origin, it.text)).collect(),
        Err(error) => format!("{error}\n"),
    };
    expect.assert_eq(&told);
}

#[test]
fn files_of_tsan() {
    check(
        "# ours\n\nrace:push\n  deadlock:lock_all # not a comment\nsignal:x\nmutex:m\n",
        expect![[r#"
            tsan.supp:3: race:push
            tsan.supp:4: deadlock:lock_all # not a comment
            tsan.supp:6: mutex:m
        "#]],
    );
    check(
        "race:a\n  leak:foo\n",
        expect![[r#"
        tsan.supp:2:3: expected a kind (race, race_top, deadlock, mutex, called_from_lib, thread, signal), found `leak`
    "#]],
    );
    check(
        "race\n",
        expect![[r#"
        tsan.supp:1:5: expected `:` and a pattern after the kind, found the end of the line
    "#]],
    );
    check(
        "  race: \n",
        expect![[r#"
        tsan.supp:1:8: expected a pattern after the colon, found the end of the line
    "#]],
    );
}

/// Whatever a file says, it is rules, or what is wrong with it is one line.
#[test]
fn garbled_files() {
    let text = "# ours\nrace:push*\nrace_top:^pop$\nmutex:lib*.so\ndeadlock:[a-z]\n\nthread:main\n";
    for bytes in raddle_tidy::garbled(text.as_bytes(), 5_000) {
        match tsan::parse("file", &String::from_utf8_lossy(&bytes)) {
            Ok(rules) => {
                let suppressions = Suppressions { rules };
                let _ = suppressions.find(&race());
            }
            Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
        }
    }
}
