-- Seats: what was last said of each terminal of a locus, and up to when that counts. A row that
-- nobody speaks of any more is pruned after 30 days.
CREATE TABLE seats (
    locus        TEXT COLLATE "C" NOT NULL,
    seat         TEXT COLLATE "C" NOT NULL,        -- mct, claude-code, codex, local, shell or keeper
    alive        BOOLEAN NOT NULL,        -- the last word; what counts is that and the term
    crashed      BOOLEAN NOT NULL,        -- how it ended, where the last word is that it did
    pid          BIGINT,
    age_s        BIGINT NOT NULL,
    model        TEXT NOT NULL,
    session_id   TEXT NOT NULL,
    auth_ok      BOOLEAN,
    host         TEXT NOT NULL,
    login        TEXT NOT NULL,
    status       TEXT NOT NULL,           -- a JSON object of the reporter's own
    started      BIGINT,                 -- seconds of UTC, as it was reported
    source       TEXT NOT NULL,           -- whose word is the last: report or heartbeat
    reported     BIGINT NOT NULL,        -- when that was, in microseconds of UTC
    heard        BIGINT NOT NULL,        -- the same in the time of leases
    lease_id     TEXT NOT NULL,
    ttl_s        BIGINT NOT NULL,        -- 0: no heartbeat was ever promised
    heartbeat_at BIGINT NOT NULL,        -- microseconds of UTC; 0: never
    beat         BIGINT NOT NULL,        -- the same in the time of leases
    until        BIGINT NOT NULL,        -- in the time of leases: from then on the last word counts no more
    lapsed       BOOLEAN NOT NULL,        -- whether the feed has said so
    PRIMARY KEY (locus, seat)
);
CREATE INDEX seats_by_term ON seats (until) WHERE alive AND NOT lapsed;
