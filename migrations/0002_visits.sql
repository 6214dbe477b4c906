-- Later visits of pages, and what the change feed has told of their chunks.

-- Hash of the program's and the config's way to make chunks; NULL: the content must be asked for anew.
ALTER TABLE page ADD COLUMN converter TEXT;
-- How long to wait between visits, in seconds, and when the next is due.
ALTER TABLE page ADD COLUMN interval_secs INTEGER;
ALTER TABLE page ADD COLUMN due_at INTEGER;
-- Since when a live page is missing in a way that wants to be confirmed.
ALTER TABLE page ADD COLUMN missing_since INTEGER;
-- Why a live page is to be deleted when the run ends.
ALTER TABLE page ADD COLUMN condemned TEXT;

CREATE INDEX page_due ON page (due_at) WHERE state = 'done';
CREATE INDEX page_condemned ON page (id) WHERE condemned IS NOT NULL;
CREATE INDEX page_original ON page (duplicate_of) WHERE duplicate_of IS NOT NULL;

-- What the change feed is about: for each page the ids of its chunks, 16 bytes each.
CREATE TABLE feed (
    page_id INTEGER PRIMARY KEY,
    -- Of the chunks that are in the corpus now.
    live BLOB NOT NULL,
    -- Of those that the feed has told, and the content that they were cut from.
    told BLOB NOT NULL DEFAULT x'',
    told_content TEXT,
    is_told INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX feed_untold ON feed (page_id) WHERE is_told = 0;

-- What a part holds: `records` of the spool from lo to hi; `changes` of the parts from lo to hi;
-- `compacted`: what is live in the parts from lo to hi. A part that was compacted is `retired`.
ALTER TABLE part ADD COLUMN holds TEXT NOT NULL DEFAULT 'records';

-- Pages that are known to be gone, or no longer wanted.
CREATE TABLE tombstone (
    document_id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    reason TEXT NOT NULL,
    run_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What takes the place of a superseded content; NULL where nothing does.
ALTER TABLE superseded ADD COLUMN by_url TEXT;
ALTER TABLE superseded ADD COLUMN by_version INTEGER;
