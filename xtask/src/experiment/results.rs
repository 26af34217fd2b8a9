//! What was measured: `results.json`, one line for each cell.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use anyhow::Context as _;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::cell::Cell;

/// Cells by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results(BTreeMap<String, Made>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Made {
    inputs: String,
    value: Value,
}

/// The name of a cell.
pub(crate) fn key(parts: &[&str]) -> String {
    parts.join(" | ")
}

impl Results {
    /// What was measured before; nothing, if there is no such file.
    pub(super) fn read(path: &Path) -> anyhow::Result<Results> {
        let Ok(text) = fs::read_to_string(path) else { return Ok(Results::default()) };
        let cells = serde_json::from_str(&text);
        Ok(Results(cells.with_context(|| format!("failed to read {}", path.display()))?))
    }

    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut text = String::from("{");
        for (idx, (key, made)) in self.0.iter().enumerate() {
            let comma = if idx == 0 { "" } else { "," };
            let (key, made) = (serde_json::to_string(key)?, serde_json::to_string(made)?);
            let _ = write!(text, "{comma}\n{key}: {made}");
        }
        text += "\n}\n";
        // Whoever interrupts it leaves the old file or the new one.
        let fresh = path.with_extension("json.new");
        let written = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, path));
        written.with_context(|| format!("failed to write {}", path.display()))
    }

    /// Forgets all cells but these.
    pub(super) fn retain(&mut self, keys: &[String]) {
        self.0.retain(|key, _| keys.contains(key));
    }

    /// Is the cell known, and of the same program and parameters?
    pub(super) fn has(&self, cell: &Cell) -> bool {
        self.0.get(&cell.key).is_some_and(|it| it.inputs == cell.inputs)
    }

    pub(super) fn add(&mut self, cell: &Cell, value: Value) {
        let inputs = cell.inputs.clone();
        self.0.insert(cell.key.clone(), Made { inputs, value });
    }

    /// A cell's value, if it was measured.
    pub(crate) fn get<T: DeserializeOwned>(&self, parts: &[&str]) -> anyhow::Result<Option<T>> {
        let key = key(parts);
        let Some(made) = self.0.get(&key) else { return Ok(None) };
        let value = serde_json::from_value(made.value.clone());
        value.map(Some).with_context(|| format!("the value of `{key}` is of another kind"))
    }

    /// Several cells of one row, if all were measured.
    pub(crate) fn row<T: DeserializeOwned>(
        &self,
        row: &str,
        columns: &[&str],
    ) -> anyhow::Result<Option<Vec<T>>> {
        columns.iter().map(|it| self.get(&[row, it])).collect()
    }

    /// Where these are others than those were, but for times.
    pub(super) fn differences(&self, those: &Results) -> Vec<String> {
        let mut differences = Vec::new();
        for (key, made) in &self.0 {
            let old = those.0.get(key).map(|it| timeless(&it.value));
            let new = timeless(&made.value);
            if old.as_ref() != Some(&new) {
                let old = old.map_or("nothing".to_owned(), |it| it.to_string());
                differences.push(format!("{key}: {new}, was {old}"));
            }
        }
        differences
    }
}

/// The value without what depends on the machine: fields in seconds or bytes of the process, and how far a search came
/// in its time.
fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.get("verdict").is_some_and(|it| it == "timed-out") => {
            Value::from("timed-out")
        }
        Value::Object(fields) => {
            let is_kept = |name: &str| !name.starts_with("seconds") && !name.starts_with("native");
            let fields = fields.iter().filter(|(name, _)| is_kept(name));
            Value::Object(fields.map(|(name, it)| (name.clone(), timeless(it))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(timeless).collect()),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Results, timeless};
    use crate::experiment::cell::Cell;

    fn cell(key: &str, input: &str) -> Cell {
        Cell::new(key, &[input], &[], |_| Ok(1))
    }

    #[test]
    fn what_was_measured_is_known_again() {
        let mut results = Results::default();
        results.add(&cell("a | b", "x"), json!({"n": 3}));
        results.add(&cell("c | d", "y"), json!([1, 2]));
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = folder.path().join("results.json");
        results.write(&path).expect("it can be written");
        let mut read = Results::read(&path).expect("it can be read");
        assert!(read.has(&cell("a | b", "x")));
        assert!(!read.has(&cell("a | b", "other")), "another program is another cell");
        assert_eq!(read.get::<Vec<u32>>(&["c", "d"]).expect("numbers"), Some(vec![1, 2]));
        assert!(read.get::<u32>(&["c", "d"]).is_err());
        assert_eq!(read.get::<u32>(&["e", "f"]).expect("nothing"), None);
        read.retain(&["a | b".to_owned()]);
        assert_eq!(read.get::<Vec<u32>>(&["c", "d"]).expect("nothing"), None);
        let none = Results::read(&folder.path().join("none.json")).expect("nothing");
        assert!(!none.has(&cell("a | b", "x")));
    }

    #[test]
    fn only_times_may_differ() {
        let of = |value| {
            let mut results = Results::default();
            results.add(&cell("a", "x"), value);
            results
        };
        let old = of(json!({"n": 3, "seconds": 1.0}));
        assert!(of(json!({"n": 3, "seconds": 2.0})).differences(&old).is_empty());
        assert_eq!(of(json!({"n": 4, "seconds": 1.0})).differences(&old).len(), 1);
        let late = |n: u64| json!([{"verdict": "timed-out", "n_executions": n}]);
        assert_eq!(timeless(&late(3)), timeless(&late(4)));
    }
}
