//! One figure: what was measured, its floor, its bar.

use serde::Serialize;
use serde_json::json;

/// What must not be exceeded.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "of", content = "max")]
pub(crate) enum Bar {
    /// The value itself.
    Value(f64),
    /// The value divided by the floor.
    Ratio(f64),
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The same without Raddle, or what the bar compares with, in the same unit.
    pub(crate) floor: f64,
    pub(crate) bar: Bar,
    /// What the floor is, and whatever else explains the value.
    pub(crate) note: String,
}

impl Row {
    pub(crate) fn ratio(&self) -> f64 {
        self.value / self.floor
    }

    pub(crate) fn is_ok(&self) -> bool {
        match self.bar {
            Bar::Value(max) => self.value <= max,
            Bar::Ratio(max) => self.ratio() <= max,
        }
    }
}

/// The rows for a reader.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:28} {:>10} {:>10} {:>7}  {:14} {}\n",
        "what", "value", "floor", "ratio", "bar", "note"
    );
    for row in rows {
        let unit = row.unit;
        let bar = match row.bar {
            Bar::Value(max) => format!("≤ {max} {unit}"),
            Bar::Ratio(max) => format!("≤ {max:.2} × floor"),
        };
        let bar = format!("{} {bar}", if row.is_ok() { "ok  " } else { "MISS" });
        text.push_str(&format!(
            "{:28} {:>7.2} {unit:2} {:>7.2} {unit:2} {:>7.2}  {bar:14} {}\n",
            row.name,
            row.value,
            row.floor,
            row.ratio(),
            row.note
        ));
    }
    text
}

/// The rows for a machine.
pub(crate) fn json(rows: &[Row], is_quick: bool) -> serde_json::Result<String> {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.name, "value": row.value, "unit": row.unit, "floor": row.floor,
                "ratio": row.ratio(), "bar": row.bar, "ok": row.is_ok(), "note": row.note,
            })
        })
        .collect();
    serde_json::to_string_pretty(&json!({ "version": 1, "quick": is_quick, "rows": rows }))
}
