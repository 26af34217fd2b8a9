//! Programs with a known bug, compiled, explored and replayed. A canary that sings falsely is the
//! surest sign that findings, or their absence, mean nothing on this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use raddle_explore::{Campaign, Options, Sameness, StoredTarget, Target, Verdict, replay};
use raddle_launch::{Cache, Symbols};
use raddle_model::{Carrier, Kind};

use super::Check;
use crate::{
    native::{self, Launch},
    prepare,
    terminal::Terminal,
};

/// Executions within which a canary's bug must show; each shows in about one of four.
const EXECUTIONS: u64 = 2_000;

struct Canary {
    name: &'static str,
    file: &'static str,
    source: &'static str,
    kind: Kind,
}

const CANARIES: [Canary; 2] = [
    Canary {
        name: "canary: deadlock",
        file: "deadlock.c",
        source: include_str!("deadlock.c"),
        kind: Kind::Deadlock,
    },
    Canary {
        name: "canary: lost update",
        file: "lost_update.c",
        source: include_str!("lost_update.c"),
        kind: Kind::Assert,
    },
];

/// Tries the compilers, then the canaries with the first compiler that works.
pub(super) fn check(tell: &mut dyn FnMut(Check)) {
    let folder = match folder() {
        Ok(folder) => folder,
        Err(why) => return tell(Check::bad("cache", why)),
    };
    let compilers = [("gcc", "compiler: gcc"), ("clang", "compiler: clang")];
    let mut usable = None;
    for (compiler, name) in compilers {
        match compile(&CANARIES[0], &folder, compiler) {
            Ok(_) => {
                tell(Check::good(name, "compiles with instrumentation"));
                usable = usable.or(Some(compiler));
            }
            Err(why) => tell(Check::poor(name, why)),
        }
    }
    let Some(compiler) = usable else {
        return tell(Check::bad("compiler", "neither gcc nor clang works; install one of them"));
    };
    for canary in &CANARIES {
        tell(match sing(canary, &folder, compiler) {
            Ok(text) => Check::good(canary.name, text),
            Err(why) => Check::bad(canary.name, why),
        });
    }
}

/// Always the same folder, so that the programs are compiled once.
fn folder() -> Result<PathBuf, String> {
    let cache = Cache::open().map_err(|error| error.to_string())?;
    let folder = cache.root().join("doctor");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

fn compile(canary: &Canary, folder: &Path, compiler: &str) -> Result<PathBuf, String> {
    let source = folder.join(canary.file);
    let is_there = fs::read(&source).is_ok_and(|it| it == canary.source.as_bytes());
    if !is_there {
        fs::write(&source, canary.source).map_err(|error| format!("{source:?}: {error}"))?;
    }
    let target = StoredTarget {
        sources: vec![source],
        compiler: Some(compiler.to_owned()),
        ..StoredTarget::default()
    };
    prepare::compile(&target, &mut Terminal::silent()).map_err(|failure| {
        let words = failure.words.lines().next().unwrap_or_default();
        format!("{} {words}", failure.line).trim_end().to_owned()
    })
}

/// Explores one canary and replays what is found.
fn sing(canary: &Canary, folder: &Path, compiler: &str) -> Result<String, String> {
    let program = compile(canary, folder, compiler)?;
    let launch = Launch {
        program,
        target: &StoredTarget::default(),
        carrier: Carrier::Fibers,
        is_fresh: false,
        checkpoints: 0,
        events: None,
        stop: Arc::default(),
    };
    let target = native::open(launch).map_err(|error| error.to_string())?;
    let options = Options { executions: Some(EXECUTIONS), ..Options::default() };
    let mut symbols = Symbols::new();
    let outcome = Campaign::new(&target, options)
        .run(&mut symbols, &mut (), &AtomicBool::new(false))
        .map_err(|error| error.to_string())?;
    let Some(found) = outcome.findings.first() else {
        return Err(format!("bug not found in {} executions", outcome.figures.executions));
    };
    let kind = found.finding.kind;
    if kind != canary.kind {
        return Err(format!("found {}, expected {}", kind.word(), canary.kind.word()));
    }
    come_back(&target, found, &mut symbols)?;
    Ok(format!("found at execution {}, replayed", found.first))
}

fn come_back(
    target: &dyn Target,
    found: &raddle_explore::Found,
    symbols: &mut Symbols,
) -> Result<(), String> {
    let mut session = target.open().map_err(|error| error.to_string())?;
    let verdict = replay(&mut *session, &found.finding, symbols, false, Sameness::Bucket);
    match verdict.map_err(|error| error.to_string())? {
        Verdict::Reproduced { exact: true, .. } => Ok(()),
        verdict => Err(format!("found, but the replay diverged: {verdict:?}")),
    }
}
