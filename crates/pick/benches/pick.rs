//! One choice among 64 threads that can go on: what a picker adds to each step.
//!
//! The threads are seen as the runtime sees them, through a table of ops; each choice is followed by another
//! op of the thread that was chosen, on one of 16 objects. The bars: 60 ns for walk, stride, pct and delay,
//! 150 ns for pos, surw and rpro.

use std::{hint::black_box, time::Duration};

use criterion::Criterion;
use raddle_model::{
    Amount, Counting, Depth, Giving, Interest, Length, ObjectId, Op, OpKind, PickerSpec, Profile,
    Rng, Role, SiteId, Smax, ThreadId, Use,
};
use raddle_pick::{AnyPicker, Chooser, Origin, Threads, View};

const N_THREADS: u32 = 64;
const N_OBJECTS: u32 = 16;
const N_CHOICES: u64 = 10_000;

struct All {
    ops: Vec<Op>,
    enabled: Vec<ThreadId>,
}

impl Threads for All {
    fn n_enabled(&self) -> u32 {
        self.enabled.len() as u32
    }

    fn enabled(&self, idx: u32) -> ThreadId {
        self.enabled[idx as usize]
    }

    fn is_enabled(&self, thread: ThreadId) -> bool {
        thread.0 < N_THREADS
    }

    fn timed(&self) -> &[ThreadId] {
        &[]
    }

    fn op(&self, thread: ThreadId) -> &Op {
        &self.ops[thread.idx()]
    }

    fn n_threads(&self) -> u32 {
        N_THREADS
    }

    fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        (thread.0 != 0).then_some(ThreadId(0))
    }

    fn name(&self, object: ObjectId) -> u64 {
        u64::from(object.0)
    }
}

fn op(rng: &mut Rng) -> Op {
    let kind = if rng.below(2) == 0 { OpKind::Read } else { OpKind::Write };
    Op::on(kind, ObjectId(1 + rng.below(N_OBJECTS)), SiteId(1))
}

fn profile() -> Profile {
    let role = |thread: u32| if thread == 0 { Role::MAIN } else { Role::MAIN.child(thread - 1) };
    let mut profile = Profile { n_choices: N_CHOICES, n_threads: N_THREADS, ..Profile::EMPTY };
    for thread in 0..N_THREADS {
        let (role, n_events) = (role(thread), 200);
        profile.lengths.push(Length { role, n_events, n_below: 200, ..Length::default() });
        profile.uses.push(Use { role, interest: 0, n_below: 12 });
    }
    profile.lengths.sort_by_key(|it| it.role);
    profile.uses.sort_by_key(|it| it.role);
    profile.interests.push(Interest { name: 1, n_uses: 12 * u64::from(N_THREADS) });
    profile
}

fn pick(criterion: &mut Criterion) {
    let profile = profile();
    for (name, picker) in [
        ("walk", PickerSpec::Walk),
        ("nonpreemptive", PickerSpec::Nonpreemptive),
        ("sticky", PickerSpec::Sticky { per_mille: 900 }),
        ("rstest", PickerSpec::Rstest { per_mille: 200, giving: Giving::DEFAULT }),
        ("stride", PickerSpec::Stride(Smax::Ratio { per_mille: 2_900, counting: Counting::All })),
        ("pct", PickerSpec::Pct(Depth::Fixed(3))),
        ("delay", PickerSpec::Delay(Amount::Fixed(3))),
        ("rpro", PickerSpec::Rpro { depth: Depth::Fixed(3), radius: Amount::Fixed(50) }),
        ("pos", PickerSpec::Pos),
        ("surw", PickerSpec::Surw),
        ("urw", PickerSpec::Urw),
    ] {
        let mut rng = Rng::new(5);
        let mut threads = All {
            ops: (0..N_THREADS).map(|_| op(&mut rng)).collect(),
            enabled: (0..N_THREADS).map(ThreadId).collect(),
        };
        let origin = Origin { picker, seed: 7, may_time_out: true, profile: profile.view() };
        let mut chooser = Chooser::new(&[], AnyPicker::new(&origin));
        let (mut step, mut last) = (0, ThreadId(0));
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                let view = View { step, last, threads: &threads };
                last = chooser.pick(black_box(&view));
                threads.ops[last.idx()] = op(&mut rng);
                step += 1;
            });
        });
    }
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .without_plots()
        .configure_from_args();
    pick(&mut criterion);
    criterion.final_summary();
}
