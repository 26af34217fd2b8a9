//! Selectively uniform random walk (SURW, ASPLOS 2025): uniform over the orders of *interesting* events, the
//! accesses to one shared object that is drawn for each execution, and random otherwise.
//!
//! Which thread performs the next interesting event is drawn beforehand, in proportion to the interesting
//! events that each still has before it; who comes to an interesting event before its turn is held back.
//! Between, ops have random priorities, drawn anew only for the thread that ran.
//!
//! Bound: where threads do not block and counts are right, every order of the interesting events is equally
//! likely: (Σ n_t)! / Π n_t! orders, whatever else the threads do.
//!
//! Where we depart: the object is drawn from those that at least two threads use and one changes (the authors
//! ask for half of the threads, and miss bugs between two of many), locks among them; half of the time in
//! proportion to its uses, as theirs is, and half of the time uniformly, for a flag that is used twice
//! beside a counter that is used a thousand times would else hardly ever be the one; who is next is drawn among the threads that can go on; when nobody may go on because all
//! are held back, the draw is repeated; events of threads that are yet to be created count with their
//! creator; fair spells (`fair`), for a thread that is next and spins would hold all others back for
//! ever. Without knowledge of any shared object, only the random priorities are left.

use raddle_model::{Op, ProfileView, ThreadId};

use crate::{
    dice::Dice,
    draws::Draws,
    fair::Fair,
    origin::Origin,
    pickers::urw::weighted,
    roles::{Newcomer, Roles},
    view::{Picker, Threads, View},
    weights::Weights,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Surw<'a> {
    dice: Dice,
    fair: Fair,
    profile: ProfileView<'a>,
    /// The object of this execution: its index among the profile's, and its name.
    interest: Option<(u32, u64)>,
    roles: Roles,
    /// Interesting events.
    weights: Weights,
    draws: Draws,
    /// By thread: is its op an interesting event?
    is_interesting: Vec<bool>,
    /// By object: is it the one of this execution? 0: not looked at yet, 1: no, 2: yes.
    objects: Vec<u8>,
    /// Who performs the next interesting event.
    next: Option<ThreadId>,
}

impl<'a> Surw<'a> {
    pub(crate) fn new(origin: &Origin<'a>) -> Surw<'a> {
        let mut dice = Dice::new(origin.seed, origin.may_time_out);
        let interest = draw(&origin.profile, &mut dice);
        Surw {
            dice,
            fair: Fair::new(),
            profile: origin.profile,
            interest,
            roles: Roles::new(),
            weights: Weights::new(),
            draws: Draws::new(),
            is_interesting: Vec::with_capacity(64),
            objects: Vec::with_capacity(64),
            next: None,
        }
    }

    #[inline]
    fn update<T: Threads>(&mut self, view: &View<'_, T>) {
        while let Some(newcomer) = self.roles.next(view.threads) {
            self.add(&newcomer, view.threads);
        }
        self.is_interesting[view.last.idx()] =
            self.interests(view.threads.op(view.last), view.threads);
    }

    #[cold]
    fn add<T: Threads>(&mut self, newcomer: &Newcomer, threads: &T) {
        let n_below = self.interest.and_then(|(interest, _)| {
            // Nothing at all is known of a thread without length; one with a length and no uses has none.
            self.profile.length(newcomer.role)?;
            Some(u64::from(self.profile.n_uses_below(interest, newcomer.role)))
        });
        let before = newcomer.parent.map_or(0, |it| self.weights.of(it));
        let weight = self.weights.add(newcomer, n_below);
        // The turn of a thread is that of what it was about to create, in proportion.
        if self.next.is_some()
            && self.next == newcomer.parent
            && self.dice.below_wide(before.max(1)) < weight
        {
            self.next = Some(newcomer.thread);
        }
        self.draws.add(&mut self.dice);
        let is_interesting = self.interests(threads.op(newcomer.thread), threads);
        self.is_interesting.push(is_interesting);
    }

    /// Is the op one whose order is to be uniform?
    #[inline]
    fn interests<T: Threads>(&mut self, op: &Op, threads: &T) -> bool {
        let idx = op.object.idx();
        match self.objects.get(idx) {
            Some(2) => !op.kind.is_release(),
            Some(1) => false,
            _ => self.look_at(op, threads),
        }
    }

    #[cold]
    fn look_at<T: Threads>(&mut self, op: &Op, threads: &T) -> bool {
        let idx = op.object.idx();
        if self.objects.len() <= idx {
            self.objects.resize(idx + 1, 0);
        }
        let name = threads.name(op.object);
        let is_it = name != 0 && self.interest.is_some_and(|it| it.1 == name);
        self.objects[idx] = if is_it { 2 } else { 1 };
        is_it && !op.kind.is_release()
    }

    #[inline]
    fn choose_thread<T: Threads>(&mut self, threads: &T) -> ThreadId {
        // The highest of all, and the highest of those that no turn holds back.
        let (mut first, mut first_free) = (0, 0);
        for idx in 0..threads.n_enabled() {
            let thread = threads.enabled(idx);
            let priority = self.draws.of(thread);
            let is_held = self.is_interesting[thread.idx()];
            first = priority.max(first);
            first_free = (if is_held { 0 } else { priority }).max(first_free);
        }
        if self.next.is_none() {
            if first == first_free {
                return Draws::thread_of(first);
            }
            self.next = Some(weighted(threads, &self.weights, &mut self.dice));
        }
        match self.next.filter(|it| threads.is_enabled(*it)) {
            Some(next) => Draws::thread_of(self.draws.of(next).max(first_free)),
            None if first_free > 0 => Draws::thread_of(first_free),
            // All are held back, and who is next can't go on: one of those who can is next.
            None => {
                let next = weighted(threads, &self.weights, &mut self.dice);
                self.next = Some(next);
                next
            }
        }
    }

    /// A thread is about to perform its op.
    #[inline]
    fn perform(&mut self, thread: ThreadId) {
        self.draws.redraw(thread, &mut self.dice);
        if self.is_interesting[thread.idx()] {
            self.weights.take(thread);
            self.next = None;
        }
    }
}

/// One of the profile's objects: half of the time in proportion to its uses, half of the time any.
fn draw(profile: &ProfileView<'_>, dice: &mut Dice) -> Option<(u32, u64)> {
    if dice.is_heads(500) && !profile.interests.is_empty() {
        let interest = dice.below(profile.interests.len() as u32);
        return Some((interest, profile.interests[interest as usize].name));
    }
    let total: u64 = profile.interests.iter().map(|it| it.n_uses).sum();
    if total == 0 {
        return None;
    }
    let mut rest = dice.below_wide(total);
    for (idx, interest) in profile.interests.iter().enumerate() {
        if rest < interest.n_uses {
            return Some((idx as u32, interest.name));
        }
        rest -= interest.n_uses;
    }
    None
}

impl Picker for Surw<'_> {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        self.update(view);
        let thread = match self.dice.timed(view.threads) {
            Some(thread) => thread,
            None if self.fair.is_due() => self.dice.uniform(view.threads),
            None => self.choose_thread(view.threads),
        };
        self.perform(thread);
        thread
    }

    #[inline]
    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        self.update(view);
        self.perform(thread);
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
