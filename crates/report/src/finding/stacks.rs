//! Stacks, as TSan writes them: `#0 transfer bank.c:31`, and the source line of the innermost frame.

use std::fmt::Write as _;

use raddle_model::Frame;

use crate::{
    finding::shown::Shown,
    layout::style::{Ink, Style, width},
    words::place::{self, Sources},
};

/// Frames shown of a stack, unless all are wanted.
const FRAMES_MAX: usize = 8;
/// Frames of crates from a registry among them, inside the program's own.
const CRATE_FRAMES_MAX: usize = 3;

/// The frames, each on its line, indented by `indent`.
pub(crate) fn render(
    out: &mut String,
    shown: &Shown<'_>,
    frames: &[Frame],
    indent: usize,
    style: &Style,
    sources: &mut Sources<'_>,
) {
    let own = frames.iter().position(|it| !place::is_library(it) && it.line > 0);
    let is_rust = place::is_rust(frames);
    let is_folded = |it: &Frame| place::is_library(it) || is_rust && place::is_glue(it);
    // A crate that somebody else wrote may be where the fault is: its innermost frames are told.
    let crates = frames.iter().take(own.unwrap_or(0)).enumerate();
    let crates = crates.filter(|(_, it)| raddle_rust_std::is_registry_crate(&it.file));
    let crates: Vec<usize> = crates.map(|it| it.0).take(CRATE_FRAMES_MAX).collect();
    let is_shown = |number: usize, it: &Frame| {
        style.full || own.is_none() || !is_folded(it) || crates.contains(&number)
    };
    let (mut n_shown, mut n_left_out) = (0, 0);
    for (number, frame) in frames.iter().enumerate() {
        if !is_shown(number, frame) || !style.full && n_shown == FRAMES_MAX {
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
    let room = style.width.saturating_sub(width(head) + 2);
    let source = style.tame(source.unwrap_or_default());
    if source.trim().is_empty() || room < 12 {
        return head.to_owned();
    }
    format!("{head}  {}", style.paint(Ink::Dim, &style.cut(source.trim(), room)))
}

#[cfg(test)]
mod tests {
    use raddle_model::{Kind, Place};

    use super::render;
    use crate::{finding::shown::Shown, layout::style::Style, tests::samples};

    /// What std and crates do around the program's own calls is folded; what a crate does at the very inside is not.
    #[test]
    fn a_failure_inside_a_crate_is_shown_there() {
        let place = |file: &str, line: u32, function: &str| Place {
            file: file.into(),
            line,
            function: function.into(),
            ..Place::default()
        };
        let frames = [
            place("/rustc/abc/library/core/src/panicking.rs", 75, "core::panicking::panic"),
            place(
                "/home/me/.cargo/registry/src/x/queue-1.0.0/src/ring.rs",
                40,
                "queue::ring::push",
            ),
            place("/home/me/.cargo/registry/src/x/queue-1.0.0/src/lib.rs", 12, "queue::push"),
            place("/home/me/app/src/main.rs", 9, "app::fill"),
            place("/home/me/.cargo/registry/src/x/rayon-1.0.0/src/lib.rs", 3, "rayon::scope"),
            place("/home/me/app/src/main.rs", 20, "app::main"),
        ];
        let finding = samples::blank(Kind::Panic, 1);
        let shown = Shown {
            finding: &finding,
            id: "",
            seed: None,
            reproduced: None,
            base: "/home/me/app",
            explanation: None,
            test: None,
        };
        let mut out = String::new();
        render(&mut out, &shown, &frames, 0, &Style::default(), &mut |_| None);
        let numbers: Vec<&str> = out.lines().filter_map(|it| it.split(' ').next()).collect();
        assert_eq!(numbers, ["#1", "#2", "#3", "#5"], "{out}");
    }
}
