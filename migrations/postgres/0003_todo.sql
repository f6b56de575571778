-- The items of the board. Times are microseconds of UTC; `lease_until` is of the clock of leases.
CREATE TABLE todos (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never given twice
    type           TEXT NOT NULL,
    status         TEXT NOT NULL,
    priority       TEXT NOT NULL,               -- '' = none
    text           TEXT NOT NULL,
    note           TEXT NOT NULL,
    author         TEXT NOT NULL,
    source         TEXT NOT NULL,
    locus          TEXT NOT NULL,
    created        BIGINT NOT NULL,
    updated        BIGINT NOT NULL,            -- of its content; claims do not count
    ref            TEXT NOT NULL,               -- the writer's own key; '' = none
    digest         TEXT NOT NULL,               -- of what came with that key
    attempts       BIGINT NOT NULL DEFAULT 0,  -- how often it was claimed
    fence          BIGINT NOT NULL DEFAULT 0,  -- the token of the newest claim
    claimed_by     TEXT NOT NULL DEFAULT '',    -- '' = nobody
    claimed_at     BIGINT NOT NULL DEFAULT 0,
    lease_s        BIGINT NOT NULL DEFAULT 0,
    lease_until    BIGINT NOT NULL DEFAULT 0,
    delivered_by   TEXT NOT NULL DEFAULT '',
    delivered_at   BIGINT NOT NULL DEFAULT 0,  -- 0 = not delivered
    sender_session TEXT NOT NULL,
    sender_lease   TEXT NOT NULL,
    sender_locus   TEXT NOT NULL
);
CREATE INDEX todos_locus ON todos (locus, id);
CREATE UNIQUE INDEX todos_ref ON todos (locus, ref) WHERE ref <> '';
