//! The commands of the pages in `docs`, and what they print. A block
//!
//!     <!-- run: examples/bank.c examples/fixed -->
//!     ```console
//!     $ raddle run bank.c
//!     error[dl-5301]: …
//!     ```
//!
//! is run in a folder of the page's own, with copies of these files. Each line that it shows must be printed, in this
//! order, and `…` stands for lines that are left out. Changes (`diff`) must be those between an example and its fix.
//! `UPDATE_EXPECT=1` writes what is printed now into the pages.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use common::{folder, stderr, stdout};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

struct Page {
    path: PathBuf,
    /// Without its extension.
    name: String,
    text: String,
}

/// All pages.
fn pages() -> Vec<Page> {
    let mut all = Vec::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
                let text = fs::read_to_string(&path).expect("a page is UTF-8");
                all.push(Page { path, name, text });
            }
        }
    }
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// The blocks of a page: what they need, and their lines.
fn blocks(page: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let block = |part| -> Option<_> {
        let (needs, rest) = str::split_once(part, "-->")?;
        let (_, rest) = rest.split_once("```console\n")?;
        let (lines, _) = rest.split_once("```")?;
        Some((needs.split_whitespace().collect(), lines.lines().collect()))
    };
    let parts = page.split("<!-- run:").skip(1);
    parts.map(|part| block(part).expect("a block below `<!-- run: … -->`")).collect()
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("made");
        for entry in fs::read_dir(from).expect("read").flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }
}

/// What a command of a user prints who has installed Raddle.
fn shell(at: &Path, line: &str) -> String {
    let raddle = Path::new(env!("CARGO_BIN_EXE_raddle"));
    let mut path = raddle.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(at).env("PATH", path).env("LC_ALL", "C.UTF-8");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("RADDLE_") && text != "RADDLE_CACHE" {
            command.env_remove(&name);
        }
    }
    // Results are the same for any number of workers.
    let output = command.env("RADDLE_JOBS", "1").output().expect("a shell");
    stderr(&output) + &stdout(&output)
}

/// Times and rates differ from run to run.
fn without_times(line: &str) -> String {
    match line.find(" in ").filter(|_| line.contains("/s)")) {
        Some(at) => line[..at].to_owned(),
        None => line.trim_end().to_owned(),
    }
}

/// The first line that is promised and not printed.
fn missing<'a>(promised: &[&'a str], printed: &str) -> Option<&'a str> {
    let mut lines = printed.lines().map(without_times);
    let promised = promised.iter().filter(|it| !it.trim().is_empty() && it.trim() != "…");
    let is_overloaded = is_overloaded();
    promised.copied().find(|it| {
        let wanted = without_times(it);
        match (is_overloaded, wanted.split_once("]: ")) {
            (false, _) => !lines.any(|line| line == wanted),
            // What a finding is called does not depend on the machine.
            (true, Some((id, _))) => !lines.any(|line| line.starts_with(id)),
            (true, None) => false,
        }
    })
}

/// Is the machine busy with so much else that the ten seconds for explaining a finding do not suffice? Then its orderings are
/// not known, and neither are the sentences that follow from them.
fn is_overloaded() -> bool {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().and_then(|it| it.parse::<f64>().ok()).unwrap_or_default();
    let n_cores = std::thread::available_parallelism().map_or(1, |it| it.get());
    load > 4.0 * n_cores as f64
}

/// As much of it as a page shows: the last finding down to how to replay it, or else the last line.
fn excerpt(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let (begin, end) = match lines.iter().rposition(|it| it.starts_with("error[")) {
        Some(begin) => {
            let is_last = |it: &&str| it.trim_start().starts_with("= replay:");
            let n =
                lines[begin..].iter().position(is_last).map_or(lines.len(), |it| begin + it + 1);
            (begin, n)
        }
        None => (lines.len().saturating_sub(1), lines.len()),
    };
    let before = if begin > 0 { "…\n" } else { "" };
    let after = if end < lines.len() { "…\n" } else { "" };
    format!("{before}{}\n{after}", lines[begin..end].join("\n"))
}

/// Runs the commands of a page: what is wrong, and the page as it should be.
fn try_page(name: &str, page: &str) -> (Vec<String>, String) {
    let folder = folder();
    let (mut errors, mut told) = (Vec::new(), page.to_owned());
    for (needs, lines) in blocks(page) {
        for file in needs {
            let from = root().join(file);
            copy(&from, &folder.path().join(from.file_name().expect("a name")));
        }
        let starts = lines.iter().enumerate().filter(|it| it.1.starts_with("$ ")).map(|it| it.0);
        let starts: Vec<usize> = starts.chain([lines.len()]).collect();
        for window in starts.windows(2) {
            let command = &lines[window[0]][2..];
            let promised = &lines[window[0] + 1..window[1]];
            let printed = shell(folder.path(), command);
            if let Some(line) = missing(promised, &printed) {
                errors.push(format!("{name}: `{command}` does not print `{line}`:\n{printed}"));
                let old = format!("$ {command}\n{}\n", promised.join("\n"));
                told = told.replacen(&old, &format!("$ {command}\n{}", excerpt(&printed)), 1);
            }
        }
    }
    (errors, told)
}

