-- How long a film is; none where it isn't known.
ALTER TABLE film ADD COLUMN minutes INTEGER CHECK (minutes > 0);

-- When a user last added a film that friends see, and up to when they have seen what their friends added. Pages show from
-- these whether something is new, without reading a list.
ALTER TABLE user ADD COLUMN added_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN seen_ms INTEGER NOT NULL DEFAULT 0;
UPDATE user SET added_ms = coalesce((SELECT max(added_ms) FROM entry WHERE entry.user = user.number AND public), 0);
UPDATE user SET seen_ms = (SELECT max(added_ms) FROM user);
CREATE TRIGGER entry_inserted AFTER INSERT ON entry
  WHEN new.public AND new.added_ms > (SELECT added_ms FROM user WHERE number = new.user) BEGIN
  UPDATE user SET added_ms = new.added_ms WHERE number = new.user;
END;

-- Who wants nothing from whom: requests of a blocked user reach nobody.
CREATE TABLE block(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  blocked INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  PRIMARY KEY (user, blocked)
) STRICT, WITHOUT ROWID;
CREATE INDEX block_blocked ON block(blocked);

-- The secret address of a user's feed, as its SHA-256.
CREATE TABLE feed(
  user INTEGER PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  hash BLOB NOT NULL UNIQUE
) STRICT;
