-- Which operation wrote a field of an entry: devices write without a connection, and apps/watch/docs/features.md has the rule by which
-- the server merges. An entry without a row has in each field the version ulid_min(added_ms).
CREATE TABLE version(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('listed', 'priority', 'public', 'watched', 'note', 'place')),
  id BLOB NOT NULL, -- a ULID; zeros where nobody has written the field
  value TEXT CHECK (json_valid(value)), -- of a version that lost; NULL for what the list has
  PRIMARY KEY (user, film, field, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_lost ON version(user, film) WHERE value IS NOT NULL;

-- What a list said of the films that were taken off.
CREATE TABLE gone(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  id BLOB NOT NULL DEFAULT (ulid()),
  before TEXT NOT NULL CHECK (json_valid(before)), -- as in the table undo
  PRIMARY KEY (user, film)
) STRICT, WITHOUT ROWID;

-- The operations that a user's devices have sent.
CREATE TABLE operation(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  id BLOB NOT NULL,
  PRIMARY KEY (user, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER entry_changed AFTER UPDATE ON entry BEGIN
  INSERT INTO version(user, film, field, id) SELECT new.user, new.film, column1, ulid_min(old.added_ms)
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'))
    WHERE NOT EXISTS (SELECT 1 FROM version WHERE user = new.user AND film = new.film);
  DELETE FROM version WHERE user = new.user AND film = new.film AND value IS NULL AND CASE field
    WHEN 'priority' THEN new.priority IS NOT old.priority
    WHEN 'public' THEN new.public IS NOT old.public
    WHEN 'watched' THEN (new.watched, new.watched_on, new.rating) IS NOT (old.watched, old.watched_on, old.rating)
    WHEN 'note' THEN new.note IS NOT old.note
    WHEN 'place' THEN new.place IS NOT old.place
    -- A device that takes the film off knows nothing of this.
    ELSE (new.priority, new.public, new.watched, new.watched_on, new.rating, new.note)
      IS NOT (old.priority, old.public, old.watched, old.watched_on, old.rating, old.note) END;
  INSERT INTO version(user, film, field, id) SELECT new.user, new.film, column1, ulid()
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'))
    WHERE NOT EXISTS (SELECT 1 FROM version WHERE user = new.user AND film = new.film AND field = column1 AND value IS NULL);
END;

-- Not when the user or the film itself is deleted.
CREATE TRIGGER entry_removed AFTER DELETE ON entry
  WHEN EXISTS (SELECT 1 FROM user WHERE number = old.user) AND EXISTS (SELECT 1 FROM film WHERE number = old.film) BEGIN
  INSERT INTO version(user, film, field, id) SELECT old.user, old.film, column1, ulid_min(old.added_ms)
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'))
    WHERE NOT EXISTS (SELECT 1 FROM version WHERE user = old.user AND film = old.film);
  DELETE FROM version WHERE user = old.user AND film = old.film AND field = 'listed' AND value IS NULL;
  INSERT INTO version(user, film, field, id) VALUES (old.user, old.film, 'listed', ulid());
  INSERT INTO gone(user, film, before) VALUES (old.user, old.film, json_array(
    old.priority, old.public, old.watched, old.added_ms, old.place, old.watched_on, old.rating, old.note));
END;

CREATE TRIGGER entry_added AFTER INSERT ON entry
  WHEN EXISTS (SELECT 1 FROM version WHERE user = new.user AND film = new.film) BEGIN
  DELETE FROM version WHERE user = new.user AND film = new.film AND value IS NULL;
  INSERT INTO version(user, film, field, id) SELECT new.user, new.film, column1, ulid()
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'));
  DELETE FROM gone WHERE user = new.user AND film = new.film;
END;
