//! Every picker is fair to spin loops, even to those that nobody recognises.

use raddle_model::OpKind;

use crate::{
    PICKERS,
    toy::{How, Toy, on, run, write},
};

/// More steps than the fair bounds of all pickers allow, and far fewer than make a livelock.
const N_MAX: usize = 150_000;

/// Thread 0 and, if there are two, thread 1 read a flag until the last thread has written it.
fn spinning(n_spinners: u32) -> Toy {
    let mut code = vec![vec![on(OpKind::Read, 9)]; n_spinners as usize];
    code.push(vec![write(1), write(1), write(1), write(9)]);
    Toy::spinning(code, (0..n_spinners).map(|it| (it, 9)).collect())
}

#[test]
fn a_spin_loop_ends() {
    for n_spinners in [1, 2, 5] {
        let toy = spinning(n_spinners);
        let profile = toy.profile();
        for picker in PICKERS {
            for seed in 0..6 {
                let n_steps = run(&toy, How { picker, seed, profile: &profile }, N_MAX).len();
                assert!(n_steps < N_MAX, "{picker:?} with seed {seed} lets {n_spinners} spin");
            }
        }
    }
}

/// Twenty waits: a picker that needs its whole fair bound for each takes 20,000 steps and a few hundred for
/// each, and no more. Walks need some hundred for all.
#[test]
fn many_spin_loops_end() {
    for picker in PICKERS {
        let mut n_steps = 0;
        for seed in 0..20 {
            let toy = spinning(1);
            let profile = toy.profile();
            n_steps += run(&toy, How { picker, seed, profile: &profile }, N_MAX).len();
        }
        assert!(n_steps < 420_000, "{picker:?}: {n_steps}");
    }
}
