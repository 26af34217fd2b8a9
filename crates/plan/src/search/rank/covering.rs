//! Few orders of n threads, such that any t of them come in every order in one of them (a *sequence covering array*).
//!
//! For t = 2, two orders do: the oldest first, and the newest first. For more, by greed: orders are drawn by
//! hashing, and of 32 the one is added that shows most of what is missing, until nothing is. n orders are not
//! enough for large n, but a number that grows as log n is.
//!
//! With many threads that takes too long, so these are spread over q groups, q a prime with q² ≥ n, and the groups are
//! ordered: thread q·i + j is in group (s·i + j) mod q for slope s, or in group i. Two threads share a group for one
//! of the q + 1 slopes only. So of t·(t - 1)/2 + 1 slopes, one puts any t threads into t groups, and the orders
//! for q groups, for each of those slopes, cover all threads.

use raddle_model::{Ranking, ThreadId, mix};

/// Larger families are made by groups.
const DIRECT_MAX: [u32; 5] = [0, 0, 0, 16, 12];
/// Orders that are compared before the best is taken.
const N_TRIED: u64 = 32;

/// Orders of `n_threads` such that any `t` of them come in every order. `t` is 2, 3 or 4.
pub fn covering(t: u32, n_threads: u32) -> Vec<Ranking> {
    assert!((2..=4).contains(&t), "bug: no orders are known to cover {t} threads");
    if t == 2 || n_threads < t {
        return vec![Ranking::OLDEST, Ranking::NEWEST];
    }
    if n_threads <= DIRECT_MAX[t as usize] {
        return by_greed(t, n_threads);
    }
    let n_slopes = t * (t - 1) / 2 + 1;
    let is_prime = |it: &u32| (2..*it).all(|factor| !it.is_multiple_of(factor));
    let is_enough = |it: &u32| n_threads <= it * it && n_slopes <= it + 1;
    let modulus = (t..).find(|it| is_enough(it) && is_prime(it)).expect("bug: primes have an end");
    let groups = by_greed(t, modulus);
    let slopes = (0..n_slopes).map(|slope| slope as u8);
    slopes
        .flat_map(|slope| {
            groups.iter().map(move |it| Ranking { slope, modulus: modulus as u8, ..*it })
        })
        .collect()
}

fn by_greed(t: u32, n_threads: u32) -> Vec<Ranking> {
    let mut missing = Missing::new(t, n_threads);
    let mut family = vec![Ranking::OLDEST, Ranking::NEWEST];
    for it in &family {
        missing.shows(*it, true);
    }
    let mut n_drawn = 0;
    while missing.n_left > 0 {
        let drawn = (n_drawn..n_drawn + N_TRIED).map(|it| Ranking::hashed(mix(u64::from(t), it)));
        let best = drawn.max_by_key(|it| missing.shows(*it, false));
        n_drawn += N_TRIED;
        if let Some(best) = best.filter(|it| missing.shows(*it, false) > 0) {
            missing.shows(best, true);
            family.push(best);
        }
    }
    family
}

/// Which orders of which threads are not shown yet.
struct Missing {
    t: u32,
    n_threads: u32,
    /// By set of t threads and number of their order.
    is_shown: Vec<bool>,
    n_left: usize,
}

impl Missing {
    fn new(t: u32, n_threads: u32) -> Missing {
        let n_orders: usize = (1..=t as usize).product();
        let n_sets = (0..t).fold(1, |n, it| n * (n_threads - it) as usize / (it + 1) as usize);
        let n_left = n_sets * n_orders;
        Missing { t, n_threads, is_shown: vec![false; n_left], n_left }
    }

    /// How much of what is missing an order of all threads shows; marks it if it is taken.
    fn shows(&mut self, ranking: Ranking, is_taken: bool) -> usize {
        let mut places = vec![0; self.n_threads as usize];
        let mut all: Vec<u32> = (0..self.n_threads).collect();
        all.sort_by_key(|it| ranking.key(ThreadId(*it)));
        for (place, thread) in all.iter().enumerate() {
            places[*thread as usize] = place;
        }
        let n_orders: usize = (1..=self.t as usize).product();
        let mut set: Vec<usize> = (0..self.t as usize).collect();
        let (mut idx, mut n_new) = (0, 0);
        loop {
            let cell = &mut self.is_shown[idx * n_orders + order_of(&set, &places)];
            n_new += usize::from(!*cell);
            *cell |= is_taken;
            idx += 1;
            if !next_set(&mut set, self.n_threads as usize) {
                break;
            }
        }
        if is_taken {
            self.n_left -= n_new;
        }
        n_new
    }
}

/// The number of the order in which places put a set: for each, how many before it in the set come later.
fn order_of(set: &[usize], places: &[usize]) -> usize {
    let mut number = 0;
    for (idx, one) in set.iter().enumerate() {
        let n_later = set[..idx].iter().filter(|it| places[**it] > places[*one]).count();
        number = number * (idx + 1) + n_later;
    }
    number
}

/// The next set of as many numbers below n, in order.
fn next_set(set: &mut [usize], n: usize) -> bool {
    let len = set.len();
    let Some(idx) = (0..len).rev().find(|it| set[*it] + len - it < n) else { return false };
    set[idx] += 1;
    for it in idx + 1..len {
        set[it] = set[it - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{Missing, covering};

    /// As in docs/strategies.md.
    #[test]
    fn sizes() {
        let mut table = String::from("  n  t=2  t=3  t=4\n");
        for n in [3, 4, 5, 6, 8, 10, 12, 16, 32, 100] {
            let size = |t| if n < t { 0 } else { covering(t, n).len() };
            table += &format!("{n:3} {:4} {:4} {:4}\n", size(2), size(3), size(4));
        }
        expect![[r#"
              n  t=2  t=3  t=4
              3    2    6    0
              4    2    9   24
              5    2    8   32
              6    2   13   47
              8    2   13   72
             10    2   17   90
             12    2   19  106
             16    2   23  413
             32    2   48  413
            100    2   68  686
        "#]]
        .assert_eq(&table);
    }

    /// Every order of every t threads is there: by greed, and by groups.
    #[test]
    fn all_orders_are_covered() {
        for (t, n_threads) in [(2, 30), (3, 3), (3, 17), (3, 60), (4, 4), (4, 9), (4, 26)] {
            let mut missing = Missing::new(t, n_threads);
            for ranking in covering(t, n_threads) {
                missing.shows(ranking, true);
            }
            assert_eq!(missing.n_left, 0, "{t} of {n_threads}");
        }
    }
}
