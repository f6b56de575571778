-- What was asked and answered in the sessions of a locus, turn by turn. Times are microseconds of UTC.
CREATE TABLE exchanges (
    id                    INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given twice
    locus                 TEXT NOT NULL,
    turn                  TEXT NOT NULL,       -- the writer's own name of the turn; '' = none
    session_id            TEXT NOT NULL,
    ts                    INTEGER NOT NULL,    -- when it was, as its writer says
    origin                TEXT NOT NULL,       -- operator or harness: whose words the prompt is
    source                TEXT NOT NULL,       -- by what it was recorded
    model                 TEXT NOT NULL,
    primed                INTEGER NOT NULL,    -- when it was, by the transcript that it was read from; 0 = from none
    recorded              INTEGER NOT NULL,
    updated               INTEGER NOT NULL,
    tokens                INTEGER,
    input_tokens          INTEGER,
    output_tokens         INTEGER,
    cache_read_tokens     INTEGER,
    cache_creation_tokens INTEGER,
    cost_usd              REAL,
    duration_s            REAL,
    cache_ttl_s           INTEGER,
    cache_expires_at      INTEGER,
    prompt_chars          INTEGER NOT NULL,
    response_chars        INTEGER NOT NULL,
    clipped               INTEGER NOT NULL,    -- whether lists show less than there is
    prompt_head           TEXT NOT NULL,       -- what lists show of it
    response_head         TEXT NOT NULL,
    pointers_head         TEXT,
    pointers              TEXT,                -- JSON; from here on only what is read whole
    prompt                TEXT NOT NULL,
    response              TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX exchanges_turn ON exchanges (locus, turn) WHERE turn <> '';
CREATE INDEX exchanges_newest ON exchanges (locus, ts, id);
CREATE INDEX exchanges_newest_of_origin ON exchanges (locus, origin, ts, id);
CREATE INDEX exchanges_newest_of_all ON exchanges (ts, id);
CREATE INDEX exchanges_session ON exchanges (session_id, ts, id) WHERE session_id <> '';
CREATE INDEX exchanges_session_turn ON exchanges (session_id, turn) WHERE session_id <> '' AND turn <> '';
CREATE INDEX exchanges_primed ON exchanges (session_id, primed) WHERE primed > 0;

-- What the exchanges of a locus come to, rolled up again and again; rows are only added.
CREATE TABLE rolling (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    locus       TEXT NOT NULL,
    ts          INTEGER NOT NULL,              -- when it was rolled up
    model       TEXT NOT NULL,                 -- by what
    n_exchanges INTEGER NOT NULL,              -- how many exchanges were new in it
    upto_ts     INTEGER NOT NULL,              -- the place of the last one: its ts, and its id
    upto_id     INTEGER NOT NULL,
    upto_turn   TEXT NOT NULL,
    init_prompt TEXT NOT NULL,
    state       TEXT NOT NULL                  -- JSON
) STRICT;
CREATE INDEX rolling_locus ON rolling (locus, id);

-- What a locus is at, as somebody judged it; rows are only added.
CREATE TABLE assessments (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    locus         TEXT NOT NULL,
    ts            INTEGER NOT NULL,
    focus_item_id INTEGER,                     -- the number of an item of the board
    focus_summary TEXT NOT NULL,
    fulfilled     INTEGER,
    rationale     TEXT NOT NULL,
    assessed_by   TEXT NOT NULL,
    pending       INTEGER NOT NULL,            -- whether a closer look is wanted
    signal        REAL                         -- how much the words asked for, from 0 to 1
) STRICT;
CREATE INDEX assessments_locus ON assessments (locus, id);

-- Files kept byte for byte, such as the transcripts of conversations.
CREATE TABLE archives (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    locus      TEXT NOT NULL,
    source     TEXT NOT NULL,                  -- what the file is called
    source_key TEXT NOT NULL,                  -- the SHA-256 of that, which an index can hold
    backend    TEXT NOT NULL,
    session_id TEXT NOT NULL,
    version    INTEGER NOT NULL,               -- rises with the file, as its writer says
    sha256     TEXT NOT NULL,
    size       INTEGER NOT NULL,               -- bytes
    lines      INTEGER NOT NULL,
    updated    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX archives_source ON archives (locus, source_key);
CREATE INDEX archives_updated ON archives (updated);

-- Their bytes, in pieces of one size.
CREATE TABLE archive_parts (
    archive INTEGER NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
    nth     INTEGER NOT NULL,                  -- from 0
    start   INTEGER NOT NULL,                  -- the bytes before it
    line    INTEGER NOT NULL,                  -- the line feeds before it
    lines   INTEGER NOT NULL,                  -- the line feeds in it
    size    INTEGER NOT NULL,
    body    BLOB NOT NULL,
    PRIMARY KEY (archive, nth)
) STRICT;
