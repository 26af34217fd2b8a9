//! Where glibc keeps what we read or write in its structures without asking it.
//!
//! None of it is promised. So each offset is held against a real object when the runtime begins (`begin/environment`), and
//! a C library that is laid out otherwise is refused. What it misses: the size word before a block of the heap, and a
//! stream's pointers, for which a block or a stream would have to be made, in the program's heap.

use std::ffi::c_void;

/// Offsets in bytes, and values where there is more than one way to write them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// In a thread's control block, from its thread pointer: its `pthread_t`, the guard of jump buffers, and the kernel's
    /// number of the thread.
    pub(crate) thread_self: usize,
    pub(crate) pointer_guard: usize,
    pub(crate) thread_number: usize,
    /// A mutex's type, with the bits of [`MutexKind`].
    pub(crate) mutex_kind: usize,
    /// A condition variable's attributes; see [`COND_MONOTONIC`].
    pub(crate) cond_attributes: usize,
    /// A reader-writer lock's kind; see [`RWLOCK_PREFERS_WRITERS`].
    pub(crate) rwlock_kind: usize,
    /// How many threads a barrier is for.
    pub(crate) barrier_count: usize,
    /// A semaphore's count.
    pub(crate) sem_count: usize,
    /// The stack pointer in a jump buffer, mangled with the guard.
    pub(crate) jump_sp: usize,
}

/// Of glibc on x86-64.
pub(crate) const LAYOUT: Layout = Layout {
    thread_self: 0x10,
    pointer_guard: 0x30,
    thread_number: 0x2d0,
    mutex_kind: 16,
    cond_attributes: 36,
    rwlock_kind: 48,
    barrier_count: 8,
    sem_count: 0,
    jump_sp: 48,
};

pub(crate) const MUTEX_TYPE: i32 = 3;
pub(crate) const MUTEX_RECURSIVE: i32 = 1;
pub(crate) const MUTEX_ERRORCHECK: i32 = 2;
pub(crate) const MUTEX_ROBUST: i32 = 16;
/// What is written as a mutex's type when it is destroyed.
pub(crate) const MUTEX_DESTROYED: i32 = -1;
/// The bit of a condition variable's attributes that says which clock.
pub(crate) const COND_MONOTONIC: u32 = 2;
/// The kind of a reader-writer lock that prefers writers. (`PTHREAD_RWLOCK_PREFER_WRITER_NP` prefers readers.)
pub(crate) const RWLOCK_PREFERS_WRITERS: i32 = 2;
/// A once block that nobody has begun, and one that is done.
pub(crate) const ONCE_FRESH: i32 = 0;
pub(crate) const ONCE_DONE: i32 = 2;
/// How far a word in a jump buffer is rotated, after the guard is mixed in.
const JUMP_ROTATION: u32 = 0x11;

/// A word of a structure.
///
/// # Safety
///
/// The structure has one there.
#[inline(always)]
pub(crate) const unsafe fn word_at<T>(structure: *const c_void, offset: usize) -> *mut T {
    // SAFETY: the caller's promise.
    unsafe { structure.byte_add(offset).cast_mut().cast() }
}

/// The stack pointer that a jump buffer restores.
///
/// # Safety
///
/// The buffer was filled in.
pub(crate) unsafe fn jump_sp(buffer: *const c_void) -> usize {
    let thread = raddle_fiber::thread_pointer() as *const c_void;
    // SAFETY: the caller's promise; every thread has a control block.
    unsafe {
        let mangled: usize = *word_at(buffer, LAYOUT.jump_sp);
        unmangled(mangled, *word_at(thread, LAYOUT.pointer_guard))
    }
}

const fn unmangled(word: usize, guard: usize) -> usize {
    word.rotate_right(JUMP_ROTATION) ^ guard
}

/// The C library's size word before a block: three flags, of which [`IS_MAPPED`] says that the block is a mapping of its
/// own.
unsafe fn size_word(address: usize) -> usize {
    // SAFETY: the caller has a block of the C library's.
    unsafe { ((address - size_of::<usize>()) as *const usize).read() }
}

const IS_MAPPED: usize = 2;

/// How much of a block the program may use (`malloc_usable_size`).
///
/// # Safety
///
/// It is a block of the C library's.
pub(crate) unsafe fn room_of(address: usize) -> usize {
    // SAFETY: the caller's promise.
    let word = unsafe { size_word(address) };
    let n_words = if word & IS_MAPPED != 0 { 2 } else { 1 };
    (word & !7).saturating_sub(n_words * size_of::<usize>())
}

/// Is the block a mapping of its own, which the C library gives back to the kernel? Whatever is mapped
/// there next has nothing to do with it.
///
/// # Safety
///
/// It is a block of the C library's.
pub(crate) unsafe fn is_mapping_of_its_own(address: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { size_word(address) & IS_MAPPED != 0 }
}

/// Is there nothing left in a stream's buffer? Read pointer and read end are its second and third word.
///
/// # Safety
///
/// It is a stream of the C library's.
pub(crate) unsafe fn is_drained(stream: *const c_void) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let words = stream.cast::<usize>();
        words.add(1).read() >= words.add(2).read()
    }
}

