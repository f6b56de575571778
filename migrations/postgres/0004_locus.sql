-- Loci: whose records there are, and where each is found. Never removed: an archived one keeps its
-- name taken.
CREATE TABLE loci (
    locus    TEXT COLLATE "C" PRIMARY KEY,
    kind     TEXT COLLATE "C" NOT NULL, -- vm, station, session, handoff or ssh
    goal     TEXT NOT NULL DEFAULT '',
    endpoint TEXT NOT NULL DEFAULT '',  -- user@host[:port], as it was given
    place    TEXT NOT NULL DEFAULT '',  -- user@host:port that it stands for, for looking it up
    pointer  TEXT,                      -- a JSON object
    status   TEXT NOT NULL,             -- active or archived
    created  BIGINT NOT NULL,           -- microseconds of UTC
    updated  BIGINT NOT NULL
);
CREATE INDEX loci_by_kind ON loci (kind, locus);
CREATE INDEX loci_by_place ON loci (place) WHERE place <> '';
