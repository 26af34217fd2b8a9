//! The store, from its outside.

use std::{borrow::Cow, ffi::OsString, fs, os::unix::ffi::OsStringExt as _, path::Path};

use expect_test::{Expect, expect};
use raddle_model::{
    Amount, Bucket, Carrier, Conditions, Counting, Depth, End, Figures, Finding, Interest, Length,
    PickerSpec, Plan, Profile, Role, Smax, Timeouts, Use,
};
use tempfile::TempDir;

use super::{
    About, RunEnd, RunInfo, SearchSettings, Store, StoreError, StoredTarget, hash_program,
};
use crate::{
    campaign::{Account, Counted, Detect, FoundCount, Journal as _, Reproduced, Standing},
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
        run.add(id, &found(*bucket), Reproduced { n: 1, m: 1 }).expect("bug: it is writable");
    }
}

fn check_error(result: Result<impl Sized, StoreError>, directory: &TempDir, expect: Expect) {
    let error = result.err().expect("bug: an error was expected").to_string();
    expect.assert_eq(&error.replace(&directory.path().display().to_string(), "DIR"));
}

fn one_file(directory: &Path, name: &str) -> std::path::PathBuf {
    let run = fs::read_dir(directory.join(".raddle/runs")).unwrap().next().unwrap().unwrap();
    run.path().join("findings").join(name)
}

#[test]
fn round_trip() {
    let (_directory, store) = store();
    let mut run = store.begin(info()).unwrap();
    let stored = run.add("assert-0001", &found(1), Reproduced { n: 1, m: 1 }).unwrap();
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
    assert_eq!(
        Store::read_file(&run.directory().join("findings/assert-0001.json")).unwrap(),
        stored
    );
    assert!(
        fs::read_to_string(run.directory().join("run.json")).unwrap().contains("\"executions\":9")
    );
}

#[test]
fn a_later_word_replaces_the_first() {
    let (_directory, store) = store();
    let mut run = store.begin(info()).unwrap();
    run.add("assert-0001", &found(1), Reproduced::default()).unwrap();
    run.add("assert-0001", &found(1), Reproduced { n: 1, m: 1 }).unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
    assert_eq!(store.find("assert").unwrap().reproduced.n, 1);
}

#[test]
fn names() {
    let (directory, store) = store();
    check_error(store.find("latest"), &directory, expect!["find any finding in DIR/.raddle"]);
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
        expect!["choose a finding: `dl` may be dl-02d0, dl-02c17, dl-02c1"],
    );
    check_error(
        id("live"),
        &directory,
        expect!["find a finding whose id begins with `live` in DIR/.raddle"],
    );
    assert_eq!(store.list().unwrap().len(), 4);
    let mut ids = store.ids().unwrap();
    assert_eq!(ids.id(raddle_model::Kind::Deadlock, Bucket(0x02c1 << 48)), "dl-02c10");
}

#[test]
fn damaged_and_newer_files() {
    let (directory, store) = store();
    add(&store, &[("assert-0001", 1)]);
    let file = one_file(directory.path(), "assert-0001.json");
    let damaged = |result: Result<super::StoredFinding, StoreError>| matches!(result, Err(StoreError::Corrupted { file: named, .. }) if named == file);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() / 2]).unwrap();
    assert!(damaged(store.find("latest")));
    fs::write(&file, "{\"version\":2,\"raddle\":\"0.1.0\"}").unwrap();
    assert!(damaged(store.find("latest")));
    fs::write(&file, "{\"version\":1,\"raddle\":\"0.1.0\"}").unwrap();
    let older = store.find("latest").err().unwrap().to_string();
    assert!(
        older.contains("raddle 0.1.0 wrote it, and this one can't read it any more"),
        "{older}"
    );
    fs::write(&file, "").unwrap();
    assert!(damaged(store.find("latest")));
    fs::write(&file, "{\"version\":3,\"raddle\":\"9.9.9\",\"new\":0}").unwrap();
    let newer = store.find("latest").err().unwrap().to_string();
    assert!(newer.contains("it was written by raddle 9.9.9, which is newer"), "{newer}");

    let index = directory.path().join(".raddle/index.json");
    fs::write(&index, "[").unwrap();
    check_error(
        store.list(),
        &directory,
        expect![
            "read DIR/.raddle/index.json: it is damaged (EOF while parsing a list at line 1 column 1); delete it, and it will be made anew from the findings"
        ],
    );
    fs::write(&file, &text).unwrap();
    fs::remove_file(&index).unwrap();
    assert_eq!(store.list().unwrap()[0].id, "assert-0001");
    assert_eq!(store.find("latest").unwrap().finding, found(1));
}

#[test]
fn missing_and_unwritable_files() {
    let (directory, store) = store();
    add(&store, &[("assert-0001", 1)]);
    fs::remove_file(one_file(directory.path(), "assert-0001.json")).unwrap();
    let missing = store.find("latest").err().unwrap();
    assert!(matches!(missing, StoreError::Io { action: "read", .. }));

    let blocked = Store::at(directory.path().join("file/.raddle"));
    fs::write(directory.path().join("file"), "").unwrap();
    let error = blocked.begin(info()).err().unwrap().to_string();
    assert!(error.starts_with("create "), "{error}");
    assert!(error.ends_with("Not a directory (os error 20)"), "{error}");
}

#[test]
fn processes_take_turns() {
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

/// What a killed process leaves is read up to the last whole line.
#[test]
fn searches_are_kept() {
    let (directory, store) = store();
    check_error(
        store.find_search("latest"),
        &directory,
        expect!["find a search to go on with in DIR/.raddle"],
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
    let runs = run.directory().join("search-2.runs");
    let mut bytes = fs::read(&runs).unwrap();
    bytes.truncate(bytes.len() - 3);
    fs::write(&runs, bytes).unwrap();
    for name in ["latest", run.id(), &run.id()[..4]] {
        let stored = store.find_search(name).expect("it was kept");
        assert_eq!((stored.run.as_str(), &stored.info), (run.id(), &info()));
        assert_eq!(stored.settings, settings());
        assert_eq!(stored.saved.standing.n_executions, 5);
        assert_eq!(stored.saved.standing.shared, [1, 2]);
        let prefixes: Vec<_> = stored.saved.counted.iter().map(|it| &it.prefix[..]).collect();
        assert_eq!(prefixes, [[0, 1]]);
    }
    assert!(!run.directory().join("search-1.runs").exists());
    check_error(
        store.find_search("zzz"),
        &directory,
        expect!["find a search of a run whose id begins with `zzz` in DIR/.raddle"],
    );
    let head = run.directory().join("search.json");
    let text = fs::read_to_string(&head).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    fs::write(&head, text.replace(&format!("\"{version}\""), "\"9.9.9\"")).unwrap();
    let error = store.find_search("latest").expect_err("it is another's").to_string();
    assert!(error.ends_with("it was begun by raddle 9.9.9; begin it again"), "{error}");
}

#[test]
fn a_search_that_can_not_be_kept_says_why() {
    let (_directory, store) = store();
    let run = store.begin(info()).expect("bug: the directory is new");
    let mut search = run.search(settings());
    fs::remove_dir_all(run.directory()).unwrap();
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
