//! The text of a regression: written and read.

use std::fmt::Write as _;

use raddle_model::{
    Bucket, Certainty, Fault, Finding, Home, Kind, Location, NamedObject, ObjectClass, ObjectId,
    OpKind, Place, Plan, Step, ThreadId,
};
use serde::{Serialize, de::DeserializeOwned};

use super::Regression;

/// The version of the format.
const VERSION: u32 = 2;
/// What the first line begins with.
const MAGIC: &str = "raddle-regression";
/// Choices on one line.
const LINE_MAX: usize = 100;

/// What is wrong with a file: `3: expected …`, after the file's name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What was expected, and what is there.
    pub what: String,
}

/// `message`: the line about its fault, for whoever reads the file or hears of it; the fault itself is not kept.
pub(super) fn write(it: &Regression, message: &str) -> String {
    let Regression { id, args, program_hash, carrier, exit_is_fine, finding } = it;
    let mut out = format!("{MAGIC} {VERSION}\n# {}: {}\n", finding.kind.title(), line(message));
    out.push_str(
        "# Kept by `raddle review --keep`; every `raddle run` of the program runs it first.\n",
    );
    let _ = writeln!(out, "id {id}");
    let _ = writeln!(out, "kind {}", finding.kind.word());
    let _ = writeln!(out, "bucket {:016x}", finding.bucket.0);
    let _ = writeln!(out, "message {}", json(message));
    if !args.is_empty() {
        let _ = writeln!(out, "args {}", json(args));
    }
    let _ = writeln!(out, "build {program_hash:016x}");
    let _ = writeln!(out, "carrier {}", json(carrier));
    if *exit_is_fine {
        out.push_str("exit-is-fine\n");
    }
    let _ = writeln!(out, "digest {:016x}", finding.trace_digest);
    if let Some(thread) = finding.thread {
        let _ = writeln!(out, "thread {}", thread.0);
    }
    for site in &finding.sites {
        let _ = writeln!(out, "site {}", json(site));
    }
    let plan = Plan { prefix: Vec::new(), ..finding.plan.clone() };
    let _ = writeln!(out, "plan {}", json(&plan));
    choices(&mut out, &finding.plan.prefix);
    for (number, object) in finding.objects.iter().enumerate().skip(1) {
        let _ = writeln!(out, "object {number} {}", json(&kept(object)));
    }
    // Those of stacks, which are not kept, come after those of steps.
    let n_places = finding.steps.iter().map(|it| it.place as usize + 1).max().unwrap_or(0);
    for (number, place) in finding.places.iter().enumerate().take(n_places).skip(1) {
        let _ = writeln!(out, "place {number} {}", json(place));
    }
    if finding.n_steps_dropped > 0 {
        let _ = writeln!(out, "dropped {}", finding.n_steps_dropped);
    }
    out.push_str("# thread, op, object, place\n");
    for Step { thread, kind, object, place, .. } in &finding.steps {
        let _ = writeln!(out, "step {} {} {} {place}", thread.0, kind.verb(), object.0);
    }
    out
}

/// `choices 0*3 1 2*4`, on as many lines as it takes.
fn choices(out: &mut String, prefix: &[u32]) {
    let mut line = String::from("choices");
    for run in prefix.chunk_by(|a, b| a == b) {
        let text = match run.len() {
            1 => format!(" {}", run[0]),
            n => format!(" {}*{n}", run[0]),
        };
        if line.len() + text.len() > LINE_MAX {
            let _ = writeln!(out, "{line}");
            line.clear();
            line.push_str("choices");
        }
        line.push_str(&text);
    }
    if line != "choices" {
        let _ = writeln!(out, "{line}");
    }
}

/// What replays call an object, and no more: of one with a name, where it is declared may change.
fn kept(object: &NamedObject) -> NamedObject {
    let Location { name, shift, .. } = &object.location;
    if name.is_empty() {
        return object.clone();
    }
    let location = Location { name: name.clone(), shift: *shift, ..Location::default() };
    NamedObject { location, ..object.clone() }
}

/// One line of a text.
fn line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("bug: these values are plain data")
}

pub(super) fn parse(text: &str) -> Result<Regression, ParseError> {
    let mut lines = text.lines().enumerate().map(|(idx, text)| Line { number: idx + 1, text });
    let first = lines.next().unwrap_or(Line { number: 1, text: "" });
    let version: u32 = first
        .text
        .strip_prefix(MAGIC)
        .and_then(|it| it.trim().parse().ok())
        .ok_or_else(|| first.expected(&format!("`{MAGIC} {VERSION}`")))?;
    if version > VERSION {
        let what = "it was written by a newer raddle than this one".to_owned();
        return Err(ParseError { line: first.number, what });
    }
    let mut parts = Parts::default();
    for line in lines {
        let is_empty = line.text.trim().is_empty() || line.text.starts_with('#');
        if !is_empty {
            parts.take(&line)?;
        }
    }
    parts.finish(text.lines().count())
}

/// What has been read so far.
#[derive(Default)]
struct Parts {
    id: Option<String>,
    kind: Option<Kind>,
    bucket: Option<u64>,
    message: String,
    args: Vec<String>,
    build: u64,
    carrier: raddle_model::Carrier,
    exit_is_fine: bool,
    digest: u64,
    thread: Option<ThreadId>,
    sites: Vec<Place>,
    plan: Option<Plan>,
    prefix: Vec<u32>,
    objects: Vec<NamedObject>,
    places: Vec<Place>,
    n_dropped: u64,
    steps: Vec<Step>,
}

