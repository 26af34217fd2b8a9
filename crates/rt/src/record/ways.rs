//! Sites of calls from the library that is compiled into the program, kept by the calls that led there: a program
//! comes the same few ways again and again, and each is found by asking of every call on it whose it is.

use raddle_model::{SiteId, mix};

use super::stack::ShadowStack;

/// Places are kept in so many groups; a power of two.
const N_GROUPS: usize = 1 << 6;
/// Ways of one group: one function is called from here and from there.
const N_WAYS: usize = 4;

/// The last ways by which some places were reached.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// By a hash of the place; in each group the latest first. Nothing, where there is no library.
    groups: Vec<[Way; N_WAYS]>,
    /// Executions so far.
    n_executions: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Way {
    pc: usize,
    /// Of where functions were called, innermost first, up to the first call that is not the library's.
    hash: u64,
    n_calls: u32,
    site: SiteId,
    /// The execution that numbered the site.
    execution: u32,
}

impl Ways {
    pub(crate) fn new(has_library: bool) -> Ways {
        let n_groups = if has_library { N_GROUPS } else { 0 };
        Ways { groups: vec![[Way::default(); N_WAYS]; n_groups], n_executions: 0 }
    }

    /// Another execution begins. Sites that are not kept will have other numbers.
    pub(crate) fn restart(&mut self) {
        self.n_executions += 1;
    }

    /// The site of the call at `pc`, if it was reached the same way before. Sites below `n_numbered` have the same
    /// numbers in all executions.
    #[inline]
    pub(crate) fn find(&self, pc: usize, stack: &ShadowStack, n_numbered: usize) -> Option<SiteId> {
        let is_it = |it: &&Way| {
            let is_numbered =
                (it.site.0 as usize) < n_numbered || it.execution == self.n_executions;
            let calls = || stack.innermost(it.n_calls as usize);
            it.pc == pc && is_numbered && calls().is_some_and(|calls| hash(calls) == it.hash)
        };
        self.groups.get(group(pc))?.iter().find(is_it).map(|it| it.site)
    }

    /// Keeps how the call at `pc` was reached, if that is simple: no function called itself.
    pub(crate) fn keep(&mut self, pc: usize, calls: &[usize], stack: &ShadowStack, site: SiteId) {
        let hash_of_calls = hash(calls.iter().copied());
        let is_whole = stack.innermost(calls.len()).is_some_and(|it| hash(it) == hash_of_calls);
        let is_simple = is_whole && calls.windows(2).all(|it| it[0] != it[1]);
        if let (true, Some(group)) = (is_simple, self.groups.get_mut(group(pc))) {
            group.rotate_right(1);
            let (n_calls, execution) = (calls.len() as u32, self.n_executions);
            group[0] = Way { pc, hash: hash_of_calls, n_calls, site, execution };
        }
    }
}

fn hash(calls: impl Iterator<Item = usize>) -> u64 {
    calls.fold(0, |hash, pc| mix(hash, pc as u64))
}

fn group(pc: usize) -> usize {
    pc.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - N_GROUPS.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use raddle_model::SiteId;

    use super::super::stack::ShadowStack;
    use super::Ways;

    fn stack(calls: &[usize]) -> ShadowStack {
        let mut stack = ShadowStack::new();
        let outermost_first = calls.iter().rev().enumerate();
        outermost_first.for_each(|(idx, pc)| stack.push(*pc, 1000 - idx * 8));
        stack
    }

    #[test]
    fn another_way_is_another_site() {
        let mut ways = Ways::new(true);
        ways.keep(7, &[1, 2], &stack(&[1, 2, 3]), SiteId(5));
        assert_eq!(ways.find(7, &stack(&[1, 2, 4]), 0), Some(SiteId(5)));
        assert_eq!(ways.find(7, &stack(&[2, 2]), 0), None);
        assert_eq!(ways.find(7, &stack(&[1]), 0), None);
        assert_eq!(ways.find(8, &stack(&[1, 2]), 0), None);
        ways.keep(7, &[2, 3], &stack(&[2, 3]), SiteId(6));
        assert_eq!(ways.find(7, &stack(&[1, 2]), 0), Some(SiteId(5)));
        assert_eq!(ways.find(7, &stack(&[2, 3]), 0), Some(SiteId(6)));
    }

    /// Whether a frame stands for a function or for a part of one can't be told from where it was called.
    #[test]
    fn a_function_that_calls_itself_is_not_kept() {
        let mut ways = Ways::new(true);
        ways.keep(7, &[1, 1], &stack(&[1, 1]), SiteId(5));
        assert_eq!(ways.find(7, &stack(&[1, 1]), 0), None);
    }

    #[test]
    fn numbers_of_an_execution_are_its_own() {
        let mut ways = Ways::new(true);
        ways.keep(7, &[1], &stack(&[1]), SiteId(5));
        ways.restart();
        assert_eq!(ways.find(7, &stack(&[1]), 5), None);
        assert_eq!(ways.find(7, &stack(&[1]), 6), Some(SiteId(5)));
    }
}
