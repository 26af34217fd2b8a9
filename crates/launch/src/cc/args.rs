//! What an argument list asks a compiler to do, as far as the hooks have to know: does it compile, does
//! it link, and which flags must the driver not see.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::options::{InputKind, kind_of_language, kind_of_name, takes_value};
use super::response;
use super::sanitize::{Sanitizers, without_thread};

/// An argument list, understood.
#[derive(Debug, Default)]
pub(super) struct Invocation {
    /// All arguments, response files expanded, without what the driver must not see.
    pub(super) args: Vec<OsString>,
    /// Is `args` more than an expansion of what was given?
    pub(super) is_rewritten: bool,
    /// Was there a response file?
    pub(super) has_response_file: bool,
    /// `-r`: the result is one more object, not a program or library.
    pub(super) is_relocatable: bool,
    pub(super) sanitizers: Sanitizers,
    inputs: Vec<InputKind>,
    stops_before_link: bool,
    static_flag: Option<String>,
}

impl Invocation {
    pub(super) fn parse(given: &[OsString]) -> Invocation {
        let expanded = response::expand(given);
        let mut invocation =
            Invocation { has_response_file: expanded.has_response_file, ..Invocation::default() };
        if given.first().is_some_and(|arg| arg.as_bytes().starts_with(b"-cc1")) {
            return invocation;
        }
        Reader { invocation: &mut invocation, language: None }.read(&expanded.args);
        invocation
    }

    /// Is there anything to compile or link? Else it asks for a version, a search path or help.
    pub(super) fn has_inputs(&self) -> bool {
        !self.inputs.is_empty()
    }

    pub(super) fn compiles(&self) -> bool {
        self.inputs.iter().any(|kind| matches!(kind, InputKind::Source | InputKind::Header))
    }

    pub(super) fn links(&self) -> bool {
        !self.stops_before_link && self.inputs.iter().any(|kind| *kind != InputKind::Header)
    }

    /// The flag that asks for a static program, if one is to be linked.
    pub(super) fn static_flag(&self) -> Option<&str> {
        let flag = self.static_flag.as_deref()?;
        (self.links() && !self.is_relocatable).then_some(flag)
    }
}

struct Reader<'a> {
    invocation: &'a mut Invocation,
    /// What `-x` said last.
    language: Option<InputKind>,
}

