//! Snapshots of the text and the JSON of hand-made findings.

pub(crate) mod analyses;
mod lines;
pub(crate) mod samples;

use expect_test::{Expect, expect};
use raddle_model::{Finding, Place, Reproduced};

use crate::{
    finding::{shown::Shown, text},
    formats::json,
    layout::style::{Style, width},
    schedule::Schedule,
};

fn check(finding: &Finding, style: &Style, expect: Expect) {
    let shown = Shown {
        finding,
        id: "dl-02c1",
        seed: Some(7),
        reproduced: None,
        base: "/home/me",
        explanation: None,
        test: None,
    };
    let mut sources = |place: &Place| samples::source_line(place);
    let text = text::finding(&shown, style, &mut sources);
    // Sentences may wrap; everything that is laid out must fit.
    let is_laid_out = |it: &&str| it.starts_with("  ");
    let is_wide = |it: &&str| width(it) > style.width;
    let too_wide: Vec<&str> = text.lines().filter(is_laid_out).filter(is_wide).collect();
    assert!(too_wide.is_empty(), "wider than {}: {too_wide:#?}", style.width);
    expect.assert_eq(&text);
}

const WIDE: Style = Style { color: false, unicode: true, width: 120, full: false };
const ASCII: Style = Style { color: false, unicode: false, width: 80, full: false };

