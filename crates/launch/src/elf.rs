//! What kind of thing a program is, before anybody starts it: most of what can be wrong with it is told
//! better here than by a child that dies early.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use object::read::ReadCache;
use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSymbol as _, elf};

use crate::{Fault, RUNTIME_NAME, symbols};

/// A dynamically linked program for this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Where it is, as given.
    pub path: PathBuf,
    /// How much of it can be controlled.
    pub hooks: Hooks,
    /// Is it loaded at an address of the kernel's choice?
    pub is_pie: bool,
    /// The libraries that it asks for itself, in order.
    pub needed: Vec<String>,
}

/// What `raddle cc` left in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hooks {
    /// It asks for the runtime library itself.
    Linked,
    /// Its code calls the hooks, but nobody linked the runtime: it has to be preloaded.
    Imported,
    /// None: only calls of libc can be controlled.
    None,
}

/// Why a file is no program for us.
#[derive(Debug, thiserror::Error)]
pub enum ExecutableError {
    /// There is no such file.
    #[error("program `{}` not found", path.display())]
    NotFound {
        /// Which.
        path: PathBuf,
    },
    /// It is a folder, a socket…
    #[error("`{}` is not a file", path.display())]
    NotFile {
        /// Which.
        path: PathBuf,
    },
    /// Nobody may execute it.
    #[error("`{}` is not executable; if it is a program, run `chmod +x` on it", path.display())]
    NotExecutable {
        /// Which.
        path: PathBuf,
    },
    /// It begins with `#!`.
    #[error("`{}` is a script; name the program that it starts", path.display())]
    Script {
        /// Which.
        path: PathBuf,
    },
    /// It is no ELF file, or a broken one.
    #[error("`{}` is not an ELF executable{}", path.display(), colon(detail))]
    NotElf {
        /// Which.
        path: PathBuf,
        /// What is broken; empty if it is another kind of file.
        detail: String,
    },
    /// It is for another machine.
    #[error("`{}` is not an x86-64 Linux program; raddle supports no other platform yet", path.display())]
    WrongMachine {
        /// Which.
        path: PathBuf,
    },
    /// It has no loader to bring in the runtime.
    #[error("`{}` is statically linked, which is not supported; link it dynamically", path.display())]
    Static {
        /// Which.
        path: PathBuf,
    },
    /// It has another runtime behind the same hooks.
    #[error(
        "`{}` is linked with ThreadSanitizer's runtime; rebuild it with `raddle cc` or `raddle c++` \
         instead of -fsanitize=thread",
        path.display()
    )]
    LinkedWithTsan {
        /// Which.
        path: PathBuf,
    },
    /// It has one of the hooks itself.
    #[error(
        "`{}` defines `{name}` itself, which would bypass raddle's; build it without the dependency that \
         defines it",
        path.display()
    )]
    OwnHooks {
        /// Which.
        path: PathBuf,
        /// A hook that it has.
        name: String,
    },
    /// It was built by a plain compiler.
    #[error(
        "`{}` is not instrumented; build it with `raddle cc` or `raddle c++`, or use --sync-only to \
         control its synchronisation only",
        path.display()
    )]
    NoHooks {
        /// Which.
        path: PathBuf,
    },
    /// It could not be read.
    #[error("can't read `{}`: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl ExecutableError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            ExecutableError::Io { .. } => Fault::World,
            _ => Fault::User,
        }
    }
}

impl Executable {
    /// Refuses a program without hooks: what to ask unless the user said `--sync-only`.
    pub fn require_hooks(&self) -> Result<(), ExecutableError> {
        match self.hooks {
            Hooks::Linked | Hooks::Imported => Ok(()),
            Hooks::None => Err(ExecutableError::NoHooks { path: self.path.clone() }),
        }
    }
}

/// Looks at the file at `path`, which is not searched for in `$PATH`.
pub fn inspect(path: &Path) -> Result<Executable, ExecutableError> {
    let file = open(path)?;
    let path = path.to_path_buf();
    let mut start = Vec::new();
    let read = (&file).take(20).read_to_end(&mut start);
    read.map_err(|source| ExecutableError::Io { path: path.clone(), source })?;
    if start.starts_with(b"#!") {
        return Err(ExecutableError::Script { path });
    }
    if !start.starts_with(&elf::ELFMAG) || start.len() < 20 {
        return Err(ExecutableError::NotElf { path, detail: String::new() });
    }
    let machine = u16::from_le_bytes([start[18], start[19]]);
    let is_ours = start[4] == elf::ELFCLASS64.0
        && start[5] == elf::ELFDATA2LSB.0
        && machine == elf::EM_X86_64.0;
    if !is_ours {
        return Err(ExecutableError::WrongMachine { path });
    }
    let cache = ReadCache::new(file);
    match read_tables(&cache) {
        Ok(tables) => tables.judge(path),
        Err(error) => Err(ExecutableError::NotElf { path, detail: error.to_string() }),
    }
}

