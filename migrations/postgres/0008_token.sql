-- The tokens that callers were given. The secret itself is nowhere: its hash is.
CREATE TABLE tokens (
    id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name      TEXT NOT NULL UNIQUE,
    hash      BYTEA NOT NULL UNIQUE,  -- SHA-256 of the secret
    scope     TEXT NOT NULL,          -- read, delegate, write, destroy or operator
    profile   TEXT,                   -- of the settings; null = all that the scope permits
    loci      TEXT,                   -- a JSON list; null = all
    budget    BIGINT,                 -- millionths of a US dollar per day of UTC; null = no bound
    created   BIGINT NOT NULL,        -- microseconds of UTC, as all times here
    creator   TEXT NOT NULL,          -- the name of the token that it was made with
    expires   BIGINT,
    revoked   BIGINT,
    last_used BIGINT
);

-- One row, which rises with each token that is made or revoked: what was read before is known to be
-- stale by it.
CREATE TABLE token_revision (
    value BIGINT NOT NULL
);
INSERT INTO token_revision (value) VALUES (0);

-- What each token has spent of its budget on a day of UTC, and what is set aside for calls in flight.
CREATE TABLE budget_days (
    token    TEXT NOT NULL,
    day      BIGINT NOT NULL,         -- days since 1970
    spent    BIGINT NOT NULL CHECK (spent >= 0),
    reserved BIGINT NOT NULL CHECK (reserved >= 0),
    PRIMARY KEY (token, day)
);

-- What is set aside, call by call. Whoever holds one renews it; one that has lapsed is spent.
CREATE TABLE budget_holds (
    id     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token  TEXT NOT NULL,
    day    BIGINT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    lapses BIGINT NOT NULL            -- by the clock of leases
);
CREATE INDEX budget_holds_lapses ON budget_holds (lapses);
