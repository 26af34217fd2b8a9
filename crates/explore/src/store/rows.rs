//! Runs and findings as rows.

use std::{
    collections::HashSet,
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::PathBuf,
};

use raddle_model::{Bucket, Fault, Kind};
use rusqlite::{Connection, OptionalExtension as _, Row, params, types::Type};
use serde::Serialize;

use super::{StoredFinding, StoredRun};

/// What a list shows of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What the user calls it: `dl-02c1`.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Its bucket.
    pub bucket: Bucket,
    /// What went wrong, or the line about it ([`Store::saying`](super::Store::saying)).
    pub fault: Fault,
    /// The run that found it.
    pub run: String,
    /// When it was found.
    pub date: String,
    /// The executable.
    pub program: PathBuf,
}

/// A value as it stands in a row.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("bug: every stored value has a JSON form")
}

/// Writes a run, or writes it again.
pub(super) fn put_run(to: &Connection, run: &StoredRun) -> rusqlite::Result<()> {
    let text = "INSERT INTO runs VALUES (?1, ?2, ?3) \
                ON CONFLICT (id) DO UPDATE SET has_ended = ?2, run = ?3";
    to.prepare_cached(text)?.execute(params![run.run, run.end.is_some(), json(run)])?;
    Ok(())
}

/// Writes a run if it is not there.
pub(super) fn keep_run(to: &Connection, run: &StoredRun) -> rusqlite::Result<()> {
    let text = "INSERT INTO runs VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
    to.prepare_cached(text)?.execute(params![run.run, run.end.is_some(), json(run)])?;
    Ok(())
}

/// Makes the line of a fault that lists show.
pub type Words = fn(Kind, &Fault) -> String;

/// Writes a finding, or writes it again. Its run is there. With `words`, the row has the line that they make instead of the
/// fault, which can be long and is in the finding, too.
pub(super) fn put_finding(
    to: &Connection,
    stored: &StoredFinding,
    words: Option<Words>,
) -> rusqlite::Result<()> {
    let finding = &stored.finding;
    let text = "INSERT INTO findings (run, id, kind, bucket, fault, date, program) \
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
                ON CONFLICT (id, run) DO UPDATE SET kind = ?3, bucket = ?4, fault = ?5, date = ?6, program = ?7 \
                RETURNING number";
    let said = words.map(|it| Fault::Said(it(finding.kind, &finding.fault)));
    let fault = serde_json::to_string(said.as_ref().unwrap_or(&finding.fault));
    let fault = fault.expect("bug: a fault has a JSON form");
    let number: i64 = to.prepare_cached(text)?.query_row(
        params![
            stored.run,
            stored.id,
            finding.kind.word(),
            finding.bucket.0.cast_signed(),
            fault,
            stored.date,
            stored.info.target.program.as_os_str().as_bytes(),
        ],
        |it| it.get(0),
    )?;
    let text = "INSERT INTO bodies VALUES (?1, ?2) ON CONFLICT (number) DO UPDATE SET finding = ?2";
    to.prepare_cached(text)?.execute(params![number, json(stored)])?;
    Ok(())
}

/// The newest finding of each id, newest first, of so many ids. One walk through the table, from its end: no index is faster,
/// whether ids are many or come again and again.
pub(super) fn newest_of_each(from: &Connection, n_ids: usize) -> rusqlite::Result<Vec<Listed>> {
    let text =
        "SELECT id, kind, bucket, fault, run, date, program FROM findings ORDER BY number DESC";
    let mut statement = from.prepare_cached(text)?;
    let mut rows = statement.query(())?;
    let mut seen: HashSet<Box<str>> = HashSet::new();
    let mut all = Vec::new();
    while all.len() < n_ids
        && let Some(row) = rows.next()?
    {
        let id = row.get_ref(0)?.as_str()?;
        if !seen.contains(id) {
            seen.insert(id.into());
            all.push(listed(row)?);
        }
    }
    Ok(all)
}

/// How many ids there are.
pub(super) fn n_ids(from: &Connection) -> rusqlite::Result<usize> {
    let text = "SELECT count(DISTINCT id) FROM findings";
    from.query_row(text, (), |it| it.get::<_, u32>(0)).map(|it| it as usize)
}

fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    let garbled = |idx: usize, error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(idx, Type::Text, error)
    };
    let word = row.get_ref(1)?.as_str()?;
    let kind = Kind::ALL.iter().copied().find(|it| it.word() == word);
    let fault = serde_json::from_slice(row.get_ref(3)?.as_bytes()?);
    Ok(Listed {
        id: row.get(0)?,
        kind: kind.ok_or_else(|| garbled(1, format!("`{word}` is not a kind").into()))?,
        bucket: Bucket(row.get::<_, i64>(2)?.cast_unsigned()),
        fault: fault.map_err(|error| garbled(3, error.into()))?,
        run: row.get(4)?,
        date: row.get(5)?,
        program: OsString::from_vec(row.get(6)?).into(),
    })
}

/// The ids that begin with `name`, newest first, each with the number of its newest finding; one, if that is its name.
pub(super) fn ids_like(from: &Connection, name: &str) -> rusqlite::Result<Vec<(String, i64)>> {
    let text = "SELECT id, max(number) AS newest FROM findings \
                WHERE id >= ?1 AND id < ?1 || char(1114111) GROUP BY id ORDER BY newest DESC";
    let mut statement = from.prepare_cached(text)?;
    let rows = statement.query_map([name], |it| Ok((it.get(0)?, it.get(1)?)))?;
    let mut ids: Vec<(String, i64)> = rows.collect::<rusqlite::Result<_>>()?;
    if let Some(exact) = ids.iter().position(|it| it.0 == name) {
        ids = vec![ids.swap_remove(exact)];
    }
    Ok(ids)
}

/// The finding that was written last.
pub(super) fn latest(from: &Connection) -> rusqlite::Result<Option<(String, i64)>> {
    let text = "SELECT id, number FROM findings ORDER BY number DESC LIMIT 1";
    from.query_row(text, (), |it| Ok((it.get(0)?, it.get(1)?))).optional()
}

/// The bytes of one column of all rows that a query about one text gives.
pub(super) fn blobs(from: &Connection, query: &str, of: &str) -> rusqlite::Result<Vec<Vec<u8>>> {
    let mut statement = from.prepare_cached(query)?;
    let rows = statement.query_map([of], |it| it.get(0))?;
    rows.collect()
}