impl Parts {
    fn take(&mut self, line: &Line<'_>) -> Result<(), ParseError> {
        let (key, value) = line.text.split_once(' ').unwrap_or((line.text, ""));
        let value = value.trim();
        match key {
            "id" => self.id = Some(value.to_owned()),
            "kind" => {
                let kind = Kind::ALL.iter().copied().find(|it| it.word() == value);
                self.kind = Some(kind.ok_or_else(|| line.expected("a kind of finding"))?);
            }
            "bucket" => self.bucket = Some(line.hex(value)?),
            "message" => self.message = line.json(value)?,
            "args" => self.args = line.json(value)?,
            "build" => self.build = line.hex(value)?,
            "carrier" => self.carrier = line.json(value)?,
            "exit-is-fine" => self.exit_is_fine = true,
            "digest" => self.digest = line.hex(value)?,
            "thread" => self.thread = Some(ThreadId(line.number(value)?)),
            "site" => self.sites.push(line.json(value)?),
            "plan" => self.plan = Some(line.json(value)?),
            "choices" => {
                for word in value.split_whitespace() {
                    let (choice, times) = word.split_once('*').unwrap_or((word, "1"));
                    let choice: u32 = line.number(choice)?;
                    let n_times = line.number::<u32>(times)? as usize;
                    self.prefix.extend(std::iter::repeat_n(choice, n_times));
                }
            }
            "object" => {
                let value = line.numbered(value, self.objects.len() + 1)?;
                let number = ObjectId(self.objects.len() as u32 + 1);
                // Version 1 had a text here, which nothing can be made of.
                let is_text = value.starts_with('"');
                self.objects.push(match is_text {
                    true => NamedObject::at(ObjectClass::Variable, Home::Number(number)),
                    false => line.json(value)?,
                });
            }
            "place" => {
                let value = line.numbered(value, self.places.len() + 1)?;
                self.places.push(line.json(value)?);
            }
            "dropped" => self.n_dropped = line.number(value)?,
            "step" => self.steps.push(line.step(value)?),
            _ => return Err(line.expected("`id`, `kind`, `plan`, `step` or another key")),
        }
        Ok(())
    }

    fn finish(self, n_lines: usize) -> Result<Regression, ParseError> {
        let missing = |what: &str| ParseError {
            line: n_lines.max(1),
            what: format!("`{what}` is missing: was the file cut short?"),
        };
        let id = self.id.ok_or_else(|| missing("id"))?;
        let kind = self.kind.ok_or_else(|| missing("kind"))?;
        let bucket = self.bucket.ok_or_else(|| missing("bucket"))?;
        let plan = self.plan.ok_or_else(|| missing("plan"))?;
        let with_none = |none, all: Vec<_>| std::iter::once(none).chain(all).collect();
        let places: Vec<Place> = std::iter::once(Place::default()).chain(self.places).collect();
        let objects: Vec<NamedObject> = with_none(NamedObject::default(), self.objects);
        let is_known =
            |it: &Step| (it.place as usize) < places.len() && it.object.idx() < objects.len();
        if !self.steps.iter().all(is_known) {
            return Err(missing("place"));
        }
        let finding = Finding {
            kind,
            bucket: Bucket(bucket),
            fault: Fault::Said(self.message),
            thread: self.thread,
            sites: self.sites,
            is_cycle: false,
            cycle: Vec::new(),
            threads: Vec::new(),
            steps: self.steps,
            n_steps_dropped: self.n_dropped,
            objects,
            places,
            stacks: Vec::new(),
            strategy: plan.picker.to_string(),
            position: None,
            plan: Plan { prefix: self.prefix, ..plan },
            execution: 0,
            n_switches: 0,
            trace_digest: self.digest,
            output: String::new(),
            certainty: Certainty::Shown,
            evidence: None,
            freed: None,
            delay_us: 0,
        };
        Ok(Regression {
            id,
            args: self.args,
            program_hash: self.build,
            carrier: self.carrier,
            exit_is_fine: self.exit_is_fine,
            finding,
        })
    }
}

/// A line of the file.
struct Line<'a> {
    number: usize,
    text: &'a str,
}

impl Line<'_> {
    fn expected(&self, what: &str) -> ParseError {
        let found: String = self.text.chars().take(40).collect();
        ParseError { line: self.number, what: format!("expected {what}, found `{found}`") }
    }

    fn number<T: std::str::FromStr>(&self, text: &str) -> Result<T, ParseError> {
        text.parse().map_err(|_| self.expected("a number"))
    }

    fn hex(&self, text: &str) -> Result<u64, ParseError> {
        u64::from_str_radix(text, 16).map_err(|_| self.expected("hexadecimal digits"))
    }

    fn json<T: DeserializeOwned>(&self, text: &str) -> Result<T, ParseError> {
        serde_json::from_str(text).map_err(|error| ParseError {
            line: self.number,
            what: format!("this is damaged ({error})"),
        })
    }

    /// What follows the number that must come next.
    fn numbered<'v>(&self, text: &'v str, next: usize) -> Result<&'v str, ParseError> {
        let (number, rest) = text.split_once(' ').unwrap_or((text, ""));
        match number.parse::<usize>() {
            Ok(number) if number == next => Ok(rest),
            _ => Err(self.expected(&format!("number {next}"))),
        }
    }

    /// `1 lock 4 2`.
    fn step(&self, text: &str) -> Result<Step, ParseError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [thread, verb, object, place] = words.as_slice() else {
            return Err(self.expected("`step THREAD OP OBJECT PLACE`"));
        };
        let kind = OpKind::ALL.iter().copied().find(|it| it.verb() == *verb);
        Ok(Step {
            thread: ThreadId(self.number(thread)?),
            kind: kind.ok_or_else(|| self.expected("an op"))?,
            object: ObjectId(self.number(object)?),
            place: self.number(place)?,
            ..Step::default()
        })
    }
}
