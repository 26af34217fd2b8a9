//! Any picker: made from its description, and asked without knowing which it is.

mod awake;
mod by_age;
mod constrained;
mod delay;
mod directed;
mod nonpreemptive;
mod pct;
mod pos;
mod ranked;
mod rff;
mod rpro;
mod rstest;
mod sites;
mod sticky;
mod stride;
mod surw;
mod switches;
mod urw;
mod walk;

use raddle_model::{Before, Kept, PickerSpec, ThreadId};

use self::rpro::rpro;
pub use self::{
    awake::Awake, by_age::ByAge, constrained::Constrained, delay::Delay, directed::Directed,
    nonpreemptive::Nonpreemptive, pct::Pct, pos::Pos, ranked::Ranked, rff::Rff, rstest::Rstest,
    sites::Sites, sticky::Sticky, stride::Stride, surw::Surw, switches::Switches, urw::Urw,
    walk::Walk,
};
use crate::{
    origin::Origin,
    view::{Picker, Threads, View},
};

/// Makes [`AnyPicker`] out of the list of pickers: a new one is a line there, and one in [`AnyPicker::new`].
macro_rules! pickers {
    ($($name:ident($picker:ty),)*) => {
        /// Any picker: who chooses after the prefix. Each has a file of its own.
        #[derive(Clone, Debug)]
        #[expect(missing_docs, reason = "each is the type of its name")]
        pub enum AnyPicker<'a> {
            $($name($picker),)*
        }

        impl Picker for AnyPicker<'_> {
            #[inline]
            fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
                match self {
                    $(AnyPicker::$name(picker) => picker.pick(view),)*
                }
            }

            #[inline]
            fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
                match self {
                    $(AnyPicker::$name(picker) => picker.forced(view, thread),)*
                }
            }

            fn choose(&mut self, n_choices: u32) -> u32 {
                match self {
                    $(AnyPicker::$name(picker) => picker.choose(n_choices),)*
                }
            }
        }
    };
}

pickers! {
    Nonpreemptive(Nonpreemptive),
    Walk(Walk),
    Rstest(Rstest),
    Stride(Stride<'a>),
    Pct(Pct),
    Pos(Pos),
    Surw(Surw<'a>),
    Urw(Urw<'a>),
    Delay(Delay),
    Sticky(Sticky),
    ByAge(ByAge),
    Sites(Sites),
    Awake(Awake),
    Switches(Switches<'a>),
    Constrained(Constrained),
    Directed(Directed),
    Rff(Rff),
    Ranked(Ranked),
}

impl<'a> AnyPicker<'a> {
    /// The picker, ready to pick.
    pub fn new(origin: &Origin<'a>) -> AnyPicker<'a> {
        match origin.picker {
            PickerSpec::Nonpreemptive => AnyPicker::Nonpreemptive(Nonpreemptive::new()),
            PickerSpec::Walk => AnyPicker::Walk(Walk::new(origin.seed, origin.may_time_out)),
            PickerSpec::Rstest { per_mille, giving } => {
                AnyPicker::Rstest(Rstest::new(origin, per_mille, giving))
            }
            PickerSpec::Stride(smax) => AnyPicker::Stride(Stride::new(origin, smax)),
            PickerSpec::Pct(depth) => AnyPicker::Pct(Pct::new(origin, depth)),
            PickerSpec::Rpro { depth, radius } => AnyPicker::Pct(rpro(origin, depth, radius)),
            PickerSpec::Pos => AnyPicker::Pos(Pos::new(origin)),
            PickerSpec::Surw => AnyPicker::Surw(Surw::new(origin)),
            PickerSpec::Urw => AnyPicker::Urw(Urw::new(origin)),
            PickerSpec::Delay(n_delays) => AnyPicker::Delay(Delay::new(origin, n_delays)),
            PickerSpec::Sticky { per_mille } => AnyPicker::Sticky(Sticky::new(origin, per_mille)),
            PickerSpec::Order { newest_first } => {
                AnyPicker::ByAge(ByAge::new(origin, newest_first))
            }
            PickerSpec::Sites => AnyPicker::Sites(Sites::new(origin)),
            PickerSpec::Directed { family, orders } => {
                AnyPicker::Directed(Directed::new(origin, family, orders))
            }
            PickerSpec::Awake { asleep, from } => AnyPicker::Awake(Awake::new(asleep, from)),
            PickerSpec::Ranked { ranking, last_of_all, is_strict } => {
                AnyPicker::Ranked(Ranked::new(ranking, last_of_all, is_strict))
            }
            PickerSpec::Switches
            | PickerSpec::Constrained
            | PickerSpec::LeastSwitching
            | PickerSpec::Rff { .. } => AnyPicker::scripted(origin, &[]),
        }
    }

    /// The picker that follows a script, ready to pick.
    fn scripted(origin: &Origin<'a>, script: &'a [u32]) -> AnyPicker<'a> {
        match origin.picker {
            PickerSpec::Switches => AnyPicker::Switches(Switches::new(script)),
            PickerSpec::Constrained | PickerSpec::LeastSwitching => {
                AnyPicker::Constrained(Constrained::new(origin, script))
            }
            PickerSpec::Rff { wanted } => AnyPicker::Rff(Rff::new(origin, wanted, script)),
            _ => AnyPicker::new(origin),
        }
    }

    /// The prefix to follow and the picker after it; to pickers with a script the prefix is that, and what
    /// comes first may be choices in it.
    pub(crate) fn after(prefix: &'a [u32], origin: &Origin<'a>) -> (&'a [u32], AnyPicker<'a>) {
        match origin.picker {
            PickerSpec::Constrained | PickerSpec::LeastSwitching => {
                (Before::choices_of_script(prefix), AnyPicker::scripted(origin, prefix))
            }
            PickerSpec::Switches => (&[], AnyPicker::scripted(origin, prefix)),
            picker if picker.has_table() => (&[], AnyPicker::scripted(origin, prefix)),
            _ => (prefix, AnyPicker::new(origin)),
        }
    }

    /// Has it to be told of steps that are no points?
    pub(crate) const fn counts_all(&self) -> bool {
        matches!(self, AnyPicker::Switches(_))
    }

    /// Did the execution come as the picker was asked?
    pub(crate) fn kept(&self) -> Kept {
        match self {
            AnyPicker::Directed(directed) => directed.kept(),
            _ => Kept::Unknown,
        }
    }

    /// A step that was no point.
    #[cold]
    pub(crate) fn count(&mut self, thread: ThreadId) {
        if let AnyPicker::Switches(switches) = self {
            switches.count(thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{
        AbstractSchedule, Amount, Depth, Family, Giving, ObjectId, Op, OpKind, PickerSpec,
        PlaceOrder, ProfileView, SiteId, Smax,
    };

    use crate::{chooser::Chooser, fake::Fake, origin::Origin};

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
            PickerSpec::Rstest { per_mille: 500, giving: Giving::DEFAULT },
            PickerSpec::Stride(Smax::Fixed(8)),
            PickerSpec::Pct(Depth::Fixed(3)),
            PickerSpec::Pos,
            PickerSpec::Surw,
            PickerSpec::Urw,
            PickerSpec::Delay(Amount::Drawn),
            PickerSpec::Sticky { per_mille: 900 },
            PickerSpec::Order { newest_first: false },
            PickerSpec::Sites,
            PickerSpec::Rff { wanted: AbstractSchedule::new([]) },
            PickerSpec::Directed {
                family: Family::Order,
                orders: [PlaceOrder { first: 1, second: 2 }, PlaceOrder::NONE],
            },
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
