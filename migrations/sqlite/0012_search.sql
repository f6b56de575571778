-- Which records can be found by their words. Nothing reads the words back: this is an index, which
-- a search brings up to date before it answers.
CREATE TABLE search_docs (
    id     INTEGER PRIMARY KEY,                 -- of its words; searches go by it
    kind   TEXT NOT NULL,                       -- as in the feed
    number INTEGER NOT NULL,                    -- the record: its number; 0 = it has a name
    home   TEXT NOT NULL,                       -- or the locus and the name that it is named by
    name   TEXT NOT NULL,
    locus  TEXT NOT NULL,                       -- whose it is
    digest TEXT NOT NULL                        -- of what is in the index of it
) STRICT;
CREATE UNIQUE INDEX search_docs_record ON search_docs (kind, number, home, name);

-- The words, folded, with a blank between: every byte that is no ASCII sign is part of a word.
CREATE VIRTUAL TABLE search_words USING fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = ascii);

-- How far the index of each kind is.
CREATE TABLE search_state (
    kind   TEXT PRIMARY KEY,
    rules  INTEGER NOT NULL,                    -- by which words were read
    turn   INTEGER NOT NULL,                    -- rises with each piece of work
    seq    INTEGER NOT NULL,                    -- all changes up to this one are in the index
    walked INTEGER NOT NULL,                    -- 1 = all records were gone through; else up to this one:
    number INTEGER NOT NULL,
    home   TEXT NOT NULL,
    name   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Changes beyond that one which are in the index too.
CREATE TABLE search_ahead (
    kind   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (kind, seq)
) STRICT, WITHOUT ROWID;
