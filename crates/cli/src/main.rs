//! `raddle`: finds the bugs of concurrent C, C++ and Rust programs by owning their schedules.
//!
//! This crate is arguments, exit codes, wiring, and the only one that prints. What is explored is in
//! `raddle_explore`, what runs programs in `raddle_launch`, what findings look like in `raddle_report`.

mod args;
mod asked;
mod cargo;
mod cc;
mod ci;
mod compare;
mod config;
mod debug;
mod doctor;
mod exit;
mod explain;
mod focus;
mod init;
mod list;
mod min;
mod named;
mod native;
mod observe;
mod orders;
mod overview;
mod prepare;
mod project;
mod record;
mod regress;
mod regressions;
mod replay;
mod report;
mod review;
mod run;
mod search;
mod setup;
mod shell;
mod show;
mod signals;
mod spelling;
mod start;
mod store;
mod stored;
mod terminal;
mod total;
mod values;
mod version;

use std::{
    ffi::OsString,
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
};

use args::{Arguments, Verb};
use config::Refused;
use exit::{Exit, Failure};
use terminal::Terminal;

fn main() -> ExitCode {
    panic::set_hook(Box::new(exit::report_bug));
    let exit = panic::catch_unwind(AssertUnwindSafe(raddle)).unwrap_or(Exit::Bug);
    ExitCode::from(exit.code())
}

fn raddle() -> Exit {
    if let Some(exit) = cc::take_over().or_else(cargo::take_over) {
        return exit;
    }
    let mut line: Vec<OsString> = std::env::args_os().collect();
    let mut parsed = Arguments::parse_or_exit(&line);
    if matches!(&parsed, Ok((Arguments { verb: Verb::Total(_), .. }, _))) {
        line = args::as_run(line);
        parsed = Arguments::parse_or_exit(&line);
    }
    let (arguments, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let mut terminal = Terminal::new(&arguments.look);
    let result = match arguments.verb {
        Verb::Run(args) | Verb::Ci(args) | Verb::Total(args) => {
            match config::configure(*args, &line, &matches) {
                Ok((args, warnings)) => {
                    warnings.iter().for_each(|it| terminal.warning(it));
                    let ended = start::run(&args, &mut terminal);
                    report::at_end(&args, ended, &mut terminal)
                }
                Err(Refused::Said(exit)) => return exit,
                Err(Refused::Failure(failure)) => Err(failure),
            }
        }
        Verb::Replay(replay) => replay::replay(&replay, &mut terminal),
        Verb::Show(show) => show::show(&show, &mut terminal),
        Verb::Explain(explain) => explain::explain(&explain, &mut terminal),
        Verb::Review(review) => review::review(&review, &mut terminal),
        Verb::Store(store) => store::store(&store, &mut terminal),
        Verb::Report(report) => report::report(&report, &mut terminal),
        Verb::Min(min) => min::min(&min, &mut terminal),
        Verb::Orders(orders) => orders::orders(&orders, &mut terminal),
        Verb::Regress(regress) => regress::regress(&regress, &mut terminal),
        Verb::Debug(debug) => debug::debug(&debug, &mut terminal),
        Verb::List(list) => list::list(&list, &mut terminal),
        Verb::Compare(compare) => compare::compare(&compare, &mut terminal),
        Verb::Init => init::init(&mut terminal),
        Verb::Doctor { fix, json } => doctor::doctor(fix, json, &mut terminal),
        Verb::Setup { prefix } => setup::setup(prefix.as_deref(), &mut terminal),
        Verb::Completions { shell } => Ok(shell::completions(shell, &mut terminal)),
        Verb::Man { output } => shell::man(output.as_deref(), &mut terminal),
        Verb::Cc { .. } | Verb::Cxx { .. } => Err(Failure::usage(
            "options before `cc` are not supported; use `raddle cc ARGS`".to_owned(),
        )),
        Verb::Cargo { .. } => Err(Failure::usage(
            "options before `cargo` are not supported; use `raddle cargo ARGS`".to_owned(),
        )),
    };
    match result {
        Ok(exit) => exit,
        Err(failure) => {
            terminal.error(&failure);
            failure.exit
        }
    }
}
