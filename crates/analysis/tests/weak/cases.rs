//! The usual litmus tests, each with an outcome that the standard allows or forbids, worked out by hand (most of them are
//! in the papers on RC11 and on Repairing SC).

use crate::program::Outcomes;

/// Can it be?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    Allowed,
    Forbidden,
    /// By the standard it is allowed, but the order of SC ops would contradict that of execution: not explored.
    LeftOut,
}

use Is::{Allowed, Forbidden, LeftOut};

/// What is read, thread by thread; with ` / ` what the three locations hold in the end.
pub(crate) type Case = (&'static str, &'static str, &'static str, Is);

#[rustfmt::skip]
pub(crate) const CASES: &[Case] = &[
    // Store buffering.
    ("SB", "Wx 1 rlx; Ry rlx | Wy 1 rlx; Rx rlx", "0 0", Allowed),
    ("SB+rel-acq", "Wx 1 rel; Ry acq | Wy 1 rel; Rx acq", "0 0", Allowed),
    ("SB+sc", "Wx 1 sc; Ry sc | Wy 1 sc; Rx sc", "0 0", Forbidden),
    ("SB+sc, one load weaker", "Wx 1 sc; Ry acq | Wy 1 sc; Rx sc", "0 0", Allowed),
    ("SB+sc, one store weaker", "Wx 1 rel; Ry sc | Wy 1 sc; Rx sc", "0 0", Allowed),
    ("SB+fences", "Wx 1 rlx; F sc; Ry rlx | Wy 1 rlx; F sc; Rx rlx", "0 0", Forbidden),
    ("SB+fences acqrel", "Wx 1 rlx; F acqrel; Ry rlx | Wy 1 rlx; F acqrel; Rx rlx", "0 0", Allowed),
    ("SB+one fence", "Wx 1 rlx; F sc; Ry rlx | Wy 1 rlx; Rx rlx", "0 0", Allowed),
    ("SB+fence and sc", "Wx 1 rlx; F sc; Ry rlx | Wy 1 sc; Rx sc", "0 0", Forbidden),
    ("SB+rmw", "Ux 1 acqrel; Ry acq | Uy 1 acqrel; Rx acq", "0 0 0 0", Allowed),
    ("SB+rmw sc", "Ux 1 sc; Ry sc | Uy 1 sc; Rx sc", "0 0 0 0", Forbidden),
    // Message passing.
    ("MP", "Wx 1 rlx; Wy 1 rlx | Ry rlx; Rx rlx", "1 0", Allowed),
    ("MP+rel-acq", "Wx 1 rlx; Wy 1 rel | Ry acq; Rx rlx", "1 0", Forbidden),
    ("MP+rel-rlx", "Wx 1 rlx; Wy 1 rel | Ry rlx; Rx rlx", "1 0", Allowed),
    ("MP+rlx-acq", "Wx 1 rlx; Wy 1 rlx | Ry acq; Rx rlx", "1 0", Allowed),
    ("MP+fences", "Wx 1 rlx; F rel; Wy 1 rlx | Ry rlx; F acq; Rx rlx", "1 0", Forbidden),
    ("MP+fence-acq", "Wx 1 rlx; F rel; Wy 1 rlx | Ry acq; Rx rlx", "1 0", Forbidden),
    ("MP+rel-fence", "Wx 1 rlx; Wy 1 rel | Ry rlx; F acq; Rx rlx", "1 0", Forbidden),
    ("MP+fence too early", "Wx 1 rlx; F rel; Wy 1 rlx | F acq; Ry rlx; Rx rlx", "1 0", Allowed),
    ("MP+sc", "Wx 1 sc; Wy 1 sc | Ry sc; Rx sc", "1 0", Forbidden),
    ("MP+sc, loads weaker", "Wx 1 sc; Wy 1 sc | Ry rlx; Rx rlx", "1 0", Allowed),
    ("MP of both values", "Wx 1 rlx; Wx 2 rel | Rx acq; Rx rlx", "2 1", Forbidden),
    // Load buffering: never, RC11 leaves it out.
    ("LB", "Rx rlx; Wy 1 rlx | Ry rlx; Wx 1 rlx", "1 1", Forbidden),
    ("LB+one side", "Rx rlx; Wy 1 rlx | Ry rlx; Wx 1 rlx", "0 1", Allowed),
    // A store that is not the last in modification order.
    ("S", "Wx 2 rlx; Wy 1 rlx | Ry rlx; Wx 1 rlx", "1 / 2 1 0", Allowed),
    ("S+rel-acq", "Wx 2 rlx; Wy 1 rel | Ry acq; Wx 1 rlx", "1 / 2 1 0", Forbidden),
    ("R", "Wx 1 rlx; Wy 1 rlx | Wy 2 rlx; Rx rlx", "0 / 1 2 0", Allowed),
    ("R+sc", "Wx 1 sc; Wy 1 sc | Wy 2 sc; Rx sc", "0 / 1 2 0", Forbidden),
    ("R+fences", "Wx 1 rlx; F sc; Wy 1 rlx | Wy 2 rlx; F sc; Rx rlx", "0 / 1 2 0", Forbidden),
    ("R+rel-acq", "Wx 1 rel; Wy 1 rel | Wy 2 rel; Rx acq", "0 / 1 2 0", Allowed),
    ("2+2W", "Wx 1 rlx; Wy 2 rlx | Wy 1 rlx; Wx 2 rlx", " / 1 1 0", Allowed),
    ("2+2W+rel", "Wx 1 rel; Wy 2 rel | Wy 1 rel; Wx 2 rel", " / 1 1 0", Allowed),
    ("2+2W+sc", "Wx 1 sc; Wy 2 sc | Wy 1 sc; Wx 2 sc", " / 1 1 0", Forbidden),
    ("2+2W+fences", "Wx 1 rlx; F sc; Wy 2 rlx | Wy 1 rlx; F sc; Wx 2 rlx", " / 1 1 0", Forbidden),
    // More than two threads.
    ("IRIW", "Wx 1 rlx | Wy 1 rlx | Rx rlx; Ry rlx | Ry rlx; Rx rlx", "1 0 1 0", Allowed),
    ("IRIW+acq", "Wx 1 rel | Wy 1 rel | Rx acq; Ry acq | Ry acq; Rx acq", "1 0 1 0", Allowed),
    ("IRIW+sc", "Wx 1 sc | Wy 1 sc | Rx sc; Ry sc | Ry sc; Rx sc", "1 0 1 0", Forbidden),
    ("IRIW+fences", "Wx 1 rlx | Wy 1 rlx | Rx rlx; F sc; Ry rlx | Ry rlx; F sc; Rx rlx", "1 0 1 0", Forbidden),
    ("IRIW+sc, stores weaker", "Wx 1 rel | Wy 1 rel | Rx sc; Ry sc | Ry sc; Rx sc", "1 0 1 0", Forbidden),
    ("WRC", "Wx 1 rlx | Rx rlx; Wy 1 rlx | Ry rlx; Rx rlx", "1 1 0", Allowed),
    ("WRC+rel-acq", "Wx 1 rlx | Rx rlx; Wy 1 rel | Ry acq; Rx rlx", "1 1 0", Forbidden),
    ("RWC", "Wx 1 rel | Rx acq; Ry acq | Wy 1 rel; Rx acq", "1 0 0", Allowed),
    ("RWC+fences", "Wx 1 rlx | Rx rlx; F sc; Ry rlx | Wy 1 rlx; F sc; Rx rlx", "1 0 0", Forbidden),
    ("RWC+sc", "Wx 1 sc | Rx sc; Ry sc | Wy 1 sc; Rx sc", "1 0 0", Forbidden),
    ("W+RWC+sc", "Wx 1 rlx; Wz 1 rel | Rz acq; Ry sc | Wy 1 sc; Rx sc", "1 0 0", Allowed),
    ("ISA2", "Wx 1 rlx; Wy 1 rel | Ry rlx; Wz 1 rlx | Rz acq; Rx rlx", "1 1 0", Allowed),
    ("ISA2+rel-acq", "Wx 1 rlx; Wy 1 rel | Ry acq; Wz 1 rel | Rz acq; Rx rlx", "1 1 0", Forbidden),
    ("ISA2+fences, the middle weaker", "Wx 1 rlx; F sc; Wy 1 rlx | Ry rlx; Wz 1 rlx | Rz rlx; F sc; Rx rlx", "1 1 0", LeftOut),
    ("Z6", "Wx 1 rlx; Wy 1 rel | Wy 2 rel; Wz 1 rel | Rz acq; Rx acq", "1 0 / 1 2 1", Allowed),
    ("Z6+sc", "Wx 1 sc; Wy 1 sc | Wy 2 sc; Wz 1 sc | Rz sc; Rx sc", "1 0 / 1 2 1", Forbidden),
    ("Z6.U", "Wx 1 sc; Wy 1 rel | Uy 1 sc; Ry rlx | Wy 3 sc; Rx sc", "1 3 0 / 1 3 0", LeftOut),
    // One location.
    ("CoRR", "Wx 1 rlx | Rx rlx; Rx rlx", "1 0", Forbidden),
    ("CoRR, two readers", "Wx 1 rlx | Wx 2 rlx | Rx rlx; Rx rlx | Rx rlx; Rx rlx", "1 2 2 1", Forbidden),
    ("CoWW", "Wx 1 rlx; Wx 2 rlx", " / 1 0 0", Forbidden),
    ("CoRW", "Rx rlx; Wx 1 rlx", "1", Forbidden),
    ("CoRW, two threads", "Rx rlx; Wx 1 rlx | Wx 2 rlx", "2 / 2 0 0", Forbidden),
    ("CoWR", "Wx 1 rlx; Rx rlx | Wx 2 rlx", "0", Forbidden),
    ("CoWR, the other's", "Wx 1 rlx; Rx rlx | Wx 2 rlx", "2 / 1 0 0", Forbidden),
    ("CoRR through another thread", "Wx 1 rlx | Rx rlx; Wy 1 rel | Ry acq; Rx rlx", "1 1 0", Forbidden),
    // Read-modify-writes.
    ("two adds", "Ux 1 rlx | Ux 1 rlx", "0 0", Forbidden),
    ("three adds", "Ux 1 rlx | Ux 1 rlx | Ux 1 rlx", "2 1 1", Forbidden),
    ("add of a stale store", "Wx 5 rlx | Ux 1 rlx", "0 / 5 0 0", Allowed),
    ("add and store", "Wx 5 rlx | Ux 1 rlx", "5 / 5 0 0", Forbidden),
    ("two exchanges", "Cx 0 1 rlx rlx | Cx 0 2 rlx rlx", "0 1 0 1", Forbidden),
    ("an exchange does not fail", "Cx 0 1 rlx rlx", "0 0", Forbidden),
    ("a weak one may", "cx 0 1 rlx rlx", "0 0", Allowed),
    ("a weak one finds what is there", "cx 1 2 rlx rlx | Wx 1 rlx", "0 1", Forbidden),
    ("lock by relaxed exchange", "Wx 1 rlx; Wy 1 rel | Cy 1 2 rlx rlx; Rx rlx", "1 1 0", Allowed),
    ("lock by acquiring exchange", "Wx 1 rlx; Wy 1 rel | Cy 1 2 acq rlx; Rx rlx", "1 1 0", Forbidden),
    ("failure does not acquire", "Wx 1 rlx; Wy 1 rel | Cy 0 2 acq rlx; Rx rlx", "1 0 0", Allowed),
    ("failure acquires", "Wx 1 rlx; Wy 1 rel | Cy 0 2 rlx acq; Rx rlx", "1 0 0", Forbidden),
    // Release sequences.
    ("an add goes on with it", "Wx 1 rlx; Wy 1 rel | Uy 1 rlx | Ry acq; Rx rlx", "1 2 0", Forbidden),
    ("two adds do", "Wx 1 rlx; Wy 1 rel | Uy 1 rlx; Uy 1 rlx | Ry acq; Rx rlx", "1 2 3 0", Forbidden),
    ("a store ends it", "Wx 1 rlx; Wy 1 rel | Wy 2 rlx | Ry acq; Rx rlx", "2 0", Allowed),
    ("a store of its own thread ends it, too", "Wx 1 rlx; Wy 1 rel; Wy 2 rlx | Ry acq; Rx rlx", "2 0", Allowed),
    ("it begins at a fence", "Wx 1 rlx; F rel; Wy 1 rlx | Uy 1 rlx | Ry acq; Rx rlx", "1 2 0", Forbidden),
    ("an add that releases, of a store that does not", "Wx 1 rlx; Wy 1 rlx | Uy 1 rel | Ry acq; Rx rlx", "1 2 0", Allowed),
    // SC fences restore order between weaker accesses of other threads.
    ("a fence's floor reaches a relaxed load", "Wx 1 rlx; F sc; Wy 1 rlx | Ry rlx; F sc; Rx rlx", "1 0", Forbidden),
    ("a fence before an SC load", "Wx 1 rlx; F sc; Ry sc | Wy 1 sc; F sc; Rx rlx", "0 0", Forbidden),
    ("an SC load sees what a fence has passed on", "Wx 1 rlx; F sc; Ry rlx | Wy 1 sc; Rx sc", "0 0", Forbidden),
    ("a fence that comes too late", "Wx 1 rlx; Wy 1 rlx; F sc | Ry rlx; F sc; Rx rlx", "1 0", Allowed),
    ("an SC load before the fence", "Wx 1 rlx; Wy 1 rlx; F sc | Ry rlx; Rx sc", "1 0", Allowed),
    ("an SC load may read a later relaxed store", "Wx 1 sc; Wx 2 rlx | Rx sc", "2", Allowed),
    ("SC stores after a relaxed flag", "Wx 1 sc; Wy 1 rlx | Ry rlx; Rx sc", "1 0", LeftOut),
];

/// Is an outcome, as cases write it, among these?
pub(crate) fn has(outcomes: &Outcomes, wanted: &str) -> bool {
    outcomes.iter().map(ToString::to_string).any(|it| {
        it == wanted
            || it.trim_start() == wanted.trim_start()
            || !wanted.contains('/') && it.starts_with(&format!("{wanted} /"))
    })
}
