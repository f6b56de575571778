-- The feed of changes: one row each, in the transaction of the change. The oldest are pruned.
CREATE TABLE events (
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    ts    INTEGER NOT NULL,           -- microseconds of UTC
    kind  TEXT NOT NULL,              -- the kind of record, such as `ledger`
    locus TEXT NOT NULL DEFAULT '',   -- whose record it is; '' = nobody's in particular
    id    TEXT NOT NULL,              -- the record
    op    TEXT NOT NULL               -- insert, update or delete
) STRICT;

-- What is known of the database itself.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES
    ('events_pruned', 0);             -- the newest seq that was pruned
