//! `experiments/README.md`: one page with a table for each paper.

use super::{EXPERIMENTS, page::Page, results::Results};

/// The page, of all results that there are.
pub(super) fn page() -> anyhow::Result<Page> {
    let mut text = String::from(HEAD);
    for experiment in EXPERIMENTS {
        let path = experiment.results();
        if path.exists() {
            text.push('\n');
            text += &(experiment.overview)(&Results::read(&path)?)?;
        }
    }
    Ok(Page::whole("experiments/README.md", text))
}

const HEAD: &str = "\
# The papers' experiments

Published figures, beside ours by the paper's rules and by our own. The programs are ours, written after the papers'
descriptions; most are smaller, so counts compare between columns of one row rather than with the paper.

    cargo xtask experiment all            every experiment, into results.json and the pages; an interrupted run goes on
    cargo xtask experiment rank --only Account   some cells only; nothing is written
    cargo xtask experiment all --quick    a few cells of each, as the tests have it
    cargo xtask experiment all --check    makes everything again, and fails where a count differs

This page and all RESULTS.md are made of the files `results.json`.
";
