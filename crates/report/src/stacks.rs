//! Stacks, as TSan writes them: `#0 transfer bank.c:31`, and the source line of the innermost frame.

use std::fmt::Write as _;

use raddle_model::Frame;

use crate::{
    Style, place,
    style::Ink,
    text::{Shown, Sources},
};

/// Frames shown of a stack, unless all are wanted.
const FRAMES_MAX: usize = 8;

/// The frames, each on its line, indented by `indent`.
pub(crate) fn render(
    out: &mut String,
    shown: &Shown<'_>,
    frames: &[Frame],
    indent: usize,
    style: &Style,
    sources: &mut Sources<'_>,
) {
    let n_shown = if style.full { frames.len() } else { frames.len().min(FRAMES_MAX) };
    for (number, frame) in frames[..n_shown].iter().enumerate() {
        let head = format!("{:indent$}{}", "", line(number, frame, shown.base));
        let source = if number == 0 { sources(frame) } else { None };
        let _ = writeln!(out, "{}", beside(&head, source.as_deref(), style));
    }
    if n_shown < frames.len() {
        let _ = writeln!(out, "{:indent$}{} {} more", "", style.ellipsis(), frames.len() - n_shown);
    }
}

fn line(number: usize, frame: &Frame, base: &str) -> String {
    let place = place::long(frame, base);
    let function = match frame.function.as_str() {
        "" => "??",
        function => function,
    };
    if place == function || place.is_empty() {
        let module = if frame.module.is_empty() { "" } else { &frame.module };
        format!("#{number} {function} {module}").trim_end().to_owned()
    } else {
        format!("#{number} {function} {place}")
    }
}

/// The head with the source text beside it, as far as there is room.
pub(crate) fn beside(head: &str, source: Option<&str>, style: &Style) -> String {
    let room = style.width.saturating_sub(head.chars().count() + 2);
    let source = style.tame(source.unwrap_or_default());
    if source.trim().is_empty() || room < 12 {
        return head.to_owned();
    }
    format!("{head}  {}", style.paint(Ink::Dim, &style.cut(source.trim(), room)))
}
