//! The book as pages: `docs` is an mdBook, and what its pages refer to (examples, results) comes along.
//!
//! mdBook takes minutes to compile, so it is no dependency: an installed one is used. What CI has to know of the book (every
//! page is reachable, every link leads somewhere, every command prints what is shown) is in tests of `tidy` and `cli`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

/// What pages refer to beside each other.
const BESIDE: &[&str] = &[
    "docs",
    "examples",
    "cmake",
    "experiments",
    "README.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "action.yml",
];

/// Builds the book into `target/book`.
pub(crate) fn run(mdbook: Option<&Path>) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let staged = root.join("target/book-source");
    if staged.exists() {
        fs::remove_dir_all(&staged)?;
    }
    for name in BESIDE {
        copy(&root.join(name), &staged.join("src").join(name))?;
    }
    // Links lead out of `docs`, so the source of the book is a folder above it.
    let summary = fs::read_to_string(root.join("docs/SUMMARY.md"))?.replace("](", "](docs/");
    fs::write(staged.join("src/SUMMARY.md"), summary)?;
    fs::remove_file(staged.join("src/docs/SUMMARY.md"))?;
    let settings = fs::read_to_string(root.join("docs/book.toml"))?;
    let settings = settings.replace("src = \".\"", "src = \"src\"");
    fs::write(staged.join("book.toml"), settings.replace("../target/book", "../book"))?;
    let program = mdbook.map_or_else(|| PathBuf::from("mdbook"), Path::to_path_buf);
    let status = Command::new(&program).arg("build").arg(&staged).status().with_context(|| {
        format!("can't start {}; `cargo install mdbook` installs it", program.display())
    })?;
    ensure!(status.success(), "mdbook failed");
    let page = root.join("target/book/docs/ten-minutes.html");
    ensure!(page.exists(), "{} was not written", page.display());
    eprintln!("wrote {}", page.display());
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)?.flatten() {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else {
        fs::create_dir_all(to.parent().context("a folder")?)?;
        fs::copy(from, to).with_context(|| from.display().to_string())?;
    }
    Ok(())
}
