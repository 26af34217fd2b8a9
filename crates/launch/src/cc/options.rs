//! What has to be known of gcc's and clang's options: which of them take the next argument as theirs,
//! so that it is not taken for an input, and what an input is by its name.

/// What a compiler does with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputKind {
    /// Compiles it.
    Source,
    /// Precompiles it; nothing to link comes of it.
    Header,
    /// Assembles it.
    Assembly,
    /// Hands it to the linker.
    Object,
}

/// Options whose value is the next argument. Those that also have a joined form (`-Idir`) are listed
/// for their bare form.
const TAKE_VALUE: &[&str] = &[
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-U",
    "-Xanalyzer",
    "-Xassembler",
    "-Xclang",
    "-Xcuda-ptxas",
    "-Xlinker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-b",
    "-cxx-isystem",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-e",
    "-framework",
    "-gcc-toolchain",
    "-h",
    "-idirafter",
    "-iframework",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-mllvm",
    "-mthread-model",
    "-o",
    "-rpath",
    "-serialize-diagnostics",
    "-target",
    "-u",
    "-undefined",
    "-working-directory",
    "-wrapper",
    "-x",
    "-z",
    "--assert",
    "--config",
    "--define-macro",
    "--entry",
    "--for-assembler",
    "--for-linker",
    "--force-link",
    "--imacros",
    "--include",
    "--include-directory",
    "--include-directory-after",
    "--language",
    "--library-directory",
    "--output",
    "--param",
    "--prefix",
    "--serialize-diagnostics",
    "--specs",
    "--sysroot",
    "--undefine-macro",
];

/// Does this option take the next argument as its value?
pub(super) fn takes_value(option: &str) -> bool {
    TAKE_VALUE.contains(&option) || option.starts_with("-Xarch_")
}

/// The kind of an input under `-x language`; `None` for `-x none`.
pub(super) fn kind_of_language(language: &str) -> Option<InputKind> {
    match language {
        "none" => None,
        _ if language.starts_with("assembler") => Some(InputKind::Assembly),
        _ if language.ends_with("header") || language.ends_with("header-unit") => {
            Some(InputKind::Header)
        }
        _ => Some(InputKind::Source),
    }
}

/// The kind of an input by its name; what no compiler knows is the linker's.
pub(super) fn kind_of_name(name: &[u8]) -> InputKind {
    let file = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    let Some(dot) = file.iter().rposition(|byte| *byte == b'.') else { return InputKind::Object };
    match &file[dot + 1..] {
        b"s" | b"S" | b"sx" => InputKind::Assembly,
        b"h" | b"hh" | b"H" | b"hp" | b"hxx" | b"hpp" | b"HPP" | b"h++" | b"tcc" => {
            InputKind::Header
        }
        b"c" | b"i" | b"ii" | b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" => {
            InputKind::Source
        }
        b"m" | b"mi" | b"mm" | b"M" | b"mii" | b"cppm" | b"ixx" | b"ccm" | b"cxxm" | b"c++m" => {
            InputKind::Source
        }
        b"bc" | b"ll" | b"cu" | b"cl" | b"f" | b"F" | b"f90" | b"F90" | b"d" | b"go" => {
            InputKind::Source
        }
        _ => InputKind::Object,
    }
}
