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
    let has_own = frames.iter().any(|it| !place::is_library(it) && it.line > 0);
    let is_rust = place::is_rust(frames);
    let is_folded = |it: &Frame| place::is_library(it) || is_rust && place::is_glue(it);
    let is_shown = |it: &Frame| style.full || !has_own || !is_folded(it);
    let (mut n_shown, mut n_left_out) = (0, 0);
    for (number, frame) in frames.iter().enumerate() {
        if !is_shown(frame) || !style.full && n_shown == FRAMES_MAX {
            n_left_out += 1;
            continue;
        }
        let head = format!("{:indent$}{}", "", line(number, frame, shown.base, style));
        let source = if n_shown == 0 { sources(frame) } else { None };
        let _ = writeln!(out, "{}", beside(&head, source.as_deref(), style));
        n_shown += 1;
    }
    if n_shown == FRAMES_MAX && n_left_out > 0 {
        let _ = writeln!(out, "{:indent$}{} {n_left_out} more", "", style.ellipsis());
    }
}

fn line(number: usize, frame: &Frame, base: &str, style: &Style) -> String {
    let place = place::long(frame, base);
    let function = match frame.function.as_str() {
        "" => "??".to_owned(),
        function if style.full => function.to_owned(),
        function => place::function(function),
    };
    if frame.file.is_empty() {
        match (frame.function.as_str(), place::offset(frame)) {
            ("", offset) if !offset.is_empty() => format!("#{number} {place}"),
            (_, offset) => {
                format!("#{number} {function}{offset} {}", frame.module).trim_end().to_owned()
            }
        }
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
