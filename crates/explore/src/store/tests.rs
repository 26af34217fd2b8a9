//! The store, from its outside.

use std::{
    borrow::Cow,
    collections::HashSet,
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::ffi::OsStringExt as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use expect_test::{Expect, expect};
use raddle_model::{
    Amount, Bucket, Carrier, Conditions, Counting, Depth, Detect, End, Fault, Figures, Finding,
    Interest, Length, PickerSpec, Plan, Profile, Reproduced, Role, Smax, Timeouts, Use,
};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{
    About, RunEnd, RunInfo, SearchSettings, Store, StoreError, StoredTarget, hash_program,
};
use crate::{
    campaign::{Account, Counted, FoundCount, Journal as _, Standing},
    fake::{ToySymbols, TraceExt, trace},
    finding::finding,
};

pub(super) fn info() -> RunInfo {
    RunInfo {
        target: StoredTarget {
            program: "./toy".into(),
            args: vec!["-n".into(), OsString::from_vec(vec![b'3', 0xff])],
            ..StoredTarget::default()
        },
        program_hash: u64::MAX,
        carrier: Carrier::Fibers,
        seed: 7,
        exit_is_fine: false,
        invocation: None,
        about: About::default(),
    }
}

pub(super) fn found(bucket: u64) -> Finding {
    let mut trace = trace(End::Assert, 2);
    trace.ended_by(1, &[31, 22]);
    trace.message = "x == 1".into();
    let plan = Plan::new(PickerSpec::Walk, 7);
    let finding = finding(&trace, &plan, 42, "out", &mut ToySymbols).expect("bug: it fails");
    Finding { bucket: Bucket(bucket), ..finding }
}

fn store() -> (TempDir, Store) {
    let directory = TempDir::new().expect("bug: no room for temporary files");
    let store = Store::at(directory.path().join(".raddle"));
    (directory, store)
}

fn add(store: &Store, ids: &[(&str, u64)]) {
    let mut run = store.begin(info()).expect("bug: the directory is new");
    for (id, bucket) in ids {
        run.add(id, &found(*bucket), Reproduced { n: 1, of: 1 }).expect("bug: it is writable");
    }
}

fn check_error(result: Result<impl Sized, StoreError>, directory: &TempDir, expect: Expect) {
    let error = result.err().expect("bug: an error was expected").to_string();
    expect.assert_eq(&error.replace(&directory.path().display().to_string(), "DIR"));
}

fn database(directory: &TempDir) -> PathBuf {
    directory.path().join(".raddle/raddle.db")
}

fn execute(directory: &TempDir, text: &str) {
    let connection = Connection::open(database(directory)).expect("it is there");
    connection.execute_batch(text).expect("it is a statement");
}

/// Whoever has words for faults makes lists short; the finding has its fault nevertheless.
#[test]
fn lists_say_what_was_said_when_it_was_found() {
    let (_directory, store) = store();
    let store = store.saying(|kind, _| format!("some {}", kind.word()));
    let mut run = store.begin(info()).unwrap();
    run.add("assert-0001", &found(1), Reproduced::default()).unwrap();
    assert_eq!(store.list().unwrap()[0].fault, Fault::Said("some assert".into()));
    let (shown, n_all) = store.newest(1).unwrap();
    assert_eq!((shown.len(), n_all), (1, 1));
    assert_eq!(store.find("assert").unwrap().finding, found(1));
    // Written again, it is said again.
    store.write(&store.find("assert").unwrap()).unwrap();
    assert_eq!(store.list().unwrap(), shown);
}

#[test]
fn round_trip() {
    let (directory, store) = store();
    let mut run = store.begin(info()).unwrap();
    let stored = run.add("assert-0001", &found(1), Reproduced { n: 1, of: 1 }).unwrap();
    assert_eq!(store.find("assert-0001").unwrap(), stored);
    assert_eq!(store.find("latest").unwrap(), stored);
    assert_eq!(stored.finding, found(1));
    assert_eq!(stored.info, info());
    run.finish(RunEnd {
        figures: Figures { executions: 9, ..Figures::default() },
        ..RunEnd::default()
    })
    .unwrap();
    let listed = store.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].id.as_str(), listed[0].run.as_str()), ("assert-0001", run.id()));
    let file = directory.path().join("it.json");
    Store::write_file(&file, &stored).unwrap();
    assert_eq!(Store::read_file(&file).unwrap(), stored);
    let end = store.find_run("latest").unwrap().end.unwrap();
    assert_eq!((end.figures.executions, store.run_ids().unwrap()), (9, vec![run.id().to_owned()]));
}

