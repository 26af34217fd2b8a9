//! Markdown.

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
              step  T0 main   T1           T2           6 steps, 2 switches
                 1  spawn T1                            bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                 2  spawn T2                            bank.c:51  pthread_create(&second, NULL, to_left, NULL);
                    ── switch (T0 blocked) ──
                 3  .          start
                 4  .         │lock left                bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 5  .         │             start
                 6  .         │            │lock right  bank.c:30  pthread_mutex_lock(&from->lock);
                    join T1   │            │            bank.c:52  ← waits for ever
                    .         │lock right  │            bank.c:31  ← waits for ever
                    .         │            │lock left   bank.c:31  ← waits for ever
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
              step  T0 main        T1 consumer   7 steps, 3 switches
                 1   spawn T1                    bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                    ── switch (preempted) ──
                 2   .              start
                    ── switch (preempted) ──
                 3  │lock left      .            bank.c:30  pthread_mutex_lock(&from->lock);
                 4  │signal ready   .            bank.c:61
                 5  │unlock left    .            bank.c:62
                    ── switch (T0 blocked) ──
                 6   .             │lock left    bank.c:59
                 7   .             │wait ready   bank.c:60  pthread_cond_wait(&ready, &lock);
                     join T1        .            bank.c:52  ← waits for ever
                     .              wait ready   bank.c:60  ← waits for ever
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
              step  T0 main              T1                  5 steps, 1 switch
                 1   spawn T1                                bank.c:50  pthread_create(&first, NULL, to_right,…
                 2  │lock left                               bank.c:30  pthread_mutex_lock(&from->lock);
                 3  │read left+40 → 100                      bank.c:35  from->balance -= amount;
                    ── switch (preempted) ──
                 4  │                    start
                 5  │                    read left+40 → 100  bank.c:40  assert(left.balance + right.balance ==…
                    │                    assert              bank.c:40  ← assert failed
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
              step  T1              T2                   1,182 steps, 1 switch
                    … 1,178 earlier steps …
              1179  │write left+40   .                   bank.c:35  from->balance -= amount;
              1180  │unlock left     .                   bank.c:36
                    ── switch (preempted) ──
              1181   .              │lock right          bank.c:30  pthread_mutex_lock(&from->lock);
              1182   .              │read left+40 → 100  bank.c:35  from->balance -= amount;
                     .              │crash               bank.c:35  ← crashed
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
              step  T0 main     T1           4 steps, 1 switch
                 1   spawn T1                bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                 2  │lock left               bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 3  │           start
                 4  │           unlock left  bank.c:36  ← misuse
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
              step  T0 main             T1 pay                  4 steps, 2 switches
                 1  spawn T1                                    bank.c:50  pthread_create(&first, NULL, to_righ…
                    ── switch (preempted) ──
                 2  .                    start
                 3  .                   │lock left              bank.c:30  pthread_mutex_lock(&from->lock);
                    .                   │write Account.balance  bank.c:35  ← race
                    ── switch (preempted) ──
                 4  read left+40 → 100  │                       bank.c:40  ← race
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
          step  T0 main              T1                  5 steps, 1 switch
             1   spawn T1                                bank.c:50  pthread_create(&first, NULL, to_right,…
             2  │lock left                               bank.c:30  pthread_mutex_lock(&from->lock);
             3  │read left+40 → 100                      bank.c:35  from->balance -= amount;
                ── switch (preempted) ──
             4  │                    start
             5  │                    read left+40 → 100  bank.c:40  assert(left.balance + right.balance ==…
                │                    assert              bank.c:40  ← assert failed
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
              step  T0 main              T1 ]]>"'<b>&amp;`%0A::error::?[31m|*  5 steps, 1 switch
                 1   spawn T1                                                  a b,c:%50.c:50  pthread_create(&…
                 2  │lock left                                                 a b,c:%30.c:30  pthread_mutex_lo…
                 3  │read left+40 → 100                                        a b,c:%35.c:35  from->balance -=…
                    ── switch (preempted) ──
                 4  │                    start                                 a b,c:%0.c
                 5  │                    read left+40 → 100                    a b,c:%40.c:40  assert(left.bala…
                    │                    assert                                a b,c:%40.c:40  ← assert failed
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
