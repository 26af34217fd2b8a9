//! Nothing here: see `tests`.
