-- Canvases: one document of each kind for each locus, as it stands now. Times are microseconds of UTC.
CREATE TABLE canvases (
    locus   TEXT NOT NULL,
    kind    TEXT NOT NULL,              -- design or flow
    rev     INTEGER NOT NULL,           -- rises with each other document, and never falls
    author  TEXT NOT NULL,              -- who wrote this revision, as they say
    note    TEXT NOT NULL,              -- why
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    size    INTEGER NOT NULL,           -- bytes of the document
    doc     TEXT NOT NULL,              -- JSON with its keys in order; a flow without its `rev`
    PRIMARY KEY (locus, kind)
) STRICT;

-- Each document that a canvas had, the present one too; they stay when it is cleared. The oldest are
-- pruned.
CREATE TABLE canvas_revs (
    locus   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    rev     INTEGER NOT NULL,
    author  TEXT NOT NULL,
    note    TEXT NOT NULL,
    written INTEGER NOT NULL,
    size    INTEGER NOT NULL,
    doc     TEXT NOT NULL,
    PRIMARY KEY (locus, kind, rev)
) STRICT;

-- Documents that callers contributed to the tree of instructions.
CREATE TABLE instructions (
    path    TEXT PRIMARY KEY,           -- `instructions/…`
    locus   TEXT NOT NULL,              -- whose readers it is for; '' = everybody
    title   TEXT NOT NULL,
    author  TEXT NOT NULL,              -- who wrote it, as they say
    token   TEXT NOT NULL,              -- the name of the token that it came with
    created INTEGER NOT NULL,
    size    INTEGER NOT NULL,           -- bytes of the text
    text    TEXT NOT NULL
) STRICT;

-- What people submitted for the sessions of a locus. Its files are in the data directory of the
-- server that took them.
CREATE TABLE prompts (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice
    locus   TEXT NOT NULL,
    session TEXT NOT NULL,
    status  TEXT NOT NULL,              -- writing (nobody sees it yet), open, delivered or done
    author  TEXT NOT NULL,
    source  TEXT NOT NULL,
    board   TEXT NOT NULL,              -- the item that tells of it: `o12`
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    place   TEXT NOT NULL,              -- the directory of its files, below `prompts/`
    size    INTEGER NOT NULL,           -- bytes of all its files
    files   TEXT NOT NULL,              -- a JSON array of name, type and size
    text    TEXT NOT NULL
) STRICT;
CREATE INDEX prompts_locus ON prompts (locus, id);
CREATE INDEX prompts_status ON prompts (status, id);
CREATE UNIQUE INDEX prompts_place ON prompts (place);

-- How the session of a seat gives way to the next one.
CREATE TABLE seat_rollovers (
    locus          TEXT NOT NULL,
    seat           TEXT NOT NULL,       -- claude-code or codex
    session_id     TEXT NOT NULL,       -- the session that gives way
    phase          TEXT NOT NULL,       -- none, pending, handoff, restarting, resuming, done or cancelled
    mode           TEXT NOT NULL,       -- clear or restart
    context_tokens INTEGER NOT NULL,
    handoff_id     TEXT NOT NULL,       -- `locus/task` of a ledger, or `session:<id>`
    requested      INTEGER NOT NULL,
    updated        INTEGER NOT NULL,
    until          INTEGER NOT NULL,    -- of the clock of leases: from then on a pending one is cancelled
    threshold      INTEGER NOT NULL,
    idle_gate_s    INTEGER NOT NULL,
    restart_tmux   TEXT NOT NULL,
    successor      TEXT NOT NULL,       -- the session that goes on
    resumed        INTEGER NOT NULL,    -- since when; 0 = not yet
    note           TEXT NOT NULL,
    PRIMARY KEY (locus, seat)
) STRICT, WITHOUT ROWID;
CREATE INDEX seat_rollovers_pending ON seat_rollovers (until) WHERE phase = 'pending';
CREATE INDEX seat_rollovers_handoff ON seat_rollovers (handoff_id) WHERE handoff_id <> '';

-- What a session says of itself, beside what it left.
ALTER TABLE claude_sessions ADD COLUMN login TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN pid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE claude_sessions ADD COLUMN config_dir TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN tmux TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN predecessor TEXT NOT NULL DEFAULT '';
ALTER TABLE claude_sessions ADD COLUMN started INTEGER NOT NULL DEFAULT 0;
ALTER TABLE claude_sessions ADD COLUMN last_seen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE claude_sessions ADD COLUMN handoff_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX claude_sessions_seen ON claude_sessions (last_seen);

-- What transactions count together, so that they do not pass a bound at once.
CREATE TABLE meters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
INSERT INTO meters (name, value) VALUES
    ('instructions', 0),                -- documents that were contributed
    ('prompt_bytes', 0);                -- bytes of the files of all prompts
