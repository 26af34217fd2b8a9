//! Radius-aware PCT (RPro: Cai, Yang, ASE 2016): of the d - 1 change points one is drawn uniformly, and the
//! others within a radius r of it, for the events of a bug are close to each other.
//!
//! Bound: 1 / (n k r^(d-2)), for n threads and k steps, if the bug's events are within the radius
//! (Cai and Yang, FSE 2016).
//!
//! Where we depart: as `pct` does; the other points are uniform on both sides of the first, cut at the
//! first and last step; the radius may be drawn for each execution, log-uniformly from 4 to 128.

use raddle_model::{Amount, Depth};

use crate::{
    dice::Dice,
    origin::Origin,
    pickers::pct::{Pct, power, resolve},
    points::{Points, choices},
};

/// Priorities with change points within a radius.
pub(crate) fn rpro(origin: &Origin<'_>, depth: Depth, radius: Amount) -> Pct {
    let mut dice = Dice::new(origin.seed, origin.may_time_out);
    let radius = match radius {
        Amount::Fixed(radius) => u64::from(radius.max(1)),
        Amount::Drawn => drawn(&mut dice),
    };
    let k = choices(&origin.profile);
    let n_threads = u64::from(origin.profile.n_threads.max(2));
    // The bound is n k r^(d-2) to one.
    let odds = |depth: u32| n_threads.checked_mul(k)?.checked_mul(power(radius, depth - 2)?);
    let depth = resolve(depth, &mut dice, odds);
    let first = 1 + dice.below_wide(k);
    let (low, high) = (first.saturating_sub(radius).max(1), (first + radius).min(k));
    let mut step = |idx: u32| if idx == 1 { first } else { low + dice.below_wide(high - low + 1) };
    let points = Points::new((1..depth).map(&mut step));
    Pct::with_points(dice, points)
}

/// 4 to 128, each doubling as likely as any other.
fn drawn(dice: &mut Dice) -> u64 {
    let low = 4_u64 << dice.below(5);
    low + dice.below_wide(low) + 1
}
