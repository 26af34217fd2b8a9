//! Hand-made findings in the formats of other tools.

use expect_test::{Expect, expect};
use raddle_model::{Finding, OpKind, Place};
use serde_json::Value;

use super::{Item, Suite, annotations, junit, markdown, markdown_of_run, perfetto, sarif};
use crate::{
    Shown,
    tests::{analyses, samples},
};

mod schema;

/// Names and messages that would be something else if they were not escaped.
const EVIL: &str = "]]>\"'<b>&amp;`%0A::error::\x1b[31m|*";

fn item<'a>(finding: &'a Finding, id: &'a str) -> Item<'a> {
    let shown =
        Shown { finding, id, seed: Some(7), reproduced: None, base: "/home/me", explanation: None };
    Item { shown, program: "bank.c", reason: Vec::new() }
}

fn sources(place: &Place) -> Option<String> {
    samples::source_line(place)
}

fn evil() -> Finding {
    let mut finding = samples::assertion();
    finding.message = EVIL.into();
    finding.output = format!("{EVIL}\n```\nmore\n");
    finding.threads[1].name = EVIL.into();
    for place in finding.sites.iter_mut().chain(&mut finding.places) {
        place.file = format!("/home/me/a b,c:%{}.c", place.line);
        place.function = EVIL.into();
    }
    finding
}

mod as_markdown {
    use super::*;

    #[track_caller]
    fn check(finding: &Finding, expect: Expect) {
        expect.assert_eq(&markdown(&item(finding, "dl-02c1"), &mut sources));
    }

