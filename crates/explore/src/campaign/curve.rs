//! How a campaign grew: what had been seen after so many executions, for a curve that flattens.
//!
//! Taken at execution numbers that grow by a tenth each, so that a campaign of a million executions has
//! about 130 points, and at the same numbers whatever the number of workers.

use raddle_model::CurvePoint;

/// A curve in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    /// Executions and traces; pairs come later.
    points: Vec<CurvePoint>,
    /// The executions that brought new pairs, each as often as it did, in order.
    pairs: Vec<u64>,
}

impl Curve {
    /// So many executions have shown so many classes of traces.
    pub(super) fn count(&mut self, executions: u64, traces: u64) {
        let last = self.points.last().map_or(0, |it| it.executions);
        if executions >= next_after(last) {
            self.points.push(CurvePoint { executions, traces, pairs: 0 });
        }
    }

    /// The execution with this number brought a new pair.
    pub(super) fn pair(&mut self, execution: u64) {
        self.pairs.push(execution);
    }

    /// The curve up to now.
    pub(super) fn finish(mut self, executions: u64, traces: u64) -> Vec<CurvePoint> {
        if self.points.last().is_some_and(|it| it.executions < executions) {
            self.points.push(CurvePoint { executions, traces, pairs: 0 });
        }
        self.pairs.sort_unstable();
        for point in &mut self.points {
            point.pairs = self.pairs.partition_point(|it| *it < point.executions) as u64;
        }
        self.points
    }
}

/// The next number of executions to look at.
const fn next_after(executions: u64) -> u64 {
    executions + 1 + executions / 10
}

#[cfg(test)]
mod tests {
    use raddle_model::CurvePoint;

    use super::Curve;

    #[test]
    fn points_are_few_and_exact() {
        let mut curve = Curve::default();
        for executions in 1..=1_000_000 {
            curve.count(executions, executions.min(500));
        }
        curve.pair(700);
        curve.pair(0);
        curve.pair(3);
        let points = curve.finish(1_000_000, 500);
        assert!(points.len() < 140, "{}", points.len());
        assert_eq!(points[0], CurvePoint { executions: 1, traces: 1, pairs: 1 });
        assert_eq!(points[3], CurvePoint { executions: 4, traces: 4, pairs: 2 });
        let last = CurvePoint { executions: 1_000_000, traces: 500, pairs: 3 };
        assert_eq!(points.last(), Some(&last));
    }

    #[test]
    fn nothing_has_no_curve() {
        assert_eq!(Curve::default().finish(0, 0), []);
    }
}
