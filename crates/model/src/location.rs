//! Where a piece of memory is, in the program's own words.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{Common, Frame, ObjectId, Place, ThreadId};

/// A piece of memory: what it is called, what it is part of, where that is.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(default))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// What the program calls it: `queue.len`, `slots[3].state`; of a heap block, after its type,
    /// `Queue#2.len`. Empty if it has no name.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "String::is_empty"))]
    pub name: String,
    /// Bytes into what the name stands for.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub shift: u64,
    /// The type whose field it is: `struct Queue`; empty if it is none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "String::is_empty"))]
    pub field_of: String,
    /// The type of the whole variable or block; empty if it is not known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "String::is_empty"))]
    pub type_name: String,
    /// The size of the whole variable or block; 0 if it is not known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub size: u64,
    /// What is there.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Content::is_number"))]
    pub content: Content,
    /// Where the whole is.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Home::is_unknown"))]
    pub home: Home,
}

/// What the bytes at a location are, as far as it changes how their value is shown.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// A number, or nobody knows.
    #[default]
    Number,
    /// An address.
    Pointer,
    /// A part of a type of the language's library: its value says nothing to the program's author.
    Inside,
    /// One of an enumeration.
    Enumeration(Box<Enumerators>),
}

/// The values of an enumeration, and what each is called.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enumerators(pub Vec<(i64, String)>);

impl Content {
    /// Is it shown as a number?
    pub const fn is_number(&self) -> bool {
        matches!(self, Content::Number)
    }
}

impl Location {
    /// Is neither a name nor a place known?
    pub fn is_unknown(&self) -> bool {
        self.name.is_empty() && self.home.is_unknown()
    }
}

#[cfg(feature = "serde")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Where a variable, a block or another object is.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// Nobody knows.
    #[default]
    Unknown,
    /// A global, or a static variable of a function.
    Global {
        /// Where it is declared.
        declared_at: Place,
        /// The function that has it; empty if none has.
        function: String,
    },
    /// Allocated memory.
    Heap {
        /// Who allocated it.
        thread: ThreadId,
        /// Which block of its site, from 1.
        nth: u32,
        /// Bytes into the block.
        offset: u64,
        /// Where, innermost first: at least the program's own call, if it is known.
        stack: Vec<Frame>,
        /// What sort of block it is.
        #[cfg_attr(feature = "serde", serde(default))]
        sort: BlockSort,
    },
    /// A function's variable.
    Stack {
        /// On whose stack.
        thread: ThreadId,
        /// The function that has it; empty if it is not known.
        function: String,
        /// Where it is declared.
        declared_at: Place,
    },
    /// A thread, as what others join.
    Thread(ThreadId),
    /// What a thread of Rust's std sleeps on.
    Parker(ThreadId),
    /// A descriptor.
    Descriptor(u32),
    /// Both ends of a pipe.
    Pipe([u32; 2]),
    /// In the C library or the kernel.
    Common(Common),
    /// Nothing is known of it but its number.
    Number(ObjectId),
}

impl Home {
    /// Is nothing known?
    pub fn is_unknown(&self) -> bool {
        *self == Home::Unknown
    }
}

/// What sort of block memory is in.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum BlockSort {
    /// What `malloc` and its like give out.
    #[default]
    Heap = 0,
    /// Memory that the program has mapped.
    Mapping = 1,
    /// A file that it has mapped.
    File = 2,
}

impl BlockSort {
    /// The one whose number this is.
    pub const fn from_number(number: u16) -> BlockSort {
        match number {
            1 => BlockSort::Mapping,
            2 => BlockSort::File,
            _ => BlockSort::Heap,
        }
    }

    /// What it is called.
    pub const fn word(self) -> &'static str {
        match self {
            BlockSort::Heap => "heap block",
            BlockSort::Mapping => "mapping",
            BlockSort::File => "mapped file",
        }
    }

    /// What was done to have it.
    pub const fn made(self) -> &'static str {
        match self {
            BlockSort::Heap => "allocated",
            BlockSort::Mapping | BlockSort::File => "mapped",
        }
    }
}
