-- Browsers in which people have signed in: somebody else's tries to do so don't count against them.
CREATE TABLE device(
  hash BLOB NOT NULL, -- of the secret in its cookie, the same for all who sign in there
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  expires INTEGER NOT NULL, -- seconds since 1970
  PRIMARY KEY (hash, user)
) STRICT, WITHOUT ROWID;
CREATE INDEX device_user ON device(user);

-- What a film's title may be typed as: apps/watch/src/films/title.rs.
CREATE TABLE film_key(
  key TEXT NOT NULL,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  PRIMARY KEY (key, film)
) STRICT, WITHOUT ROWID;
INSERT INTO film_key SELECT value, number FROM film, json_each(title_keys(title));

-- Whom a request reaches is settled when it is sent, and so whatever the clock says: nobody, if nobody has that name.
ALTER TABLE friend_request ADD COLUMN reaches INTEGER REFERENCES user ON DELETE SET NULL;
-- A request that was declined stays: who sent it doesn't learn of it.
ALTER TABLE friend_request ADD COLUMN declined INTEGER NOT NULL DEFAULT 0 CHECK (declined IN (0, 1));
UPDATE friend_request SET reaches =
  (SELECT number FROM user WHERE user.folded = friend_request.folded AND user.id < friend_request.id);
DROP INDEX friend_request_folded;
CREATE INDEX friend_request_reaches ON friend_request(reaches) WHERE reaches IS NOT NULL;

-- Changes are counted: a clock may be set back.
ALTER TABLE undo RENAME TO undo_by_time;
CREATE TABLE undo(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  sequence INTEGER NOT NULL, -- the same for all films of a change
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  change BLOB NOT NULL, -- a ULID, which the outside calls it
  before TEXT,
  PRIMARY KEY (user, sequence, film)
) STRICT, WITHOUT ROWID;
INSERT INTO undo SELECT user, dense_rank() OVER (PARTITION BY user ORDER BY change), film, change, before FROM undo_by_time;
DROP TABLE undo_by_time;
