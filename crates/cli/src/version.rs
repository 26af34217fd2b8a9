//! Which build of Raddle this is: for `--version`, and for stores, which tell builds apart by it.
//!
//! No clock: two builds of one commit with one compiler say the same.

use std::sync::LazyLock;

use raddle_launch::RUNTIME_HASH;

/// The commit, and how that is known; see `build.rs`.
const COMMIT: &str = env!("RADDLE_COMMIT");
const COMPILER: &str = env!("RADDLE_COMPILER");

/// `0.1.0+7bcbf4a9.93d0c1e2`: the version with the commit, if it is known, and the runtime.
pub(crate) fn build() -> String {
    let commit = COMMIT.split(' ').next().filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
    let parts: Vec<&str> = commit.into_iter().chain(RUNTIME_HASH.get(..8)).collect();
    format!("{}+{}", env!("CARGO_PKG_VERSION"), parts.join("."))
}

/// What `--version` prints after the name of the program.
pub(crate) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let version = env!("CARGO_PKG_VERSION");
        format!("{version}\ncommit: {COMMIT}\ncompiler: {COMPILER}\nruntime: {RUNTIME_HASH}")
    });
    &TEXT
}

#[cfg(test)]
mod tests {
    use super::{build, long};

    #[test]
    fn a_build_is_known_by_its_runtime() {
        let runtime = raddle_launch::RUNTIME_HASH;
        assert!(build().starts_with(concat!(env!("CARGO_PKG_VERSION"), "+")), "{}", build());
        assert!(build().ends_with(&runtime[..8]), "{}", build());
        assert!(long().contains("compiler: rustc "), "{}", long());
    }
}
