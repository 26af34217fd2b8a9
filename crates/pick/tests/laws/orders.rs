//! Whole interleavings: which are equally likely? (POS, URW, SURW.)

use std::collections::BTreeMap;

use raddle_model::{Op, OpKind, PickerSpec, Profile};

use crate::toy::{How, Toy, assert_even, assert_frequency, hits, on, run, write};

/// How often each order of steps occurs, as far as `project` tells them apart.
fn count(
    toy: &Toy,
    picker: PickerSpec,
    n_executions: u64,
    project: impl Fn(Vec<u32>) -> Vec<u32>,
) -> BTreeMap<Vec<u32>, u32> {
    let profile = toy.profile();
    let mut counts = BTreeMap::new();
    for seed in 0..n_executions {
        let order = run(toy, How { picker, seed, profile: &profile }, usize::MAX);
        *counts.entry(project(order)).or_default() += 1;
    }
    counts
}

/// C(6, 3) = 20 interleavings of three and three; χ² with 19 degrees of freedom is above 43.8 one time in a
/// thousand. And 6! / (2! 2! 2!) = 90 of two each by three threads: 89 degrees, 135.98.
#[test]
fn urw_is_uniform() {
    let counts = count(&Toy::lengths(&[3, 3]), PickerSpec::Urw, 20_000, |it| it);
    assert_even(&counts, 20, 43.8);
    let counts = count(&Toy::lengths(&[2, 2, 2]), PickerSpec::Urw, 45_000, |it| it);
    assert_even(&counts, 90, 135.98);
}

/// A walk is not: the orders that begin with all of one thread have 2^-3 of the probability, not 1/20.
#[test]
fn walk_is_not() {
    const N: u64 = 20_000;
    let toy = Toy::lengths(&[3, 3]);
    let n_hits = hits(&toy, PickerSpec::Walk, N, |order| order == [0, 0, 0, 1, 1, 1]);
    assert_frequency(n_hits, N, 1.0 / 8.0);
}

/// The first thread creates the second and does nothing more: weights go along, and what is left is uniform
/// over C(4, 2) = 6; 5 degrees of freedom, 20.5.
#[test]
fn urw_moves_weight_to_new_threads() {
    let spawn = |thread| on(OpKind::Spawn, 0).arg(thread);
    let toy = Toy::of(&[&[spawn(1), spawn(2)], &[write(1); 2], &[write(2); 2]]);
    // Where the second spawn comes before both, so that it does not matter.
    let profile = toy.profile();
    let mut counts: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    for seed in 0..40_000 {
        let how = How { picker: PickerSpec::Urw, seed, profile: &profile };
        let order = run(&toy, how, usize::MAX);
        if order[..2] == [0, 0] {
            *counts.entry(order[2..].to_vec()).or_default() += 1;
        }
    }
    assert!(counts.values().sum::<u32>() > 5_000, "{counts:?}");
    assert_even(&counts, 6, 20.5);
}

/// Object 1 is of interest; the rest is work on the side, very different for each thread.
fn selective() -> (Toy, Vec<Vec<bool>>) {
    let side = |thread: u32, n_ops: usize| vec![write(thread + 10); n_ops];
    let interest = || vec![write(1)];
    let code = vec![
        [side(0, 30), interest(), side(0, 1), interest()].concat(),
        [interest(), interest(), side(1, 9), interest(), side(1, 5)].concat(),
    ];
    let is_interest = |it: &Vec<Op>| it.iter().map(|op| op.object.0 == 1).collect();
    let marks = code.iter().map(is_interest).collect();
    (Toy::new(code), marks)
}

/// The order of interesting events only.
fn project(order: Vec<u32>, marks: &[Vec<bool>]) -> Vec<u32> {
    let mut at = vec![0; marks.len()];
    let mut kept = Vec::new();
    for thread in order {
        if marks[thread as usize][at[thread as usize]] {
            kept.push(thread);
        }
        at[thread as usize] += 1;
    }
    kept
}

/// C(5, 2) = 10 orders of two and three interesting events, whatever else the threads do: 9 degrees of
/// freedom, 27.9.
#[test]
fn surw_is_uniform_over_what_is_of_interest() {
    let (toy, marks) = selective();
    let counts = count(&toy, PickerSpec::Surw, 20_000, |it| project(it, &marks));
    assert_even(&counts, 10, 27.9);
}

/// URW is not: the first thread has most of its events before its first interesting one.
#[test]
fn urw_is_uniform_over_all_events_only() {
    let (toy, marks) = selective();
    let counts = count(&toy, PickerSpec::Urw, 20_000, |it| project(it, &marks));
    let first = counts.get(&vec![0, 0, 1, 1, 1]).copied().unwrap_or(0);
    assert!(first < 200, "{counts:?}");
}

