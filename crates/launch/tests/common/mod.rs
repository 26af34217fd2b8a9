//! A place to compile in: a cache, a stand-in for the runtime library, and one compiler.

#![allow(dead_code, reason = "each test file uses another part of this module")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use raddle_launch::{Cache, CcError, CompilerChoice, Language, Toolchain};
use tempfile::TempDir;

pub(crate) struct Place {
    pub(crate) toolchain: Toolchain,
    folder: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) is_ok: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    /// The names have what breaks careless command lines.
    pub(crate) fn new(choice: CompilerChoice) -> Place {
        let folder = TempDir::with_prefix("raddle, te st-").unwrap();
        let cache = Cache::at(&folder.path().join("ca che,x")).unwrap();
        let runtime = folder.path().join("r t,y/libraddle_rt.so");
        fs::create_dir(runtime.parent().unwrap()).unwrap();
        fs::copy(stub_runtime(), &runtime).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Place { toolchain: Toolchain { cache, runtime, choice }, folder }
    }

    pub(crate) fn is_clang(&self) -> bool {
        self.toolchain.choice == CompilerChoice::Clang
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn driver(&self, language: Language, args: &[&str]) -> Result<Command, CcError> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let mut command = self.toolchain.driver(language, &args)?;
        command.current_dir(self.path(""));
        Ok(command)
    }

    /// `raddle cc args` in the work folder.
    #[track_caller]
    pub(crate) fn cc(&self, args: &str) -> Done {
        self.compile(Language::C, args)
    }

    /// `raddle c++ args` in the work folder.
    #[track_caller]
    pub(crate) fn cxx(&self, args: &str) -> Done {
        self.compile(Language::Cxx, args)
    }

    #[track_caller]
    fn compile(&self, language: Language, args: &str) -> Done {
        let args: Vec<&str> = args.split_whitespace().collect();
        done(&mut self.driver(language, &args).unwrap())
    }

    /// The compiler alone, without Raddle.
    pub(crate) fn plain(&self, args: &str) -> Done {
        let name = if self.is_clang() { "clang" } else { "gcc" };
        done(Command::new(name).args(args.split_whitespace()).current_dir(self.path("")))
    }

    /// Runs a program that was built; its errors end with the counts of the stub runtime.
    #[track_caller]
    pub(crate) fn run(&self, name: &str) -> Done {
        let mut command = Command::new(self.path(name));
        // `cargo test` names folders there, and the real runtime is in one of them after `cargo build --workspace`.
        command.env_remove("LD_LIBRARY_PATH");
        let result = done(command.env("RADDLE_STUB", "1").current_dir(self.path("")));
        assert!(result.is_ok, "{name}: {result:?}");
        result
    }

    pub(crate) fn needed(&self, name: &str) -> Vec<String> {
        let lines = self.readelf("-d", name);
        let lines = lines.lines().filter(|line| line.contains("(NEEDED)"));
        let names =
            lines.filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.into()));
        names.collect()
    }

    pub(crate) fn readelf(&self, what: &str, name: &str) -> String {
        let output = done(Command::new("readelf").args(["-W", what]).arg(self.path(name)));
        assert!(output.is_ok, "{output:?}");
        output.stdout
    }

    /// The hooks that an object calls.
    pub(crate) fn hooks(&self, name: &str) -> Vec<String> {
        let lines = self.readelf("-s", name);
        let names = lines.lines().filter_map(|line| line.split_whitespace().nth(7));
        let mut names: Vec<String> =
            names.filter(|name| name.starts_with("__tsan")).map(String::from).collect();
        names.sort();
        names
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn ok(&self) -> &Self {
        assert!(self.is_ok, "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn silent(&self) {
        self.ok();
        assert_eq!((self.stdout.as_str(), self.stderr.as_str()), ("", ""));
    }
}

pub(crate) fn done(command: &mut Command) -> Done {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Done { is_ok: status.success(), stdout: text(stdout), stderr: text(stderr) }
}

/// gcc, and clang where it is installed.
pub(crate) fn with_each_compiler(test: impl Fn(&Place)) {
    test(&Place::new(CompilerChoice::Gcc));
    if !raddle_tidy::lacks("clang", "programs compiled by it") {
        test(&Place::new(CompilerChoice::Clang));
    }
}

fn stub_runtime() -> &'static Path {
    static STUB: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = STUB.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("libraddle_rt.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/stub_runtime.c");
        let mut gcc = Command::new("gcc");
        gcc.args(["-shared", "-fPIC", "-w", "-O1", "-Wl,-soname,libraddle_rt.so", source, "-o"]);
        let built = done(gcc.arg(&path));
        assert!(built.is_ok, "{}", built.stderr);
        (folder, path)
    });
    path
}
