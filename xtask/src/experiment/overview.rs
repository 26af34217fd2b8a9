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

Published results next to Raddle's, by the paper's rules and by Raddle's own. The programs are ours, written from the papers'
descriptions; most are smaller, so counts compare between columns of one row rather than with the paper.

    cargo xtask experiment all            run every experiment; writes results.json and the pages; can be resumed
    cargo xtask experiment rank --only Account   run some cells only; writes nothing
    cargo xtask experiment all --quick    run a few cells of each, as in the tests
    cargo xtask experiment all --check    run everything again; fails if a count differs

This page and all RESULTS.md are generated from the files `results.json`.
";
