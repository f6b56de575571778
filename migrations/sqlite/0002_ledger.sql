-- The ledgers: one document for each task of a locus, as it stands now.
CREATE TABLE ledgers (
    locus      TEXT NOT NULL,
    task       TEXT NOT NULL,
    rev        INTEGER NOT NULL,                -- rises by one with each other text
    status     TEXT NOT NULL,                   -- active, done or abandoned
    author     TEXT NOT NULL,                   -- who wrote this revision, as they say
    note       TEXT NOT NULL,                   -- why
    session_id TEXT NOT NULL,                   -- the session that wrote it
    created    INTEGER NOT NULL,                -- microseconds of UTC
    updated    INTEGER NOT NULL,                -- microseconds of UTC
    resumed_by TEXT NOT NULL DEFAULT '',        -- the session that last took it up
    resumed_at INTEGER NOT NULL DEFAULT 0,      -- microseconds of UTC; 0 = never
    resumes    INTEGER NOT NULL DEFAULT 0,
    chars      INTEGER NOT NULL,                -- the characters of the document
    doc        TEXT NOT NULL,                   -- last: what does not read it need not pass it
    PRIMARY KEY (locus, task)
) STRICT;
CREATE INDEX ledgers_newest ON ledgers (locus, updated);
CREATE INDEX ledgers_newest_of_all ON ledgers (updated);

-- Each text that a ledger had, the present one too. The oldest are pruned.
CREATE TABLE ledger_revs (
    locus      TEXT NOT NULL,
    task       TEXT NOT NULL,
    rev        INTEGER NOT NULL,
    written    INTEGER NOT NULL,                -- microseconds of UTC
    author     TEXT NOT NULL,
    note       TEXT NOT NULL,
    session_id TEXT NOT NULL,
    chars      INTEGER NOT NULL,
    size       INTEGER NOT NULL,                -- bytes of the document
    doc        TEXT NOT NULL,
    PRIMARY KEY (locus, task, rev)
) STRICT;
