//! The file of a regression: written and read.

use std::fmt::Write as _;

use raddle_model::{
    Bucket, Carrier, Certainty, Fault, Finding, Kind, Location, NamedObject, ObjectId, OpKind,
    Place, Plan, Step, ThreadId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Regression, old};

/// The version of the format; 1 and 2 were not TOML.
pub(super) const VERSION: u32 = 3;
/// Columns of a line with several values.
const LINE_MAX: usize = 100;
/// Choices that a file may stand for: no execution makes so many.
const CHOICES_MAX: u64 = 1 << 28;

/// What is wrong with a file: `3: expected …`, after the file's name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What was expected, and what is there.
    pub what: String,
}

/// What a file says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// For those who read it without us; checked before all else.
    #[serde(rename = "version")]
    _version: u32,
    id: String,
    kind: Kind,
    bucket: u64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    build: u64,
    #[serde(default)]
    carrier: Carrier,
    #[serde(default)]
    exit_is_fine: bool,
    #[serde(default)]
    digest: u64,
    thread: Option<ThreadId>,
    #[serde(default)]
    sites: Vec<Place>,
    /// Without its prefix.
    plan: Plan,
    /// The prefix: a choice, and how often.
    #[serde(default)]
    choices: Vec<(u32, u32)>,
    /// Numbered from 1, as are places.
    #[serde(default)]
    objects: Vec<NamedObject>,
    #[serde(default)]
    places: Vec<Place>,
    #[serde(default)]
    dropped: u64,
    /// Thread, op, object, place.
    #[serde(default)]
    steps: Vec<(u32, String, u32, u32)>,
}

/// `message`: the line about its fault, for whoever reads the file or hears of it; the fault itself is not kept.
pub(super) fn write(it: &Regression, message: &str) -> String {
    let Regression { id, args, program_hash, carrier, exit_is_fine, finding } = it;
    let title = finding.kind.title();
    let mut out = format!(
        "# {title}: {}\n# Kept by `raddle review --keep`; every `raddle run` of the program replays it first.\n",
        message.replace(char::is_control, " ")
    );
    let mut fact = |key: &str, value: String| out += &format!("{key} = {value}\n");
    fact("version", VERSION.to_string());
    fact("id", toml(id));
    fact("kind", toml(&finding.kind));
    fact("bucket", format!("{:#018x}", finding.bucket.0));
    fact("message", toml(message));
    fact("args", toml(args));
    fact("build", format!("{program_hash:#018x}"));
    fact("carrier", toml(carrier));
    fact("exit_is_fine", exit_is_fine.to_string());
    fact("digest", format!("{:#018x}", finding.trace_digest));
    if let Some(thread) = finding.thread {
        fact("thread", thread.0.to_string());
    }
    if finding.n_steps_dropped > 0 {
        fact("dropped", finding.n_steps_dropped.to_string());
    }
    let runs = finding.plan.prefix.chunk_by(|a, b| a == b).map(|it| toml(&(it[0], it.len())));
    out += "# Each choice and how many times it is repeated.\n";
    list(&mut out, "choices", runs, LINE_MAX);
    // Places of stacks, which are not kept, come after those of steps.
    let n_places = finding.steps.iter().map(|it| it.place as usize + 1).max().unwrap_or(0);
    list(&mut out, "sites", finding.sites.iter().map(toml), 0);
    out += "# Objects and places are numbered from 1.\n";
    list(&mut out, "objects", finding.objects.iter().skip(1).map(|it| toml(&kept(it))), 0);
    list(&mut out, "places", finding.places.iter().take(n_places).skip(1).map(toml), 0);
    out += "# Thread, op, object, place.\n";
    let step = |it: &Step| toml(&(it.thread.0, it.kind.verb(), it.object.0, it.place));
    list(&mut out, "steps", finding.steps.iter().map(step), 0);
    match serde_json::to_value(Plan { prefix: Vec::new(), ..finding.plan.clone() }).map(some) {
        Ok(Value::Object(plan)) => table(&mut out, "plan", &plan),
        _ => unreachable!("bug: a plan is plain data with names"),
    }
    out
}

/// Without fields that are nothing: TOML has no word for them.
fn some(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|it| !it.1.is_null());
            Value::Object(fields.map(|(key, it)| (key, some(it))).collect())
        }
        value => value,
    }
}