    #[test]
    fn deadlock() {
        check(
            &samples::ab_ba(),
            expect![[r#"
            # dl-02c1: deadlock: T1 and T2 wait for each other

            `bank.c`, found at execution 1,942 by walk, seed 7.

            - T1 waits for mutex `right`, held by T2 since bank.c:30 at `examples/bank.c:31 in transfer`: `pthread_mutex_lock(&to->lock);`
            - T2 waits for mutex `left`, held by T1 since bank.c:30 at `examples/bank.c:31 in transfer`: `pthread_mutex_lock(&to->lock);`
            - T0 main waits for the end of thread T1 at `examples/bank.c:52 in main`: `pthread_join(first, NULL);`

            ```text
              step  T0 main   T1          T2          6 steps, 2 switches
                 1  spawn T1                          bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                 2  spawn T2                          bank.c:51  pthread_create(&second, NULL, to_left, NULL);
                    ── switch (T0 blocked) ──
                 3  .         start
                 4  .         lock left               bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 5  .         .           start
                 6  .         .           lock right  bank.c:30  pthread_mutex_lock(&from->lock);
                    join T1   .           .           bank.c:52  ← waits for ever
                    .         lock right  .           bank.c:31  ← waits for ever
                    .         .           lock left   bank.c:31  ← waits for ever
            ```

            The program's output:

            ```text
            moving 10 to the right
            moving 20 to the left
            ```

            Replay with `raddle replay dl-02c1`.
        "#]],
        );
    }

    #[test]
    fn lost_wakeup() {
        check(
            &samples::lost_wakeup(),
            expect![[r#"
            # dl-02c1: deadlock: T1 waits for a signal on `ready` that nobody will send

            `bank.c`, found at execution 1,942 by walk, seed 7.

            - T1 consumer waits to be woken at condition variable `ready` at `examples/bank.c:60 in worker`: `pthread_cond_wait(&ready, &lock);`
            - T0 main waits for the end of thread T1 at `examples/bank.c:52 in main`: `pthread_join(first, NULL);`

            ```text
              step  T0 main       T1 consumer  7 steps, 3 switches
                 1  spawn T1                   bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                    ── switch (preempted) ──
                 2  .             start
                    ── switch (preempted) ──
                 3  lock left     .            bank.c:30  pthread_mutex_lock(&from->lock);
                 4  signal ready  .            bank.c:61
                 5  unlock left   .            bank.c:62
                    ── switch (T0 blocked) ──
                 6  .             lock left    bank.c:59
                 7  .             wait ready   bank.c:60  pthread_cond_wait(&ready, &lock);
                    join T1       .            bank.c:52  ← waits for ever
                    .             wait ready   bank.c:60  ← waits for ever
            ```

            Replay with `raddle replay dl-02c1`.
        "#]],
        );
    }

    #[test]
    fn assertion() {
        check(
            &samples::assertion(),
            expect![[r#"
            # dl-02c1: assertion failed: left.balance + right.balance == 200

            `bank.c`, found at execution 1,942 by walk, seed 7.

            - in T1 at `examples/bank.c:40 in audit`: `assert(left.balance + right.balance == 200);`

            ```text
              step  T0 main             T1                  5 steps, 1 switch
                 1  spawn T1                                bank.c:50  pthread_create(&first, NULL, to_right, N…
                 2  lock left                               bank.c:30  pthread_mutex_lock(&from->lock);
                 3  read left+40 → 100                      bank.c:35  from->balance -= amount;
                    ── switch (preempted) ──
                 4  .                   start
                 5  .                   read left+40 → 100  bank.c:40  assert(left.balance + right.balance == 2…
                    .                   assert              bank.c:40  ← assert failed
            ```

            The program's output:

            ```text
            bank: bank.c:40: audit: Assertion failed.
            ```

            Replay with `raddle replay dl-02c1`.
        "#]],
        );
    }

    #[test]
    fn crash_with_steps_left_out() {
        check(
            &samples::crash(),
            expect![[r#"
            # dl-02c1: crash: SIGSEGV

            `bank.c`, found at execution 1,942 by walk, seed 7.

            - in T2 at `examples/bank.c:35 in transfer`: `from->balance -= amount;`

            ```text
              step  T1             T2                  1,182 steps, 1 switch
                    … 1,178 earlier steps …
              1179  write left+40  .                   bank.c:35  from->balance -= amount;
              1180  unlock left    .                   bank.c:36
                    ── switch (preempted) ──
              1181  .              lock right          bank.c:30  pthread_mutex_lock(&from->lock);
              1182  .              read left+40 → 100  bank.c:35  from->balance -= amount;
                    .              crash               bank.c:35  ← crashed
            ```

            Replay with `raddle replay dl-02c1`.
        "#]],
        );
    }

    #[test]
    fn misuse() {
        check(
            &samples::misuse(),
            expect![[r#"
            # dl-02c1: misuse: T1 unlocks a mutex that another thread holds: left.lock

            `bank.c`, found at execution 1,942 by walk, seed 7.

            - in T1 at `examples/bank.c:36 in worker`

            ```text
              step  T0 main    T1           4 steps, 1 switch
                 1  spawn T1                bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                 2  lock left               bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 3  .          start
                 4  .          unlock left  bank.c:36  ← misuse
            ```

            Replay with `raddle replay dl-02c1`.
        "#]],
        );
    }

    #[test]
    fn race() {
        check(
            &analyses::on_the_heap(),
            expect![[r#"
            # dl-02c1: data race on `Account.balance` (8 bytes)

            `bank.c`, found at execution 1,942 by walk, seed 7.

            - T1 pay: write Account.balance, holding mutex `left` (since bank.c:30) at `examples/bank.c:35 in transfer`: `from->balance -= amount;`
            - T0 main: read Account.balance, holding no lock at `examples/bank.c:40 in worker`: `assert(left.balance + right.balance == 200);`

            ```text
              step  T0 main             T1 pay                 4 steps, 2 switches
                 1  spawn T1                                   bank.c:50  pthread_create(&first, NULL, to_right…
                    ── switch (preempted) ──
                 2  .                   start
                 3  .                   lock left              bank.c:30  pthread_mutex_lock(&from->lock);
                    .                   write Account.balance  bank.c:35  ← race
                    ── switch (preempted) ──
                 4  read left+40 → 100  .                      bank.c:40  ← race
            ```

            Replay with `raddle replay dl-02c1`.
        "#]],
        );
    }

    #[test]
    fn with_a_reason() {
        let finding = samples::assertion();
        let reason = vec!["fails whenever `read` comes before `write`".to_owned()];
        let item = Item { reason, ..item(&finding, "assert-1") };
        expect![[r#"
            # assert-1: assertion failed: left.balance + right.balance == 200

            `bank.c`, found at execution 1,942 by walk, seed 7.

            fails whenever `read` comes before `write`

            - in T1 at `examples/bank.c:40 in audit`: `assert(left.balance + right.balance == 200);`

            ```text
              step  T0 main             T1                  5 steps, 1 switch
                 1  spawn T1                                bank.c:50  pthread_create(&first, NULL, to_right, N…
                 2  lock left                               bank.c:30  pthread_mutex_lock(&from->lock);
                 3  read left+40 → 100                      bank.c:35  from->balance -= amount;
                    ── switch (preempted) ──
                 4  .                   start
                 5  .                   read left+40 → 100  bank.c:40  assert(left.balance + right.balance == 2…
                    .                   assert              bank.c:40  ← assert failed
            ```

            The program's output:

            ```text
            bank: bank.c:40: audit: Assertion failed.
            ```

            Replay with `raddle replay assert-1`.
        "#]].assert_eq(&markdown(&item, &mut sources));
    }

    #[test]
    fn what_comes_from_the_program_is_text() {
        check(
            &evil(),
            expect![[r##"
                # dl-02c1: assertion failed: \]\]>"'\<b>\&amp;'%0A::error::?\[31m\|\*

                `bank.c`, found at execution 1,942 by walk, seed 7.

                - in T1 \]\]>"'\<b>\&amp;'%0A::error::?\[31m\|\* at `` a b,c:%40.c:40 in ]]>"'&amp;`%0A::error::[31m|* ``: `assert(left.balance + right.balance == 200);`

                ```text
                  step  T0 main             T1 ]]>"'<b>&amp;`%0A::error::?[31m|*  5 steps, 1 switch
                     1  spawn T1                                                  a b,c:%50.c:50  pthread_create(&f…
                     2  lock left                                                 a b,c:%30.c:30  pthread_mutex_loc…
                     3  read left+40 → 100                                        a b,c:%35.c:35  from->balance -=…
                        ── switch (preempted) ──
                     4  .                   start                                 a b,c:%0.c
                     5  .                   read left+40 → 100                    a b,c:%40.c:40  assert(left.balan…
                        .                   assert                                a b,c:%40.c:40  ← assert failed
                ```

                The program's output:

                ````text
                ]]>"'<b>&amp;`%0A::error::?[31m|*
                ```
                more
                ````

                Replay with `raddle replay dl-02c1`.
            "##]],
        );
    }

    #[test]
    fn a_run() {
        let (one, two) = (samples::misuse(), samples::assertion());
        let items = [item(&one, "misuse-1"), item(&two, "assert-2")];
        let text = markdown_of_run("bank.c: 2 findings", &items, &mut sources);
        let heads: Vec<&str> = text.lines().filter(|it| it.starts_with('#')).collect();
        expect![[r#"
            # bank.c: 2 findings
            ## misuse-1: misuse: T1 unlocks a mutex that another thread holds: left.lock
            ## assert-2: assertion failed: left.balance + right.balance == 200"#]]
        .assert_eq(&heads.join("\n"));
        expect![[r#"
            # bank.c

            Nothing was found.
        "#]]
        .assert_eq(&markdown_of_run("bank.c", &[], &mut sources));
    }
}

mod as_junit {
    use super::*;

    #[track_caller]
    fn check(items: &[Item<'_>], expect: Expect) {
        let date = "2026-01-31T12:34:56Z";
        let suite = Suite { program: "bank.c", date, elapsed_s: 1.25, items };
        expect.assert_eq(&junit(&suite, &mut sources));
    }

    #[test]
    fn nothing_found() {
        check(
            &[],
            expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="raddle" tests="1" failures="0" errors="0">
              <testsuite name="bank.c" tests="1" failures="0" errors="0" time="1.250" timestamp="2026-01-31T12:34:56">
                <testcase name="schedules" classname="bank.c" time="1.250"/>
              </testsuite>
            </testsuites>
        "#]],
        );
    }

    #[test]
    fn a_finding() {
        check(
            &[item(&samples::misuse(), "misuse-02c1")],
            expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="raddle" tests="1" failures="1" errors="0">
              <testsuite name="bank.c" tests="1" failures="1" errors="0" time="1.250" timestamp="2026-01-31T12:34:56">
                <testcase name="misuse-02c1" classname="bank.c">
                  <properties>
                    <property name="bucket" value="00000000000002c1"/>
                    <property name="seed" value="7"/>
                    <property name="strategy" value="walk"/>
                    <property name="replay" value="raddle replay misuse-02c1"/>
                  </properties>
                  <failure type="misuse" message="misuse: T1 unlocks a mutex that another thread holds: left.lock">error[misuse-02c1]: misuse: T1 unlocks a mutex that another thread holds: left.lock
              found at execution 1,942 by walk, seed 7
              in T1, created at examples/bank.c:50 in main
                  #0 worker examples/bank.c:36

              step  T0 main    T1           4 steps, 1 switch
                 1  spawn T1                bank.c:50  pthread_create(&amp;first, NULL, to_right, NULL);
                 2  lock left               bank.c:30  pthread_mutex_lock(&amp;from-&gt;lock);
                    ── switch (preempted) ──
                 3  .          start
                 4  .          unlock left  bank.c:36  ← misuse

              replay:  raddle replay misuse-02c1
              show:    raddle show misuse-02c1 --full

            SUMMARY: raddle: misuse at examples/bank.c:36 in worker
            </failure>
                </testcase>
              </testsuite>
            </testsuites>
        "#]],
        );
    }

    #[test]
    fn what_comes_from_the_program_is_text() {
        check(
            &[item(&evil(), "assert-1")],
            expect![[r#"
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites name="raddle" tests="1" failures="1" errors="0">
                  <testsuite name="bank.c" tests="1" failures="1" errors="0" time="1.250" timestamp="2026-01-31T12:34:56">
                    <testcase name="assert-1" classname="bank.c">
                      <properties>
                        <property name="bucket" value="00000000000002c1"/>
                        <property name="seed" value="7"/>
                        <property name="strategy" value="walk"/>
                        <property name="replay" value="raddle replay assert-1"/>
                      </properties>
                      <failure type="assert" message="assertion failed: ]]&gt;&quot;&apos;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*">error[assert-1]: assertion failed: ]]&gt;&quot;&apos;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*
                  found at execution 1,942 by walk, seed 7
                  in T1 ]]&gt;&quot;&apos;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*, created at examples/bank.c:50 in main
                      #0 audit examples/bank.c:40  assert(left.balance + right.balance == 200);
                      #1 worker examples/bank.c:45

                  step  T0 main             T1 ]]&gt;&quot;&apos;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*  5 steps, 1 switch
                     1  spawn T1                                                  a b,c:%50.c:50  pthread_create(&amp;f…
                     2  lock left                                                 a b,c:%30.c:30  pthread_mutex_loc…
                     3  read left+40 → 100                                        a b,c:%35.c:35  from-&gt;balance -=…
                        ── switch (preempted) ──
                     4  .                   start                                 a b,c:%0.c
                     5  .                   read left+40 → 100                    a b,c:%40.c:40  assert(left.balan…
                        .                   assert                                a b,c:%40.c:40  ← assert failed

                  program output:
                    ]]&gt;&quot;&apos;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*
                    ```
                    more

                  replay:  raddle replay assert-1
                  show:    raddle show assert-1 --full

                SUMMARY: raddle: assert at a b,c:%40.c:40 in ]]&gt;&quot;&apos;&amp;amp;`%0A::error::�[31m|*
                </failure>
                      <system-out>]]&gt;&quot;&apos;&lt;b&gt;&amp;amp;`%0A::error::�[31m|*
                ```
                more
                </system-out>
                    </testcase>
                  </testsuite>
                </testsuites>
            "#]],
        );
    }
}

mod as_annotations {
    use super::*;

    #[test]
    fn of_findings() {
        let (deadlock, race, evil) = (samples::ab_ba(), analyses::on_the_heap(), evil());
        let items = [item(&deadlock, "dl-02c1"), item(&race, "race-1"), item(&evil, "assert-2")];
        expect![[r#"
            ::error file=examples/bank.c,line=31,col=5,title=raddle dl-02c1%3A deadlock%3A T1 and T2 wait for each other::T1 waits for mutex `right`, held by T2 since bank.c:30 at examples/bank.c:31%0AT2 waits for mutex `left`, held by T1 since bank.c:30 at examples/bank.c:31%0AT0 main waits for the end of thread T1 at examples/bank.c:52%0Araddle replay dl-02c1
            ::error file=examples/bank.c,line=40,col=5,title=raddle race-1%3A data race on `Account.balance` (8 bytes)::T1 pay: write Account.balance, holding mutex `left` (since bank.c:30) at examples/bank.c:35%0AT0 main: read Account.balance, holding no lock at examples/bank.c:40%0Araddle replay race-1
            ::error file=a b%2Cc%3A%2540.c,line=40,col=5,title=raddle assert-2%3A assertion failed%3A ]]>"'<b>&amp;`%250A%3A%3Aerror%3A%3A?[31m|*::in T1 ]]>"'<b>&amp;`%250A::error::?[31m|* at a b,c:%2540.c:40%0Araddle replay assert-2
        "#]].assert_eq(&annotations(&items));
    }
}

mod as_sarif {
    use super::*;

    #[test]
    fn of_findings() {
        let finding = samples::ab_ba();
        expect![[r#"
            {
              "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
              "version": "2.1.0",
              "runs": [
                {
                  "tool": {
                    "driver": {
                      "name": "Raddle",
                      "semanticVersion": "1.2.3",
                      "rules": [
                        {
                          "id": "deadlock",
                          "name": "deadlock",
                          "shortDescription": {
                            "text": "deadlock"
                          }
                        }
                      ]
                    }
                  },
                  "columnKind": "unicodeCodePoints",
                  "originalUriBaseIds": {
                    "SRCROOT": {
                      "uri": "file:///home/me/"
                    }
                  },
                  "results": [
                    {
                      "ruleId": "deadlock",
                      "ruleIndex": 0,
                      "level": "error",
                      "message": {
                        "text": "deadlock: T1 and T2 wait for each other"
                      },
                      "locations": [
                        {
                          "physicalLocation": {
                            "artifactLocation": {
                              "uri": "examples/bank.c",
                              "uriBaseId": "SRCROOT"
                            },
                            "region": {
                              "startLine": 31,
                              "startColumn": 5
                            }
                          },
                          "message": {
                            "text": "T1 waits for mutex `right`, held by T2 since bank.c:30"
                          }
                        }
                      ],
                      "relatedLocations": [
                        {
                          "physicalLocation": {
                            "artifactLocation": {
                              "uri": "examples/bank.c",
                              "uriBaseId": "SRCROOT"
                            },
                            "region": {
                              "startLine": 31,
                              "startColumn": 5
                            }
                          },
                          "message": {
                            "text": "T2 waits for mutex `left`, held by T1 since bank.c:30"
                          }
                        },
                        {
                          "physicalLocation": {
                            "artifactLocation": {
                              "uri": "examples/bank.c",
                              "uriBaseId": "SRCROOT"
                            },
                            "region": {
                              "startLine": 52,
                              "startColumn": 5
                            }
                          },
                          "message": {
                            "text": "T0 main waits for the end of thread T1"
                          }
                        }
                      ],
                      "codeFlows": [
                        {
                          "message": {
                            "text": "the schedule that fails"
                          },
                          "threadFlows": [
                            {
                              "id": "T0",
                              "message": {
                                "text": "T0 main"
                              },
                              "locations": [
                                {
                                  "location": {
                                    "physicalLocation": {
                                      "artifactLocation": {
                                        "uri": "examples/bank.c",
                                        "uriBaseId": "SRCROOT"
                                      },
                                      "region": {
                                        "startLine": 50,
                                        "startColumn": 5
                                      }
                                    },
                                    "message": {
                                      "text": "spawn T1"
                                    }
                                  },
                                  "executionOrder": 1,
                                  "importance": "unimportant"
                                },
                                {
                                  "location": {
                                    "physicalLocation": {
                                      "artifactLocation": {
                                        "uri": "examples/bank.c",
                                        "uriBaseId": "SRCROOT"
                                      },
                                      "region": {
                                        "startLine": 51,
                                        "startColumn": 5
                                      }
                                    },
                                    "message": {
                                      "text": "spawn T2"
                                    }
                                  },
                                  "executionOrder": 2,
                                  "importance": "important"
                                },
                                {
                                  "location": {
                                    "physicalLocation": {
                                      "artifactLocation": {
                                        "uri": "examples/bank.c",
                                        "uriBaseId": "SRCROOT"
                                      },
                                      "region": {
                                        "startLine": 52,
                                        "startColumn": 5
                                      }
                                    },
                                    "message": {
                                      "text": "join T1 (waits for ever)"
                                    }
                                  },
                                  "executionOrder": 7,
                                  "importance": "essential"
                                }
                              ]
                            },
                            {
                              "id": "T1",
                              "message": {
                                "text": "T1"
                              },
                              "locations": [
                                {
                                  "location": {
                                    "message": {
                                      "text": "start"
                                    }
                                  },
                                  "executionOrder": 3,
                                  "importance": "important"
                                },
                                {
                                  "location": {
                                    "physicalLocation": {
                                      "artifactLocation": {
                                        "uri": "examples/bank.c",
                                        "uriBaseId": "SRCROOT"
                                      },
                                      "region": {
                                        "startLine": 30,
                                        "startColumn": 5
                                      }
                                    },
                                    "message": {
                                      "text": "lock left"
                                    }
                                  },
                                  "executionOrder": 4,
                                  "importance": "important"
                                },
                                {
                                  "location": {
                                    "physicalLocation": {
                                      "artifactLocation": {
                                        "uri": "examples/bank.c",
                                        "uriBaseId": "SRCROOT"
                                      },
                                      "region": {
                                        "startLine": 31,
                                        "startColumn": 5
                                      }
                                    },
                                    "message": {
                                      "text": "lock right (waits for ever)"
                                    }
                                  },
                                  "executionOrder": 8,
                                  "importance": "essential"
                                }
                              ]
                            },
                            {
                              "id": "T2",
                              "message": {
                                "text": "T2"
                              },
                              "locations": [
                                {
                                  "location": {
                                    "message": {
                                      "text": "start"
                                    }
                                  },
                                  "executionOrder": 5,
                                  "importance": "important"
                                },
                                {
                                  "location": {
                                    "physicalLocation": {
                                      "artifactLocation": {
                                        "uri": "examples/bank.c",
                                        "uriBaseId": "SRCROOT"
                                      },
                                      "region": {
                                        "startLine": 30,
                                        "startColumn": 5
                                      }
                                    },
                                    "message": {
                                      "text": "lock right"
                                    }
                                  },
                                  "executionOrder": 6,
                                  "importance": "unimportant"
                                },
                                {
                                  "location": {
                                    "physicalLocation": {
                                      "artifactLocation": {
                                        "uri": "examples/bank.c",
                                        "uriBaseId": "SRCROOT"
                                      },
                                      "region": {
                                        "startLine": 31,
                                        "startColumn": 5
                                      }
                                    },
                                    "message": {
                                      "text": "lock left (waits for ever)"
                                    }
                                  },
                                  "executionOrder": 9,
                                  "importance": "essential"
                                }
                              ]
                            }
                          ]
                        }
                      ],
                      "partialFingerprints": {
                        "raddle/bucket/v1": "00000000000002c1"
                      },
                      "properties": {
                        "id": "dl-02c1",
                        "program": "bank.c",
                        "replay": "raddle replay dl-02c1"
                      }
                    }
                  ]
                }
              ]
            }
        "#]]
        .assert_eq(&sarif(&[item(&finding, "dl-02c1")], "1.2.3"));
    }

    #[test]
    fn every_kind_is_valid() {
        let mut bare = samples::assertion();
        bare.sites.clear();
        bare.steps.clear();
        let findings = [
            samples::ab_ba(),
            samples::lost_wakeup(),
            samples::assertion(),
            samples::crash(),
            samples::misuse(),
            samples::five_threads(),
            samples::heap_locks(),
            analyses::on_the_heap(),
            evil(),
            bare,
        ];
        let items: Vec<Item<'_>> = findings.iter().map(|it| item(it, "x-1")).collect();
        schema::check(&sarif(&items, "1.2.3"));
        schema::check(&sarif(&[], "1.2.3"));
    }

    #[test]
    fn paths_are_uris() {
        let text = sarif(&[item(&evil(), "x-1")], "1.2.3");
        assert!(text.contains("\"uri\": \"a%20b%2Cc%3A%2540.c\""), "{text}");
        assert!(text.contains("\"uriBaseId\": \"SRCROOT\""));
    }

    #[test]
    fn long_schedules_are_cut() {
        let mut long = samples::assertion();
        for _ in 0..1_500 {
            samples::add(&mut long, &[(0, OpKind::Lock, 1, 30), (0, OpKind::Unlock, 1, 36)]);
        }
        let log: Value = serde_json::from_str(&sarif(&[item(&long, "x-1")], "1")).expect("JSON");
        let flow = &log["runs"][0]["results"][0]["codeFlows"][0];
        let flows = flow["threadFlows"].as_array().expect("flows");
        let n_all: usize =
            flows.iter().map(|it| it["locations"].as_array().map_or(0, Vec::len)).sum();
        assert_eq!(n_all, 1_000);
        assert_eq!(
            flow["message"]["text"],
            "the schedule that fails, without its first 2006 steps"
        );
    }
}

mod as_trace {
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
            {"args":{"at":"examples/bank.c:52 in main","mark":"waits for ever","object":"thread T1"},"cat":"step,failure","dur":1,"name":"join T1","ph":"X","pid":1,"tid":0,"ts":6},
            {"args":{"at":"examples/bank.c:31 in transfer","mark":"waits for ever","object":"mutex `right`"},"cat":"step,failure","dur":1,"name":"lock right","ph":"X","pid":1,"tid":1,"ts":7},
            {"args":{"at":"examples/bank.c:31 in transfer","mark":"waits for ever","object":"mutex `left`"},"cat":"step,failure","dur":1,"name":"lock left","ph":"X","pid":1,"tid":2,"ts":8},
            {"cat":"switch","name":"T0 blocked","ph":"i","pid":1,"s":"t","tid":0,"ts":2},
            {"cat":"switch","name":"preempted","ph":"i","pid":1,"s":"t","tid":1,"ts":4},
            {"cat":"lock","id":0,"name":"T1 holds left","ph":"b","pid":1,"tid":1,"ts":3},
            {"cat":"lock","id":0,"name":"T1 holds left","ph":"e","pid":1,"tid":1,"ts":9},
            {"cat":"lock","id":1,"name":"T2 holds right","ph":"b","pid":1,"tid":2,"ts":5},
            {"cat":"lock","id":1,"name":"T2 holds right","ph":"e","pid":1,"tid":2,"ts":9},
            {"cat":"order","id":0,"name":"comes before","ph":"s","pid":1,"tid":0,"ts":0},
            {"bp":"e","cat":"order","id":0,"name":"comes before","ph":"f","pid":1,"tid":1,"ts":2},
            {"cat":"order","id":1,"name":"comes before","ph":"s","pid":1,"tid":0,"ts":1},
            {"bp":"e","cat":"order","id":1,"name":"comes before","ph":"f","pid":1,"tid":2,"ts":4}],"displayTimeUnit":"ns","otherData":{"finding":"dl-02c1","time":"logical: one step is one microsecond","tool":"raddle","what":"deadlock: T1 and T2 wait for each other"}}
        "#]].assert_eq(&text.replace("},{\"", "},\n{\""));
    }

    /// What a viewer relies on: slices of one thread do not overlap, and every arrow that begins ends later.
    #[test]
    fn arrows_end_where_steps_are() {
        for finding in [samples::ab_ba(), samples::crash(), analyses::on_the_heap(), evil()] {
            let file: Value =
                serde_json::from_str(&perfetto(&item(&finding, "x-1"))).expect("JSON");
            let events = file["traceEvents"].as_array().expect("events");
            let of = |phase: &str| -> Vec<&Value> {
                events.iter().filter(|it| it["ph"] == phase).collect()
            };
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
}
