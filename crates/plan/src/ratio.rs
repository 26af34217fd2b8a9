//! How long strides have to be, and how deep changes may go, for a given confidence over a number of
//! executions: the arithmetic of seed paper 4.
//!
//! Stride (seed paper 4). Thread A has L events, thread B comes after the last of them only if none of the
//! choices between the two falls on B. With N the number of strides that A needs, P = E[2^-N]; strides are
//! uniform in (0, smax], so with r = L / smax and F_i the distribution of the sum of i uniforms (Irwin and
//! Hall):
//!
//! P(r) = 1 - 1/2 Σ_i 2^-i F_i(r) = 1 - 1/2 Σ_{j=0}^{floor r} (-1)^j / j! ((r - j) / 2)^j e^((r - j) / 2)
//!
//! The paper samples P; its own sum is twice as large, for it takes A to be running when the edge begins. We
//! take the smaller one, which asks for longer strides; the paper's is a choice ([`Sum::Paper`]). Real strides are whole numbers,
//! and so a little longer than the continuous ones: for small smax the edge is more likely than P(r) says.

/// What is asked for: something is to happen at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// With this probability, in ten-thousandths.
    pub confidence: u32,
    /// In so many executions.
    pub n_executions: u64,
}

/// Which sum says how likely an edge is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sum {
    /// P(r): anybody may be running when the edge begins.
    #[default]
    Ours,
    /// Seed paper 4's, 2 P(r): the long thread is.
    Paper,
}

impl Sum {
    /// The probability that thread A, of length `ratio` times its longest stride, ends before B begins.
    pub fn edge_probability(self, ratio: f64) -> f64 {
        let ours = edge_probability(ratio);
        if self == Sum::Paper { 2.0 * ours } else { ours }
    }
}

impl Goal {
    /// The probability with which it has to happen in one execution: 1 - (1 - c)^(1/R).
    pub fn probability(self) -> f64 {
        let miss = 1.0 - f64::from(self.confidence) / 10_000.0;
        -(miss.ln() / self.n_executions.max(1) as f64).exp_m1()
    }

    /// The same as "one in so many executions", a whole number.
    pub fn one_in(self) -> u64 {
        (1.0 / self.probability()) as u64
    }
}

/// The ratio of a thread's length to its longest stride, per mille, at which so many independent edges,
/// each as unlikely as can be, are covered in one execution often enough for the goal.
pub fn stride_ratio(goal: Goal, n_edges: u32, sum: Sum) -> u32 {
    let wanted = goal.probability().powf(1.0 / f64::from(n_edges));
    // P falls from 1/2 at 0 (the paper's from 1) towards 0: the root is between the two, and beyond 16 the sum loses its digits.
    let (mut low, mut high) = (0.0, 16.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if sum.edge_probability(middle) < wanted {
            high = middle;
        } else {
            low = middle;
        }
    }
    ((low * 1000.0) as u32).max(1)
}

/// The probability that thread A, of length `ratio` times its longest stride, ends before B begins.
pub fn edge_probability(ratio: f64) -> f64 {
    let mut sum = 0.0;
    let mut factorial = 1.0;
    for j in 0..=ratio.floor() as i32 {
        let half = (ratio - f64::from(j)) / 2.0;
        factorial *= f64::from(j.max(1));
        let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * half.powi(j) * half.exp() / factorial;
    }
    1.0 - sum / 2.0
}

#[cfg(test)]
mod tests {
    use raddle_model::Rng;

    use super::{Goal, Sum, edge_probability, stride_ratio};

    fn goal(confidence: u32, n_executions: u64) -> Goal {
        Goal { confidence, n_executions }
    }

    /// The sum to five digits, worked out apart from this code.
    #[test]
    fn the_sum() {
        for (ratio, expected) in [
            (1.0, 0.17564),
            (1.5, 0.10200),
            (2.0, 0.05304),
            (2.5, 0.02864),
            (3.0, 0.01525),
            (3.5, 0.00813),
            (4.0, 0.00434),
        ] {
            let found = edge_probability(ratio);
            assert!((found - expected).abs() < 0.000_006, "{ratio}: {found}, not {expected}");
        }
        for (ratio, expected) in [(5.0, 0.001_236), (6.0, 0.000_351_7), (7.0, 0.000_100_1)] {
            let found = edge_probability(ratio);
            assert!((found / expected - 1.0).abs() < 0.001, "{ratio}: {found}, not {expected}");
        }
    }