#[test]
fn commands_print_what_pages_show() {
    let pages: Vec<_> = pages().into_iter().filter(|it| it.text.contains("<!-- run:")).collect();
    assert!(pages.len() > 10, "the pages were not found");
    if raddle_tidy::lacks("rustc", "the Rust examples of the book") {
        return;
    }
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut errors = Vec::new();
    for page in &pages {
        // Explaining a finding has ten seconds, which a machine that is very busy with other things may not give it.
        let mut tried = try_page(&page.name, &page.text);
        for _ in 0..2 {
            if !tried.0.is_empty() {
                tried = try_page(&page.name, &page.text);
            }
        }
        match is_update {
            true => fs::write(&page.path, tried.1).expect("written"),
            false => errors.extend(tried.0),
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n\n"));
}

#[test]
fn every_example_has_a_page_with_its_fix() {
    let examples = root().join("examples");
    let (mut n_examples, pages) = (0, pages());
    for entry in fs::read_dir(examples.join("fixed")).expect("a folder").flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let stem = file.split('.').next().unwrap_or_default();
        let read = |path: &Path| fs::read_to_string(path).expect("an example");
        let (wrong, right) = (read(&examples.join(&file)), read(&entry.path()));
        let page = pages.iter().find(|it| it.name == stem);
        let page = page.unwrap_or_else(|| panic!("no page {stem}.md"));
        let (_, diff) = page.text.split_once("```diff\n").expect("a diff");
        let (diff, _) = diff.split_once("```").expect("its end");
        for line in diff.lines() {
            let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            let has = |all: &str| all.lines().any(|it| it == text);
            let is_so = match sign {
                "-" => has(&wrong),
                "+" => has(&right),
                _ => has(&wrong) && has(&right),
            };
            assert!(is_so, "{stem}.md: `{line}` is not the difference");
        }
        n_examples += 1;
    }
    assert!(n_examples >= 12, "{n_examples} examples");
}

/// Code of a page: lines of blocks, and what stands between backticks.
fn code_of(page: &str) -> Vec<String> {
    let (mut all, mut is_block) = (Vec::new(), false);
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if is_block || line.starts_with("    ") {
            all.push(line.trim().to_owned());
        } else {
            all.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    all
}

/// The words of each call of Raddle in a line of code, without what is the shell's.
fn calls(code: &str) -> Vec<Vec<String>> {
    let parts = code.split(['|', ';', '>']).flat_map(|it| it.split("&&"));
    let call = |part: &str| {
        let part =
            part.split(" #").next().unwrap_or_default().split("  ").next().unwrap_or_default();
        let words = part.trim().trim_start_matches("$ ").split_whitespace();
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        if words.first().is_some_and(|it| it == "cargo")
            && words.get(1).is_some_and(|it| it == "raddle")
        {
            words.swap(0, 1);
        }
        // What follows `--` is the program's.
        let end = words.iter().position(|it| it == "--").unwrap_or(words.len());
        words.truncate(end);
        (words.first().is_some_and(|it| it == "raddle") && words.len() > 1).then_some(words)
    };
    parts.filter_map(call).collect()
}

#[test]
fn every_command_of_the_book_exists() {
    let folder = folder();
    let all = shell(folder.path(), "raddle help all");
    let is_command =
        |it: &str| all.lines().any(|line| line.trim_start().starts_with(&format!("{it} ")));
    let mut helps = std::collections::BTreeMap::new();
    let (mut n_calls, mut errors) = (0, Vec::new());
    let readme = fs::read_to_string(root().join("README.md")).expect("a page");
    let readme = Page { path: root().join("README.md"), name: "README".to_owned(), text: readme };
    for page in pages().iter().filter(|it| it.name != "voice").chain([&readme]) {
        for words in code_of(&page.text).iter().flat_map(|it| calls(it)) {
            let verb = words[1].trim_end_matches([',', '…']);
            if verb.is_empty()
                || verb.starts_with('-')
                || verb.chars().any(|it| !it.is_lowercase() && it != '+')
            {
                continue;
            }
            n_calls += 1;
            // Commands within gdb.
            if page.name == "editors" && ["threads", "start"].contains(&verb) {
                continue;
            }
            if !is_command(verb) && verb != "help" {
                errors.push(format!("{}: no command `{verb}`", page.name));
                continue;
            }
            let help = helps.entry(verb.to_owned()).or_insert_with(|| match verb {
                // All arguments are the compiler's.
                "cc" | "c++" => String::new(),
                "cargo" => shell(folder.path(), "raddle cargo --help; raddle run --help"),
                "store" => shell(
                    folder.path(),
                    "for it in ls export import prune; do raddle store $it --help; done",
                ),
                _ => shell(folder.path(), &format!("raddle {verb} --help")),
            });
            for option in words.iter().filter(|it| it.starts_with("--") && !help.is_empty()) {
                let option: String = option
                    .chars()
                    .take_while(|it| it.is_ascii_alphabetic() || *it == '-')
                    .collect();
                if !help.contains(&option) {
                    errors.push(format!("{}: `raddle {verb}` has no `{option}`", page.name));
                }
            }
        }
    }
    assert!(n_calls > 150, "{n_calls} commands were found");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
