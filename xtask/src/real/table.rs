//! What came of each program, as the table of docs/real-programs.md.

use std::fmt::Write as _;

use serde::Serialize;

use super::recipe::Recipe;

/// One program.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    name: String,
    version: String,
    does: String,
    pub(crate) executions: u64,
    /// Of one execution, on average.
    pub(crate) steps: u64,
    pub(crate) execs_per_s: f64,
    pub(crate) stability: f64,
    /// Kinds of things that could not be controlled; `raddle.log` beside the sources names them.
    pub(crate) uncontrolled: u64,
    /// Findings that are known to be true, each with the reason.
    pub(crate) found: Vec<String>,
    /// Those of them that rest on time.
    pub(crate) timing: Vec<String>,
    /// Findings that are not known, and ends that are not understood.
    pub(crate) trouble: Vec<String>,
}

impl Row {
    pub(crate) fn new(recipe: &Recipe, version: String) -> Self {
        Self {
            name: recipe.name.clone(),
            version,
            does: recipe.does.clone(),
            executions: 0,
            steps: 0,
            execs_per_s: 0.0,
            stability: 0.0,
            uncontrolled: 0,
            found: Vec::new(),
            timing: Vec::new(),
            trouble: Vec::new(),
        }
    }

    /// For a terminal.
    pub(crate) fn line(&self) -> String {
        let Self { executions, steps, execs_per_s, stability, uncontrolled, .. } = self;
        let is_bad = if self.trouble.is_empty() { "ok " } else { "BAD" };
        let mut text = format!(
            "{is_bad} {executions} executions, {steps} steps, {execs_per_s:.1}/s, \
             stability {stability}%, {uncontrolled} uncontrolled"
        );
        let parts =
            [("known", &self.found), ("timing", &self.timing), ("NOT KNOWN", &self.trouble)];
        for (what, list) in parts {
            for it in list {
                let _ = write!(text, "\n    {what}: {it}");
            }
        }
        text
    }
}

/// All of them: the figures, and below what was found of each.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = "| program | version | executions | steps of one | executions/s | stability | uncontrolled \
                    | timing | found | what is run |\n\
                    |---|---|--:|--:|--:|--:|--:|--:|--:|---|\n"
        .to_owned();
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.1} | {} % | {} | {} | {} | {} |",
            row.name,
            row.version,
            row.executions,
            row.steps,
            row.execs_per_s,
            row.stability,
            row.uncontrolled,
            row.timing.len(),
            row.found.len(),
            row.does
        );
    }
    for row in rows {
        let lists = [("", &row.found), ("timing: ", &row.timing), ("NOT KNOWN: ", &row.trouble)];
        for (what, why) in
            lists.iter().flat_map(|(what, list)| list.iter().map(move |it| (what, it)))
        {
            let _ = write!(text, "\n- {}: {what}{why}", row.name);
        }
    }
    text
}
