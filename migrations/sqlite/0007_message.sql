-- Messages and their replies. Times are microseconds of UTC.
CREATE TABLE messages (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order of sending; never given twice
    message_id   TEXT NOT NULL UNIQUE,
    thread       TEXT NOT NULL,             -- the message that its thread began with
    parent_id    TEXT,                      -- what it replies to; NULL = it begins a thread
    to_locus     TEXT NOT NULL,             -- a locus or `session:<id>`; '' = nobody who can poll
    from_locus   TEXT NOT NULL,             -- the same; '' = it was not said
    from_session TEXT NOT NULL,
    from_lease   TEXT NOT NULL,
    body         TEXT NOT NULL,             -- a JSON object
    reply_to     TEXT,                      -- the URL that is told of replies
    ref          TEXT NOT NULL,             -- the sender's own key; '' = none
    status       TEXT NOT NULL,             -- queued, delivered, replied or error
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    delivered_by TEXT NOT NULL DEFAULT '',  -- of the newest delivery
    delivered_at INTEGER NOT NULL DEFAULT 0,
    attempts     INTEGER NOT NULL DEFAULT 0 -- how often it was drained
) STRICT;
CREATE UNIQUE INDEX messages_ref ON messages (to_locus, ref) WHERE ref <> '';
CREATE INDEX messages_queue ON messages (to_locus, id) WHERE status = 'queued';
-- The order of lists: the newest second first, in order within it.
CREATE INDEX messages_list ON messages (to_locus, status, created / 1000000 DESC, id);
CREATE INDEX messages_thread ON messages (thread, id);
