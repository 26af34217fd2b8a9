//! `raddle --help` on one screen: commands by what people want to do. `raddle help all` has clap's own list.

/// What `raddle`, `raddle help` and `raddle --help` print.
pub(crate) const TEXT: &str = "\
Find concurrency bugs in C, C++ and Rust programs by controlling their schedules

Usage: raddle COMMAND [OPTIONS]                 First try: raddle run bank.c

Find        run             explore the interleavings of a program
            cargo test      the same for each test of a Rust crate
            ci              the same on a build server: quiet, all findings
            total, compare  only interleavings that matter; compare strategies
Understand  show, explain   a finding; what its kind means
            replay, debug   run its schedule again; under gdb or lldb
            min, report     minimise it; a page, SARIF, JUnit, Markdown
            orders          memory orders that could be weaker
Settle      regress         check whether a change fixed it
            review          keep it as a test, suppress it, or discard it
            list, store     all findings; export, import and prune them
Build       cc, c++         compile with instrumentation (CC=raddle-cc)
Set up      init, doctor    write raddle.toml; check this machine
            setup           CMake package, pkg-config; or completions, man

Options: --color WHEN, --ascii, -V, --version, -h, --help
Exit codes: 0 clean, 1 usage, 2 findings, 3 inconclusive, 4 fails without
  concurrency, 5 not reproduced, 70 internal error, 130 interrupted

More: `raddle COMMAND --help`, and `raddle help all` for all commands.
";

/// Is everything asked for? `raddle help all`, `raddle --help-all`.
pub(crate) fn asks_for_all(line: &[std::ffi::OsString]) -> bool {
    let words: Vec<&str> = line.iter().skip(1).filter_map(|it| it.to_str()).collect();
    matches!(words[..], ["help", "all"] | ["--help-all"])
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::TEXT;
    use crate::args::Arguments;

    #[test]
    fn it_fits_one_screen() {
        assert!(TEXT.lines().count() < 25, "{} lines", TEXT.lines().count());
        let wide: Vec<&str> = TEXT.lines().filter(|it| it.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:?}");
    }

    #[test]
    fn it_has_every_command() {
        let words: Vec<&str> = TEXT.split([' ', ',', '\n', '`']).collect();
        for command in Arguments::command().get_subcommands().filter(|it| !it.is_hide_set()) {
            assert!(words.contains(&command.get_name()), "{} is missing", command.get_name());
        }
    }
}
