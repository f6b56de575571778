-- Boards as their keepers put them: one item for each id of a locus. Times are microseconds of UTC.
CREATE TABLE board (
    locus        TEXT NOT NULL,
    item_id      TEXT NOT NULL,
    type         TEXT NOT NULL,
    status       TEXT NOT NULL,
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    data         TEXT NOT NULL,       -- a JSON object: `text`, `note`, `by`, `priority` and others
    author       TEXT NOT NULL,
    source       TEXT NOT NULL,
    content_hash TEXT NOT NULL,       -- of locus, type and text as they were put
    PRIMARY KEY (locus, item_id)
) STRICT;
CREATE INDEX board_updated ON board (updated, locus, item_id);
