//! Two events of two threads: how likely is each order? (Seed paper 4.)

use std::collections::BTreeSet;

use raddle_model::{Amount, Counting, Giving, Length, OpKind, PickerSpec, Profile, Role, Smax};

use crate::toy::{How, Running, Toy, assert_frequency, hits, on, run, write};

/// Does the `j`-th step of thread 1 come before the `i`-th of thread 0?
fn is_second_first(order: &[u32], i: usize, j: usize) -> bool {
    let nth = |thread: u32, n: usize| {
        let mut steps = order.iter().enumerate().filter(|(_, it)| **it == thread);
        steps.nth(n - 1).map(|(idx, _)| idx).expect("so many steps")
    };
    nth(1, j) < nth(0, i)
}

/// P(Bin(n, 1/2) >= j).
fn binomial_tail(n: u32, j: u32) -> f64 {
    let mut coefficient = 1.0;
    let mut total = 0.0;
    for k in 0..=n {
        if k >= j {
            total += coefficient;
        }
        coefficient = coefficient * f64::from(n - k) / f64::from(k + 1);
    }
    total / 2_f64.powi(n as i32)
}

/// P(b_j before a_i) = P(Bin(i + j - 1, 1/2) >= j): of the first i + j - 1 choices at least j fall on B.
#[test]
fn walk() {
    const N: u64 = 20_000;
    for (i, j) in [(1, 1), (1, 3), (4, 2), (5, 5), (2, 8)] {
        let toy = Toy::lengths(&[10, 10]);
        let n_hits = hits(&toy, PickerSpec::Walk, N, |order| is_second_first(order, i, j));
        assert_frequency(n_hits, N, binomial_tail((i + j - 1) as u32, j as u32));
    }
}

/// E[2^-N], N the number of strides, uniform in 1 ..= smax, that make at least `length` steps.
fn all_of_one_first(length: usize, smax: usize) -> f64 {
    // By the number of steps still to be made: a stride costs a choice, which falls right half of the time.
    let mut probability = vec![1.0; length + 1];
    for left in 1..=length {
        let sum: f64 = (1..=smax).map(|it| probability[left.saturating_sub(it)]).sum();
        probability[left] = sum / smax as f64 / 2.0;
    }
    probability[length]
}

/// How often thread 0, of this length, is done before thread 1 begins. Stops when that is decided.
fn n_first(toy: &Toy, picker: PickerSpec, profile: &Profile, n_executions: u64) -> u32 {
    let is_first = |seed: &u64| {
        let how = How { picker, seed: *seed, profile };
        let mut chooser = how.chooser();
        let mut running = Running::new(toy);
        (0..toy.code[0].len()).all(|_| running.step(&mut chooser).is_some_and(|it| it.0 == 0))
    };
    (0..n_executions).filter(is_first).count() as u32
}

/// The least likely order, a_L before b_1, with given strides: exact, by the sum over stride lengths.
#[test]
fn stride_with_a_given_smax() {
    const N: u64 = 40_000;
    for (length, smax) in [(5, 1), (10, 3), (20, 10), (30, 30), (7, 100)] {
        let toy = Toy::lengths(&[length, 5]);
        let picker = PickerSpec::Stride(Smax::Fixed(smax as u32));
        let n_hits = n_first(&toy, picker, &Profile::EMPTY, N);
        assert_frequency(n_hits, N, all_of_one_first(length, smax));
    }
}

/// P(r) of `raddle_plan::ratio`, for threads so long that whole strides are as good as continuous ones
/// (600 events; the sum over whole strides is off by less than three in a hundred, and is what is tested).
#[test]
fn stride_in_proportion_to_lengths() {
    const N: u64 = 10_000;
    for (ratio, printed) in [(1000, 0.17564), (1500, 0.10200), (2000, 0.05304), (3000, 0.01525)] {
        let toy = Toy::lengths(&[600, 5]);
        let counting = Counting::All;
        let picker = PickerSpec::Stride(Smax::Ratio { per_mille: ratio, counting });
        let smax = (600 * 1_000_usize).div_ceil(ratio as usize);
        let expected = all_of_one_first(600, smax);
        assert!((expected / printed - 1.0).abs() < 0.03, "{expected} for {printed}");
        assert_frequency(n_first(&toy, picker, &toy.profile(), N), N, expected);
    }
}

/// The paper's count leaves out what the long thread does alone, and its strides are too short for the edge:
/// with 100 of 2,000 events counted, smax is 50 instead of 1,000, and the edge as good as never covered
/// (0.661 e^(-1.2564 * 40) = 1e-22).
#[test]
fn stride_by_the_papers_count_misses_the_edge() {
    let toy = Toy::lengths(&[2_000, 100]);
    let mut profile = toy.profile();
    for length in &mut profile.lengths {
        length.n_contended = length.n_events.min(100);
    }
    let hits_of = |counting| {
        let picker = PickerSpec::Stride(Smax::Ratio { per_mille: 2_000, counting });
        n_first(&toy, picker, &profile, 2_000)
    };
    assert_frequency(hits_of(Counting::All), 2_000, all_of_one_first(2_000, 1_000));
    assert_eq!(hits_of(Counting::Contended), 0);
}