/// As before, with threads that are created on the way: main creates both, and has nothing of interest.
#[test]
fn surw_moves_weight_to_new_threads() {
    let (mut toy, mut marks) = selective();
    let spawn = |thread| on(OpKind::Spawn, 0).arg(thread);
    toy.code.insert(0, vec![spawn(1), spawn(2)]);
    marks.insert(0, vec![false; 2]);
    let counts = count(&toy, PickerSpec::Surw, 20_000, |it| project(it, &marks));
    assert_even(&counts, 10, 27.9);
}

/// A lock is of interest as a variable is; threads that hold each other up do not hold up the execution. Each
/// of two threads takes a lock twice: C(4, 2) = 6 orders, 5 degrees of freedom, 20.5.
#[test]
fn surw_orders_locks() {
    let section = [on(OpKind::Lock, 1), on(OpKind::Unlock, 1)];
    let toy = Toy::of(&[&[section, section].concat(), &[section, section].concat()]);
    let mut profile = toy.profile();
    // Taking it is of interest, giving it back is not.
    for it in &mut profile.uses {
        it.n_below /= 2;
    }
    let mut counts: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    for seed in 0..12_000 {
        let how = How { picker: PickerSpec::Surw, seed, profile: &profile };
        let order = run(&toy, how, usize::MAX);
        // A lock and its release are next to each other in this projection.
        let mut at = [0; 2];
        let takes = order.into_iter().filter(|it| {
            at[*it as usize] += 1;
            at[*it as usize] % 2 == 1
        });
        *counts.entry(takes.collect()).or_default() += 1;
    }
    assert_even(&counts, 6, 20.5);
}

/// Without knowledge SURW still runs, by random priorities.
#[test]
fn surw_without_knowledge() {
    let (toy, _) = selective();
    let how = How { picker: PickerSpec::Surw, seed: 1, profile: &Profile::EMPTY };
    assert_eq!(run(&toy, how, usize::MAX).len(), toy.code.iter().map(Vec::len).sum::<usize>());
}

/// Two threads of two ops each; does thread 0 take both steps before thread 1 begins? The first step is its
/// half of the time, and then b_1 is the smaller of two priorities, in the mean 1/3. If nothing conflicts,
/// b_1 keeps it, and a_2 beats it with 1 - 1/3: 1/2 * 2/3. If all conflict, b_1 draws anew: 1/2 * 1/2.
#[test]
fn pos_draws_anew_where_ops_conflict() {
    const N: u64 = 20_000;
    let is_hit = |order: &[u32]| order[..2] == [0, 0];
    for (toy, probability) in [
        (Toy::of(&[&[write(1); 2], &[write(2); 2]]), 1.0 / 3.0),
        (Toy::of(&[&[on(OpKind::Read, 1); 2], &[on(OpKind::Read, 1); 2]]), 1.0 / 3.0),
        (Toy::of(&[&[write(1); 2], &[write(1); 2]]), 1.0 / 4.0),
        (Toy::of(&[&[on(OpKind::Read, 1), write(2)], &[write(1), write(2)]]), 1.0 / 4.0),
    ] {
        assert_frequency(hits(&toy, PickerSpec::Pos, N, is_hit), N, probability);
    }
}

/// Thread 0 takes a lock and gives it back, thread 1 wants it, thread 2 writes. With priorities A, B, C
/// uniform in (0, 1): A is the largest with 1/3, and C then has density 3/2 (1 - c^2). Thread 1 draws anew,
/// thread 0 too; thread 0 gives the lock back before thread 2 writes with 1 - C, thread 1, which draws
/// anew although it can't go on, takes it before thread 2 writes with 1 - C:
/// 1/3 ∫ 3/2 (1 - c^2) (1 - c)^2 dc = 1/3 * 0.45 = 0.15.
#[test]
fn pos_with_a_lock() {
    const N: u64 = 20_000;
    let (lock, unlock) = (on(OpKind::Lock, 1), on(OpKind::Unlock, 1));
    let toy = Toy::of(&[&[lock, unlock], &[lock, unlock], &[write(2)]]);
    let is_hit = |order: &[u32]| order[..3] == [0, 0, 1];
    assert_frequency(hits(&toy, PickerSpec::Pos, N, is_hit), N, 0.15);
}

/// Five threads write one variable, once each: all 120 orders are equally likely; 119 degrees of freedom,
/// 173.6 one time in a thousand.
#[test]
fn pos_is_uniform_over_conflicts_of_one_each() {
    let toy = Toy::of(&[&[write(1)], &[write(1)], &[write(1)], &[write(1)], &[write(1)]]);
    let counts = count(&toy, PickerSpec::Pos, 24_000, |it| it);
    assert_even(&counts, 120, 173.6);
}
