-- Replies that were too large to be shown, whole. Each is one token's to read, until it expires.
CREATE TABLE results (
    handle     TEXT PRIMARY KEY,      -- 32 hexadecimal digits that nobody can guess
    token      TEXT NOT NULL,         -- the name of the token whose call it was
    tool       TEXT NOT NULL,         -- the tool that answered
    is_error   INTEGER NOT NULL,      -- whether it is a failure
    created    INTEGER NOT NULL,      -- microseconds of UTC, as all times here
    expires    INTEGER NOT NULL,
    complete   INTEGER NOT NULL,      -- false while its parts are being written
    room       INTEGER NOT NULL,      -- bytes that count against the bounds
    json_bytes INTEGER NOT NULL,
    json_lines INTEGER NOT NULL,
    text_bytes INTEGER,               -- null = the tool has no text of its own
    text_lines INTEGER
) STRICT;
CREATE INDEX results_token ON results (token, created);
CREATE INDEX results_expires ON results (expires);

-- Their bytes. All parts but the last of a kind have the same length.
CREATE TABLE result_parts (
    handle TEXT NOT NULL,
    kind   TEXT NOT NULL,             -- json or text
    nth    INTEGER NOT NULL,          -- from 0
    body   BLOB NOT NULL,
    PRIMARY KEY (handle, kind, nth)
) STRICT;
