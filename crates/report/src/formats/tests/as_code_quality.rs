//! GitLab's code quality report.

use super::*;

#[test]
fn of_findings() {
    let (deadlock, race, evil) = (samples::ab_ba(), analyses::on_the_heap(), evil());
    let items = [item(&deadlock, "dl-02c1"), item(&race, "race-1"), item(&evil, "assert-2")];
    let text = code_quality(&items);
    let all: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(all.len(), 3);
    // What GitLab requires of each.
    for it in &all {
        for field in ["description", "check_name", "fingerprint", "severity"] {
            assert!(it[field].as_str().is_some_and(|it| !it.is_empty()), "{field}: {it}");
        }
        let severities = ["info", "minor", "major", "critical", "blocker"];
        assert!(severities.contains(&it["severity"].as_str().unwrap()), "{it}");
        assert!(it["location"]["lines"]["begin"].as_u64().is_some_and(|it| it > 0), "{it}");
    }
    let paths: Vec<&Value> = all.iter().map(|it| &it["location"]["path"]).collect();
    assert_eq!(paths, ["examples/bank.c", "examples/bank.c", "a b,c:%40.c"]);
    assert_eq!(all[0]["check_name"], "raddle/deadlock");
    assert_eq!(code_quality(&[]), "[]\n");
}
