//! Objects of an execution as findings name them: data, of which their names are made here. Nothing reads a name.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{Home, Location, ThreadId};

/// An object of an execution.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(default))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedObject {
    /// What kind of thing it is.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "ObjectClass::is_variable"))]
    pub class: ObjectClass,
    /// Where it is, which is what it is called by.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Location::is_unknown"))]
    pub location: Location,
    /// How many before it are called the same.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub n_before: u32,
}

impl NamedObject {
    /// The only one that is called so.
    pub const fn new(class: ObjectClass, location: Location) -> NamedObject {
        NamedObject { class, location, n_before: 0 }
    }

    /// A thing that is known by nothing but what it is.
    pub fn at(class: ObjectClass, home: Home) -> NamedObject {
        NamedObject::new(class, Location { home, ..Location::default() })
    }

    /// What the program calls so, wherever it is.
    pub fn called(class: ObjectClass, name: &str) -> NamedObject {
        NamedObject::new(class, Location { name: name.to_owned(), ..Location::default() })
    }

    /// Is it no object at all?
    pub fn is_none(&self) -> bool {
        self.location.is_unknown()
    }

    /// What the program itself calls it, if it does and nothing else is called so: `queue.lock`.
    pub fn own_name(&self) -> Option<String> {
        self.quoted("").filter(|_| self.n_before == 0)
    }

    /// What it is called where the rest says what it is: "`left`".
    pub fn name(&self) -> String {
        let name = self.quoted("`").unwrap_or_else(|| self.described());
        self.counted(name)
    }

    /// With its class, where nothing is quoted: "mutex left".
    pub fn plain(&self) -> String {
        self.with_class("")
    }

    /// "mutex `left`".
    fn with_class(&self, quote: &str) -> String {
        let name = match self.quoted(quote) {
            Some(name) if self.class == ObjectClass::Variable => name,
            Some(name) => format!("{} {name}", self.class.word()),
            None => self.described(),
        };
        self.counted(name)
    }

    /// "`left`", "`left`+4".
    fn quoted(&self, quote: &str) -> Option<String> {
        let Location { name, shift, .. } = &self.location;
        match (name.as_str(), shift) {
            ("", _) => None,
            (name, 0) => Some(format!("{quote}{name}{quote}")),
            (name, shift) => Some(format!("{quote}{name}{quote}+{shift}")),
        }
    }

    /// The second of two that are called the same is called "… (2)".
    fn counted(&self, name: String) -> String {
        match self.n_before {
            0 => name,
            n => format!("{name} ({})", n + 1),
        }
    }

    /// What has no name is described.
    fn described(&self) -> String {
        let class = self.class.word();
        match &self.location.home {
            Home::Unknown => String::new(),
            Home::Heap { thread, nth, offset, stack, sort } => {
                let at = stack.first().map(crate::Place::text).unwrap_or_default();
                let at = if at.is_empty() { "an unknown place" } else { &at };
                let size = self.location.size;
                let shift = if *offset == 0 { String::new() } else { format!(" +{offset}") };
                let (word, made, by) = (sort.word(), sort.made(), who(*thread));
                let block =
                    format!("{word} of {size} bytes {made} at {at} by {by} (#{nth}){shift}");
                self.within("in", block)
            }
            Home::Stack { thread, .. } => match self.class {
                ObjectClass::Variable => format!("stack variable of {}", who(*thread)),
                _ => self.within("on", format!("the stack of {}", who(*thread))),
            },
            Home::Global { .. } => class.to_owned(),
            Home::Thread(thread) => format!("thread T{}", thread.0),
            Home::Parker(thread) => format!("parker of T{}", thread.0),
            Home::Descriptor(number) => format!("descriptor {number}"),
            Home::Pipe([one, other]) => format!("pipe {one}/{other}"),
            Home::Common(common) => common.name().to_owned(),
            Home::Number(object) => format!("{class} #{}", object.0),
        }
    }

