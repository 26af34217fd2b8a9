//! Automation: `cargo xtask ci` runs what CI runs, `cargo xtask bench` measures what Raddle promises,
//! `cargo xtask soak` looks for what is not there.

#![expect(clippy::print_stderr, reason = "a tool for those who work on Raddle, on their terminal")]

mod bench;
mod book;
mod ci;
mod detectors;
mod determinism;
mod ecosystem;
mod experiment;
mod miri;
mod package;
mod real;
mod release;
mod soak;
mod suites;
mod trophies;

use std::{path::PathBuf, time::Duration};

use clap::Parser;

/// Automation for those who work on Raddle.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
enum Verb {
    /// Formatting, lints, documentation, tests: all that CI looks at.
    Ci,
    /// Measures each promise of speed against its floor; fails if one is not kept.
    Bench {
        /// `rust`: closures beside Shuttle and Loom instead, which are fetched and built for it.
        which: Option<bench::Which>,
        /// Write the figures to this file as JSON.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// A tenth of the work: for a first look, too rough to judge by.
        #[arg(long)]
        quick: bool,
        /// Only benchmarks whose name contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
    },
    /// Packages all crates, installs `raddle` from the packages without network, and finds a bug with it.
    Package {
        /// Install an optimised build, as users do: slower.
        #[arg(long)]
        release: bool,
    },
    /// Unit tests of the crates without system calls, under Miri, which is installed for it.
    Miri {
        /// Only crates whose name contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
    },
    /// Explores every program of `programs/pass` for long; fails if anything is found.
    Soak {
        /// Executions of each program, seed and compiler.
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        executions: u64,
        /// Executions on kernel threads.
        #[arg(long, value_name = "N", default_value_t = 300)]
        on_threads: u64,
        /// So many seeds.
        #[arg(long, value_name = "K", default_value_t = 1)]
        seeds: u64,
        /// The first of them; without it they are new ones.
        #[arg(long, value_name = "SEED")]
        from_seed: Option<u64>,
        /// What atomic loads may read: sc, tso, c11.
        #[arg(long, value_name = "MODEL", default_value = "sc", value_parser = soak::memory_model)]
        memory_model: raddle_model::MemoryModel,
        /// Seconds after which a campaign ends, however few executions it has had.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        time: u64,
        /// Only programs whose path contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
        /// Write the figures to this file as JSON.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Asks all detectors about our programs: nothing of those that pass, a cause for each that fails.
    Detectors {
        /// Executions of each program.
        #[arg(long, value_name = "N", default_value_t = 2_000)]
        executions: u64,
        /// Seconds after which a campaign ends, however few executions it has had.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        time: u64,
        /// Only programs whose path contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
    },
    /// Explores programs that use well-known Rust crates; fails if one comes out otherwise than it should.
    Ecosystem {
        /// Executions of each test.
        #[arg(long, value_name = "N", default_value_t = 2_000)]
        executions: u64,
        /// Only tests whose name contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
    },
    /// Explores the own test suites of well-known Rust crates, and looks for bugs planted in copies of them.
    Suites {
        /// Seconds for each suite, and for each bug.
        #[arg(long, value_name = "SECONDS", default_value_t = 180)]
        time: u64,
        /// Only crates whose name contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
        /// The `raddle` to use, instead of one that is built for it.
        #[arg(long, value_name = "FILE")]
        raddle: Option<PathBuf>,
        /// The suites only, no planted bugs.
        #[arg(long)]
        as_it_is: bool,
    },
    /// Builds and explores real C and C++ programs from Debian's sources; fails on findings that are not known to be true.
    Real {
        /// Seconds for each program.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        time: u64,
        /// Only programs whose name contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
        /// The `raddle` to use, instead of one that is built for it.
        #[arg(long, value_name = "FILE")]
        raddle: Option<PathBuf>,
        /// Build again what was built before.
        #[arg(long)]
        rebuild: bool,
        /// Write the figures to this file as JSON.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Builds the book (`docs`) with an installed mdBook into `target/book`.
    Book {
        /// The `mdbook` to use.
        #[arg(long, value_name = "FILE")]
        mdbook: Option<PathBuf>,
    },
    /// Makes the files of a release, up to what is uploaded: packages, a Debian package, a list of components, checksums.
    Release {
        /// Begin the section of this version in the changelog, with this date, and make nothing.
        #[arg(long, value_name = "DATE")]
        begin: Option<String>,
        /// Folder of `raddle` and the other programs, instead of an optimised build.
        #[arg(long, value_name = "DIR")]
        programs: Option<PathBuf>,
        /// The Debian package only.
        #[arg(long)]
        deb_only: bool,
        /// Also install the Debian package in a new Debian (debootstrap, as root), and find a bug there.
        #[arg(long)]
        r#try: bool,
    },
    /// Shows bugs in released software again, in the packages as they are; fails if one is not found.
    Trophies {
        /// Seconds for each.
        #[arg(long, value_name = "SECONDS", default_value_t = 30)]
        time: u64,
        /// Only those whose name contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
        /// The `raddle` to use, instead of one that is built for it.
        #[arg(long, value_name = "FILE")]
        raddle: Option<PathBuf>,
    },
    /// Makes an experiment of the papers over our own programs, and writes its tables.
    Experiment {
        /// Which one.
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(experiment::names()))]
        which: String,
        /// Only cells whose name contains this; nothing is written then.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
        /// A few cells of each experiment with small budgets; nothing is written then.
        #[arg(long)]
        quick: bool,
        /// Begin anew, instead of going on where an earlier run ended.
        #[arg(long)]
        anew: bool,
        /// Make everything again, write nothing, and fail where something else than a time differs.
        #[arg(long, conflicts_with_all = ["quick", "anew"])]
        check: bool,
        /// The `raddle` to use, instead of one that is built for it.
        #[arg(long, value_name = "FILE")]
        raddle: Option<PathBuf>,
        /// Cells at the same time.
        #[arg(long, short, value_name = "N", default_value_t = 2)]
        jobs: usize,
    },
    /// Runs every program in several environments; fails if traces differ.
    Determinism {
        /// Seeds from 1 to this.
        #[arg(long, value_name = "K", default_value_t = 3)]
        seeds: u64,
        /// Only programs whose path contains this.
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
        /// Print this environment's traces.
        #[arg(long)]
        one: bool,
        /// Print all steps too.
        #[arg(long)]
        verbose: bool,
    },
}

