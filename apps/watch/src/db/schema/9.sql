-- Tags are lists with names: a film of a user's list may have several.
DROP TRIGGER entry_changed;
DROP TRIGGER entry_removed;
DROP TRIGGER entry_added;
ALTER TABLE entry ADD COLUMN tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)); -- a JSON array of names, sorted
ALTER TABLE entry ADD COLUMN earlier TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(earlier)); -- a JSON array of days before watched_on
UPDATE undo SET before = json_insert(before, '$[#]', '[]', '$[#]', '[]') WHERE before IS NOT NULL;
UPDATE gone SET before = json_insert(before, '$[#]', '[]', '$[#]', '[]');

DROP INDEX version_lost;
ALTER TABLE version RENAME TO version_before;
CREATE TABLE version(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('listed', 'priority', 'public', 'watched', 'note', 'place', 'tags')),
  id BLOB NOT NULL, -- a ULID; zeros where nobody has written the field
  value TEXT CHECK (json_valid(value)), -- of a version that lost; NULL for what the list has
  PRIMARY KEY (user, film, field, id)
) STRICT, WITHOUT ROWID;
INSERT INTO version SELECT * FROM version_before;
INSERT INTO version(user, film, field, id) SELECT DISTINCT user, film, 'tags', zeroblob(16) FROM version_before;
DROP TABLE version_before;
CREATE INDEX version_lost ON version(user, film) WHERE value IS NOT NULL;

CREATE TRIGGER entry_changed AFTER UPDATE ON entry BEGIN
  INSERT INTO version(user, film, field, id) SELECT new.user, new.film, column1, ulid_min(old.added_ms)
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'), ('tags'))
    WHERE NOT EXISTS (SELECT 1 FROM version WHERE user = new.user AND film = new.film);
  DELETE FROM version WHERE user = new.user AND film = new.film AND value IS NULL AND CASE field
    WHEN 'priority' THEN new.priority IS NOT old.priority
    WHEN 'public' THEN new.public IS NOT old.public
    WHEN 'watched' THEN (new.watched, new.watched_on, new.rating, new.earlier) IS NOT (old.watched, old.watched_on, old.rating, old.earlier)
    WHEN 'note' THEN new.note IS NOT old.note
    WHEN 'place' THEN new.place IS NOT old.place
    WHEN 'tags' THEN new.tags IS NOT old.tags
    -- A device that takes the film off knows nothing of this.
    ELSE (new.priority, new.public, new.watched, new.watched_on, new.rating, new.note, new.tags, new.earlier)
      IS NOT (old.priority, old.public, old.watched, old.watched_on, old.rating, old.note, old.tags, old.earlier) END;
  INSERT INTO version(user, film, field, id) SELECT new.user, new.film, column1, ulid()
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'), ('tags'))
    WHERE NOT EXISTS (SELECT 1 FROM version WHERE user = new.user AND film = new.film AND field = column1 AND value IS NULL);
END;

-- Not when the user or the film itself is deleted.
CREATE TRIGGER entry_removed AFTER DELETE ON entry
  WHEN EXISTS (SELECT 1 FROM user WHERE number = old.user) AND EXISTS (SELECT 1 FROM film WHERE number = old.film) BEGIN
  INSERT INTO version(user, film, field, id) SELECT old.user, old.film, column1, ulid_min(old.added_ms)
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'), ('tags'))
    WHERE NOT EXISTS (SELECT 1 FROM version WHERE user = old.user AND film = old.film);
  DELETE FROM version WHERE user = old.user AND film = old.film AND field = 'listed' AND value IS NULL;
  INSERT INTO version(user, film, field, id) VALUES (old.user, old.film, 'listed', ulid());
  INSERT INTO gone(user, film, before) VALUES (old.user, old.film, json_array(
    old.priority, old.public, old.watched, old.added_ms, old.place, old.watched_on, old.rating, old.note, old.tags, old.earlier));
END;

CREATE TRIGGER entry_added AFTER INSERT ON entry
  WHEN EXISTS (SELECT 1 FROM version WHERE user = new.user AND film = new.film) BEGIN
  DELETE FROM version WHERE user = new.user AND film = new.film AND value IS NULL;
  INSERT INTO version(user, film, field, id) SELECT new.user, new.film, column1, ulid()
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'), ('tags'));
  DELETE FROM gone WHERE user = new.user AND film = new.film;
END;
