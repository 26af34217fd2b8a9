//! What we depend on may be used in a program under MIT OR Apache-2.0, and comes from the registry.

use cargo_metadata::{CargoOpt, MetadataCommand};

/// Licences that ask for no more than to be named.
const ALLOWED: &[&str] = &["MIT-0", "MIT", "Apache-2.0", "Zlib", "Unicode-3.0"];

/// Is one alternative of each part allowed? Old manifests write `/` for `OR`.
fn is_allowed(licence: &str) -> bool {
    let is_part_allowed = |part: &str| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        part.replace('/', " OR ").split(" OR ").any(|it| ALLOWED.contains(&it.trim()))
    };
    licence.split(" AND ").all(is_part_allowed)
}

#[test]
fn licences_are_allowed() {
    assert!(is_allowed("MIT/Apache-2.0") && is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0"));
    assert!(!is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0"));
    let mut command = MetadataCommand::new();
    command.features(CargoOpt::AllFeatures);
    command.other_options(["--filter-platform=x86_64-unknown-linux-gnu".to_owned()]);
    let metadata = command.exec().expect("cargo metadata answers");
    let others: Vec<_> = metadata.packages.iter().filter(|it| it.source.is_some()).collect();
    assert!(others.len() > 50, "these are not all: {}", others.len());
    for package in others {
        let (name, licence) = (&package.name, package.license.as_deref().unwrap_or("none"));
        assert!(is_allowed(licence), "{name}: {licence}");
        let source = package.source.as_ref().expect("bug: looked at above");
        assert!(source.is_crates_io(), "{name} comes from {source}");
    }
}
