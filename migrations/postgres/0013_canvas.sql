-- Canvases: one document of each kind for each locus, as it stands now. Times are microseconds of UTC.
CREATE TABLE canvases (
    locus   TEXT COLLATE "C" NOT NULL,
    kind    TEXT COLLATE "C" NOT NULL,              -- design or flow
    rev     BIGINT NOT NULL,           -- rises with each other document, and never falls
    author  TEXT NOT NULL,              -- who wrote this revision, as they say
    note    TEXT NOT NULL,              -- why
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    size    BIGINT NOT NULL,           -- bytes of the document
    doc     TEXT NOT NULL,              -- JSON with its keys in order; a flow without its `rev`
    PRIMARY KEY (locus, kind)
);

-- Each document that a canvas had, the present one too; they stay when it is cleared. The oldest are
-- pruned.
CREATE TABLE canvas_revs (
    locus   TEXT COLLATE "C" NOT NULL,
    kind    TEXT COLLATE "C" NOT NULL,
    rev     BIGINT NOT NULL,
    author  TEXT NOT NULL,
    note    TEXT NOT NULL,
    written BIGINT NOT NULL,
    size    BIGINT NOT NULL,
    doc     TEXT NOT NULL,
    PRIMARY KEY (locus, kind, rev)
);

-- Documents that callers contributed to the tree of instructions.
CREATE TABLE instructions (
    path    TEXT COLLATE "C" PRIMARY KEY,           -- `instructions/…`
    locus   TEXT COLLATE "C" NOT NULL,              -- whose readers it is for; '' = everybody
    title   TEXT NOT NULL,
    author  TEXT NOT NULL,              -- who wrote it, as they say
    token   TEXT NOT NULL,              -- the name of the token that it came with
    created BIGINT NOT NULL,
    size    BIGINT NOT NULL,           -- bytes of the text
    text    TEXT NOT NULL
);

-- What people submitted for the sessions of a locus. Its files are in the data directory of the
-- server that took them.
CREATE TABLE prompts (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never given twice
    locus   TEXT COLLATE "C" NOT NULL,
    session TEXT NOT NULL,
    status  TEXT NOT NULL,              -- writing (nobody sees it yet), open, delivered or done
    author  TEXT NOT NULL,
    source  TEXT NOT NULL,
    board   TEXT NOT NULL,              -- the item that tells of it: `o12`
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    place   TEXT NOT NULL,              -- the directory of its files, below `prompts/`
    size    BIGINT NOT NULL,           -- bytes of all its files
    files   TEXT NOT NULL,              -- a JSON array of name, type and size
    text    TEXT NOT NULL
);
CREATE INDEX prompts_locus ON prompts (locus, id);
CREATE INDEX prompts_status ON prompts (status, id);
CREATE UNIQUE INDEX prompts_place ON prompts (place);

-- How the session of a seat gives way to the next one.
CREATE TABLE seat_rollovers (
    locus          TEXT COLLATE "C" NOT NULL,
    seat           TEXT COLLATE "C" NOT NULL,       -- claude-code or codex
    session_id     TEXT NOT NULL,       -- the session that gives way
    phase          TEXT NOT NULL,       -- none, pending, handoff, restarting, resuming, done or cancelled
    mode           TEXT NOT NULL,       -- clear or restart
    context_tokens BIGINT NOT NULL,
    handoff_id     TEXT NOT NULL,       -- `locus/task` of a ledger, or `session:<id>`
    requested      BIGINT NOT NULL,
    updated        BIGINT NOT NULL,
    until          BIGINT NOT NULL,    -- of the clock of leases: from then on a pending one is cancelled
    threshold      BIGINT NOT NULL,
    idle_gate_s    BIGINT NOT NULL,
    restart_tmux   TEXT NOT NULL,
    successor      TEXT NOT NULL,       -- the session that goes on
    resumed        BIGINT NOT NULL,    -- since when; 0 = not yet
    note           TEXT NOT NULL,
    PRIMARY KEY (locus, seat)
);
CREATE INDEX seat_rollovers_pending ON seat_rollovers (until) WHERE phase = 'pending';
CREATE INDEX seat_rollovers_handoff ON seat_rollovers (handoff_id) WHERE handoff_id <> '';

-- What a session says of itself, beside what it left.
ALTER TABLE claude_sessions ADD COLUMN login TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN pid BIGINT NOT NULL DEFAULT 0;
ALTER TABLE claude_sessions ADD COLUMN config_dir TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN tmux TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN predecessor TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN started BIGINT NOT NULL DEFAULT 0;
ALTER TABLE claude_sessions ADD COLUMN last_seen BIGINT NOT NULL DEFAULT 0;
ALTER TABLE claude_sessions ADD COLUMN handoff_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX claude_sessions_seen ON claude_sessions (last_seen);

-- What transactions count together, so that they do not pass a bound at once.
CREATE TABLE meters (
    name  TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO meters (name, value) VALUES
    ('instructions', 0),                -- documents that were contributed
    ('prompt_bytes', 0);                -- bytes of the files of all prompts