    /// 1,000,000 threads of each length, with strides uniform in (0, 1]: how many end before the other
    /// begins. Each choice between the two falls on the long one with probability 1/2, so that a thread
    /// that needs N strides counts 2^-N; the mean of that has a standard deviation of at most
    /// sqrt(P / 1,000,000) (it is below 1, so its square is below itself). Four of them.
    #[test]
    fn the_sum_is_what_happens() {
        const N: u32 = 1_000_000;
        let mut rng = Rng::new(11);
        for ratio in [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0] {
            let mut total = 0.0;
            for _ in 0..N {
                let (mut length, mut weight) = (0.0, 1.0);
                while length < ratio {
                    length += (rng.bits() >> 11) as f64 / (1_u64 << 53) as f64;
                    weight /= 2.0;
                }
                total += weight;
            }
            let (found, expected) = (total / f64::from(N), edge_probability(ratio));
            let tolerance = 4.0 * (expected / f64::from(N)).sqrt();
            assert!((found - expected).abs() < tolerance, "{ratio}: {found}, not {expected}");
        }
    }

    /// The same for ratios: one, two and three edges, confidence over executions.
    #[test]
    fn ratios() {
        for (confidence, n_executions, expected) in [
            (9_000, 1_000, [4.51, 2.09, 1.28]),
            (9_500, 1_000, [4.30, 1.97, 1.20]),
            (9_500, 10_000, [6.13, 2.90, 1.82]),
            (9_900, 10_000, [5.79, 2.73, 1.71]),
            (9_999, 100_000, [7.07, 3.37, 2.14]),
        ] {
            for (n_edges, expected) in (1..).zip(expected) {
                let found =
                    f64::from(stride_ratio(goal(confidence, n_executions), n_edges, Sum::Ours))
                        / 1e3;
                // The table's own ratios are asymptotic ones, off by up to 0.01 (and more for the small).
                let tolerance = if expected < 2.0 { 0.06 } else { 0.012 };
                assert!(
                    (found - expected).abs() < tolerance,
                    "{confidence} {n_executions} {n_edges}: {found}, not {expected}"
                );
            }
        }
    }

    /// The paper's sum is that of a thread which is in its first stride already: 2^-(N - 1) for N strides. It asks for
    /// ratios larger by ln 2 / 1.25643 = 0.552, of one edge and of two; a ratio is where the sum is what is wanted.
    #[test]
    fn the_papers_ratios() {
        for (confidence, expected) in [(9_500, [6.68, 3.45]), (9_900, [6.34, 3.28])] {
            let goal = goal(confidence, 10_000);
            for (n_edges, expected) in (1..).zip(expected) {
                let found = f64::from(stride_ratio(goal, n_edges, Sum::Paper)) / 1e3;
                assert!((found - expected).abs() < 0.012, "{confidence} {n_edges}: {found}");
                let wanted = goal.probability().powf(1.0 / f64::from(n_edges));
                assert!((Sum::Paper.edge_probability(found) / wanted - 1.0).abs() < 0.01);
            }
        }
        let mut rng = Rng::new(12);
        let (n, ratio, mut total) = (400_000, 3.45, 0.0);
        for _ in 0..n {
            let (mut length, mut weight) = (0.0, 2.0);
            while length < ratio {
                length += (rng.bits() >> 11) as f64 / (1_u64 << 53) as f64;
                weight /= 2.0;
            }
            total += weight;
        }
        let (found, expected) = (total / f64::from(n), Sum::Paper.edge_probability(ratio));
        let tolerance = 4.0 * (expected / f64::from(n)).sqrt();
        assert!((found - expected).abs() < tolerance, "{found}, not {expected}");
    }

    /// 1 - 0.05^(1/10,000) = 0.00029953: one in 3,338.
    #[test]
    fn guarantees() {
        assert_eq!(goal(9_500, 10_000).one_in(), 3_338);
        assert_eq!(goal(9_500, 1).one_in(), 1);
    }

    /// With absurd goals the ratio stays where the sum is exact.
    #[test]
    fn ratios_stay_in_bounds() {
        assert!(stride_ratio(goal(9_999, u64::MAX), 1, Sum::Paper) <= 16_000);
        assert!(stride_ratio(goal(9_999, 1), 1, Sum::Ours) >= 1);
    }
}
