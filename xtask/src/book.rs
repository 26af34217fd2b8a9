//! The book as pages: `docs` is an mdBook, and what its pages refer to (examples, results) comes along.
//!
//! mdBook takes minutes to compile, so it is no dependency: an installed one is used. That every command
//! prints what is shown is a test of `cli`, that links in the sources lead somewhere one of `tidy`; here, those of the built
//! pages.

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
    let program = mdbook.map_or_else(|| PathBuf::from("mdbook"), Path::to_path_buf);
    let book = build(&root, &root.join("target"), &program)?;
    eprintln!("wrote {}", book.join("docs/ten-minutes.html").display());
    Ok(())
}

/// Builds it below a folder, and looks at every link; where the pages are.
fn build(root: &Path, target: &Path, program: &Path) -> anyhow::Result<PathBuf> {
    let staged = target.join("book-source");
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
    let output = Command::new(program).arg("build").arg(&staged).output().with_context(|| {
        format!("can't start {}; `cargo install mdbook` installs it", program.display())
    })?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "mdbook failed: {words}");
    let is_fine = |line: &str| !["WARN", "ERROR"].iter().any(|it| line.contains(it));
    ensure!(words.lines().all(is_fine), "mdbook warns: {words}");
    let book = target.join("book");
    let dead = dead_links(&book)?;
    ensure!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
    Ok(book)
}

/// Links of the pages to files or headings that are not there.
fn dead_links(book: &Path) -> anyhow::Result<Vec<String>> {
    let mut dead = Vec::new();
    let mut n_links = 0;
    let mut folders = vec![book.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|it| it != "html") {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            // All pages again on one, with links of its own.
            if path
                .file_name()
                .is_some_and(|it| it == "print.html" || it == "404.html" || it == "toc.html")
            {
                continue;
            }
            let links = ["href=\"", "src=\""].into_iter().flat_map(|it| text.split(it).skip(1));
            for link in links.filter_map(|it| it.split('"').next()) {
                let is_outside = ["http:", "https:", "mailto:", "data:", "javascript:"];
                if link.is_empty() || is_outside.iter().any(|it| link.starts_with(it)) {
                    continue;
                }
                n_links += 1;
                let (file, heading) = link.split_once('#').unwrap_or((link, ""));
                let to = if file.is_empty() { path.clone() } else { folder.join(file) };
                let to = if to.is_dir() { to.join("index.html") } else { to };
                let has =
                    |text: &str| heading.is_empty() || text.contains(&format!("id=\"{heading}\""));
                let is_there = match to.extension() {
                    Some(it) if it == "html" => fs::read_to_string(&to).is_ok_and(|it| has(&it)),
                    _ => to.exists(),
                };
                if !is_there {
                    dead.push(format!("{}: {link}", path.strip_prefix(book)?.display()));
                }
            }
        }
    }
    ensure!(n_links > 100, "only {n_links} links were found in {}", book.display());
    Ok(dead)
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
