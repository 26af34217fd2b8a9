//! Counting oracles on real programs: how many schedules differ in more than the order of independent steps.
//!
//! The numbers are those of the papers or were counted by a program of a few hundred lines that does nothing
//! else; the same programs in C, compiled and run, must come to the same. An execution that is cut short, or
//! made twice, or a scheduling point too many or too few that matters, would show here.

mod common;

use std::path::Path;

use common::{folder, raddle, write};
use serde_json::Value;

/// `main` creates a thread for each body, and waits for all.
const FRAME: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#define LENGTH(array) (sizeof(array) / sizeof *(array))
typedef void *body(void *);
static void run(body *const *bodies, long n) {
    pthread_t threads[16];
    for (long i = 0; i < n; i++) pthread_create(&threads[i], 0, bodies[i], (void *)i);
    for (long i = 0; i < n; i++) pthread_join(threads[i], 0);
}
static void all(body *one, long n) {
    body *bodies[16];
    for (long i = 0; i < n; i++) bodies[i] = one;
    run(bodies, n);
}
"#;

/// Writes a program, searches it to the end, and gives back what the search says.
#[track_caller]
fn search(folder: &Path, text: &str, strategy: &str) -> Value {
    write(folder, "prog.c", &format!("{FRAME}{text}"));
    let args = ["run", "prog.c", "-k", "--message-format", "json", "--time", "1h", "--strategy"];
    let output = raddle(folder, &[&args[..], &[strategy]].concat()).output().expect("it starts");
    let out = String::from_utf8_lossy(&output.stdout);
    let last = out.lines().last().unwrap_or_default();
    let summary: Value = serde_json::from_str(last)
        .unwrap_or_else(|_| panic!("{out}{}", String::from_utf8_lossy(&output.stderr)));
    let it = summary["search"].clone();
    assert_eq!(it["complete"], true, "{it}");
    it
}

/// So many classes; `dpor` makes one execution for each, and besides only those that are cut short;
/// `dpor:optimal` not even these.
#[track_caller]
fn check(text: &str, n_classes: u64) {
    let folder = folder();
    for strategy in ["dpor", "dpor:classic", "dpor:optimal"] {
        let it = search(folder.path(), text, strategy);
        assert_eq!(it["exhaustive"], true, "{strategy}: {it}");
        let n_new = it["executions"].as_u64().zip(it["redundant"].as_u64()).map(|it| it.0 - it.1);
        assert_eq!(n_new, Some(n_classes), "{strategy}: {it}");
        assert!(strategy != "dpor:optimal" || it["redundant"] == 0, "{it}");
    }
}

/// Threads that each read a variable, then write it: the order of the writes, and for each read what it saw:
/// (n!)².
#[test]
fn increments() {
    let program = |n: u32| {
        format!(
            "static volatile int x;
            static void *inc(void *arg) {{ int old = x; x = old + 1; return arg; }}
            int main(void) {{ all(inc, {n}); return 0; }}"
        )
    };
    check(&program(2), 4);
    check(&program(3), 36);
}

/// Each reader comes before the writer or after it: 2^n.
#[test]
fn readers() {
    check(
        "static volatile int x, sink;
        static void *read_it(void *arg) { return x ? arg : 0; }
        static void *write_it(void *arg) { x = 1; return arg; }
        int main(void) {
            body *bodies[] = {write_it, read_it, read_it, read_it, read_it};
            run(bodies, LENGTH(bodies));
            return 0;
        }",
        16,
    );
}

/// n! orders.
#[test]
fn writers() {
    check(
        "static volatile int x;
        static void *write_it(void *arg) { x = (int)(long)arg; return arg; }
        int main(void) { all(write_it, 5); return 0; }",
        120,
    );
}

/// n! orders of the critical sections.
#[test]
fn locks() {
    check(
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static int n;
        static void *take(void *arg) {
            pthread_mutex_lock(&lock);
            n++;
            pthread_mutex_unlock(&lock);
            return arg;
        }
        int main(void) { all(take, 4); return 0; }",
        24,
    );
}