#[test]
fn a_later_word_replaces_the_first() {
    let (_directory, store) = store();
    let mut run = store.begin(info()).unwrap();
    run.add("assert-0001", &found(1), Reproduced::default()).unwrap();
    run.add("assert-0001", &found(1), Reproduced { n: 1, of: 1 }).unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
    assert_eq!(store.find("assert").unwrap().reproduced.n, 1);
}

#[test]
fn names() {
    let (directory, store) = store();
    check_error(store.find("latest"), &directory, expect!["no findings in DIR/.raddle"]);
    add(&store, &[("assert-12ab", 1), ("dl-02c1", 2)]);
    add(&store, &[("dl-02c17", 3), ("dl-02d0", 4)]);
    add(&store, &[("assert-12ab", 1)]);
    let id = |name: &str| store.find(name).map(|it| it.id);
    assert_eq!(id("latest").unwrap(), "assert-12ab");
    assert_eq!(id("a").unwrap(), "assert-12ab");
    assert_eq!(id("dl-02c1").unwrap(), "dl-02c1");
    assert_eq!(id("dl-02d").unwrap(), "dl-02d0");
    check_error(
        id("dl"),
        &directory,
        expect!["finding id `dl` is ambiguous: it matches dl-02d0, dl-02c17, dl-02c1"],
    );
    check_error(
        id("live"),
        &directory,
        expect!["no finding with an id that starts with `live` in DIR/.raddle"],
    );
    assert_eq!(store.list().unwrap().len(), 4);
    let mut ids = store.ids().unwrap();
    assert_eq!(ids.id(raddle_model::Kind::Deadlock, Bucket(0x02c1 << 48)), "dl-02c10");
}

#[test]
fn damaged_and_newer_stores() {
    let (directory, store) = store();
    add(&store, &[("assert-0001", 1)]);
    let bytes = fs::read(database(&directory)).unwrap();
    execute(&directory, "UPDATE bodies SET finding = substr(finding, 1, 100)");
    check_error(
        store.find("latest"),
        &directory,
        expect![
            "DIR/.raddle/raddle.db is damaged (EOF while parsing an object at line 1 column 100); move it away to start a new store, or repair it with `sqlite3 FILE .recover`"
        ],
    );
    execute(&directory, "UPDATE findings SET kind = 'odd'");
    check_error(
        store.list(),
        &directory,
        expect![
            "DIR/.raddle/raddle.db is damaged (Conversion error from type Text at index: 1, `odd` is not a kind); move it away to start a new store, or repair it with `sqlite3 FILE .recover`"
        ],
    );
    execute(&directory, "PRAGMA user_version = 99; UPDATE writer SET raddle = '9.9.9'");
    let newer = expect![
        "DIR/.raddle/raddle.db was written by raddle 9.9.9, which is newer than this version; update raddle"
    ];
    check_error(store.list(), &directory, newer);
    execute(&directory, "PRAGMA application_id = 7");
    check_error(
        store.list(),
        &directory,
        expect![
            "DIR/.raddle/raddle.db is damaged (it is the database of another program); move it away to start a new store, or repair it with `sqlite3 FILE .recover`"
        ],
    );
    fs::write(database(&directory), [b"{ broken ".repeat(20), bytes.clone()].concat()).unwrap();
    check_error(
        store.begin(info()),
        &directory,
        expect![
            "DIR/.raddle/raddle.db is damaged (file is not a database); move it away to start a new store, or repair it with `sqlite3 FILE .recover`"
        ],
    );
    fs::write(database(&directory), &bytes).unwrap();
    assert_eq!(store.find("latest").unwrap().finding, found(1));
}

