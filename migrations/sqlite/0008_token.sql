-- The tokens that callers were given. The secret itself is nowhere: its hash is.
CREATE TABLE tokens (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT NOT NULL UNIQUE,
    hash      BLOB NOT NULL UNIQUE,   -- SHA-256 of the secret
    scope     TEXT NOT NULL,          -- read, delegate, write, destroy or operator
    profile   TEXT,                   -- of the settings; null = all that the scope permits
    loci      TEXT,                   -- a JSON list; null = all
    budget    INTEGER,                -- millionths of a US dollar per day of UTC; null = no bound
    created   INTEGER NOT NULL,       -- microseconds of UTC, as all times here
    creator   TEXT NOT NULL,          -- the name of the token that it was made with
    expires   INTEGER,
    revoked   INTEGER,
    last_used INTEGER
) STRICT;

-- One row, which rises with each token that is made or revoked: what was read before is known to be
-- stale by it.
CREATE TABLE token_revision (
    value INTEGER NOT NULL
) STRICT;
INSERT INTO token_revision (value) VALUES (0);

-- What each token has spent of its budget on a day of UTC, and what is set aside for calls in flight.
CREATE TABLE budget_days (
    token    TEXT NOT NULL,
    day      INTEGER NOT NULL,        -- days since 1970
    spent    INTEGER NOT NULL CHECK (spent >= 0),
    reserved INTEGER NOT NULL CHECK (reserved >= 0),
    PRIMARY KEY (token, day)
) STRICT, WITHOUT ROWID;

-- What is set aside, call by call. Whoever holds one renews it; one that has lapsed is spent.
CREATE TABLE budget_holds (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    token  TEXT NOT NULL,
    day    INTEGER NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    lapses INTEGER NOT NULL           -- by the clock of leases
) STRICT;
CREATE INDEX budget_holds_lapses ON budget_holds (lapses);
