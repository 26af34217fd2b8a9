//! Names of signals.

/// `SIGSEGV`, or `signal 42`. Numbers as on Linux (x86-64 and most others).
pub(super) fn name(signal: i32) -> String {
    const NAMES: [&str; 32] = [
        "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
        "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
        "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    match usize::try_from(signal).ok().and_then(|it| NAMES.get(it)) {
        Some(name) if !name.is_empty() => format!("SIG{name}"),
        _ => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names() {
        assert_eq!([name(6), name(11), name(31)], ["SIGABRT", "SIGSEGV", "SIGSYS"]);
        assert_eq!([name(0), name(40), name(-1)], ["signal 0", "signal 40", "signal -1"]);
    }
}