fn main() -> anyhow::Result<()> {
    match Verb::parse() {
        Verb::Ci => ci::run(),
        Verb::Package { release } => package::run(release),
        Verb::Book { mdbook } => book::run(mdbook.as_deref()),
        Verb::Release { begin, programs, deb_only, r#try: is_tried } => {
            let is_deb_only = deb_only;
            release::run(&release::Options { begin, programs, is_deb_only, is_tried })
        }
        Verb::Trophies { time, only, raddle } => {
            let time = Duration::from_secs(time);
            trophies::run(&trophies::Options { time, only, raddle })
        }
        Verb::Miri { only } => miri::run(&only),
        Verb::Bench { which, json, quick, only } => {
            bench::run(&bench::Options { which, json, is_quick: quick, only })
        }
        Verb::Soak { executions, on_threads, seeds, from_seed, memory_model, time, only, json } => {
            let time = Duration::from_secs(time);
            soak::run(&soak::Options {
                executions,
                on_threads,
                seeds,
                memory_model,
                from_seed,
                time,
                only,
                json,
            })
        }
        Verb::Detectors { executions, time, only } => {
            let time = Duration::from_secs(time);
            detectors::run(&detectors::Options { executions, time, only })
        }
        Verb::Ecosystem { executions, only } => ecosystem::run(executions, &only),
        Verb::Suites { time, only, raddle, as_it_is } => {
            suites::run(&suites::Options { time, only, raddle, is_as_it_is: as_it_is })
        }
        Verb::Real { time, only, raddle, rebuild, json } => {
            let time = Duration::from_secs(time);
            real::run(&real::Options { time, only, raddle, is_rebuilt: rebuild, json })
        }
        Verb::Experiment { which, only, quick, anew, check, raddle, jobs } => {
            experiment::run(&experiment::Options {
                which,
                only,
                is_quick: quick,
                is_anew: anew,
                is_check: check,
                raddle,
                jobs,
            })
        }
        Verb::Determinism { seeds, only, one, verbose } => {
            determinism::run(&determinism::Options {
                seeds,
                only,
                is_one: one,
                is_verbose: verbose,
            })
        }
    }
}
