//! Standard output and standard error: who they are, and how to write to them.
//!
//! A reader that goes away (`raddle show … | head`) is no error: the rest is not written, and the exit
//! code stays what it is.

use std::io::{self, IsTerminal, Write};

use raddle_report::{Ink, Style};

use crate::{
    args::{ColorMode, Look},
    exit::Failure,
};

/// Widths that text is laid out for.
const WIDTH_MIN: usize = 60;
const WIDTH_MAX: usize = 120;

/// Where text goes.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// How text on standard output looks: data, reports.
    pub(crate) out_style: Style,
    /// How text on standard error looks: progress, warnings, errors.
    pub(crate) error_style: Style,
    /// Is somebody looking at standard output?
    pub(crate) is_out_terminal: bool,
    /// Is somebody looking at standard error?
    pub(crate) is_error_terminal: bool,
    /// What would have been written, if it is only collected.
    collected: Option<Collected>,
}

/// What would have been written.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Terminal {
    /// The terminal that this process has.
    pub(crate) fn new(look: &Look) -> Terminal {
        let unicode = !look.ascii && is_unicode_locale();
        let style = |is_terminal: bool, size: Option<terminal_size::Width>| Style {
            color: has_color(look.color, is_terminal),
            unicode,
            width: width(size.filter(|_| is_terminal)),
            full: false,
        };
        let is_out_terminal = io::stdout().is_terminal();
        let is_error_terminal = io::stderr().is_terminal();
        let size_of_out = terminal_size::terminal_size_of(io::stdout()).map(|it| it.0);
        let size_of_error = terminal_size::terminal_size_of(io::stderr()).map(|it| it.0);
        Terminal {
            out_style: style(is_out_terminal, size_of_out),
            error_style: style(is_error_terminal, size_of_error),
            is_out_terminal,
            is_error_terminal,
            collected: None,
        }
    }

    /// One that writes nothing, and collects it all.
    pub(crate) fn silent() -> Terminal {
        Terminal {
            out_style: Style::default(),
            error_style: Style::default(),
            is_out_terminal: false,
            is_error_terminal: false,
            collected: Some(Collected::default()),
        }
    }

    /// What would have been written so far.
    #[cfg(test)]
    pub(crate) fn take(&mut self) -> Collected {
        self.collected.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Writes to standard output.
    pub(crate) fn out(&mut self, text: &str) {
        if let Some(collected) = &mut self.collected {
            collected.out.push_str(text);
            return;
        }
        let mut stdout = io::stdout().lock();
        // A reader that is gone, or a full disk, does not change what was found.
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    }

    /// Writes to standard error.
    pub(crate) fn note(&mut self, text: &str) {
        if let Some(collected) = &mut self.collected {
            collected.error.push_str(text);
            return;
        }
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// `warning: …`.
    pub(crate) fn warning(&mut self, line: &str) {
        let label = self.error_style.paint(Ink::Warning, "warning");
        self.note(&format!("{label}: {line}\n"));
    }

    /// `error: …`, after what others have to say.
    pub(crate) fn error(&mut self, failure: &Failure) {
        let label = self.error_style.paint(Ink::Error, "error");
        let words = failure.words.trim_end();
        let gap = if words.is_empty() { "" } else { "\n" };
        self.note(&format!("{words}{gap}{label}: {}\n", failure.line));
    }
}

fn width(terminal: Option<terminal_size::Width>) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|it| it.parse().ok());
    let width = columns.or(terminal.map(|it| usize::from(it.0)));
    width.map_or(80, |it| it.clamp(WIDTH_MIN, WIDTH_MAX))
}

/// What the user says, else `NO_COLOR`, `CLICOLOR_FORCE`, `CARGO_TERM_COLOR`, else by terminal.
fn has_color(mode: ColorMode, is_terminal: bool) -> bool {
    let variable = |name| std::env::var(name).ok().filter(|it| !it.is_empty());
    match mode {
        ColorMode::Always => return true,
        ColorMode::Never => return false,
        ColorMode::Auto => {}
    }
    if variable("NO_COLOR").is_some() {
        return false;
    }
    if variable("CLICOLOR_FORCE").is_some_and(|it| it != "0") {
        return true;
    }
    match variable("CARGO_TERM_COLOR").as_deref() {
        Some("always") => true,
        Some("never") => false,
        _ => is_terminal && variable("TERM").is_none_or(|it| it != "dumb"),
    }
}

/// A locale that says nothing is taken for UTF-8, as terminals are today; `C` is not.
fn is_unicode_locale() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()));
    locale.is_none_or(|it| {
        let it = it.to_ascii_lowercase();
        it.contains("utf-8") || it.contains("utf8")
    })
}

/// The working directory, for paths relative to it; empty if it is not known.
pub(crate) fn here() -> String {
    std::env::current_dir().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}
