//! Checks of the repository itself, run as tests: the arrows between crates, and the texts.
