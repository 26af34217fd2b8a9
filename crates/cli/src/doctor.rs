//! `raddle doctor`: is everything here that Raddle needs, and does it find a bug that is known to be
//! there?

mod canary;
mod fix;
mod system;

use raddle_report::{Ink, Style};

use crate::{
    exit::{Exit, Failure},
    terminal::Terminal,
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
        let (word, ink) = match self.health {
            Health::Good => ("ok", Ink::Good),
            Health::Poor => ("warning", Ink::Warning),
            Health::Bad => ("error", Ink::Error),
        };
        let padding = " ".repeat(7 - word.len());
        let word = style.paint(ink, word);
        format!("{word}{padding}  {}: {}\n", self.name, self.text.replace('\n', " "))
    }
}

/// Checks everything; each check is told as soon as it is done.
pub(crate) fn doctor(is_fix: bool, terminal: &mut Terminal) -> Result<Exit, Failure> {
    if is_fix {
        let commands = fix::commands();
        if commands.is_empty() {
            terminal.note("nothing is missing\n");
        }
        terminal.out(&commands);
        return Ok(Exit::Clean);
    }
    let mut is_bad = false;
    let mut tell = |check: Check| {
        is_bad |= check.health == Health::Bad;
        let line = check.line(&terminal.out_style);
        terminal.out(&line);
    };
    tell(system::kernel());
    tell(system::fsgsbase());
    tell(system::aslr());
    tell(system::shared_memory());
    canary::check(&mut tell);
    let commands = fix::commands();
    if !commands.is_empty() {
        terminal.note(
            "something is missing; `raddle doctor --fix` prints the commands that install it\n",
        );
    }
    Ok(if is_bad { Exit::Usage } else { Exit::Clean })
}
