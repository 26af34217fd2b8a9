//! Keys of thread-specific data.

use crate::base::real::Destructor;

/// A key: is it in use, and its destructor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) is_used: bool,
    pub(crate) destructor: Option<Destructor>,
}
