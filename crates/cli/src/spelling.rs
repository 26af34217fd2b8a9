//! What somebody may have meant who has mistyped a word.

/// Letters that may be wrong.
const WRONG_MAX: usize = 2;

/// The word that is nearest to one that is none of them, if it is near enough.
pub(crate) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let n_letters = word.chars().count();
    let near = words.into_iter().map(|it| (distance(word, it), it));
    // Of a short word not all letters may be others.
    let near = near.filter(|it| it.0 <= WRONG_MAX && it.0 < n_letters);
    near.min_by_key(|it| it.0).map(|it| it.1)
}

/// How many letters must be changed, added, taken away, or exchanged with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for at in 0..one.len() {
        let mut row = vec![at + 1];
        for to in 0..other.len() {
            let changed = rows[at][to] + usize::from(one[at] != other[to]);
            let mut least = changed.min(rows[at][to + 1] + 1).min(row[to] + 1);
            let is_exchanged =
                at > 0 && to > 0 && one[at] == other[to - 1] && one[at - 1] == other[to];
            if is_exchanged {
                least = least.min(rows[at - 1][to - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn near_and_far() {
        assert_eq!(distance("rnu", "run"), 1);
        assert_eq!(distance("", "run"), 3);
        assert_eq!(distance("replay", "replay"), 0);
        assert_eq!(distance("regres", "regress"), 1);
        let verbs = ["run", "total", "replay", "min", "cc"];
        assert_eq!(nearest("rnu", verbs), Some("run"));
        assert_eq!(nearest("reply", verbs), Some("replay"));
        assert_eq!(nearest("x", verbs), None);
        assert_eq!(nearest("compile", verbs), None);
    }
}
