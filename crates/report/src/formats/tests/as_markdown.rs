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
            # dl-02c1: deadlock: T1 and T2 wait for each other (`right` and `left`)

            `bank.c`, found at execution 1,942 by walk, seed 7.

            1. T1 locks `left` at `examples/bank.c:30 in transfer`: `pthread_mutex_lock(&from->lock);`
            2. T2 locks `right` at `examples/bank.c:30 in transfer`: `pthread_mutex_lock(&from->lock);`
            3. T1 waits forever for `right`, held by T2 (2) at `examples/bank.c:31 in transfer`: `pthread_mutex_lock(&to->lock);`
            4. T2 waits forever for `left`, held by T1 (1) at `examples/bank.c:31 in transfer`: `pthread_mutex_lock(&to->lock);`

            T0 (main) waits for T1 to finish (bank.c:52)

            ```text
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
            # dl-02c1: deadlock: T1 (consumer) waits for a signal on `ready` that nobody will send

            `bank.c`, found at execution 1,942 by walk, seed 7.

            1. T0 (main) signals `ready` at `examples/bank.c:61 in main`
            2. T1 (consumer) waits forever on `ready` at `examples/bank.c:60 in worker`: `pthread_cond_wait(&ready, &lock);`

            T0 (main) waits for T1 to finish (bank.c:52)

            ```text
              step  T0 main        T1 consumer   7 steps, 3 switches
                 1   spawn T1                    bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                    ── switch (preempted) ──
                 2   .              start
                    ── switch (preempted) ──
                 3  │lock left      .            bank.c:30  pthread_mutex_lock(&from->lock);
            1▸   4  │signal ready   .            bank.c:61
                 5  │unlock left    .            bank.c:62
                    ── switch (T0 blocked) ──
                 6   .             │lock left    bank.c:59
            2▸   7   .             │wait ready   bank.c:60  pthread_cond_wait(&ready, &lock);
                     join T1        .            bank.c:52  ← blocked forever
                     .              wait ready   bank.c:60  ← blocked forever
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

            - T1 reads `left`+40 = 100: assertion failed: left.balance + right.balance == 200 at `examples/bank.c:40 in worker`: `assert(left.balance + right.balance == 200);`

            ```text
              step  T0 main              T1                  5 steps, 1 switch
                 1   spawn T1                                bank.c:50  pthread_create(&first, NULL, to_right,…
                 2  │lock left                               bank.c:30  pthread_mutex_lock(&from->lock);
                 3  │read left+40 → 100                      bank.c:35  from->balance -= amount;
                    ── switch (preempted) ──
                 4  │                    start
            ▸    5  │                    read left+40 → 100  bank.c:40  assert(left.balance + right.balance ==…
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
            # dl-02c1: crash: T2 uses `left`+40 after T1 writes it

            `bank.c`, found at execution 1,942 by walk, seed 7.

            1. T1 writes `left`+40, holding `left` at `examples/bank.c:35 in transfer`: `from->balance -= amount;`
            2. T2 reads `left`+40 = 100, holding `right`: fails here at `examples/bank.c:35 in transfer`: `from->balance -= amount;`

            ```text
              step  T1              T2                   1,182 steps, 1 switch
                    … 1,178 earlier steps …
            1▸1179  │write left+40   .                   bank.c:35  from->balance -= amount;
              1180  │unlock left     .                   bank.c:36
                    ── switch (preempted) ──
              1181   .              │lock right          bank.c:30  pthread_mutex_lock(&from->lock);
            2▸1182   .              │read left+40 → 100  bank.c:35  from->balance -= amount;
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

            - T1 fails here at `examples/bank.c:36 in worker`

            ```text
              step  T0 main     T1           4 steps, 1 switch
                 1   spawn T1                bank.c:50  pthread_create(&first, NULL, to_right, NULL);
                 2  │lock left               bank.c:30  pthread_mutex_lock(&from->lock);
                    ── switch (preempted) ──
                 3  │           start
            ▸    4  │           unlock left  bank.c:36  ← misuse
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
            # dl-02c1: data race on `Account.balance` (8 bytes): T1's write and T0's read are unordered

            `bank.c`, found at execution 1,942 by walk, seed 7.

            1. T1 (pay) writes `Account.balance`, holding `left` at `examples/bank.c:35 in transfer`: `from->balance -= amount;`
            2. T0 (main) reads `Account.balance` = 100, holding no lock at `examples/bank.c:40 in worker`: `assert(left.balance + right.balance == 200);`

            1 and 2 are unordered: T1 holds `left`, T0 holds nothing, and no release-acquire pair orders them

            location: `Account.balance`, field of `struct Account`, 40 bytes into a heap block of size 48 allocated by main thread at bank.c:20

            ```text
              step  T0 main             T1 pay                  4 steps, 2 switches
                 1  spawn T1                                    bank.c:50  pthread_create(&first, NULL, to_righ…
                    ── switch (preempted) ──
                 2  .                    start
                 3  .                   │lock left              bank.c:30  pthread_mutex_lock(&from->lock);
            1▸      .                   │write Account.balance  bank.c:35  ← race
                    ── switch (preempted) ──
            2▸   4  read left+40 → 100  │                       bank.c:40  ← race
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

        - T1 reads `left`+40 = 100: assertion failed: left.balance + right.balance == 200 at `examples/bank.c:40 in worker`: `assert(left.balance + right.balance == 200);`

        ```text
          step  T0 main              T1                  5 steps, 1 switch
             1   spawn T1                                bank.c:50  pthread_create(&first, NULL, to_right,…
             2  │lock left                               bank.c:30  pthread_mutex_lock(&from->lock);
             3  │read left+40 → 100                      bank.c:35  from->balance -= amount;
                ── switch (preempted) ──
             4  │                    start
        ▸    5  │                    read left+40 → 100  bank.c:40  assert(left.balance + right.balance ==…
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

            - T1 (\]\]>"'\<b>\&amp;`%0A::error::?[31m|*) reads `left`+40 = 100: assertion failed: ]]>"'<b>&amp;`%0A::error::?\[31m\|\* at `` a b,c:%40.c:40 in ]]>"'&amp;`%0A::error::[31m|* ``: `assert(left.balance + right.balance == 200);`

            ```text
              step  T0 main              T1 ]]>"'<b>&amp;`%0A::error::?[31m|*  5 steps, 1 switch
                 1   spawn T1                                                  a b,c:%50.c:50  pthread_create(&…
                 2  │lock left                                                 a b,c:%30.c:30  pthread_mutex_lo…
                 3  │read left+40 → 100                                        a b,c:%35.c:35  from->balance -=…
                    ── switch (preempted) ──
                 4  │                    start                                 a b,c:%0.c
            ▸    5  │                    read left+40 → 100                    a b,c:%40.c:40  assert(left.bala…
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

        No findings.
    "#]]
    .assert_eq(&markdown_of_run("bank.c", &[], &mut sources));
}
