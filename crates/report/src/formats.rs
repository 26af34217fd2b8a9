//! Findings as other tools want them: SARIF, JUnit's XML, traces for Perfetto, Markdown, GitHub's annotations, GitLab's code quality; graphs as
//! Graphviz does; lines as compilers write them.

mod dot;
mod github;
mod gitlab;
pub mod json;
mod junit;
mod markdown;
mod perfetto;
mod sarif;
mod short;

use crate::finding::shown::Shown;

pub(crate) use self::dot::AT_FIRST;
pub use self::{
    dot::dot,
    github::annotations,
    gitlab::code_quality,
    junit::{Suite, junit, junit_of_suite},
    markdown::{markdown, markdown_of_run},
    perfetto::perfetto,
    sarif::sarif,
    short::short,
};

/// A finding, with what these formats say around it.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The finding, as it is told.
    pub shown: Shown<'a>,
    /// What was run, as the user calls it.
    pub program: &'a str,
    /// Why it fails, one sentence each; empty if that is not known.
    pub reason: Vec<String>,
}

#[cfg(test)]
mod tests;
