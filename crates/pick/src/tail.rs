//! Any picker: made from its description, and asked without knowing which it is.

use raddle_model::{PickerSpec, ProfileView, ThreadId};

use crate::{
    awake::Awake,
    constrained::Constrained,
    delay::Delay,
    nonpreemptive::Nonpreemptive,
    order::Order,
    pct::Pct,
    pos::Pos,
    ranked::Ranked,
    rpro::rpro,
    rstest::Rstest,
    sites::Sites,
    sticky::Sticky,
    stride::Stride,
    surw::Surw,
    switches::Switches,
    urw::Urw,
    view::{Picker, Threads, View},
    walk::Walk,
};

/// What a picker is made from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Which, with its parameters.
    pub picker: PickerSpec,
    /// What all its random choices come from.
    pub seed: u64,
    /// May waits with a deadline end although others can go on?
    pub may_time_out: bool,
    /// What is known about the threads.
    pub profile: ProfileView<'a>,
}

/// Who chooses after the prefix.
#[derive(Clone, Debug)]
pub enum Tail<'a> {
    /// See [`Nonpreemptive`].
    Nonpreemptive(Nonpreemptive),
    /// See [`Walk`].
    Walk(Walk),
    /// See [`Rstest`].
    Rstest(Rstest),
    /// See [`Stride`].
    Stride(Stride<'a>),
    /// See [`Pct`]; with the change points of RPRO too.
    Pct(Pct),
    /// See [`Pos`].
    Pos(Pos),
    /// See [`Surw`].
    Surw(Surw<'a>),
    /// See [`Urw`].
    Urw(Urw<'a>),
    /// See [`Delay`].
    Delay(Delay),
    /// See [`Sticky`].
    Sticky(Sticky),
    /// See [`Order`].
    Order(Order),
    /// See [`Sites`].
    Sites(Sites),
    /// See [`Awake`].
    Awake(Awake),
    /// See [`Switches`].
    Switches(Switches<'a>),
    /// See [`Constrained`].
    Constrained(Constrained),
    /// See [`Ranked`].
    Ranked(Ranked),
}

macro_rules! each {
    ($tail:expr, $picker:ident => $body:expr) => {
        match $tail {
            Tail::Nonpreemptive($picker) => $body,
            Tail::Walk($picker) => $body,
            Tail::Rstest($picker) => $body,
            Tail::Stride($picker) => $body,
            Tail::Pct($picker) => $body,
            Tail::Pos($picker) => $body,
            Tail::Surw($picker) => $body,
            Tail::Urw($picker) => $body,
            Tail::Delay($picker) => $body,
            Tail::Sticky($picker) => $body,
            Tail::Order($picker) => $body,
            Tail::Sites($picker) => $body,
            Tail::Awake($picker) => $body,
            Tail::Switches($picker) => $body,
            Tail::Constrained($picker) => $body,
            Tail::Ranked($picker) => $body,
        }
    };
}

impl<'a> Tail<'a> {
    /// The picker, ready to pick.
    pub fn new(origin: &Origin<'a>) -> Tail<'a> {
        match origin.picker {
            PickerSpec::Nonpreemptive => Tail::Nonpreemptive(Nonpreemptive::new()),
            PickerSpec::Walk => Tail::Walk(Walk::new(origin.seed, origin.may_time_out)),
            PickerSpec::Rstest { per_mille } => Tail::Rstest(Rstest::new(origin, per_mille)),
            PickerSpec::Stride(smax) => Tail::Stride(Stride::new(origin, smax)),
            PickerSpec::Pct(depth) => Tail::Pct(Pct::new(origin, depth)),
            PickerSpec::Rpro { depth, radius } => Tail::Pct(rpro(origin, depth, radius)),
            PickerSpec::Pos => Tail::Pos(Pos::new(origin)),
            PickerSpec::Surw => Tail::Surw(Surw::new(origin)),
            PickerSpec::Urw => Tail::Urw(Urw::new(origin)),
            PickerSpec::Delay(n_delays) => Tail::Delay(Delay::new(origin, n_delays)),
            PickerSpec::Sticky { per_mille } => Tail::Sticky(Sticky::new(origin, per_mille)),
            PickerSpec::Order { newest_first } => Tail::Order(Order::new(origin, newest_first)),
            PickerSpec::Sites => Tail::Sites(Sites::new(origin)),
            PickerSpec::Awake { asleep, from } => Tail::Awake(Awake::new(asleep, from)),
            PickerSpec::Ranked { ranking, last_of_all } => {
                Tail::Ranked(Ranked::new(ranking, last_of_all))
            }
            PickerSpec::Switches | PickerSpec::Constrained | PickerSpec::Calm => {
                Tail::scripted(origin, &[])
            }
        }
    }

    /// The picker that follows a script, ready to pick.
    fn scripted(origin: &Origin<'a>, script: &'a [u32]) -> Tail<'a> {
        match origin.picker {
            PickerSpec::Switches => Tail::Switches(Switches::new(script)),
            PickerSpec::Constrained | PickerSpec::Calm => {
                Tail::Constrained(Constrained::new(origin, script))
            }
            _ => Tail::new(origin),
        }
    }

    /// The prefix to follow and the picker after it; to pickers with a script the prefix is that.
    pub(crate) fn after(prefix: &'a [u32], origin: &Origin<'a>) -> (&'a [u32], Tail<'a>) {
        match origin.picker {
            PickerSpec::Switches | PickerSpec::Constrained | PickerSpec::Calm => {
                (&[], Tail::scripted(origin, prefix))
            }
            _ => (prefix, Tail::new(origin)),
        }
    }

    /// Has it to be told of steps that are no points?
    pub(crate) const fn counts_all(&self) -> bool {
        matches!(self, Tail::Switches(_))
    }

    /// A step that was no point.
    #[cold]
    pub(crate) fn count(&mut self, thread: ThreadId) {
        if let Tail::Switches(switches) = self {
            switches.count(thread);
        }
    }
}

impl Picker for Tail<'_> {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        each!(self, picker => picker.pick(view))
    }

    #[inline]
    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        each!(self, picker => picker.forced(view, thread));
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        each!(self, picker => picker.choose(n_choices))
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{
        Amount, Depth, ObjectId, Op, OpKind, PickerSpec, ProfileView, SiteId, Smax,
    };

    use super::Origin;
    use crate::{chooser::Chooser, fake::Fake};

    /// Nine threads take a lock of their own making round and round; the tenth, which would end it, does something
    /// else.
    #[test]
    fn nobody_starves() {
        const PICKS: u64 = 200_000;
        let op = |thread: u32| match thread {
            9 => Op::on(OpKind::AtomicLoad, ObjectId(2), SiteId(2)),
            _ => Op::on(OpKind::AtomicRmw, ObjectId(1), SiteId(1)),
        };
        let all: Vec<u32> = (0..10).collect();
        let threads =
            Fake { ops: all.iter().map(|it| op(*it)).collect(), ..Fake::new(10, &all, &[]) };
        for picker in [
            PickerSpec::Nonpreemptive,
            PickerSpec::Walk,
            PickerSpec::Rstest { per_mille: 500 },
            PickerSpec::Stride(Smax::Fixed(8)),
            PickerSpec::Pct(Depth::Fixed(3)),
            PickerSpec::Pos,
            PickerSpec::Surw,
            PickerSpec::Urw,
            PickerSpec::Delay(Amount::Drawn),
            PickerSpec::Sticky { per_mille: 900 },
            PickerSpec::Order { newest_first: false },
            PickerSpec::Sites,
        ] {
            for seed in 0..8 {
                let profile = ProfileView::default();
                let origin = Origin { picker, seed, may_time_out: false, profile };
                let mut chooser = Chooser::of(&[], &origin);
                let mut last = 0;
                let mut has_run = [false; 10];
                for step in 0..PICKS {
                    last = chooser.pick(&threads.view(step, last)).0;
                    has_run[last as usize] = true;
                }
                assert_eq!(has_run, [true; 10], "{picker:?}, seed {seed}");
            }
        }
    }
}
