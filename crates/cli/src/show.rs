//! `raddle show`: a finding in words.

use raddle_report::Style;

use crate::{
    args::{Format, ShowArgs, ShowFormat},
    exit::{Exit, Failure},
    report, stored,
    terminal::{Terminal, here},
};

/// Shows a finding.
pub(crate) fn show(args: &ShowArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let mut stored = stored::find(&args.common, &args.id)?;
    if let Some(original) = stored.original.take().filter(|_| args.original) {
        stored.finding = *original;
        stored.explanation = None;
    }
    let style = Style { full: args.full, ..terminal.out_style };
    let text = match (args.format, args.common.message_format) {
        (Some(ShowFormat::Md), _) => report::brief(stored)?,
        (Some(ShowFormat::Json), _) | (None, Format::Json) => {
            stored::text(&stored, Format::Json, &here(), &style)
        }
        (None, Format::Short) => stored::text(&stored, Format::Short, &here(), &style),
        (Some(ShowFormat::Text) | None, _) => stored::text(&stored, Format::Human, &here(), &style),
    };
    terminal.out(&text);
    Ok(Exit::Clean)
}
