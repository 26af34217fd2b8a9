CREATE TABLE writer (raddle TEXT NOT NULL);

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    has_ended INTEGER NOT NULL,
    run BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE findings (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    fault TEXT NOT NULL,
    date TEXT NOT NULL,
    program BLOB NOT NULL,
    UNIQUE (id, run)
);
CREATE INDEX findings_by_run ON findings (run);

CREATE TABLE bodies (
    number INTEGER PRIMARY KEY REFERENCES findings ON DELETE CASCADE,
    finding BLOB NOT NULL
);

CREATE TABLE searches (
    run TEXT PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    head BLOB NOT NULL,
    found BLOB
) WITHOUT ROWID;

CREATE TABLE executions (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES searches ON DELETE CASCADE,
    bytes BLOB NOT NULL
);
CREATE INDEX executions_by_run ON executions (run);
