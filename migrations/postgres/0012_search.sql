-- Which records can be found by their words. Nothing reads the words back: this is an index, which
-- a search brings up to date before it answers.
CREATE TABLE search_docs (
    id     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- searches go by it
    kind   TEXT COLLATE "C" NOT NULL,           -- as in the feed
    number BIGINT NOT NULL,                     -- the record: its number; 0 = it has a name
    home   TEXT COLLATE "C" NOT NULL,           -- or the locus and the name that it is named by
    name   TEXT COLLATE "C" NOT NULL,
    locus  TEXT COLLATE "C" NOT NULL,           -- whose it is
    digest TEXT NOT NULL,                       -- of what is in the index of it
    words  TSVECTOR NOT NULL                    -- the words, folded; no configuration reads them
);
CREATE UNIQUE INDEX search_docs_record ON search_docs (kind, number, home, name);
CREATE INDEX search_docs_words ON search_docs USING gin (words);

-- How far the index of each kind is.
CREATE TABLE search_state (
    kind   TEXT PRIMARY KEY,
    rules  BIGINT NOT NULL,                     -- by which words were read
    turn   BIGINT NOT NULL,                     -- rises with each piece of work
    seq    BIGINT NOT NULL,                     -- all changes up to this one are in the index
    walked BIGINT NOT NULL,                     -- 1 = all records were gone through; else up to this one:
    number BIGINT NOT NULL,
    home   TEXT COLLATE "C" NOT NULL,
    name   TEXT COLLATE "C" NOT NULL
);

-- Changes beyond that one which are in the index too.
CREATE TABLE search_ahead (
    kind   TEXT NOT NULL,
    seq    BIGINT NOT NULL,
    PRIMARY KEY (kind, seq)
);