/// A table, which comes after all else: a field on each line, long lists on several, and what else is long as tables of
/// its own.
fn table(out: &mut String, name: &str, fields: &Map<String, Value>) {
    let _ = writeln!(out, "\n[{name}]");
    let mut tables = Vec::new();
    for (key, value) in fields {
        match value {
            Value::Array(values) => list(out, key, values.iter().map(toml), LINE_MAX),
            Value::Object(fields) if toml(value).len() > LINE_MAX => tables.push((key, fields)),
            value => {
                let _ = writeln!(out, "{key} = {}", toml(value));
            }
        }
    }
    for (key, fields) in tables {
        table(out, &format!("{name}.{key}"), fields);
    }
}

/// A list with as many values on a line as fit into `width`, or one.
fn list(out: &mut String, key: &str, values: impl Iterator<Item = String>, width: usize) {
    let _ = write!(out, "{key} = [");
    let mut used = usize::MAX;
    for value in values {
        let is_new_line = used.saturating_add(value.len() + 2) > width;
        out.push_str(if is_new_line { "\n    " } else { " " });
        used = if is_new_line { 5 } else { used + 2 } + value.len();
        let _ = write!(out, "{value},");
    }
    out.push_str(if used == usize::MAX { "]\n" } else { "\n]\n" });
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

fn toml<T: Serialize + ?Sized>(value: &T) -> String {
    let mut out = String::new();
    let written = value.serialize(toml::ser::ValueSerializer::new(&mut out));
    written.expect("bug: these values are plain data");
    out
}

pub(super) fn parse(text: &str) -> Result<Regression, ParseError> {
    #[derive(Deserialize)]
    struct Head {
        version: u32,
    }

    let wrong = |error: toml::de::Error| {
        let before = error.span().and_then(|it| text.get(..it.start)).unwrap_or_default();
        let what = error.message().replace('\n', ", ");
        ParseError { line: before.matches('\n').count() + 1, what }
    };
    let newer = || ParseError {
        line: 1,
        what: "it was written by a newer version of raddle; update raddle".to_owned(),
    };
    let file = match text.strip_prefix(old::MAGIC) {
        Some(rest) => {
            let version = rest.lines().next().and_then(|it| it.trim().parse::<u32>().ok());
            if version.is_none_or(|it| it >= VERSION) {
                return Err(newer());
            }
            old::parse(text)?
        }
        None if toml::from_str::<Head>(text).map_err(wrong)?.version > VERSION => {
            return Err(newer());
        }
        None => toml::from_str(text).map_err(wrong)?,
    };
    let n_lines = text.lines().count();
    file.into_regression().map_err(|what| ParseError { line: n_lines, what })
}

impl File {
    fn into_regression(self) -> Result<Regression, String> {
        let n_choices: u64 = self.choices.iter().map(|it| u64::from(it.1)).sum();
        if n_choices > CHOICES_MAX {
            return Err(format!("too many choices: {n_choices}"));
        }
        let choices = self.choices.iter();
        let prefix = choices.flat_map(|it| std::iter::repeat_n(it.0, it.1 as usize)).collect();
        let places: Vec<Place> = std::iter::once(Place::default()).chain(self.places).collect();
        let objects = std::iter::once(NamedObject::default()).chain(self.objects);
        let objects: Vec<NamedObject> = objects.collect();
        let mut steps = Vec::new();
        for (thread, verb, object, place) in self.steps {
            let kind = OpKind::ALL.iter().copied().find(|it| it.verb() == verb);
            let kind = kind.ok_or_else(|| format!("unknown op `{verb}`"))?;
            if place as usize >= places.len() || object as usize >= objects.len() {
                return Err(format!("place {place} or object {object} is missing"));
            }
            steps.push(Step {
                thread: ThreadId(thread),
                kind,
                object: ObjectId(object),
                place,
                ..Step::default()
            });
        }
        let finding = Finding {
            kind: self.kind,
            bucket: Bucket(self.bucket),
            fault: Fault::Said(self.message),
            thread: self.thread,
            sites: self.sites,
            is_cycle: false,
            cycle: Vec::new(),
            threads: Vec::new(),
            steps,
            n_steps_dropped: self.dropped,
            objects,
            places,
            stacks: Vec::new(),
            strategy: self.plan.picker.to_string(),
            position: None,
            plan: Plan { prefix, ..self.plan },
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
            id: self.id,
            args: self.args,
            program_hash: self.build,
            carrier: self.carrier,
            exit_is_fine: self.exit_is_fine,
            finding,
        })
    }
}
