//! The book: every page is in its summary, and every link leads somewhere.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tidy is two deep").into()
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a page that are prose: no code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with("    ")
    })
}

/// Where the links of a page lead, but for those to the web.
fn links(text: &str) -> Vec<String> {
    let targets = prose(text).flat_map(|line| line.split("](").skip(1));
    let targets = targets.filter_map(|it| it.split(')').next());
    let is_local = |it: &&str| !it.contains("://") && !it.is_empty() && !it.contains(' ');
    targets.filter(is_local).map(str::to_owned).collect()
}

/// What headings are called in links, as GitHub and mdBook do it.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|it| it.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_page_is_in_the_summary() {
    let docs = root().join("docs");
    let mut found = Vec::new();
    pages(&docs, &mut found);
    let listed = links(&read(&docs.join("SUMMARY.md")));
    let unique: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "a page is listed twice");
    let name = |it: &PathBuf| it.strip_prefix(&docs).expect("below docs").display().to_string();
    let missing: Vec<String> = found.iter().map(name).filter(|it| !unique.contains(it)).collect();
    assert_eq!(missing, ["SUMMARY.md"], "not in docs/SUMMARY.md");
}

#[test]
fn every_link_leads_somewhere() {
    let root = root();
    let mut all = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        .map(|it| root.join(it))
        .to_vec();
    pages(&root.join("docs"), &mut all);
    let mut errors = Vec::new();
    let mut n_links = 0;
    for page in &all {
        let text = read(page);
        for link in links(&text) {
            n_links += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            let at = page.strip_prefix(&root).unwrap_or(page).display();
            if !target.exists() {
                errors.push(format!("{at}: {link}: {file} does not exist"));
            } else if !anchor.is_empty() && !anchors(&read(&target)).contains(anchor) {
                errors.push(format!("{at}: {link}: no heading `{anchor}`"));
            }
        }
    }
    assert!(n_links > 150, "only {n_links} links were found");
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}
