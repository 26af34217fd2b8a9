//! Where sources of std and of crates from a registry are, as debug information says it.

/// Is the file a source of Rust's library, or of a crate from a registry?
pub fn is_rust_library(file: &str) -> bool {
    is_compilers(file) || file.contains("/rustlib/src/rust/") || is_registry_crate(file)
}

/// Is the file a source of a crate from a registry?
pub fn is_registry_crate(file: &str) -> bool {
    file.contains("/registry/src/")
}

/// Did a unit of debug information come with the compiler? Crates that the prebuilt std brings along are compiled elsewhere.
pub fn is_compilers(path: &str) -> bool {
    path.starts_with("/rustc/") || path.starts_with("/rust/deps/")
}
