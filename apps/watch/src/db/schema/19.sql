-- An import that was confirmed stays for a while, with its change and its counts in place of what was read: who confirms it again is told the same.
ALTER TABLE import ADD COLUMN change BLOB; -- a ULID; NULL while the import waits

-- Up to when mails have told what friends added, by the times of the films, and the last request that they told.
ALTER TABLE mail ADD COLUMN told_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mail ADD COLUMN told_request BLOB NOT NULL DEFAULT x'00000000000000000000000000000000';
UPDATE mail SET told_ms = news_ms, told_request = ulid_min(news_ms);
