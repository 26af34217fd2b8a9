//! The store's one file, `raddle.db`: opened, brought up to date, changed in transactions.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::{StoreError, old};

/// The name of the file.
pub(super) const FILE: &str = "raddle.db";

/// What makes a database of one version one of the next: a database has gone through `user_version` of them.
const MIGRATIONS: [&str; 1] = [include_str!("schema.sql")];

/// Says in the file's head that it is ours.
const APPLICATION: i32 = i32::from_be_bytes(*b"rddl");

/// How long others may write before we give up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What to do about a damaged store: nothing of it is touched.
pub(super) const REMEDY: &str =
    "move it away to start a new store, or repair it with `sqlite3 FILE .recover`";

/// An open store.
#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
    /// Which file that was when it was opened.
    inode: u64,
}

impl Database {
    /// The store in this directory, to be read; `None` if there is none.
    pub(super) fn open(root: &Path) -> Result<Option<Database>, StoreError> {
        let path = root.join(FILE);
        if !path.exists() && !old::is_there(root) {
            return Ok(None);
        }
        match Database::create(root) {
            // Where nobody can write, nobody writes.
            Err(error) if error.is_read_only() && path.exists() => {
                Database::open_frozen(path).map(Some)
            }
            result => result.map(Some),
        }
    }

    /// The store in this directory, made if need be.
    pub(super) fn create(root: &Path) -> Result<Database, StoreError> {
        fs::create_dir_all(root).map_err(StoreError::io("create", root))?;
        let path = root.join(FILE);
        let failed = |error| StoreError::of_sql("open", &path, error);
        let mut connection = Connection::open(&path).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        // Before anything is set: the database of another program stays as it is.
        check(&connection, &path)?;
        set_up(&connection).map_err(failed)?;
        let inode = fs::metadata(&path).map_err(StoreError::io("open", &path))?.ino();
        migrate(&mut connection, &path, root)?;
        Ok(Database { connection, path, inode })
    }

    fn open_frozen(path: PathBuf) -> Result<Database, StoreError> {
        let failed = |error| StoreError::of_sql("open", &path, error);
        let name = path.display().to_string();
        let name = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let uri = format!("file:{name}?immutable=1");
        let connection = Connection::open_with_flags(uri, flags).map_err(failed)?;
        check(&connection, &path)?;
        Ok(Database { connection, path, inode: 0 })
    }

    /// What is written survives this process, but perhaps not the machine: a search that is set back a little does
    /// no harm.
    pub(super) fn sync_less(self) -> Result<Database, StoreError> {
        self.read(|it| it.pragma_update(None, "synchronous", "NORMAL"))?;
        Ok(self)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks something up.
    pub(super) fn read<T>(
        &self,
        action: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        action(&self.connection).map_err(|error| StoreError::of_sql("read", &self.path, error))
    }

    /// Gives what nobody uses any more back to the file system.
    pub(super) fn shrink(&self) -> Result<(), StoreError> {
        self.read(|it| {
            it.execute_batch("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")
        })
    }

    /// Changes something, all of it or nothing, while no other process does.
    pub(super) fn change<T>(
        &mut self,
        action: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let inode = fs::metadata(&self.path).map_err(StoreError::io("write", &self.path))?.ino();
        if inode != self.inode {
            let source = io::Error::other("the file was replaced while it was open");
            return Err(StoreError::Io { action: "write", file: self.path.clone(), source });
        }
        let changed = (|| {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = action(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })();
        changed.map_err(|error| StoreError::of_sql("write", &self.path, error))
    }
}

impl StoreError {
    /// What SQLite says, as an error of ours.
    pub(super) fn of_sql(action: &'static str, file: &Path, source: rusqlite::Error) -> StoreError {
        let file = file.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) | None => {
                StoreError::Corrupted { file, why: source.to_string(), remedy: REMEDY }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { file },
            Some(_) => StoreError::Sql { action, file, source },
        }
    }

    fn is_read_only(&self) -> bool {
        let of_sql = |it: &rusqlite::Error| {
            matches!(it.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        };
        match self {
            StoreError::Io { source, .. } => source.kind() == io::ErrorKind::ReadOnlyFilesystem,
            StoreError::Sql { source, .. } => of_sql(source),
            _ => false,
        }
    }
}

/// What is set for each connection, and once for each file.
fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let start = Instant::now();
    // SQLite's busy timeout does not cover a change of the journal mode: where two processes make a store at once, one
    // fails at once and has to try again.
    loop {
        let set = connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match set {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < PATIENCE =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            set => return set,
        }
    }
}

/// Brings a database up to date; one that is new gets what a store of before has.
fn migrate(connection: &mut Connection, path: &Path, root: &Path) -> Result<(), StoreError> {
    if check(connection, path)? == MIGRATIONS.len() {
        return Ok(());
    }
    let failed = |error| StoreError::of_sql("write", path, error);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have been faster.
    let version = check(&transaction, path)?;
    for migration in &MIGRATIONS[version..] {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    if version == 0 {
        old::import(&transaction, path, root)?;
    }
    let note = || -> rusqlite::Result<()> {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
        transaction.execute("DELETE FROM writer", ())?;
        transaction.execute("INSERT INTO writer VALUES (?1)", [env!("CARGO_PKG_VERSION")])?;
        Ok(())
    };
    note().and_then(|()| transaction.commit()).map_err(failed)
}

/// How many migrations a database has gone through, if it is ours and we know them.
fn check(connection: &Connection, path: &Path) -> Result<usize, StoreError> {
    let failed = |error| StoreError::of_sql("read", path, error);
    // Three reads of one state: another process may be making the store right now.
    let is_alone = connection.is_autocommit();
    let _snapshot =
        is_alone.then(|| connection.unchecked_transaction()).transpose().map_err(failed)?;
    let number = |name: &str| connection.pragma_query_value(None, name, |it| it.get::<_, i64>(0));
    let version = number("user_version").map_err(failed)?;
    let application = number("application_id").map_err(failed)?;
    let n_tables = connection
        .query_row("SELECT count(*) FROM sqlite_schema", (), |it| it.get::<_, i64>(0))
        .map_err(failed)?;
    if application != i64::from(APPLICATION) && (version, application, n_tables) != (0, 0, 0) {
        let (file, why) = (path.to_owned(), "it is the database of another program".to_owned());
        return Err(StoreError::Corrupted { file, why, remedy: REMEDY });
    }
    match usize::try_from(version) {
        Ok(version) if version <= MIGRATIONS.len() => Ok(version),
        _ => {
            let writer = connection.query_row("SELECT raddle FROM writer", (), |it| it.get(0));
            let raddle = writer.unwrap_or_else(|_| "?".to_owned());
            Err(StoreError::Newer { file: path.to_owned(), raddle })
        }
    }
}
