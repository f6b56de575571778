-- The feed of changes: one row each, in the transaction of the change. The oldest are pruned.
-- `seq` is made of the transaction's id, so that readers can tell from their snapshot up to where
-- no row can come any more: see src/store/feed.rs.
CREATE TABLE events (
    seq   BIGINT PRIMARY KEY,
    ts    BIGINT NOT NULL,            -- microseconds of UTC
    kind  TEXT NOT NULL,              -- the kind of record, such as `ledger`
    locus TEXT NOT NULL DEFAULT '',   -- whose record it is; '' = nobody's in particular
    id    TEXT NOT NULL,              -- the record
    op    TEXT NOT NULL               -- insert, update or delete
);

-- What is known of the database itself.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO meta (name, value) VALUES
    ('events_pruned', 0),             -- the newest seq that was pruned
    ('events_base', 0);               -- what is added to a transaction's id: grows with a restore
