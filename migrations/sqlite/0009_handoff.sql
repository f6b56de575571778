-- What sessions leave to their successors (mode `seat`), and sessions that are pulled into a seat of
-- a station (mode `pull`). Times are microseconds of UTC, 0 where there is none.
CREATE TABLE handoffs (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given twice
    mode           TEXT NOT NULL,               -- seat or pull
    status         TEXT NOT NULL,               -- open, spun, claimed, consumed, done or abandoned
    locus          TEXT NOT NULL,
    source_session TEXT NOT NULL,               -- the session that it comes from
    session_id     TEXT NOT NULL,               -- the session that a seat goes on with; never changed
    fork           INTEGER NOT NULL,            -- whether with a copy of it
    ssh            TEXT NOT NULL,
    dir            TEXT NOT NULL,
    login          TEXT NOT NULL,
    seat           TEXT NOT NULL,               -- claude or keeper
    brief          TEXT NOT NULL,
    task           TEXT NOT NULL,               -- the ledger that goes with it; '' = none
    ledger_rev     INTEGER NOT NULL,            -- its revision at the time
    author         TEXT NOT NULL,
    created        INTEGER NOT NULL,
    updated        INTEGER NOT NULL,
    claimed_by     TEXT NOT NULL DEFAULT '',
    claimed_at     INTEGER NOT NULL DEFAULT 0,
    consumed_by    TEXT NOT NULL DEFAULT '',
    consumed_at    INTEGER NOT NULL DEFAULT 0,
    tmux           TEXT NOT NULL,               -- the seat's name: as asked for, or as a verified seat has it
    station        TEXT NOT NULL DEFAULT '',
    station_handle TEXT NOT NULL DEFAULT '',
    spawn_note     TEXT NOT NULL,               -- what came of asking the station
    spin_fence     INTEGER NOT NULL,            -- the token of the newest order for a seat
    spin_until     INTEGER NOT NULL             -- until when it has the station to itself, by the clock of leases
) STRICT;
CREATE INDEX handoffs_locus ON handoffs (locus, id);
CREATE INDEX handoffs_mode ON handoffs (mode, id);

-- What a session of Claude Code left for whoever goes on with it.
CREATE TABLE claude_sessions (
    session_id TEXT PRIMARY KEY,
    locus      TEXT NOT NULL,
    handoff    TEXT NOT NULL,
    resumed_by TEXT NOT NULL,                   -- '' = nobody went on yet
    resumed_at INTEGER NOT NULL                 -- microseconds of UTC
) STRICT, WITHOUT ROWID;
