//! Where memory is weak: few stale reads among many fresh ones are found.

use raddle_model::{PickerSpec, ProfileView};
use raddle_pick::{Chooser, Origin};

/// In how many of so many executions exactly these of 100 accesses, of two ways each, are not up to date.
fn n_hits(stale: &[u32], n_executions: u64) -> u64 {
    let is_hit = |seed: u64| {
        let origin = Origin {
            picker: PickerSpec::Walk,
            seed,
            may_time_out: false,
            profile: ProfileView::default(),
        };
        let mut chooser = Chooser::of(&[], &origin);
        (0..100).all(|idx| chooser.choose_read(2, idx) == u32::from(stale.contains(&(idx as u32))))
    };
    (0..n_executions).filter(|seed| is_hit(*seed)).count() as u64
}

/// With one access in m open, one that must be stale is so with 1/2m, and each other one fresh with 1 - 1/2m: for 4, 16, 64
/// and 256 that is 0.0000002, 0.00135, 0.00359 and 0.00161. An eighth of the executions has each: 0.00082, which is 164 of
/// 200,000. The bound is 1/8 * 1 / (13 * 2 * 100) = 0.000048.
#[test]
fn one_stale_read_of_a_hundred() {
    let n_hits = n_hits(&[37], 200_000);
    assert!((125..=203).contains(&n_hits), "{n_hits}");
}

/// In the same way 0.0000094, which is 37.6 of 4,000,000. The bound is 1/8 * (2 / (13 * 2 * 100))^2 = 0.000000074.
#[test]
fn two_stale_reads_of_a_hundred() {
    let n_hits = n_hits(&[20, 71], 4_000_000);
    assert!((19..=57).contains(&n_hits), "{n_hits}");
}

/// In half of the executions every way is as likely.
#[test]
fn uniform_choices_remain() {
    let n_stale = |seed: u64| {
        let origin = Origin {
            picker: PickerSpec::Walk,
            seed,
            may_time_out: false,
            profile: ProfileView::default(),
        };
        let mut chooser = Chooser::of(&[], &origin);
        (0..100).filter(|idx| chooser.choose_read(2, *idx) == 1).count()
    };
    let n_uniform = (0..1000).filter(|seed| n_stale(*seed) > 30).count();
    assert!((440..=560).contains(&n_uniform), "{n_uniform}");
}
