//! Calls of the hooks that a program calls most, as whole instructions: the runtime makes each lead to a copy that is near.
//!
//! An instruction is written over, so there must be no doubt that it is one: its function is known, and decodes from its
//! beginning to its end. Other calls go the long way.

use std::path::Path;

use iced_x86::{FlowControl, Instruction};
use raddle_trace::protocol::NEAR_HOOKS;

use super::{locate, unhooked::code::Text};

/// The addresses of such calls, sorted, each with the number of its hook.
pub(super) fn near_calls(path: &Path) -> Vec<[u64; 2]> {
    let debug_path = locate::debug_file(path);
    let Some(text) = Text::read_all(path, debug_path.as_deref()) else { return Vec::new() };
    let mut calls: Vec<[u64; 2]> = Vec::new();
    for function in text.functions() {
        let all = text.decode_surely(function).unwrap_or_default();
        let near = all.iter().filter_map(|it| Some([it.ip(), number(&text, it)?]));
        calls.extend(near);
    }
    // Functions may overlap.
    calls.sort_unstable();
    calls.dedup();
    calls
}

/// The number of the hook that an instruction calls, or jumps to as the last that its function does.
fn number(text: &Text, instruction: &Instruction) -> Option<u64> {
    let is_call = match text.bytes(instruction) {
        [0xe8 | 0xe9, _, _, _, _] => true,
        [0xff, 0x15, ..] => instruction.flow_control() == FlowControl::IndirectCall,
        _ => false,
    };
    let hook = text.hook(instruction).filter(|_| is_call)?;
    NEAR_HOOKS.iter().position(|it| *it == hook).map(|it| it as u64)
}
