//! Rust's std as its users see it: what lies inside its locks and cells has no name of its own.
//!
//! `bank.left.inner.futex.v.value` is `bank.left` to whoever wrote the program, and what a `Mutex` protects is
//! called by its own fields. What an `Arc` allocates is its value, with counts before it.

use super::{
    allocated::Allocated,
    debug::{Debug, Die},
};

/// What a member of a type is to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It has a name.
    Named,
    /// It is the whole under another name: `UnsafeCell::value`.
    Whole,
    /// The whole begins here: what an `Arc` points to.
    Root,
    /// It is std's own: the way ends before it.
    Inside,
}

impl Debug {
    /// What a member of a record is to the program.
    pub(super) fn rust_part(&self, record: Die, member: &str) -> Part {
        let name = self.name_of(record).unwrap_or_default();
        let part = part(name.split('<').next().unwrap_or_default(), member);
        if part == Part::Named {
            return part;
        }
        match self.scope(record).first().map(String::as_str) {
            Some("std" | "core" | "alloc" | "lock_api" | "hashbrown") => part,
            _ => Part::Named,
        }
    }

    /// What `Box::new` and its like allocate: the argument of their type.
    pub(super) fn allocated_by_rust(&self, function: Die, size: u64) -> Option<Allocated> {
        let function = self.origin(function);
        if !self.name_of(function).is_some_and(|it| it.starts_with("new")) {
            return None;
        }
        let scope = self.scope(function);
        let is_pointers = matches!(&scope[..], [first, second, ..]
            if first == "alloc" && ["boxed", "sync", "rc"].contains(&second.as_str()));
        if !is_pointers {
            return None;
        }
        let type_die = self.template_argument(function, "T")?;
        let is_it = size > 0 && self.size_of(type_die) == Some(size);
        is_it.then_some(Allocated::new(type_die, None))
    }

    /// The type of the elements for which a function of `Vec`'s makes room. (Of a string's bytes none is a thing of its own.)
    pub(super) fn element_by_rust(&self, function: Die, size: u64) -> Option<Die> {
        let function = self.origin(function);
        let scope = self.scope(function);
        let is_list = matches!(&scope[..], [first, second, ..]
            if first == "alloc" && ["raw_vec", "vec", "slice"].contains(&second.as_str()));
        let type_die = is_list.then(|| self.template_argument(function, "T")).flatten()?;
        let one = self.size_of(type_die)?;
        (one > 1 && size.is_multiple_of(one)).then_some(type_die)
    }
}

fn part(record: &str, member: &str) -> Part {
    match (record, member) {
        ("ArcInner" | "RcInner" | "RcBox", "data" | "value") => Part::Root,
        ("UnsafeCell" | "SyncUnsafeCell" | "Cell" | "RefCell", "value") => Part::Whole,
        ("ManuallyDrop" | "MaybeUninit" | "MaybeDangling", "value" | "__0") => Part::Whole,
        ("Mutex" | "RwLock" | "ReentrantMutex" | "ReentrantLock" | "LazyLock", "data") => {
            Part::Whole
        }
        ("OnceLock", "value") => Part::Whole,
        ("Mutex" | "RwLock" | "Once", "poison" | "poisoned") => Part::Named,
        ("Mutex" | "RwLock" | "ReentrantMutex" | "ReentrantLock", _) => Part::Inside,
        ("Condvar" | "Barrier" | "Once" | "OnceLock" | "LazyLock", _) => Part::Inside,
        ("Atomic" | "AtomicBool" | "AtomicPtr", _) => Part::Inside,
        ("Vec" | "VecDeque", "len") => Part::Named,
        ("Vec" | "VecDeque" | "String" | "BinaryHeap" | "LinkedList", _) => Part::Inside,
        ("HashMap" | "HashSet" | "BTreeMap" | "BTreeSet", _) => Part::Inside,
        (name, _) if name.starts_with("AtomicU") || name.starts_with("AtomicI") => Part::Inside,
        _ => Part::Named,
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, part};

    #[test]
    fn the_inside_of_std_has_no_names() {
        for (record, member, expected) in [
            ("Mutex", "inner", Part::Inside),
            ("Mutex", "data", Part::Whole),
            ("Mutex", "poison", Part::Named),
            ("UnsafeCell", "value", Part::Whole),
            ("AtomicU32", "v", Part::Inside),
            ("ArcInner", "data", Part::Root),
            ("ArcInner", "strong", Part::Named),
            ("HashMap", "base", Part::Inside),
            ("Vec", "len", Part::Named),
            ("Queue", "data", Part::Named),
        ] {
            assert_eq!(part(record, member), expected, "{record}.{member}");
        }
    }
}
