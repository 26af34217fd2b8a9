//! A finding's report: [`text`] puts its sections in order, each other file is one of them, or what sections share.

pub mod diagnosis;
pub(crate) mod evidence;
pub mod named;
pub mod reason;
pub mod shown;
pub(crate) mod snippet;
pub(crate) mod stacks;
pub mod text;