    /// A variable is called by what it is in, a lock is "mutex in …".
    fn within(&self, how: &str, whole: String) -> String {
        match self.class {
            ObjectClass::Variable => whole,
            class => format!("{} {how} {whole}", class.word()),
        }
    }
}

/// With its class: "mutex `left`".
impl fmt::Display for NamedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_class("`"))
    }
}

#[cfg(feature = "serde")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// `main`, `T2`.
fn who(thread: ThreadId) -> String {
    match thread.0 {
        0 => "main".to_owned(),
        number => format!("T{number}"),
    }
}

/// What kind of thing an object is.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ObjectClass {
    /// Memory that threads read and write.
    #[default]
    Variable,
    /// A mutex.
    Mutex,
    /// A condition variable.
    Cond,
    /// A reader-writer lock.
    Rwlock,
    /// A semaphore.
    Semaphore,
    /// A barrier.
    Barrier,
    /// A once block.
    Once,
    /// A thread, as what others join.
    Thread,
    /// A descriptor.
    Descriptor,
    /// A spin lock.
    Spin,
    /// What the C library or the kernel keeps for all threads.
    Common,
}

impl ObjectClass {
    /// Is it memory that threads read and write?
    pub fn is_variable(&self) -> bool {
        *self == ObjectClass::Variable
    }

    /// All of them, by number.
    pub const ALL: [ObjectClass; 11] = [
        ObjectClass::Variable,
        ObjectClass::Mutex,
        ObjectClass::Cond,
        ObjectClass::Rwlock,
        ObjectClass::Semaphore,
        ObjectClass::Barrier,
        ObjectClass::Once,
        ObjectClass::Thread,
        ObjectClass::Descriptor,
        ObjectClass::Spin,
        ObjectClass::Common,
    ];

    /// What reports call it.
    pub const fn word(self) -> &'static str {
        match self {
            ObjectClass::Variable => "variable",
            ObjectClass::Mutex => "mutex",
            ObjectClass::Cond => "condition variable",
            ObjectClass::Rwlock => "rwlock",
            ObjectClass::Semaphore => "semaphore",
            ObjectClass::Barrier => "barrier",
            ObjectClass::Once => "once",
            ObjectClass::Thread => "thread",
            ObjectClass::Descriptor => "descriptor",
            ObjectClass::Spin => "spin lock",
            ObjectClass::Common => "shared state",
        }
    }
}

/// What the C library and the kernel keep for all threads.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Common {
    /// Files, their names, and the numbers of descriptors.
    Files,
    /// The state of `rand` and `random`.
    Rand,
    /// The state of `drand48` and its like.
    Drand48,
    /// What `strtok` has yet to cut.
    Strtok,
    /// What `localtime` and its like return.
    Times,
    /// The locale.
    Locale,
    /// Environment variables.
    Environment,
    /// Limits of the process.
    Limits,
    /// What runs at exit.
    ExitHandlers,
    /// The state of `hsearch` and `getopt`.
    Tables,
    /// What `getpwnam`, `gethostbyname` and their like return.
    Databases,
    /// What other functions return in buffers of their own.
    Buffers,
}

impl Common {
    /// All of them, by number.
    pub const ALL: [Common; 12] = [
        Common::Files,
        Common::Rand,
        Common::Drand48,
        Common::Strtok,
        Common::Times,
        Common::Locale,
        Common::Environment,
        Common::Limits,
        Common::ExitHandlers,
        Common::Tables,
        Common::Databases,
        Common::Buffers,
    ];

    /// What reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Common::Files => "files",
            Common::Rand => "state of rand()",
            Common::Drand48 => "state of drand48()",
            Common::Strtok => "state of strtok()",
            Common::Times => "buffer of localtime()",
            Common::Locale => "locale",
            Common::Environment => "environment",
            Common::Limits => "process limits",
            Common::ExitHandlers => "exit handlers",
            Common::Tables => "state of hsearch() or getopt()",
            Common::Databases => "buffer of getpwnam() or the like",
            Common::Buffers => "buffer of the C library",
        }
    }
}
