//! `raddle cc` and `raddle c++`: everything behind the verb belongs to the compiler, `--help` too, so
//! they are taken before the command line is parsed. The same if `raddle` is called by the name of a compiler, through a
//! link.

use std::{
    ffi::{OsStr, OsString},
    io::Write as _,
    os::unix::process::CommandExt as _,
    path::Path,
};

use raddle_launch::{Language, driver};

use crate::exit::Exit;

/// Becomes the compiler, if that is what was asked for; comes back only if it can't.
pub(crate) fn take_over() -> Option<Exit> {
    let mut args = std::env::args_os();
    let name = args.next()?;
    let language = by_name(&name).or_else(|| by_verb(args.next().as_deref()))?;
    let args: Vec<OsString> = args.collect();
    let line = match driver(language, &args) {
        Ok(mut command) => {
            let error = command.exec();
            format!("can't start `{}`: {error}", command.get_program().to_string_lossy())
        }
        Err(error) => error.to_string(),
    };
    // There is nobody left to tell if this fails.
    let _ = writeln!(std::io::stderr(), "raddle: error: {line}");
    Some(Exit::Usage)
}

/// What a link is called that makes `raddle` a compiler.
fn by_name(program: &OsStr) -> Option<Language> {
    match Path::new(program).file_name()?.to_str()? {
        "raddle-cc" => Some(Language::C),
        "raddle-c++" | "raddle-cxx" => Some(Language::Cxx),
        _ => None,
    }
}

fn by_verb(verb: Option<&OsStr>) -> Option<Language> {
    match verb?.to_str()? {
        "cc" => Some(Language::C),
        "c++" => Some(Language::Cxx),
        _ => None,
    }
}
