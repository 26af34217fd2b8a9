//! `raddle setup`: the files beside the programs, which `cargo install` does not install: a CMake package, `raddle.pc` for
//! pkg-config, the headers, manual pages and completions, at the usual places below a prefix.

use std::{
    fs,
    path::{Path, PathBuf},
};

use raddle_launch::HEADERS;

use crate::{
    args::ShellName,
    exit::{Exit, Failure},
    shell,
    terminal::Terminal,
};

const CMAKE: [(&str, &str); 4] = [
    ("RaddleConfig.cmake", include_str!("../cmake/RaddleConfig.cmake")),
    ("RaddleConfigVersion.cmake", include_str!("../cmake/RaddleConfigVersion.cmake.in")),
    ("Raddle.cmake", include_str!("../cmake/Raddle.cmake")),
    ("raddle-toolchain.cmake", include_str!("../cmake/raddle-toolchain.cmake")),
];

/// `pkg-config raddle`: where the headers, the compilers and the toolchain file are. There is no library to link.
const PKG_CONFIG: &str = "\
prefix=${pcfiledir}/../..
bindir=${prefix}/bin
includedir=${prefix}/include/raddle
cc=${bindir}/raddle-cc
cxx=${bindir}/raddle-cxx
toolchain=${prefix}/lib/cmake/Raddle/raddle-toolchain.cmake

Name: Raddle
Description: Headers of Raddle, which finds concurrency bugs by controlling schedules
Version: @VERSION@
Cflags: -I${includedir}
";

const COMPLETIONS: [(ShellName, &str); 3] = [
    (ShellName::Bash, "share/bash-completion/completions/raddle"),
    (ShellName::Zsh, "share/zsh/site-functions/_raddle"),
    (ShellName::Fish, "share/fish/vendor_completions.d/raddle.fish"),
];

/// Writes all of them below a prefix, or below that of this program.
pub(crate) fn setup(prefix: Option<&Path>, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let prefix = match prefix {
        Some(prefix) => prefix.to_owned(),
        None => own_prefix()?,
    };
    let here = |text: &str| text.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    for (name, text) in CMAKE {
        write(&prefix.join("lib/cmake/Raddle").join(name), here(text).as_bytes())?;
    }
    for (name, text) in HEADERS {
        write(&prefix.join("include/raddle").join(name), text.as_bytes())?;
    }
    write(&prefix.join("share/pkgconfig/raddle.pc"), here(PKG_CONFIG).as_bytes())?;
    for (of, path) in COMPLETIONS {
        write(&prefix.join(path), &shell::script(of))?;
    }
    shell::pages(&prefix.join("share/man/man1"))?;
    terminal.note(&format!(
        "wrote the CMake package, raddle.pc, headers, manual pages and completions into {}\n",
        prefix.display()
    ));
    Ok(Exit::Clean)
}

/// `/usr/local` of `/usr/local/bin/raddle`.
fn own_prefix() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent);
    let is_bin = |it: &&Path| it.file_name().is_some_and(|it| it == "bin");
    folder.filter(is_bin).and_then(Path::parent).map(Path::to_owned).ok_or_else(|| {
        Failure::usage(
            "raddle is not in a directory `bin`; name a directory with --prefix".to_owned(),
        )
    })
}

fn write(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).map_err(|error| {
        Failure::usage(format!(
            "can't write {}: {error}; name another directory with --prefix",
            path.display()
        ))
    })
}