/// Whatever the bytes are, an answer or one line comes back, and the file stays.
#[test]
fn garbled_stores() {
    let (directory, store) = store();
    let ids: Vec<(String, u64)> = (0..40).map(|it| (format!("assert-{it:04}"), it)).collect();
    add(&store, &ids.iter().map(|it| (it.0.as_str(), it.1)).collect::<Vec<_>>());
    let bytes = fs::read(database(&directory)).unwrap();
    let mut n_wrong = 0;
    for garbled in raddle_tidy::garbled(&bytes, 200) {
        fs::write(database(&directory), &garbled).unwrap();
        let answers = [
            store.list().err(),
            store.find("latest").err(),
            store.ids().err(),
            store.runs().err(),
            store.find_search("latest").err(),
        ];
        for error in answers.into_iter().flatten() {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            n_wrong += 1;
        }
        for left in ["-wal", "-shm"] {
            let _ = fs::remove_file(directory.path().join(format!(".raddle/raddle.db{left}")));
        }
    }
    assert!(n_wrong > 100, "only {n_wrong} of 1,000 answers were errors");
}

#[test]
fn stores_of_before_are_taken_over() {
    let (directory, store) = store();
    let (_other, theirs) = self::store();
    let mut run = theirs.begin(info()).unwrap();
    let stored = run.add("assert-0001", &found(1), Reproduced { n: 1, of: 1 }).unwrap();
    let folder = directory.path().join(".raddle/runs").join(run.id());
    fs::create_dir_all(folder.join("findings")).unwrap();
    let of_run = serde_json::to_vec(&theirs.find_run("latest").unwrap()).unwrap();
    fs::write(folder.join("run.json"), of_run).unwrap();
    let file = folder.join("findings/assert-0001.json");
    fs::write(&file, "{").unwrap();
    let error = store.list().expect_err("it is damaged").to_string();
    assert!(error.contains("assert-0001.json is damaged"), "{error}");
    Store::write_file(&file, &stored).unwrap();
    assert_eq!(store.find("latest").unwrap(), stored);
    assert_eq!(store.list().unwrap(), theirs.list().unwrap());
    assert_eq!(store.find_run("latest").unwrap(), theirs.find_run("latest").unwrap());
    assert!(file.exists());
}

#[test]
fn stores_that_can_not_be_written() {
    let (directory, store) = store();
    let mut run = store.begin(info()).unwrap();
    let blocked = Store::at(directory.path().join("file/.raddle"));
    fs::write(directory.path().join("file"), "").unwrap();
    let error = blocked.begin(info()).err().unwrap().to_string();
    assert!(error.starts_with("can't create "), "{error}");
    assert!(error.ends_with("Not a directory (os error 20)"), "{error}");
    fs::remove_dir_all(store.root()).unwrap();
    let gone = run.add("assert-0001", &found(1), Reproduced::default());
    check_error(
        gone,
        &directory,
        expect!["can't write DIR/.raddle/raddle.db: No such file or directory (os error 2)"],
    );
    add(&store, &[("assert-0002", 2)]);
    let other = run.add("assert-0001", &found(1), Reproduced::default());
    check_error(
        other,
        &directory,
        expect!["can't write DIR/.raddle/raddle.db: the file was replaced while it was open"],
    );
}

/// Run in a process of its own by the test below: adds findings, and says so after each.
#[test]
fn adds_until_it_is_killed() {
    let Some(root) = std::env::var_os("RADDLE_TEST_STORE") else { return };
    let store = Store::at(PathBuf::from(root));
    for number in 0.. {
        let id = format!("assert-{}-{number}", std::process::id());
        add(&store, &[(&id, number)]);
        // Not through the test harness, which would keep it.
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(format!("added {id}\n").as_bytes());
        let _ = stdout.flush();
    }
}