impl Reader<'_> {
    fn read(&mut self, args: &[OsString]) {
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.to_str() {
                Some("--") => {
                    self.invocation.args.push(arg.clone());
                    for input in rest.by_ref() {
                        self.input(input);
                    }
                }
                Some(option) if takes_value(option) => {
                    self.invocation.args.push(arg.clone());
                    if let Some(value) = rest.next() {
                        self.option_with_value(option, value);
                    }
                }
                Some(option) if option.starts_with('-') && option != "-" => self.option(option),
                // An option that is no text is a path or macro of the user's.
                None if arg.as_bytes().starts_with(b"-") => {
                    self.invocation.args.push(arg.clone());
                    if arg.as_bytes().starts_with(b"-l") {
                        self.invocation.inputs.push(InputKind::Object);
                    }
                }
                _ => self.input(arg),
            }
        }
    }

    fn input(&mut self, name: &OsStr) {
        let kind = self.language.unwrap_or_else(|| match name.as_bytes() {
            b"-" => InputKind::Source,
            bytes => kind_of_name(bytes),
        });
        self.invocation.inputs.push(kind);
        self.invocation.args.push(name.into());
    }

    fn option_with_value(&mut self, option: &str, value: &OsStr) {
        match option {
            "-x" | "--language" => self.language = kind_of_language(&value.to_string_lossy()),
            "-l" if value == "tsan" => {
                self.invocation.args.pop();
                self.invocation.is_rewritten = true;
                return;
            }
            "-l" => self.invocation.inputs.push(InputKind::Object),
            _ => {}
        }
        self.invocation.args.push(value.into());
    }

    fn option(&mut self, option: &str) {
        match option {
            "-c"
            | "-S"
            | "-E"
            | "-M"
            | "-MM"
            | "-fsyntax-only"
            | "--compile"
            | "--assemble"
            | "--preprocess"
            | "--dependencies"
            | "--user-dependencies"
            | "--analyze"
            | "--precompile"
            | "-emit-ast"
            | "-extract-api" => {
                self.invocation.stops_before_link = true;
            }
            "-r" | "--relocatable" => self.invocation.is_relocatable = true,
            "-static" | "--static" | "-static-pie" | "--static-pie" => {
                self.invocation.static_flag = Some(option.into());
            }
            "-ltsan" => {
                self.invocation.is_rewritten = true;
                return;
            }
            _ => {
                if !self.joined_option(option) {
                    return;
                }
            }
        }
        self.invocation.args.push(option.into());
    }

    /// Reads an option with its value in it; `false` if it was dealt with and is not to be passed on.
    fn joined_option(&mut self, option: &str) -> bool {
        if let Some(names) = option.strip_prefix("-fsanitize=") {
            self.invocation.sanitizers.add(names);
            let kept = without_thread(names);
            if kept.as_deref() == Some(names) {
                return true;
            }
            self.invocation.is_rewritten = true;
            self.invocation.args.extend(kept.map(|names| format!("-fsanitize={names}").into()));
            return false;
        }
        if let Some(names) = option.strip_prefix("-fno-sanitize=") {
            self.invocation.sanitizers.remove(names);
        } else if let Some(language) = option.strip_prefix("--language=") {
            self.language = kind_of_language(language);
        } else if let Some(language) = option.strip_prefix("-x") {
            self.language = kind_of_language(language);
        } else if option.starts_with("-l") {
            self.invocation.inputs.push(InputKind::Object);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &str) -> Invocation {
        let args: Vec<OsString> = args.split_whitespace().map(OsString::from).collect();
        Invocation::parse(&args)
    }

    /// `what` is some of: `-` nothing at all, `compile`, `link`.
    #[track_caller]
    fn check(args: &str, what: &str) {
        let invocation = parse(args);
        let mut words = Vec::new();
        words.extend(invocation.compiles().then_some("compile"));
        words.extend(invocation.links().then_some("link"));
        words.extend(invocation.is_relocatable.then_some("relocatable"));
        words.extend(invocation.static_flag().map(|_| "static"));
        words.extend((!invocation.has_inputs()).then_some("-"));
        assert_eq!(words.join(" "), what, "{args}");
    }

    #[test]
    fn questions_have_no_inputs() {
        for args in [
            "",
            "--version",
            "-v",
            "-V",
            "-qversion",
            "-dumpmachine",
            "-dumpversion",
            "-print-search-dirs",
            "-print-file-name=libc.so",
            "-print-prog-name=ld",
            "--help",
            "-Wl,--version",
            "-###",
            "-o x",
            "-I dir -D X",
            "-cc1 -triple x a.c",
            "--param a=b",
        ] {
            check(args, "-");
        }
    }

    #[test]
    fn stages() {
        check("a.c", "compile link");
        check("a.c b.cc c.o -lm -o x", "compile link");
        check("-c a.c -o a.o", "compile");
        check("-S a.c", "compile");
        check("-E a.c", "compile");
        check("-M a.c", "compile");
        check("-MM a.c", "compile");
        check("-MMD -MF a.d -c a.c", "compile");
        check("-MD a.c", "compile link");
        check("-Wp,-MMD,a.d -c a.c", "compile");
        check("-fsyntax-only a.c", "compile");
        check("a.o b.a libc.so", "link");
        check("-shared -fPIC a.c -o a.so", "compile link");
        check("-shared a.o -Wl,--no-undefined", "link");
        check("-lfoo -o x", "link");
        check("-l foo -o x", "link");
        check("-r a.o b.o -o c.o", "link relocatable");
        check("-v a.c", "compile link");
        check("-### a.c", "compile link");
    }

    #[test]
    fn kinds_of_inputs() {
        check("-c a.s", "");
        check("a.S", "link");
        check("a.h", "compile");
        check("-x c-header a", "compile");
        check("-x c a -x none b.o", "compile link");
        check("-xc++ a", "compile link");
        check("-x assembler a.c", "link");
        check("-x c -", "compile link");
        check("-E -", "compile");
        check("dir.c/a.o", "link");
        check("a.so.1", "link");
        check("-- -odd.c", "compile link");
    }

    #[test]
    fn values_are_no_inputs() {
        check("-o a.c", "-");
        check("-MF a.c -MT b.c -include c.h -Xlinker d.o -T e.o", "-");
        check("-c -o x.o -isystem y.o a.c", "compile");
        check("a.o -MF", "link");
    }

    #[test]
    fn static_matters_only_to_a_link() {
        check("-static a.c", "compile link static");
        check("-static-pie a.o", "link static");
        check("-static -c a.c", "compile");
        check("-static -r a.o", "link relocatable");
        check("-static-libgcc -static-libstdc++ a.o", "link");
        check("-Wl,-Bstatic -lz -Wl,-Bdynamic a.o", "link");
    }

    #[test]
    fn the_driver_never_hears_of_thread() {
        #[track_caller]
        fn check(args: &str, kept: &str) {
            let invocation = parse(args);
            let given: Vec<OsString> = args.split_whitespace().map(OsString::from).collect();
            let expected: Vec<OsString> = kept.split_whitespace().map(OsString::from).collect();
            assert_eq!(invocation.args, expected);
            assert_eq!(invocation.is_rewritten, expected != given);
        }
        check("-O2 a.c -o x", "-O2 a.c -o x");
        check("-fsanitize=thread a.c", "a.c");
        check("-fsanitize=undefined,thread a.c", "-fsanitize=undefined a.c");
        check("-fsanitize=undefined a.c", "-fsanitize=undefined a.c");
        check("a.o -ltsan -lm", "a.o -lm");
        check("a.o -l tsan -l m", "a.o -l m");
        check("-Xclang -fsanitize=thread a.c", "-Xclang -fsanitize=thread a.c");
    }
}
