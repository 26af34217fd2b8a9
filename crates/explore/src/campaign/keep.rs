//! Where live copies of an execution would be useful: where others that are still to be run leave its way.

/// Copies asked for in one execution.
const KEEP_MAX: usize = 16;

/// How far the prefix is that of others, in ascending order: the deepest ones, for they are needed next,
/// and some on the way.
pub(super) fn useful<'a>(prefix: &[u32], others: impl Iterator<Item = &'a [u32]>) -> Vec<u32> {
    let common = |other: &[u32]| prefix.iter().zip(other).take_while(|(a, b)| a == b).count();
    let mut depths: Vec<usize> = others.map(common).collect();
    depths.retain(|it| (1..prefix.len()).contains(it));
    depths.sort_unstable();
    depths.dedup();
    if KEEP_MAX < depths.len() {
        let n_deepest = KEEP_MAX / 2;
        let deepest = depths.split_off(depths.len() - n_deepest);
        let n_shallow = depths.len();
        let spread = (1..=n_deepest).map(|it| depths[it * n_shallow / n_deepest - 1]);
        depths = spread.chain(deepest).collect();
    }
    depths.into_iter().map(|it| it as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::useful;

    fn check(prefix: &[u32], others: &[&[u32]], expected: &[u32]) {
        assert_eq!(useful(prefix, others.iter().copied()), expected);
    }

    #[test]
    fn where_others_leave() {
        check(&[0, 1, 2, 3], &[&[0, 1, 0], &[0, 1, 2, 0], &[1]], &[2, 3]);
        check(&[0, 1, 2, 3], &[&[0, 1, 0], &[0, 1, 1]], &[2]);
    }

    /// The whole prefix is no beginning of another execution, and nothing is none either.
    #[test]
    fn neither_all_nor_nothing() {
        check(&[0, 1], &[&[0, 1, 2], &[0, 1], &[2]], &[]);
    }

    #[test]
    fn the_deepest_and_some_on_the_way() {
        let prefix = [0; 101];
        let others: Vec<Vec<u32>> = (1..=100).map(|it| [vec![0; it], vec![1]].concat()).collect();
        let kept = useful(&prefix, others.iter().map(|it| &it[..]));
        assert_eq!(kept, [11, 23, 34, 46, 57, 69, 80, 92, 93, 94, 95, 96, 97, 98, 99, 100]);
    }
}
