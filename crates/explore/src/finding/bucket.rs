//! The name under which equal findings are counted together.
//!
//! A bucket is made of the finding's kind and of places in the program's own text: function, file name
//! and line. Never of addresses, columns, thread or execution numbers, so that the same bug has the
//! same bucket under another schedule, in another checkout and on another machine. Two bugs that fail
//! at one place by one way share a bucket; one bug with two symptoms has two.

use raddle_model::{Bucket, Kind, Place, hash_bytes, mix};

use super::program;

/// Frames of a stack that count.
pub(super) const N_FRAMES: usize = 3;

/// How much of a place counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Function, file and line.
    Line,
    /// Function and file: for threads that were stopped somewhere on their way round a loop.
    Function,
}

/// The bucket of a kind, the places that make it, and what else tells findings of the kind apart.
pub(super) fn bucket(kind: Kind, sites: &[Place], grain: Grain, detail: &str) -> Bucket {
    let mut hash = hash_bytes(kind.word().as_bytes());
    hash = mix(hash, hash_bytes(detail.as_bytes()));
    for site in sites {
        hash = mix(hash, hash_bytes(site.function.as_bytes()));
        hash = mix(hash, hash_bytes(program::file_name(site).as_bytes()));
        if grain == Grain::Line {
            hash = mix(hash, u64::from(site.line));
        }
        if grain == Grain::Line && site.line == 0 && site.offset != 0 {
            // Without lines, this tells the places of a function apart, as long as it is not rebuilt.
            hash = mix(hash, site.offset);
        }
    }
    Bucket(hash)
}

/// The first frames of a stack that are the program's own.
pub(super) fn own_frames(stack: &[Place]) -> Vec<Place> {
    stack.iter().filter(|it| program::is_own(it)).take(N_FRAMES).cloned().collect()
}

/// The places sorted, each once.
pub(super) fn set(mut places: Vec<Place>) -> Vec<Place> {
    places.sort_by(|a, b| key(a).cmp(&key(b)));
    places.dedup_by(|a, b| key(a) == key(b));
    places
}

/// The pairs of a cycle (where a lock was taken, where the next one is waited for), begun at the pair
/// that makes the whole smallest: which thread has which number does not matter.
pub(super) fn smallest_rotation(pairs: Vec<(Place, Place)>) -> Vec<Place> {
    let rotation = |start: usize| {
        let (front, back) = pairs.split_at(start);
        back.iter().chain(front).flat_map(|(held, wait)| [held, wait])
    };
    let start = (0..pairs.len())
        .min_by(|a, b| rotation(*a).map(key).cmp(rotation(*b).map(key)))
        .unwrap_or_default();
    rotation(start).cloned().collect()
}

/// A message without what may differ from execution to execution: numbers become `#`.
pub(super) fn without_numbers(message: &str) -> String {
    let mut text = String::new();
    let mut chars = message.chars().peekable();
    while let Some(char) = chars.next() {
        if !char.is_ascii_digit() {
            text.push(char);
            continue;
        }
        text.push('#');
        while chars.next_if(char::is_ascii_alphanumeric).is_some() {}
    }
    text
}

fn key(place: &Place) -> (&str, u32, &str) {
    (program::file_name(place), place.line, &place.function)
}

#[cfg(test)]
mod tests {
    use std::slice;

    use raddle_model::{Kind, Place};

    use super::{Grain, bucket, set, smallest_rotation, without_numbers};

    fn place(file: &str, line: u32) -> Place {
        Place { function: "f".into(), file: file.into(), line, ..Place::default() }
    }

    #[test]
    fn directories_and_columns_do_not_count() {
        let here = Place { column: 7, module: "a.out".into(), ..place("/home/me/x.c", 3) };
        let there = place("x.c", 3);
        let of = |site: &Place| bucket(Kind::Assert, slice::from_ref(site), Grain::Line, "x");
        assert_eq!(of(&here), of(&there));
        assert_ne!(of(&here), of(&place("x.c", 4)));
        assert_ne!(of(&here), bucket(Kind::Abort, slice::from_ref(&there), Grain::Line, "x"));
        assert_ne!(of(&here), bucket(Kind::Assert, slice::from_ref(&there), Grain::Line, "y"));
        let coarse = |line| bucket(Kind::Livelock, &[place("x.c", line)], Grain::Function, "");
        assert_eq!(coarse(3), coarse(4));
    }

    #[test]
    fn rotations_are_equal() {
        let pair = |line| (place("x.c", line), place("x.c", line + 1));
        let one = smallest_rotation(vec![pair(5), pair(1), pair(3)]);
        assert_eq!(one, smallest_rotation(vec![pair(1), pair(3), pair(5)]));
        assert_eq!(one.iter().map(|it| it.line).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        assert_ne!(one, smallest_rotation(vec![pair(1), pair(5), pair(3)]));
        assert_eq!(smallest_rotation(Vec::new()), []);
    }

    #[test]
    fn sets_are_sorted() {
        let places = vec![place("b.c", 1), place("a.c", 2), place("/b.c", 1)];
        assert_eq!(set(places), [place("a.c", 2), place("b.c", 1)]);
    }

    #[test]
    fn numbers_do_not_count() {
        assert_eq!(without_numbers("x1 == 0x7ffe12 && y < 23"), "x# == # && y < #");
    }
}