/// Objects that the C library has made in a known way, as the bytes that they are.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// The beginning of this thread's control block, and the thread's `pthread_t` and kernel's number.
    pub(crate) thread: Vec<u8>,
    pub(crate) thread_self: u64,
    pub(crate) thread_number: i32,
    /// A recursive, robust mutex, and one that was destroyed.
    pub(crate) mutex: Vec<u8>,
    pub(crate) destroyed_mutex: Vec<u8>,
    /// Condition variables with either clock.
    pub(crate) realtime_cond: Vec<u8>,
    pub(crate) monotonic_cond: Vec<u8>,
    /// A reader-writer lock that prefers writers.
    pub(crate) rwlock: Vec<u8>,
    /// A barrier for [`COUNT`] threads, and a semaphore with that count.
    pub(crate) barrier: Vec<u8>,
    pub(crate) sem: Vec<u8>,
    /// A once block that is done.
    pub(crate) once: i32,
    /// A jump buffer, and the stack pointer that it was filled in with.
    pub(crate) jump: Vec<u8>,
    pub(crate) sp: u64,
}

/// A number that stands nowhere by chance.
pub(crate) const COUNT: u32 = 0x1703;

/// The first structure that is not laid out so.
pub(crate) fn first_unknown(layout: &Layout, made: &Made) -> Option<&'static str> {
    let at32 = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 4)?;
        Some(i32::from_le_bytes(word.try_into().expect("bug: four bytes")))
    };
    let at64 = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 8)?;
        Some(u64::from_le_bytes(word.try_into().expect("bug: eight bytes")))
    };
    let kind = at32(&made.mutex, layout.mutex_kind).map(|it| it & (MUTEX_TYPE | MUTEX_ROBUST));
    let clock =
        |cond: &[u8]| at32(cond, layout.cond_attributes).map(|it| it as u32 & COND_MONOTONIC);
    let sp = at64(&made.jump, layout.jump_sp).zip(at64(&made.thread, layout.pointer_guard));
    let sp = sp.map(|(word, guard)| unmangled(word as usize, guard as usize) as u64);
    let facts = [
        ("pthread_t", at64(&made.thread, layout.thread_self) == Some(made.thread_self)),
        ("pthread_t", at64(&made.thread, 0) == Some(made.thread_self)),
        ("pthread_t", at32(&made.thread, layout.thread_number) == Some(made.thread_number)),
        ("pthread_mutex_t", kind == Some(MUTEX_RECURSIVE | MUTEX_ROBUST)),
        (
            "pthread_mutex_t",
            at32(&made.destroyed_mutex, layout.mutex_kind) == Some(MUTEX_DESTROYED),
        ),
        ("pthread_cond_t", clock(&made.realtime_cond) == Some(0)),
        ("pthread_cond_t", clock(&made.monotonic_cond) == Some(COND_MONOTONIC)),
        (
            "pthread_rwlock_t",
            at32(&made.rwlock, layout.rwlock_kind) == Some(RWLOCK_PREFERS_WRITERS),
        ),
        ("pthread_barrier_t", at32(&made.barrier, layout.barrier_count) == Some(COUNT as i32)),
        ("sem_t", at32(&made.sem, layout.sem_count) == Some(COUNT as i32)),
        ("pthread_once_t", made.once == ONCE_DONE),
        ("jmp_buf", sp == Some(made.sp)),
    ];
    facts.into_iter().find(|it| !it.1).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As this layout has it, and noughts elsewhere.
    fn made() -> Made {
        let with = |words: &[(usize, u64)]| {
            let mut bytes = vec![0; 1024];
            for (at, word) in words {
                bytes[*at..*at + 8].copy_from_slice(&word.to_le_bytes());
            }
            bytes
        };
        let (fs, guard, sp) = (0x7f00_1234_5000_u64, 0x5eed_cafe_u64, 0x7ffc_0010_u64);
        let mangled = (sp ^ guard).rotate_left(JUMP_ROTATION);
        Made {
            thread: with(&[(0, fs), (0x10, fs), (0x30, guard), (0x2d0, 4711)]),
            thread_self: fs,
            thread_number: 4711,
            mutex: with(&[(16, 17)]),
            destroyed_mutex: with(&[(16, u64::MAX)]),
            realtime_cond: with(&[]),
            monotonic_cond: with(&[(36, 2)]),
            rwlock: with(&[(48, 2)]),
            barrier: with(&[(8, COUNT.into())]),
            sem: with(&[(0, COUNT.into())]),
            once: 2,
            jump: with(&[(48, mangled)]),
            sp,
        }
    }

    #[test]
    fn every_wrong_offset_is_refused() {
        assert_eq!(first_unknown(&LAYOUT, &made()), None);
        let right = LAYOUT;
        let wrong = [
            ("pthread_t", Layout { thread_self: 0x18, ..right }),
            ("pthread_t", Layout { thread_number: 0x2d8, ..right }),
            ("pthread_mutex_t", Layout { mutex_kind: 24, ..right }),
            ("pthread_cond_t", Layout { cond_attributes: 44, ..right }),
            ("pthread_rwlock_t", Layout { rwlock_kind: 24, ..right }),
            ("pthread_barrier_t", Layout { barrier_count: 16, ..right }),
            ("sem_t", Layout { sem_count: 8, ..right }),
            ("jmp_buf", Layout { jump_sp: 56, ..right }),
            ("jmp_buf", Layout { pointer_guard: 0x28, ..right }),
            ("jmp_buf", Layout { jump_sp: 4096, ..right }),
        ];
        for (structure, layout) in wrong {
            assert_eq!(first_unknown(&layout, &made()), Some(structure), "{layout:?}");
        }
    }

    #[test]
    fn other_values_are_refused() {
        let check =
            |made: Made, expected| assert_eq!(first_unknown(&LAYOUT, &made), Some(expected));
        check(Made { once: 1, ..made() }, "pthread_once_t");
        check(Made { destroyed_mutex: vec![0; 40], ..made() }, "pthread_mutex_t");
        check(Made { realtime_cond: vec![0xff; 48], ..made() }, "pthread_cond_t");
    }
}