/// Whenever a process is killed, what it has said is there; and so is what others write at the same time.
#[test]
fn what_was_told_survives_a_kill() {
    let (_directory, store) = store();
    let child = || {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        let args = ["--exact", "store::tests::adds_until_it_is_killed", "--nocapture"];
        command.args(args).env("RADDLE_TEST_STORE", store.root()).stdout(Stdio::piped());
        command.spawn().expect("this test starts")
    };
    let mut n_told = 0;
    for n_lines in [1, 2, 5, 9] {
        let mut children = [child(), child()];
        let mut told = Vec::new();
        for child in &mut children {
            let lines = BufReader::new(child.stdout.as_mut().expect("piped")).lines();
            let added = lines.map_while(Result::ok).filter(|it| it.starts_with("added "));
            told.extend(added.take(n_lines));
            child.kill().expect("it runs");
        }
        children.iter_mut().for_each(|it| drop(it.wait()));
        let listed: HashSet<String> = store.list().unwrap().into_iter().map(|it| it.id).collect();
        for line in &told {
            assert!(listed.contains(&line["added ".len()..]), "{line}");
        }
        n_told += told.len();
    }
    assert_eq!(n_told, 2 * (1 + 2 + 5 + 9));
}

#[test]
fn processes_take_turns() {
    // The first moments of a store are few.
    for _ in 0..10 {
        let (_directory, store) = store();
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let store = &store;
                scope.spawn(move || {
                    for number in 0..5 {
                        let id = format!("assert-{worker}{number}");
                        add(store, &[(&id, worker * 10 + number)]);
                    }
                });
            }
        });
        assert_eq!(store.list().unwrap().len(), 20);
    }
}

#[test]
fn programs_have_hashes() {
    let (directory, _store) = store();
    let (old, new) = (directory.path().join("old"), directory.path().join("new"));
    fs::write(&old, vec![1; 100_000]).unwrap();
    fs::write(&new, vec![1; 100_001]).unwrap();
    assert_eq!(hash_program(&old).unwrap(), hash_program(&old).unwrap());
    assert_ne!(hash_program(&old).unwrap(), hash_program(&new).unwrap());
    assert!(hash_program(&directory.path().join("none")).is_err());
}

fn settings() -> SearchSettings {
    SearchSettings {
        strategy: "ipb:2".into(),
        conditions: Conditions { timeouts: Timeouts::Last, spurious: true, ..Conditions::DEFAULT },
        detect: Detect::NONE,
    }
}

fn counted(choice: u32) -> Counted<'static> {
    let run = Some(Cow::Owned(Default::default()));
    Counted { prefix: vec![0, choice].into(), run, shared_found: vec![7].into() }
}

/// Also of one that is killed before its first account, and of one whose findings were discarded since.
#[test]
fn a_search_knows_its_findings() {
    let (_directory, store) = store();
    let mut run = store.begin(info()).expect("bug: the directory is new");
    let mut search = run.search(settings());
    search.stand(&Standing::default());
    run.add("assert-1", &found(7), Reproduced::default()).expect("added");
    let counts = || {
        let earlier = store.find_search("latest").expect("it was kept").saved.earlier;
        let counts: Vec<_> = earlier.findings.iter().map(|it| (it.id.clone(), it.count)).collect();
        (counts, earlier.account.found.len(), earlier.account.n_inconclusive)
    };
    assert_eq!(counts(), (vec![("assert-1".to_owned(), 1)], 0, 0));
    let known = FoundCount { id: "assert-1".into(), count: 12, first: 7 };
    search.account(&Account { found: vec![known], n_inconclusive: 2, ..Account::default() });
    assert_eq!(counts(), (vec![("assert-1".to_owned(), 12)], 1, 2));
    store.discard("assert-1").expect("discarded");
    assert_eq!(counts(), (Vec::new(), 1, 2));
}

