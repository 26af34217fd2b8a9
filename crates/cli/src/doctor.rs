//! `raddle doctor`: is everything here that Raddle needs, and does it find a bug that is known to be
//! there?

mod canary;
mod fix;
mod system;

use raddle_report::{Ink, Style, formats::json};

use crate::{
    exit::{Exit, Failure},
    terminal::Terminal,
    version,
};

/// How one check went.
#[derive(Debug)]
struct Check {
    health: Health,
    /// What was looked at.
    name: &'static str,
    /// What was seen, and what to do about it.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Good,
    /// It works, but not as well as it could.
    Poor,
    /// Raddle can't work.
    Bad,
}

impl Check {
    fn good(name: &'static str, text: impl Into<String>) -> Check {
        Check { health: Health::Good, name, text: text.into() }
    }

    fn poor(name: &'static str, text: impl Into<String>) -> Check {
        Check { health: Health::Poor, name, text: text.into() }
    }

    fn bad(name: &'static str, text: impl Into<String>) -> Check {
        Check { health: Health::Bad, name, text: text.into() }
    }

    fn line(&self, style: &Style) -> String {
        let word = self.health.word();
        let ink = match self.health {
            Health::Good => Ink::Good,
            Health::Poor => Ink::Warning,
            Health::Bad => Ink::Error,
        };
        let padding = " ".repeat(7 - word.len());
        let word = style.paint(ink, word);
        format!("{word}{padding}  {}: {}\n", self.name, self.text.replace('\n', " "))
    }
}

impl Health {
    fn word(self) -> &'static str {
        match self {
            Health::Good => "ok",
            Health::Poor => "warning",
            Health::Bad => "error",
        }
    }
}

/// Checks everything; each check is told as soon as it is done, or all at the end as one value.
pub(crate) fn doctor(
    is_fix: bool,
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    if is_fix {
        let commands = fix::commands();
        if commands.is_empty() {
            terminal.note("nothing is missing\n");
        }
        terminal.out(&commands);
        return Ok(Exit::Clean);
    }
    let mut checks: Vec<json::Check> = Vec::new();
    let mut tell = |check: Check| {
        if !is_json {
            let line = check.line(&terminal.out_style);
            terminal.out(&line);
        }
        let Check { health, name, text } = check;
        checks.push(json::Check { name, health: health.word(), text });
    };
    tell(system::kernel());
    tell(system::fsgsbase());
    tell(system::aslr());
    tell(system::shared_memory());
    canary::check(&mut tell);
    let commands = fix::commands();
    let is_bad = checks.iter().any(|it| it.health == Health::Bad.word());
    if is_json {
        let missing: Vec<&str> = commands.lines().collect();
        terminal.out(&json::doctor(&json::Doctor { raddle: version::long(), checks, missing }));
    } else if !commands.is_empty() {
        terminal.note(
            "something is missing; `raddle doctor --fix` prints the commands that install it\n",
        );
    }
    Ok(if is_bad { Exit::Usage } else { Exit::Clean })
}
