//! What operations return.

use std::{any::Any, fmt::Debug};

/// What an operation may return: any type that can be compared and printed.
pub trait Value: Any + Send {
    /// Is it equal to another?
    fn is(&self, other: &dyn Value) -> bool;
    /// How it is printed.
    fn text(&self) -> String;
}

impl<T: Any + Send + Debug + PartialEq> Value for T {
    fn is(&self, other: &dyn Value) -> bool {
        (other as &dyn Any).downcast_ref::<T>().is_some_and(|it| self == it)
    }

    fn text(&self) -> String {
        format!("{self:?}")
    }
}

/// `pop()`, `push(1)`, `put(1, "a")`.
pub(super) fn call_text(name: &str, arguments: &impl Debug) -> String {
    let text = format!("{arguments:?}");
    if text.starts_with('(') { format!("{name}{text}") } else { format!("{name}({text})") }
}