fn open(path: &Path) -> Result<File, ExecutableError> {
    let path = path.to_path_buf();
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ExecutableError::NotFound { path });
        }
        Err(source) => return Err(ExecutableError::Io { path, source }),
    };
    if !metadata.is_file() {
        return Err(ExecutableError::NotFile { path });
    }
    if metadata.mode() & 0o111 == 0 {
        return Err(ExecutableError::NotExecutable { path });
    }
    File::open(&path).map_err(|source| ExecutableError::Io { path, source })
}

/// Libraries of the system, whose own work counts as right: what their names begin with.
const SYSTEM: [&str; 14] = [
    "ld-linux",
    "libatomic.so",
    "libc.so",
    "libc++",
    "libdl.so",
    "libgcc_s.so",
    "libm.so",
    "libmvec.so",
    "libpthread.so",
    "libraddle_rt",
    "libresolv.so",
    "librt.so",
    "libstdc++.so",
    "libutil.so",
];

/// What of a loaded file does not tell its accesses to memory: all of it, some source files, or some functions. Nothing
/// of the system's, and of what is no file.
pub fn unhooked_code(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if SYSTEM.iter().any(|it| name.starts_with(it)) {
        return Vec::new();
    }
    let Ok(file) = File::open(path) else { return Vec::new() };
    match read_tables(&ReadCache::new(file)) {
        Ok(tables) if tables.imports_hooks => symbols::unhooked(path),
        Ok(_) => vec![name.into_owned()],
        Err(_) => Vec::new(),
    }
}

/// Does a file call hooks?
pub(crate) fn has_hooks(path: &Path) -> bool {
    let tables = File::open(path).ok().and_then(|it| read_tables(&ReadCache::new(it)).ok());
    tables.is_some_and(|it| it.imports_hooks)
}

/// What the tables of an ELF file say.
struct Tables {
    is_program: bool,
    is_pie: bool,
    has_interpreter: bool,
    needed: Vec<String>,
    imports_hooks: bool,
    defines_hooks: bool,
    /// Another hook that is defined here, the first by name.
    own_hook: Option<String>,
}

fn read_tables(cache: &ReadCache<File>) -> object::Result<Tables> {
    let file = ElfFile64::<Endianness, _>::parse(cache)?;
    let endian = file.endian();
    let kind = file.kind();
    let has_interpreter =
        file.elf_program_headers().iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP);
    let mut needed = Vec::new();
    for library in file.import_libraries()? {
        needed.push(String::from_utf8_lossy(library?.name()).into_owned());
    }
    let (mut imports_hooks, mut defines_hooks) = (false, false);
    for symbol in file.dynamic_symbols() {
        if matches!(symbol.name_bytes()?, b"__tsan_init" | b"__tsan_func_entry") {
            imports_hooks |= symbol.is_undefined();
            defines_hooks |= symbol.is_definition();
        }
    }
    let own_hooks = file.symbols().filter(|it| it.is_definition() && it.is_global());
    let own_hooks = own_hooks.filter_map(|it| it.name().ok().map(str::to_owned));
    let own_hook = own_hooks.filter(|it| it.starts_with("__tsan_")).min();
    Ok(Tables {
        is_program: matches!(kind, object::ObjectKind::Executable | object::ObjectKind::Dynamic),
        is_pie: kind == object::ObjectKind::Dynamic,
        has_interpreter,
        needed,
        imports_hooks,
        defines_hooks,
        own_hook,
    })
}

impl Tables {
    fn judge(self, path: PathBuf) -> Result<Executable, ExecutableError> {
        if !self.is_program {
            return Err(ExecutableError::NotElf { path, detail: "it is an object file".into() });
        }
        // clang puts its runtime into the program, which then exports the hooks.
        if self.defines_hooks || self.needed.iter().any(|name| name.starts_with("libtsan.so")) {
            return Err(ExecutableError::LinkedWithTsan { path });
        }
        if !self.has_interpreter {
            return Err(ExecutableError::Static { path });
        }
        if let Some(name) = self.own_hook {
            return Err(ExecutableError::OwnHooks { path, name });
        }
        let hooks = if self.needed.iter().any(|name| name == RUNTIME_NAME) {
            Hooks::Linked
        } else if self.imports_hooks {
            Hooks::Imported
        } else {
            Hooks::None
        };
        Ok(Executable { path, hooks, is_pie: self.is_pie, needed: self.needed })
    }
}

fn colon(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}
