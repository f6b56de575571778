-- Replies that were too large to be shown, whole. Each is one token's to read, until it expires.
CREATE TABLE results (
    handle     TEXT PRIMARY KEY,      -- 32 hexadecimal digits that nobody can guess
    token      TEXT NOT NULL,         -- the name of the token whose call it was
    tool       TEXT NOT NULL,         -- the tool that answered
    is_error   BOOLEAN NOT NULL,      -- whether it is a failure
    created    BIGINT NOT NULL,       -- microseconds of UTC, as all times here
    expires    BIGINT NOT NULL,
    complete   BOOLEAN NOT NULL,      -- false while its parts are being written
    room       BIGINT NOT NULL,       -- bytes that count against the bounds
    json_bytes BIGINT NOT NULL,
    json_lines BIGINT NOT NULL,
    text_bytes BIGINT,                -- null = the tool has no text of its own
    text_lines BIGINT
);
CREATE INDEX results_token ON results (token, created);
CREATE INDEX results_expires ON results (expires);

-- Their bytes. All parts but the last of a kind have the same length.
CREATE TABLE result_parts (
    handle TEXT NOT NULL,
    kind   TEXT NOT NULL,             -- json or text
    nth    BIGINT NOT NULL,           -- from 0
    body   BYTEA NOT NULL,
    PRIMARY KEY (handle, kind, nth)
);