#[test]
fn deadlock() {
    check(
        &samples::ab_ba(),
        &Style::default(),
        expect![[r#"
            error[dl-02c1]: deadlock: T1 and T2 wait for each other (`right` and `left`)
              --> examples/bank.c:31 in transfer
               |
            30 |     pthread_mutex_lock(&from->lock);
               |     ------------------------------- 1. T1 locks `left`
               |     ------------------------------- 2. T2 locks `right`
            31 |     pthread_mutex_lock(&to->lock);
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 3. T1 waits forever for `right`, held by
               |                                   T2 (2)
               |     ----------------------------- 4. T2 waits forever for `left`, held by
               |                                   T1 (1)
               |
               = note: T0 (main) waits for T1 to finish (bank.c:52)
               = replay: raddle replay dl-02c1

              step  T0 main   T1           T2           6 steps, 2 switches
                 1  spawn T1                            bank.c:50  pthread_create(&first, N…
                 2  spawn T2                            bank.c:51  pthread_create(&second,…
                    ── switch (T0 blocked) ──
                 3  .          start
            1▸   4  .         │lock left                bank.c:30  pthread_mutex_lock(&from…
                    ── switch (preempted) ──
                 5  .         │             start
            2▸   6  .         │            │lock right  bank.c:30  pthread_mutex_lock(&from…
                    join T1   │            │            bank.c:52  ← blocked forever
            3▸      .         │lock right  │            bank.c:31  ← blocked forever
            4▸      .         │            │lock left   bank.c:31  ← blocked forever
              │ holds a lock

              program output:
                moving 10 to the right
                moving 20 to the left

            SUMMARY: raddle: deadlock at examples/bank.c:31 in transfer
        "#]],
    );
}

#[test]
fn deadlock_wide() {
    check(
        &samples::ab_ba(),
        &WIDE,
        expect![[r#"
            error[dl-02c1]: deadlock: T1 and T2 wait for each other (`right` and `left`)
              --> examples/bank.c:31 in transfer
               |
            30 |     pthread_mutex_lock(&from->lock);
               |     ------------------------------- 1. T1 locks `left`
               |     ------------------------------- 2. T2 locks `right`
            31 |     pthread_mutex_lock(&to->lock);
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 3. T1 waits forever for `right`, held by T2 (2)
               |     ----------------------------- 4. T2 waits forever for `left`, held by T1 (1)
               |
               = note: T0 (main) waits for T1 to finish (bank.c:52)
               = replay: raddle replay dl-02c1

              step  T0 main   T1           T2           6 steps, 2 switches
                 1  spawn T1                            bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                 2  spawn T2                            bank.c:51  pthread_create(&second, NULL, to_left, NULL);
                    ── switch (T0 blocked) ──
                 3  .          start
            1▸   4  .         │lock left                bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 5  .         │             start
            2▸   6  .         │            │lock right  bank.c:30  pthread_mutex_lock(&from->lock);
                    join T1   │            │            bank.c:52  ← blocked forever
            3▸      .         │lock right  │            bank.c:31  ← blocked forever
            4▸      .         │            │lock left   bank.c:31  ← blocked forever
              │ holds a lock

              program output:
                moving 10 to the right
                moving 20 to the left

            SUMMARY: raddle: deadlock at examples/bank.c:31 in transfer
        "#]],
    );
}

#[test]
fn deadlock_in_ascii() {
    let finding = samples::ab_ba();
    check(
        &finding,
        &ASCII,
        expect![[r#"
            error[dl-02c1]: deadlock: T1 and T2 wait for each other (`right` and `left`)
              --> examples/bank.c:31 in transfer
               |
            30 |     pthread_mutex_lock(&from->lock);
               |     ------------------------------- 1. T1 locks `left`
               |     ------------------------------- 2. T2 locks `right`
            31 |     pthread_mutex_lock(&to->lock);
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 3. T1 waits forever for `right`, held by
               |                                   T2 (2)
               |     ----------------------------- 4. T2 waits forever for `left`, held by
               |                                   T1 (1)
               |
               = note: T0 (main) waits for T1 to finish (bank.c:52)
               = replay: raddle replay dl-02c1

              step  T0 main   T1           T2           6 steps, 2 switches
                 1  spawn T1                            bank.c:50  pthread_create(&first,...
                 2  spawn T2                            bank.c:51  pthread_create(&second...
                    -- switch (T0 blocked) --
                 3  .          start
            1>   4  .         |lock left                bank.c:30  pthread_mutex_lock(&fr...
                    -- switch (preempted) --
                 5  .         |             start
            2>   6  .         |            |lock right  bank.c:30  pthread_mutex_lock(&fr...
                    join T1   |            |            bank.c:52  <- blocked forever
            3>      .         |lock right  |            bank.c:31  <- blocked forever
            4>      .         |            |lock left   bank.c:31  <- blocked forever
              | holds a lock

              program output:
                moving 10 to the right
                moving 20 to the left

            SUMMARY: raddle: deadlock at examples/bank.c:31 in transfer
        "#]],
    );
    let shown = Shown {
        finding: &finding,
        id: "dl-02c1",
        seed: None,
        reproduced: None,
        base: "",
        explanation: None,
        test: None,
    };
    let text = text::finding(&shown, &ASCII, &mut |_| Some("é → x".into()));
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn locks_without_names_get_letters() {
    check(
        &samples::heap_locks(),
        &Style::default(),
        expect![[r#"
            error[dl-02c1]: deadlock: T1 and T2 wait for each other
              --> examples/bank.c:31 in transfer
               |
            30 |     pthread_mutex_lock(&from->lock);
               |     ------------------------------- 1. T1 locks mutex in block 1 allocated
               |                                     at bank.c:20
               |     ------------------------------- 2. T2 locks mutex in block 2 allocated
               |                                     at bank.c:20
            31 |     pthread_mutex_lock(&to->lock);
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 3. T1 waits forever for mutex in block 2
               |                                   allocated at bank.c:20, held by T2 (2)
               |     ----------------------------- 4. T2 waits forever for mutex in block 1
               |                                   allocated at bank.c:20, held by T1 (1)
               |
               = note: T0 (main) waits for T1 to finish (bank.c:52)
               = replay: raddle replay dl-02c1

              step  T0 main   T1       T2       6 steps, 2 switches
                 1  spawn T1                    bank.c:50  pthread_create(&first, NULL, to_…
                 2  spawn T2                    bank.c:51  pthread_create(&second, NULL, to…
                    ── switch (T0 blocked) ──
                 3  .          start
            1▸   4  .         │lock A           bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 5  .         │         start
            2▸   6  .         │        │lock B  bank.c:30  pthread_mutex_lock(&from->lock);
                    join T1   │        │        bank.c:52  ← blocked forever
            3▸      .         │lock B  │        bank.c:31  ← blocked forever
            4▸      .         │        │lock A  bank.c:31  ← blocked forever
              A: mutex in heap block of 48 bytes allocated at bank.c:20 by main (#1)
              B: mutex in heap block of 48 bytes allocated at bank.c:20 by main (#2)
              │ holds a lock

              program output:
                moving 10 to the right
                moving 20 to the left

            SUMMARY: raddle: deadlock at examples/bank.c:31 in transfer
        "#]],
    );
}

#[test]
fn lost_wakeup() {
    check(
        &samples::lost_wakeup(),
        &Style::default(),
        expect![[r#"
            error[dl-02c1]: deadlock: T1 (consumer) waits for a signal on `ready` that
                nobody will send
              --> examples/bank.c:60 in worker
               |
            61 | 1. T0 (main) signals `ready`
            60 |     pthread_cond_wait(&ready, &lock);
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 2. T1 (consumer) waits forever on
               |                                      `ready`
               |
               = note: T0 (main) waits for T1 to finish (bank.c:52)
               = replay: raddle replay dl-02c1

              step  T0 main        T1 consumer   7 steps, 3 switches
                 1   spawn T1                    bank.c:50  pthread_create(&first, NULL, to…
                    ── switch (preempted) ──
                 2   .              start
                    ── switch (preempted) ──
                 3  │lock left      .            bank.c:30  pthread_mutex_lock(&from->lock);
            1▸   4  │signal ready   .            bank.c:61
                 5  │unlock left    .            bank.c:62
                    ── switch (T0 blocked) ──
                 6   .             │lock left    bank.c:59
            2▸   7   .             │wait ready   bank.c:60  pthread_cond_wait(&ready, &lock…
                     join T1        .            bank.c:52  ← blocked forever
                     .              wait ready   bank.c:60  ← blocked forever
              │ holds a lock

            SUMMARY: raddle: deadlock at examples/bank.c:60 in worker
        "#]],
    );
}

#[test]
fn assertion() {
    check(
        &samples::assertion(),
        &Style::default(),
        expect![[r#"
            error[dl-02c1]: assertion failed: left.balance + right.balance == 200
              --> examples/bank.c:40 in worker
               |
            40 |     assert(left.balance + right.balance == 200);
               |            ^^^^ T1 reads `left`+40 = 100: assertion failed: left.balance +
               |                 right.balance == 200
               |
               = replay: raddle replay dl-02c1

              step  T0 main              T1                  5 steps, 1 switch
                 1   spawn T1                                bank.c:50  pthread_create(&fir…
                 2  │lock left                               bank.c:30  pthread_mutex_lock(…
                 3  │read left+40 → 100                      bank.c:35  from->balance -= am…
                    ── switch (preempted) ──
                 4  │                    start
            ▸    5  │                    read left+40 → 100  bank.c:40  assert(left.balance…
                    │                    assert              bank.c:40  ← assert failed
              │ holds a lock

              program output:
                bank: bank.c:40: audit: Assertion failed.

            SUMMARY: raddle: assert at examples/bank.c:40 in audit
        "#]],
    );
}

#[test]
fn crash_after_many_steps() {
    check(
        &samples::crash(),
        &Style::default(),
        expect![[r#"
            error[dl-02c1]: crash: T2 uses `left`+40 after T1 writes it
              --> examples/bank.c:35 in transfer, called from to_left (:47)
               |
            35 |     from->balance -= amount;
               |     ---- 1. T1 writes `left`+40, holding `left`
               |     ^^^^ 2. T2 reads `left`+40 = 100, holding `right`: fails here
               |
               = replay: raddle replay dl-02c1

              step  T1              T2                   1,182 steps, 1 switch
                    … 1,178 earlier steps …
            1▸1179  │write left+40   .                   bank.c:35  from->balance -= amount;
              1180  │unlock left     .                   bank.c:36
                    ── switch (preempted) ──
              1181   .              │lock right          bank.c:30  pthread_mutex_lock(&fro…
            2▸1182   .              │read left+40 → 100  bank.c:35  from->balance -= amount;
                     .              │crash               bank.c:35  ← crashed
              │ holds a lock

            SUMMARY: raddle: crash at examples/bank.c:35 in transfer
        "#]],
    );
}

#[test]
fn full_text_folds_nothing() {
    let finding = samples::crash();
    let shown = Shown {
        finding: &finding,
        id: "crash-02c1",
        seed: None,
        reproduced: None,
        base: "",
        explanation: None,
        test: None,
    };
    let style = Style { full: true, ..Style::default() };
    let text = text::finding(&shown, &style, &mut |_| None);
    let n_steps = text.lines().filter(|it| it.contains("bank.c:3")).count();
    assert!(n_steps >= finding.steps.len(), "{text}");
    assert!(text.contains("… 1,000 earlier steps …"), "{text}");
}

#[test]
fn misuse() {
    check(
        &samples::misuse(),
        &Style::default(),
        expect![[r#"
            error[dl-02c1]: misuse: T1 unlocks a mutex that another thread holds:
                left.lock
              --> examples/bank.c:36 in worker
               |
            36 | T1 fails here
               |
               = replay: raddle replay dl-02c1

              step  T0 main     T1           4 steps, 1 switch
                 1   spawn T1                bank.c:50  pthread_create(&first, NULL, to_rig…
                 2  │lock left               bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 3  │           start
            ▸    4  │           unlock left  bank.c:36  ← misuse
              │ holds a lock

            SUMMARY: raddle: misuse at examples/bank.c:36 in worker
        "#]],
    );
}

#[test]
fn five_threads_are_listed() {
    check(
        &samples::five_threads(),
        &Style::default(),
        expect![[r#"
            error[dl-02c1]: deadlock: T1, T2, T3 and T4 wait for each other in a cycle
                (`forks`+40, `forks`+80, `forks`+120 and `forks`)
              --> examples/bank.c:31 in dine
               |
            30 |     pthread_mutex_lock(&from->lock);
               |     ------------------------------- 1. T1 locks `forks`
               |     ------------------------------- 2. T2 locks `forks`+40
               |     ------------------------------- 3. T3 locks `forks`+80
               |     ------------------------------- 4. T4 locks `forks`+120
            31 |     pthread_mutex_lock(&to->lock);
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 5. T1 waits forever for `forks`+40, held
               |                                   by T2 (2)
               |     ----------------------------- 6. T2 waits forever for `forks`+80, held
               |                                   by T3 (3)
               |     ----------------------------- 7. T3 waits forever for `forks`+120, held
               |                                   by T4 (4)
               |     ----------------------------- 8. T4 waits forever for `forks`, held by
               |                                   T1 (1)
               |
               = note: T0 (main) waits for T1 to finish (bank.c:52)
               = replay: raddle replay dl-02c1

              step  thread   8 steps, 3 switches
                 1  T1       start
            1▸   2  T1      │lock forks      bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 3  T2       start
            2▸   4  T2      │lock forks+40   bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 5  T3       start
            3▸   6  T3      │lock forks+80   bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 7  T4       start
            4▸   8  T4      │lock forks+120  bank.c:30  pthread_mutex_lock(&from->lock);
                    T0 main  join T1         bank.c:52  ← blocked forever
            5▸      T1      │lock forks+40   bank.c:31  ← blocked forever
            6▸      T2      │lock forks+80   bank.c:31  ← blocked forever
            7▸      T3      │lock forks+120  bank.c:31  ← blocked forever
            8▸      T4      │lock forks      bank.c:31  ← blocked forever
              │ holds a lock

            SUMMARY: raddle: deadlock at examples/bank.c:31 in dine
        "#]],
    );
}

/// A name that is two columns wide for each character takes the columns of one with twice as many letters.
#[test]
fn wide_names_do_not_move_columns() {
    let renamed = |thread: &str, object: &str, file: &str| {
        let mut finding = samples::misuse();
        finding.threads[1].name = thread.into();
        finding.objects.iter_mut().for_each(|it| it.location.name = object.into());
        finding.sites.iter_mut().for_each(|it| it.file = file.into());
        finding
    };
    for width in [100, 60] {
        let style = Style { width, ..Style::default() };
        let columns = |finding: &Finding| -> Vec<usize> {
            let schedule = Schedule::new(finding, &[], &style).render(&style, &mut |_| None);
            schedule.lines().map(crate::layout::style::width).collect()
        };
        let (wide, narrow) =
            (renamed("转账线程", "账户余额", "账.c"), renamed("transfer", "accounts", "it.c"));
        assert_eq!(columns(&wide), columns(&narrow));
    }
}

#[test]
fn narrow_terminals_get_a_list() {
    check(
        &samples::ab_ba(),
        &Style { width: 60, ..Style::default() },
        expect![[r#"
            error[dl-02c1]: deadlock: T1 and T2 wait for each other
                (`right` and `left`)
              --> examples/bank.c:31 in transfer
               |
            30 |     pthread_mutex_lock(&from->lock);
               |     ------------------------------- 1. T1 locks `left`
               |     ------------------------------- 2. T2 locks `right`
            31 |     pthread_mutex_lock(&to->lock);
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
               | 3. T1 waits forever for `right`, held by T2 (2)
               |     -----------------------------
               | 4. T2 waits forever for `left`, held by T1 (1)
               |
               = note: T0 (main) waits for T1 to finish (bank.c:52)
               = replay: raddle replay dl-02c1

              step  thread   6 steps, 2 switches
                 1  T0 main  spawn T1    bank.c:50  pthread_create(&fir…
                 2  T0 main  spawn T2    bank.c:51  pthread_create(&sec…
                    ── switch (T0 blocked) ──
                 3  T1       start
            1▸   4  T1      │lock left   bank.c:30  pthread_mutex_lock(…
                    ── switch (preempted) ──
                 5  T2       start
            2▸   6  T2      │lock right  bank.c:30  pthread_mutex_lock(…
                    T0 main  join T1     bank.c:52  ← blocked forever
            3▸      T1      │lock right  bank.c:31  ← blocked forever
            4▸      T2      │lock left   bank.c:31  ← blocked forever
              │ holds a lock

              program output:
                moving 10 to the right
                moving 20 to the left

            SUMMARY: raddle: deadlock at examples/bank.c:31 in transfer
        "#]],
    );
}

#[test]
fn json_line() {
    let finding = samples::assertion();
    let shown = Shown {
        finding: &finding,
        id: "assert-02c1",
        seed: Some(7),
        reproduced: Some(Reproduced { n: 5, of: 5 }),
        base: "",
        explanation: None,
        test: None,
    };
    let line = json::finding(&shown);
    assert_eq!(line.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&line).expect("valid JSON");
    let pretty = serde_json::to_string_pretty(&value).expect("valid JSON");
    expect![[r#"
        {
          "bucket": "00000000000002c1",
          "certainty": "shown",
          "cycle": [],
          "delays": [],
          "evidence": null,
          "execution": 1942,
          "explanation": null,
          "id": "assert-02c1",
          "kind": "assert",
          "message": "left.balance + right.balance == 200",
          "output": "bank: bank.c:40: audit: Assertion failed.\n",
          "replay": "raddle replay assert-02c1",
          "reproduced": {
            "n": 5,
            "of": 5
          },
          "seed": 7,
          "sites": [
            {
              "column": 5,
              "file": "/home/me/examples/bank.c",
              "function": "audit",
              "line": 40,
              "module": "bank"
            }
          ],
          "steps": 5,
          "strategy": "walk",
          "switches": 1,
          "test": null,
          "thread": 1,
          "threads": [
            {
              "created_at": null,
              "creation": [],
              "finished": false,
              "function": null,
              "id": 0,
              "name": "",
              "parent": null,
              "pending": "write",
              "stack": [],
              "waits_for": null
            },
            {
              "created_at": {
                "column": 5,
                "file": "/home/me/examples/bank.c",
                "function": "main",
                "line": 50,
                "module": "bank"
              },
              "creation": [],
              "finished": false,
              "function": null,
              "id": 1,
              "name": "",
              "parent": 0,
              "pending": null,
              "stack": [
                {
                  "column": 5,
                  "file": "/home/me/examples/bank.c",
                  "function": "audit",
                  "line": 40,
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
              "waits_for": null
            }
          ],
          "trace_digest": "000000000000feed",
          "type": "finding",
          "version": 1,
          "why_potential": null
        }"#]]
    .assert_eq(&pretty);
}
