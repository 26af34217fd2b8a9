//! Whose fault an error is: the command line maps it to exit codes.

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What the user asked for can't be done, or names something that isn't there.
    User,
    /// The compiler refused the source.
    Compiler,
    /// The machine did not let us: no space, no permission, no process.
    World,
}
