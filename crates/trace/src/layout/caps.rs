//! How many entries each area has room for.

/// How many entries each area has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Caps {
    /// Executions in one block.
    pub block: u32,
    /// Choices in a prefix.
    pub prefix: u32,
    /// Names of shared variables, known and found.
    pub shared: u32,
    /// Events kept; older ones are overwritten. A power of two.
    pub events: u32,
    /// Sites.
    pub sites: u32,
    /// Objects described; further ones are numbered without description.
    pub objects: u32,
    /// Threads described.
    pub threads: u32,
    /// Modules.
    pub modules: u32,
    /// Notes of what could not be controlled.
    pub notes: u32,
    /// Pages that executions write.
    pub pages: u32,
    /// Races that the executions of a block show, each once.
    pub races: u32,
    /// Which execution of a block showed which of them.
    pub sightings: u32,
    /// Stacks that objects and threads come from.
    pub stacks: u32,
    /// Words of eight bytes for executions that are told in brief.
    pub briefs: u32,
    /// Instructions that are to be announced.
    pub traps: u32,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps {
            block: 4096,
            prefix: 1 << 20,
            shared: 1 << 16,
            events: 1 << 15, // a megabyte: it stays in the processor's cache
            sites: 1 << 16,
            objects: 1 << 16,
            threads: 1 << 12,
            modules: 256,
            notes: 64,
            pages: 1 << 12,
            races: 1 << 12,
            sightings: 1 << 16,
            stacks: 1 << 13,
            briefs: 1 << 17,
            traps: 1 << 12,
        }
    }
}
