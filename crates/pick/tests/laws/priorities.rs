//! PCT and RPRO: their bounds, on programs that meet them exactly.

use std::cell::Cell;

use raddle_model::{Amount, Depth, PickerSpec, Profile};

use crate::toy::{Toy, assert_frequency, hits_with};

const fn pct(depth: u32) -> PickerSpec {
    PickerSpec::Pct(Depth::Fixed(depth))
}

/// What is known: steps with a choice, and threads.
fn known(n_choices: u64, n_threads: u32) -> Profile {
    Profile { n_choices, n_threads, ..Profile::EMPTY }
}

/// Depth 1: the highest of n priorities is first, and runs to its end.
#[test]
fn depth_one() {
    const N: u64 = 20_000;
    let toy = Toy::lengths(&[3, 3, 3, 3]);
    let is_hit = |order: &[u32]| order[..3] == [2, 2, 2];
    assert_frequency(hits_with(&toy, pct(1), &known(12, 4), N, is_hit), N, 1.0 / 4.0);
    let is_whole = |order: &[u32]| order.chunks(3).all(|it| it[0] == it[1] && it[1] == it[2]);
    assert_eq!(hits_with(&toy, pct(1), &known(12, 4), 1_000, is_whole), 1_000);
}

/// The worst case of depth 2: the other thread has to come in at one given place. A must be the higher one
/// (1/2), and the one change point must be there (1/k): the bound, 1 / (n k^(d-1)), exactly.
#[test]
fn depth_two_meets_its_bound() {
    const N: u64 = 40_000;
    let toy = Toy::lengths(&[9, 1]);
    for place in [1, 4, 8] {
        let is_hit = |order: &[u32]| order[place] == 1;
        assert_frequency(hits_with(&toy, pct(2), &known(10, 2), N, is_hit), N, 1.0 / 20.0);
    }
}

/// a1 b1 c1 b2 a2: A > B > C (1/6), the first change point hits A before b1, the second B before c1: the two
/// change points must be at steps 2 and 3 in this order, 1 / k^2. Then B is at 2 and A at 1, so that b2
/// comes first. 1/6 * 1/25 = 1/150, and never where the last one hit is always the lowest.
#[test]
fn a_change_points_index_is_the_priority() {
    const N: u64 = 60_000;
    let toy = Toy::lengths(&[2, 2, 1]);
    let is_hit = |order: &[u32]| order == [0, 1, 2, 1, 0];
    let n_hits = hits_with(&toy, pct(3), &known(5, 3), N, is_hit);
    assert_frequency(n_hits, N, 1.0 / 150.0);
}

/// Steps without a choice are not counted: thread 0 alone takes five before it creates the others.
#[test]
fn only_choices_count() {
    const N: u64 = 20_000;
    let alone = crate::toy::write(9);
    let spawn = crate::toy::on(raddle_model::OpKind::Spawn, 0).arg(1);
    let toy = Toy::of(&[
        &[alone, alone, alone, alone, alone, spawn, alone, alone],
        &[crate::toy::write(1)],
    ]);
    // Two choices before thread 0 is done: thread 1 comes between its last two steps if the change point
    // is at the second, and it was the lower one.
    let is_hit = |order: &[u32]| order[7] == 1;
    assert_frequency(hits_with(&toy, pct(2), &known(2, 2), N, is_hit), N, 1.0 / 4.0);
}

/// Two changes close together: nine steps of A, one of B, then C. A above B above C (1/6), and change points
/// at steps 10 and 11, whichever is first. With a radius of 2 the second is one of five steps around the
/// first: 2 * 1/40 * 1/5. PCT has 2 * 1/40 * 1/40.
#[test]
fn rpro_changes_close_together() {
    const N: u64 = 30_000;
    let toy = Toy::lengths(&[15, 15, 15]);
    let is_hit = |order: &[u32]| order[..11] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2];
    let hits = |picker| hits_with(&toy, picker, &known(40, 3), N, is_hit);
    let rpro = PickerSpec::Rpro { depth: Depth::Fixed(3), radius: Amount::Fixed(2) };
    assert_frequency(hits(rpro), N, 2.0 / 6.0 / 40.0 / 5.0);
    assert_frequency(hits(pct(3)), N, 2.0 / 6.0 / 40.0 / 40.0);
}

/// Seed paper 4's rule: the deepest depth whose bound is one in 3,338 (95 % in 10,000 executions). For 3
/// threads and 20 choices that is 3 (3 * 20^2 = 1,200), for 100 it is 2 (300), for 2,000 it is 1. Three
/// threads that run whole make two switches; each change point makes one more, or none.
#[test]
fn guaranteed_depths() {
    let picker = PickerSpec::Pct(Depth::Guaranteed(3_338));
    for (n_choices, depth) in [(20, 3), (100, 2), (2_000, 1)] {
        let toy = Toy::lengths(&[n_choices as usize / 3; 3]);
        let profile = known(n_choices, 3);
        let n_switches = |order: &[u32]| order.windows(2).filter(|it| it[0] != it[1]).count();
        let deepest = Cell::new(0);
        hits_with(&toy, picker, &profile, 300, |order| {
            deepest.set(n_switches(order).max(deepest.get()));
            false
        });
        assert_eq!(deepest.get(), 2 + depth - 1, "{n_choices}");
    }
}

/// Drawn depths: a quarter each for 1, 2, 3, and 4 to 8. Without a change point (depth 1) each thread runs
/// to its end; with one or more, in 100 of 100 steps a thread is interrupted unless the points fall on the
/// last thread. Three threads of equal length: a change point falls on the last one with 1/3, where nobody
/// is left to interrupt it, so k = 200 choices. P(no interruption) = 1/4 + 0, up to points at step 1 of
/// the highest thread, which interrupt nothing.
#[test]
fn drawn_depths() {
    const N: u64 = 3_000;
    let toy = Toy::lengths(&[100, 100, 100]);
    let picker = PickerSpec::Pct(Depth::Drawn);
    let is_whole = |order: &[u32]| order.chunk_by(|a, b| a == b).count() == 3;
    let n_hits = hits_with(&toy, picker, &known(200, 3), N, is_whole);
    let frequency = f64::from(n_hits) / N as f64;
    assert!((0.23..0.28).contains(&frequency), "{frequency}");
}
