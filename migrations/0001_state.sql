-- What a crawl knows. Times are microseconds since 1970 UTC; hashes are 32 hexadecimal digits.

-- One row a run of the program.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    config_hash TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    -- Why it ended: `finished`, `interrupted`, `limit`. NULL: it was killed, or runs.
    reason TEXT
) STRICT;

-- Politeness that must survive a restart.
CREATE TABLE host (
    authority TEXT PRIMARY KEY,
    -- No request before this time.
    next_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every page that was ever met: the frontier and `already_collected` in one.
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    -- The key: its canonical address, or the name of a file.
    url TEXT NOT NULL UNIQUE,
    -- The address as it was found: what a server is asked for.
    fetch_url TEXT NOT NULL,
    authority TEXT NOT NULL,
    -- queued · leased · deep (beyond max_depth) · done · failed
    state TEXT NOT NULL,
    depth INTEGER NOT NULL,
    referrer TEXT,
    redirects INTEGER NOT NULL DEFAULT 0,
    -- Tries since it was last settled, and times the program ended while it held the page.
    tries INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    reason TEXT,
    etag TEXT,
    last_modified TEXT,
    body_hash TEXT,
    content_hash TEXT,
    -- Whether its canonical address is another: such a page loses against its equals.
    is_alias INTEGER NOT NULL DEFAULT 0,
    -- Whether its chunks are in the corpus.
    is_live INTEGER NOT NULL DEFAULT 0,
    duplicate_of TEXT,
    document_id TEXT,
    version INTEGER NOT NULL DEFAULT 0,
    chunk_count INTEGER NOT NULL DEFAULT 0,
    token_count INTEGER NOT NULL DEFAULT 0,
    first_seen_at INTEGER,
    changed_at INTEGER,
    checked_at INTEGER,
    run_id INTEGER
) STRICT;

CREATE INDEX page_queue ON page (authority, tries, depth, id) WHERE state = 'queued';
CREATE INDEX page_leased ON page (id) WHERE state IN ('leased', 'failed');
CREATE INDEX page_body ON page (body_hash) WHERE is_live = 1;
CREATE INDEX page_content ON page (content_hash) WHERE is_live = 1;

-- Which page leads to which, for depths that must fall when a shorter way is found.
CREATE TABLE link (
    from_id INTEGER NOT NULL,
    to_id INTEGER NOT NULL,
    PRIMARY KEY (from_id, to_id)
) STRICT, WITHOUT ROWID;

-- The spool: records that are collected, and not yet in a published part.
CREATE TABLE pending (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    -- Length of `body` when it was not yet compressed.
    bytes INTEGER NOT NULL,
    -- A page's record, JSON, zstd.
    body BLOB NOT NULL
) STRICT;

CREATE INDEX pending_page ON pending (page_id);

-- Parts: `sealed` (the stretch of the spool is fixed) or `published` (the files are there).
CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    lo INTEGER NOT NULL,
    hi INTEGER NOT NULL,
    state TEXT NOT NULL,
    run_id INTEGER NOT NULL,
    config_hash TEXT NOT NULL
) STRICT;

CREATE TABLE part_file (
    part_id INTEGER NOT NULL REFERENCES part (id),
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (part_id, kind)
) STRICT, WITHOUT ROWID;

-- Contents of pages that stand in a published part and no longer count.
CREATE TABLE superseded (
    document_id TEXT NOT NULL,
    url TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (document_id, version)
) STRICT, WITHOUT ROWID;
