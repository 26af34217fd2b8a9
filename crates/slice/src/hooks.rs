//! What the functions do that a program calls and does not have: hooks, locks, and a part of the C library.

/// What a call does, by the name of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// Announces a read of what the first argument points to.
    Read,
    /// Announces a write.
    Write,
    /// Announces both.
    ReadWrite,
    /// Announces nothing that matters here.
    Quiet,
    /// Reads, and returns what it read.
    AtomicLoad,
    /// Writes its second argument.
    AtomicStore,
    /// Reads and returns that, writes something made of it and its second argument.
    AtomicUpdate,
    /// The same, and what it read goes where the second argument points to; writes its third argument.
    AtomicExchange,
    /// Uses locks or threads that its first two arguments say.
    Sync,
    /// Creates a thread, whose argument is the fourth.
    Create,
    /// Reads memory and writes it elsewhere.
    Copy,
    /// Reads memory and returns something made of it.
    Look,
    /// Writes memory.
    Fill,
    /// Returns something made of its arguments, or of nothing.
    Plain,
    /// Never comes back.
    End,
    /// Nobody knows.
    Unknown,
}

/// What a function of this name does.
pub(crate) fn callee(name: &str) -> Callee {
    if let Some(rest) = name.strip_prefix("__tsan_") {
        return hook(rest);
    }
    const SYNC: [&str; 6] = ["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "tss_"];
    match name {
        "pthread_create" | "thrd_create" => Callee::Create,
        "pthread_exit" | "exit" | "_exit" | "abort" | "__assert_fail" | "__stack_chk_fail"
        | "_Unwind_Resume" | "quick_exit" | "thrd_exit" => Callee::End,
        _ if SYNC.iter().any(|it| name.starts_with(it)) => Callee::Sync,
        "memcpy" | "memmove" | "strcpy" | "strncpy" | "strcat" | "strncat" | "stpcpy"
        | "__memcpy_chk" | "__memmove_chk" | "__strcpy_chk" => Callee::Copy,
        "strlen" | "strcmp" | "strncmp" | "memcmp" | "strchr" | "strrchr" | "strstr" | "memchr"
        | "atoi" | "atol" | "atof" | "strtol" | "strtoul" | "strtod" => Callee::Look,
        "memset" | "__memset_chk" => Callee::Fill,
        "printf"
        | "fprintf"
        | "puts"
        | "putchar"
        | "fputs"
        | "fputc"
        | "putc"
        | "fwrite"
        | "fflush"
        | "vprintf"
        | "vfprintf"
        | "__printf_chk"
        | "__fprintf_chk"
        | "perror"
        | "usleep"
        | "sleep"
        | "nanosleep"
        | "sched_yield"
        | "malloc"
        | "calloc"
        | "free"
        | "realloc"
        | "aligned_alloc"
        | "posix_memalign"
        | "getpid"
        | "rand"
        | "srand"
        | "time"
        | "clock_gettime"
        | "gettimeofday"
        | "abs"
        | "labs"
        | "signal"
        | "sigaction"
        | "raise"
        | "kill"
        | "alarm"
        | "write"
        | "close"
        | "__errno_location"
        | "__cxa_finalize"
        | "__cxa_atexit"
        | "atexit"
        | "__gmon_start__"
        | "_ITM_deregisterTMCloneTable"
        | "_ITM_registerTMCloneTable" => Callee::Plain,
        _ => Callee::Unknown,
    }
}

/// Does a hook of this name always make a step, and at this place? A range may be empty, and an exchange may be a
/// lock's, which is taken elsewhere if it is not free.
pub(crate) fn is_access(name: &str) -> bool {
    let what = callee(name);
    match what {
        Callee::Read | Callee::Write | Callee::ReadWrite => {
            name.ends_with(|it: char| it.is_ascii_digit())
        }
        Callee::AtomicLoad | Callee::AtomicStore => true,
        Callee::AtomicUpdate => name.contains("_fetch_"),
        _ => false,
    }
}

fn hook(name: &str) -> Callee {
    if let Some(atomic) = name.strip_prefix("atomic") {
        let what = atomic.trim_start_matches(|it: char| it.is_ascii_digit());
        return match what {
            "_load" => Callee::AtomicLoad,
            "_store" => Callee::AtomicStore,
            "_compare_exchange_strong" | "_compare_exchange_weak" => Callee::AtomicExchange,
            "_compare_exchange_val" | "_exchange" => Callee::AtomicUpdate,
            _ if what.starts_with("_fetch_") => Callee::AtomicUpdate,
            _ => Callee::Quiet,
        };
    }
    let name = name.trim_start_matches("unaligned_").trim_start_matches("volatile_");
    let name = name.trim_start_matches("unaligned_");
    if name.starts_with("read_write") {
        return Callee::ReadWrite;
    }
    if name.starts_with("read") || name == "vptr_read" {
        return Callee::Read;
    }
    if name.starts_with("write") || name == "vptr_update" {
        return Callee::Write;
    }
    match name {
        "memcpy" | "memmove" => Callee::Copy,
        "memset" => Callee::Fill,
        _ => Callee::Quiet,
    }
}
