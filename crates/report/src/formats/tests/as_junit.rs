//! JUnit's XML.

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
              --&gt; examples/bank.c:36 in worker
               |
            36 | T1 fails here
               |
               = replay: raddle replay misuse-02c1

              step  T0 main     T1           4 steps, 1 switch
                 1   spawn T1                bank.c:50  pthread_create(&amp;first, NULL, to_right, NULL);
                 2  │lock left               bank.c:30  pthread_mutex_lock(&amp;from-&gt;lock);
                    ── switch (preempted) ──
                 3  │           start
            ▸    4  │           unlock left  bank.c:36  ← misuse
              │ holds a lock

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
                  <failure type="assert" message="assertion failed: ]]&gt;&quot;&#39;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*">error[assert-1]: assertion failed: ]]&gt;&quot;&#39;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*
              --&gt; a b,c:%40.c:40 in ]]&gt;&quot;&#39;&amp;amp;`%0A::error::?[31m|*
               |
            40 |     assert(left.balance + right.balance == 200);
               |            ^^^^ T1 (]]&gt;&quot;&#39;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*) reads `left`+40 = 100: assertion failed:
               |                 ]]&gt;&quot;&#39;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*
               |
               = replay: raddle replay assert-1

              step  T0 main              T1 ]]&gt;&quot;&#39;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*  5 steps, 1 switch
                 1   spawn T1                                                  a b,c:%50.c:50  pthread_create(&amp;…
                 2  │lock left                                                 a b,c:%30.c:30  pthread_mutex_lo…
                 3  │read left+40 → 100                                        a b,c:%35.c:35  from-&gt;balance -=…
                    ── switch (preempted) ──
                 4  │                    start                                 a b,c:%0.c
            ▸    5  │                    read left+40 → 100                    a b,c:%40.c:40  assert(left.bala…
                    │                    assert                                a b,c:%40.c:40  ← assert failed
              │ holds a lock

              program output:
                ]]&gt;&quot;&#39;&lt;b&gt;&amp;amp;`%0A::error::?[31m|*
                ```
                more

            SUMMARY: raddle: assert at a b,c:%40.c:40 in ]]&gt;&quot;&#39;&amp;amp;`%0A::error::�[31m|*
            </failure>
                  <system-out>]]&gt;&quot;&#39;&lt;b&gt;&amp;amp;`%0A::error::�[31m|*
            ```
            more
            </system-out>
                </testcase>
              </testsuite>
            </testsuites>
        "#]],
    );
}
