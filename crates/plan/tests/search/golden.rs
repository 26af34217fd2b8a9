//! Exact numbers of executions, from papers and from the enumeration of everything.

use expect_test::expect;

use crate::{
    explore::{How, explore, explore_as},
    toy::{library::*, program::Program},
};

/// Every schedule is enumerated and put into its class by brute force; then each reduction must find exactly
/// these classes, each once. Columns: schedules, classes; redundant executions of `dpor` and
/// `dpor:classic`, where there are any.
#[test]
fn small_programs() {
    let table: String = small().iter().map(line).collect();
    expect![[r#"
        readers_2          15    4
        readers_4         945   16
        writers_3          15    6
        writers_5         945  120
        inc_2              10    4
        inc_3             280   36
        lastzero_2         76    5  dpor:classic +1
        lastzero_3       3355   12  dpor:classic +6
        locks_3            28    6
        locks_4           280   24
        deadlock01         14    3
        dinphil_2          18    3
        dinphil_3        4607    7  dpor:classic +1
        reorder_3         502   56
        lostwake            2    2
        nakedsignal        10    3
        whichwaiter        10   10
        twosignals         84   28
        broadcast          10   10
        trylocks            6    4
        trylocked          24   15
        trytwice            6    6
        timedlock           4    3
        timedwait           5    4
        timedwaits         98   56
        spurious            5    4
        rwlock_2           42    4
        rwlock_3         3480    8
        rwchain            42    6
        rwtries            32   11  dpor +2  dpor:classic +2
        upgrade             4    2
        semlock_2           2    2
        semlock_3           6    6
        semtwo            384   24
        producer            6    1
        producers           8    4
        semtry             16   13
        barrier_2          18    2
        barrier_3        2700    3  dpor +1  dpor:classic +2
        rounds              6    4
        crowd              96   24
        once_2              6    2
        once_3             90    3
        cas_2               6    2  dpor:classic +2
        cas_3              90    3  dpor:classic +15
        casloop_2           6    4
        futex               4    3
        futexes            94   22
        recursive           6    6
        deepwait            4    4
        store_buffer        6    3
        message             3    2
        family             36    6
        joiners           594    8  dpor:classic +1
        strbuf              3    3
        account             6    6
        bluetooth          29    6
        peterson          112    6
        spin                4    3
        ordered_locks       2    2
        buffer              8    8
    "#]]
    .assert_eq(&table);
}

fn line(program: &Program) -> String {
    let name = &program.name;
    let all = explore("dfs", program);
    let mut line = format!("{name:14} {:6} {:4}", all.n_full, all.classes.len());
    for spec in ["dpor", "dpor:classic", "dpor:optimal"] {
        let found = explore(spec, program);
        assert_eq!(found.classes, all.classes, "{spec} finds other classes of {name}");
        assert_eq!(found.n_full, all.classes.len() as u64, "{spec} finds a class of {name} twice");
        assert_eq!(found.outcomes, all.outcomes, "{spec} finds other outcomes of {name}");
        match found.progress.n_redundant {
            0 => {}
            n_redundant => line += &format!("  {spec} +{n_redundant}"),
        }
    }
    line + "\n"
}

/// Too large to be enumerated; the numbers of classes are those of the papers: readers 2^n, last zero
/// (n + 3) 2^(n - 2), file system 4^((n - 13) / 2), locks n!, and of a program that only counts them.
#[test]
fn larger_programs() {
    let how = How { has_classes: false, ..How::default() };
    for (program, n_classes) in [
        (readers(8), 256),
        (inc(4), 576),
        (inc_twice(3), 7134),
        (lastzero(5), 64),
        (lastzero(7), 320),
        (filesystem(14), 2),
        (filesystem(16), 8),
        (filesystem(18), 32),
        (filesystem(19), 64),
        (dinphil(4), 57),
        (reorder(4), 1248),
        (twostage(3), 40),
        (twostage(4), 1080),
        (wronglock(3), 360),
    ] {
        let found = explore_as("dpor", &program, how);
        assert_eq!(found.n_full, n_classes, "{}", program.name);
        let found = explore_as("dpor:optimal", &program, how);
        let n_redundant = found.progress.n_redundant;
        assert_eq!((found.n_full, n_redundant), (n_classes, 0), "{}", program.name);
    }
}

/// Under a bound: whatever a schedule with so many preemptions can come to, and no more executions than there
/// are such schedules.
#[test]
fn bounded_reductions() {
    for program in small() {
        for level in 0..3 {
            let how = How { has_classes: false, ..How::default() };
            let all = explore_as(&format!("ipb:{level}"), &program, how);
            let found = explore_as(&format!("dpor:preemptions={level}"), &program, how);
            let what = format!("{} with {level} preemptions", program.name);
            assert_eq!(found.outcomes, all.outcomes, "{what}");
            assert!(found.n_full <= all.n_full, "{what}: {} > {}", found.n_full, all.n_full);
        }
    }
}

/// A wait that ends by itself is dear even where to switch costs nothing, so it may have to end long before.
#[test]
fn a_bounded_reduction_lets_waits_end_early_enough() {
    let how = How { has_classes: false, ..How::default() };
    let all = explore_as("ipb:1", &timeout_first(), how);
    let found = explore_as("dpor:preemptions=1", &timeout_first(), how);
    assert!(all.local_ends().iter().any(|it| it.0 == 1 && it.1[..2] == [5, 1]));
    assert_eq!(found.local_ends(), all.local_ends());
}
