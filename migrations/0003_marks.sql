-- How the texts of pages resemble each other, and what the parts say of it.

-- The part that holds the rows of a page's content.
ALTER TABLE page ADD COLUMN part_id INTEGER;
CREATE INDEX page_part ON page (part_id) WHERE part_id IS NOT NULL;

-- Whether a spooled record holds the content of its page.
ALTER TABLE pending ADD COLUMN holds_content INTEGER NOT NULL DEFAULT 0;

-- By what the text of a live page is found to be like others.
CREATE TABLE likeness (
    page_id INTEGER PRIMARY KEY,
    -- MinHash sketch of the text; empty where it is too short.
    sketch BLOB NOT NULL,
    -- For each chunk, in order, 8 bytes of the hash of its text.
    passages BLOB NOT NULL
) STRICT;

-- Pages that are nearly equal to another, and pages with chunks that stand in another.
CREATE TABLE mark (
    page_id INTEGER PRIMARY KEY,
    near_duplicate_of TEXT,
    -- Places of such chunks, in order, 4 bytes each.
    repeated BLOB NOT NULL,
    -- Whether the page's part says so.
    is_written INTEGER NOT NULL
) STRICT;
