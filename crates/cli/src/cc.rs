//! `raddle cc` and `raddle c++`: everything behind the verb belongs to the compiler, `--help` too, so
//! they are taken before the command line is parsed.

use std::{ffi::OsString, io::Write as _, os::unix::process::CommandExt as _};

use raddle_launch::{Language, driver};

use crate::exit::Exit;

/// Becomes the compiler, if that is what was asked for; comes back only if it can't.
pub(crate) fn take_over() -> Option<Exit> {
    let mut args = std::env::args_os().skip(1);
    let language = match args.next()?.to_str()? {
        "cc" => Language::C,
        "c++" => Language::Cxx,
        _ => return None,
    };
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