/// Of an unknown thread the elder sibling's length is taken; of the first child nothing is known, so its
/// strides are of one.
#[test]
fn stride_of_unknown_threads() {
    let mut profile = Profile::EMPTY;
    let known = Role::MAIN.child(0);
    profile.lengths.push(Length { role: known, n_events: 50, ..Length::default() });
    let picker = PickerSpec::Stride(Smax::Ratio { per_mille: 1_000, counting: Counting::All });
    let toy = Toy::lengths(&[400, 400, 400]);
    // The longest stretch of each thread. Two strides in a row may fall on the same thread.
    let mut longest = [0; 3];
    for seed in 0..50 {
        let order = crate::toy::run(&toy, How { picker, seed, profile: &profile }, 300);
        for stretch in order.chunk_by(|a, b| a == b) {
            let it = &mut longest[stretch[0] as usize];
            *it = stretch.len().max(*it);
        }
    }
    assert!(longest[0] < 20, "{longest:?}");
    assert!(longest[1] > 50 && longest[2] > 50, "{longest:?}");
}

/// One delay at one of k = 20 steps, uniformly. Without it, all of A runs before B. A delay at step i <= 10
/// lets B run first from there on; one beyond falls on B, when A is done and there is no choice.
#[test]
fn delay() {
    const N: u64 = 5_000;
    let toy = Toy::lengths(&[10, 10]);
    let picker = PickerSpec::Delay(Amount::Fixed(1));
    for delayed in 0..10 {
        let switched = |order: &[u32]| order.iter().position(|it| *it == 1) == Some(delayed);
        assert_frequency(hits(&toy, picker, N, switched), N, 1.0 / 20.0);
    }
}

/// The running thread goes on with p = 0.8, or is chosen again with 0.2 / 2: a stretch of A's ten steps, the
/// first one half of the time, has probability 1/2 * 0.9^9.
#[test]
fn sticky() {
    const N: u64 = 20_000;
    let toy = Toy::lengths(&[10, 10]);
    let picker = PickerSpec::Sticky { per_mille: 800 };
    let from_the_start = |order: &[u32]| order[..10].iter().all(|it| *it == order[0]);
    // Thread 0 is the one that ran last before the first choice: 0.9 that it goes on, 0.1 for the other.
    assert_frequency(hits(&toy, picker, N, from_the_start), N, 0.9_f64.powi(9));
}

/// Seed paper 1's example: the first thread starts the second, does a1, starts the third and does b1; these do a2 and a3.
/// With a ready list that has new threads at its head, one conditional yield before each access gives every order but
/// a1 a2 a3 b1, and the loop gives that, too.
#[test]
fn rstest_needs_the_loop() {
    let spawn = |thread| on(OpKind::Spawn, 0).arg(thread);
    let first = [spawn(1), write(1), spawn(2), write(1)];
    let toy = Toy::of(&[&first, &[write(1)], &[write(1)]]);
    let orders = |is_once| {
        let giving = Giving { sleeps: 0, has_ready_list: true, is_once };
        let picker = PickerSpec::Rstest { per_mille: 500, giving };
        let accesses = |seed| {
            let mut n_first = 0;
            let order = run(&toy, How { picker, seed, profile: &Profile::EMPTY }, usize::MAX);
            let access = order.into_iter().filter_map(|thread| {
                n_first += usize::from(thread == 0);
                [["", "a1", "", "b1"][n_first.max(1) - 1], "a2", "a3"].get(thread as usize).copied()
            });
            access.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
        };
        (0..10_000).map(accesses).collect::<BTreeSet<String>>()
    };
    let (once, again) = (orders(true), orders(false));
    // a1 comes before a3 and b1: a third of 4!.
    assert_eq!(again.len(), 8, "{again:?}");
    assert_eq!(again.difference(&once).collect::<Vec<_>>(), ["a1 a2 a3 b1"]);
}

/// The loop lets every thread be next, whatever the order of creation.
#[test]
fn rstest_reaches_every_schedule() {
    let toy = Toy::lengths(&[2, 2, 2]);
    let profile = toy.profile();
    let picker = PickerSpec::Rstest { per_mille: 600, giving: Giving::DEFAULT };
    let mut orders: Vec<Vec<u32>> = (0..60_000)
        .map(|seed| crate::toy::run(&toy, How { picker, seed, profile: &profile }, usize::MAX))
        .collect();
    orders.sort();
    orders.dedup();
    // 6! / (2! 2! 2!)
    assert_eq!(orders.len(), 90);
}