/// Two threads take two locks in two orders: one first, the other first, or each one of them.
#[test]
fn deadlock() {
    check(
        "static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
        static void *one(void *arg) {
            pthread_mutex_lock(&a); pthread_mutex_lock(&b);
            pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);
            return arg;
        }
        static void *two(void *arg) {
            pthread_mutex_lock(&b); pthread_mutex_lock(&a);
            pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
            return arg;
        }
        int main(void) {
            body *bodies[] = {one, two};
            run(bodies, LENGTH(bodies));
            return 0;
        }",
        3,
    );
}

/// Three philosophers: each fork is taken first by one of two; six acyclic ways, and the deadlock.
#[test]
fn philosophers() {
    check(
        "static pthread_mutex_t forks[3] =
            {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
        static void *dine(void *arg) {
            long me = (long)arg;
            pthread_mutex_lock(&forks[me]); pthread_mutex_lock(&forks[(me + 1) % 3]);
            pthread_mutex_unlock(&forks[(me + 1) % 3]); pthread_mutex_unlock(&forks[me]);
            return arg;
        }
        int main(void) { all(dine, 3); return 0; }",
        7,
    );
}

/// `(n + 3) 2^(n - 2)`: one thread looks for the last element that is zero, the others copy their neighbours.
#[test]
fn last_zero() {
    check(
        "enum { N = 3 };
        static volatile int array[N + 1];
        static void *work(void *arg) {
            long me = (long)arg;
            if (me == 0) {
                int i = N;
                while (array[i] != 0) i--;
            } else {
                array[me] = array[me - 1] + 1;
            }
            return arg;
        }
        int main(void) { all(work, N + 1); return 0; }",
        12,
    );
}

/// Compare-exchanges that fail are reads: two of one value commute, and with n threads that each try to take a
/// free word, it is the first one that matters.
#[test]
fn tries() {
    check(
        "#include <stdatomic.h>
        static atomic_int word;
        static void *take(void *arg) {
            int expected = 0;
            atomic_compare_exchange_strong(&word, &expected, 1);
            return arg;
        }
        int main(void) { all(take, 3); return 0; }",
        3,
    );
}

/// A wait that a signal ends, a signal that comes before it: the order of the two critical sections.
#[test]
fn wait_and_signal() {
    check(
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
        static int is_ready;
        static void *wait_for_it(void *arg) {
            pthread_mutex_lock(&lock);
            while (!is_ready) pthread_cond_wait(&cond, &lock);
            pthread_mutex_unlock(&lock);
            return arg;
        }
        static void *make_ready(void *arg) {
            pthread_mutex_lock(&lock);
            is_ready = 1;
            pthread_cond_signal(&cond);
            pthread_mutex_unlock(&lock);
            return arg;
        }
        int main(void) {
            body *bodies[] = {wait_for_it, make_ready};
            run(bodies, LENGTH(bodies));
            return 0;
        }",
        2,
    );
}

/// Under a bound: the lost update of two increments needs one preemption, and with it all four classes are there.
#[test]
fn bounds() {
    let folder = folder();
    let text = "static volatile int x;
        static void *inc(void *arg) { int old = x; x = old + 1; return arg; }
        int main(void) { all(inc, 2); return x == 2 ? 0 : 1; }";
    let find = |strategy: &str| {
        let it = search(folder.path(), text, strategy);
        assert_eq!(it["exhaustive"], false, "{strategy}: {it}");
        (it["executions"].as_u64(), it["words"].as_str().unwrap_or_default().to_owned())
    };
    let words = "were explored, up to the order of independent steps";
    let none = find("dpor:preemptions=0");
    assert_eq!(none.1, format!("all schedules with no preemption {words}"));
    let one = find("dpor:preemptions=1");
    assert_eq!(one.1, format!("all schedules with at most 1 preemption {words}"));
    assert!(none.0 < one.0, "{none:?} {one:?}");
}
