//! Traces for Perfetto.

use super::*;

#[test]
fn of_a_deadlock() {
    let text = perfetto(&item(&samples::ab_ba(), "dl-02c1"));
    expect![[r#"
        {"traceEvents":[{"args":{"name":"bank.c dl-02c1"},"name":"process_name","ph":"M","pid":1},
        {"args":{"name":"T0 main"},"name":"thread_name","ph":"M","pid":1,"tid":0},
        {"args":{"sort_index":0},"name":"thread_sort_index","ph":"M","pid":1,"tid":0},
        {"args":{"name":"T1"},"name":"thread_name","ph":"M","pid":1,"tid":1},
        {"args":{"sort_index":1},"name":"thread_sort_index","ph":"M","pid":1,"tid":1},
        {"args":{"name":"T2"},"name":"thread_name","ph":"M","pid":1,"tid":2},
        {"args":{"sort_index":2},"name":"thread_sort_index","ph":"M","pid":1,"tid":2},
        {"args":{"at":"examples/bank.c:50 in main","object":"thread T1","step":1},"cat":"step","dur":1,"name":"spawn T1","ph":"X","pid":1,"tid":0,"ts":0},
        {"args":{"at":"examples/bank.c:51 in main","object":"thread T2","step":2},"cat":"step","dur":1,"name":"spawn T2","ph":"X","pid":1,"tid":0,"ts":1},
        {"args":{"step":3},"cat":"step","dur":1,"name":"start","ph":"X","pid":1,"tid":1,"ts":2},
        {"args":{"at":"examples/bank.c:30 in transfer","object":"mutex `left`","step":4},"cat":"step","dur":1,"name":"lock left","ph":"X","pid":1,"tid":1,"ts":3},
        {"args":{"step":5},"cat":"step","dur":1,"name":"start","ph":"X","pid":1,"tid":2,"ts":4},
        {"args":{"at":"examples/bank.c:30 in transfer","object":"mutex `right`","step":6},"cat":"step","dur":1,"name":"lock right","ph":"X","pid":1,"tid":2,"ts":5},
        {"args":{"at":"examples/bank.c:52 in main","mark":"blocked forever","object":"thread T1"},"cat":"step,failure","dur":1,"name":"join T1","ph":"X","pid":1,"tid":0,"ts":6},
        {"args":{"at":"examples/bank.c:31 in transfer","mark":"blocked forever","object":"mutex `right`"},"cat":"step,failure","dur":1,"name":"lock right","ph":"X","pid":1,"tid":1,"ts":7},
        {"args":{"at":"examples/bank.c:31 in transfer","mark":"blocked forever","object":"mutex `left`"},"cat":"step,failure","dur":1,"name":"lock left","ph":"X","pid":1,"tid":2,"ts":8},
        {"cat":"switch","name":"T0 blocked","ph":"i","pid":1,"s":"t","tid":0,"ts":2},
        {"cat":"switch","name":"preempted","ph":"i","pid":1,"s":"t","tid":1,"ts":4},
        {"cat":"lock","id":0,"name":"T1 holds left","ph":"b","pid":1,"tid":1,"ts":3},
        {"cat":"lock","id":0,"name":"T1 holds left","ph":"e","pid":1,"tid":1,"ts":9},
        {"cat":"lock","id":1,"name":"T2 holds right","ph":"b","pid":1,"tid":2,"ts":5},
        {"cat":"lock","id":1,"name":"T2 holds right","ph":"e","pid":1,"tid":2,"ts":9},
        {"cat":"order","id":0,"name":"comes before","ph":"s","pid":1,"tid":0,"ts":0},
        {"bp":"e","cat":"order","id":0,"name":"comes before","ph":"f","pid":1,"tid":1,"ts":2},
        {"cat":"order","id":1,"name":"comes before","ph":"s","pid":1,"tid":0,"ts":1},
        {"bp":"e","cat":"order","id":1,"name":"comes before","ph":"f","pid":1,"tid":2,"ts":4}],"displayTimeUnit":"ns","otherData":{"finding":"dl-02c1","time":"logical: one step is one microsecond","tool":"raddle","what":"deadlock: T1 and T2 wait for each other (`right` and `left`)"}}
    "#]].assert_eq(&text.replace("},{\"", "},\n{\""));
}

/// What a viewer relies on: slices of one thread do not overlap, and every arrow that begins ends later.
#[test]
fn arrows_end_where_steps_are() {
    for finding in [samples::ab_ba(), samples::crash(), analyses::on_the_heap(), evil()] {
        let file: Value = serde_json::from_str(&perfetto(&item(&finding, "x-1"))).expect("JSON");
        let events = file["traceEvents"].as_array().expect("events");
        let of =
            |phase: &str| -> Vec<&Value> { events.iter().filter(|it| it["ph"] == phase).collect() };
        let slices: Vec<(&Value, &Value)> =
            of("X").iter().map(|it| (&it["tid"], &it["ts"])).collect();
        assert_eq!(of("s").len(), of("f").len());
        for (start, end) in of("s").iter().zip(of("f")) {
            assert_eq!(start["id"], end["id"]);
            assert!(start["ts"].as_u64() < end["ts"].as_u64());
            for it in [*start, end] {
                assert!(slices.contains(&(&it["tid"], &it["ts"])), "{it}");
            }
        }
    }
}