/// What a killed process leaves is read up to what was flushed last.
#[test]
fn searches_are_kept() {
    let (directory, store) = store();
    check_error(
        store.find_search("latest"),
        &directory,
        expect!["no search to resume in DIR/.raddle"],
    );
    let run = store.begin(info()).expect("bug: the directory is new");
    let mut search = run.search(settings());
    assert!(!search.has_begun());
    for n_executions in [3, 5] {
        search.stand(&Standing { n_executions, shared: vec![1, 2], ..Standing::default() });
        search.add(&counted(1));
        search.add(&counted(2));
        search.flush();
    }
    assert!(search.has_begun() && search.error().is_none());
    search.add(&counted(3));
    for name in ["latest", run.id(), &run.id()[..4]] {
        let stored = store.find_search(name).expect("it was kept");
        assert_eq!((stored.run.as_str(), &stored.info), (run.id(), &info()));
        assert_eq!(stored.settings, settings());
        assert_eq!(stored.saved.standing.n_executions, 5);
        assert_eq!(stored.saved.standing.shared, [1, 2]);
        let prefixes: Vec<_> = stored.saved.counted.iter().map(|it| &it.prefix[..]).collect();
        assert_eq!(prefixes, [[0, 1], [0, 2]]);
    }
    check_error(
        store.find_search("zzz"),
        &directory,
        expect!["no search to resume with a run id that starts with `zzz` in DIR/.raddle"],
    );
    let version = env!("CARGO_PKG_VERSION");
    let head = "CAST(head AS TEXT)";
    execute(
        &directory,
        &format!("UPDATE searches SET head = replace({head}, '\"{version}\"', '\"9.9.9\"')"),
    );
    execute(&directory, "UPDATE searches SET head = CAST(head AS BLOB)");
    let error = store.find_search("latest").expect_err("it is another's").to_string();
    assert!(error.ends_with("it was started by raddle 9.9.9; start the search again"), "{error}");
}

#[test]
fn a_search_that_can_not_be_kept_says_why() {
    let (_directory, store) = store();
    let run = store.begin(info()).expect("bug: the directory is new");
    let mut search = run.search(settings());
    fs::remove_dir_all(store.root()).unwrap();
    search.stand(&Standing::default());
    search.add(&counted(1));
    search.flush();
    assert!(search.error().is_some());
}

/// A plan as it was written before there were strategies, profiles and records.
#[test]
fn plans_of_before_load() {
    for (word, picker) in [("walk", PickerSpec::Walk), ("nonpreemptive", PickerSpec::Nonpreemptive)]
    {
        let text = format!(
            r#"{{"prefix":[1,2],"picker":"{word}","seed":7,"limits":{{"max_steps":1000000}},
                "timeouts":"rare","spurious":false,"shared":[3,4]}}"#
        );
        let plan: Plan = serde_json::from_str(&text).expect("a plan of before");
        let expected = Plan { prefix: vec![1, 2], shared: vec![3, 4], ..Plan::new(picker, 7) };
        assert_eq!(plan, expected);
    }
}

/// A plan with all that it may have comes back as it was.
#[test]
fn plans_come_back() {
    let profile = Profile {
        n_choices: 100,
        n_threads: 3,
        lengths: vec![Length { role: Role::MAIN, n_events: 9, ..Length::default() }],
        interests: vec![Interest { name: u64::MAX, n_uses: 5 }],
        uses: vec![Use { role: Role::MAIN, interest: 0, n_below: 5 }],
    };
    let ratio = Smax::Ratio { per_mille: 2_900, counting: Counting::Contended };
    for picker in [
        PickerSpec::Stride(ratio),
        PickerSpec::Pct(Depth::Guaranteed(3_338)),
        PickerSpec::Rpro { depth: Depth::Drawn, radius: Amount::Fixed(50) },
        PickerSpec::Surw,
        PickerSpec::Sticky { per_mille: 900 },
    ] {
        let plan = Plan { profile: profile.clone(), ..Plan::new(picker, 7) };
        let text = serde_json::to_string(&plan).expect("plain data");
        assert_eq!(serde_json::from_str::<Plan>(&text).expect("its own words"), plan);
    }
}
