//! `raddle show`: a finding in words.

use raddle_report::Style;

use crate::{
    args::ShowArgs,
    exit::{Exit, Failure},
    run::here,
    stored,
    terminal::Terminal,
};

/// Shows a finding.
pub(crate) fn show(args: &ShowArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let stored = stored::find(&args.common, &args.id)?;
    let style = Style { full: args.full, ..terminal.out_style };
    terminal.out(&stored::text(&stored, args.common.message_format, &here(), &style));
    Ok(Exit::Clean)
}
