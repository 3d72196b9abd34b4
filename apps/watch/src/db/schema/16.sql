-- Series. The seasons are a JSON array of their numbers of episodes, the first season first; 0 where that isn't known.
ALTER TABLE film ADD COLUMN is_series INTEGER NOT NULL DEFAULT 0 CHECK (is_series IN (0, 1));
ALTER TABLE film ADD COLUMN end_year INTEGER; -- NULL where it goes on, or where that isn't known
ALTER TABLE film ADD COLUMN seasons TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(seasons));

-- How many seasons were watched, the first ones. At least 1 for a series that was watched.
ALTER TABLE entry ADD COLUMN seasons_watched INTEGER NOT NULL DEFAULT 0 CHECK (seasons_watched >= 0);
CREATE INDEX entry_seasons ON entry(film) WHERE seasons_watched > 0;
UPDATE undo SET before = json_insert(before, '$[#]', 0) WHERE before IS NOT NULL;
UPDATE gone SET before = json_insert(before, '$[#]', 0);
UPDATE version SET value = json_set(value, '$.seasons_watched', 0) WHERE field = 'watched' AND value IS NOT NULL;

DROP TRIGGER entry_changed;
DROP TRIGGER entry_removed;
CREATE TRIGGER entry_changed AFTER UPDATE ON entry BEGIN
  INSERT INTO version(user, film, field, id) SELECT new.user, new.film, column1, ulid_min(old.added_ms)
    FROM (VALUES ('listed'), ('priority'), ('public'), ('watched'), ('note'), ('place'), ('tags'))
    WHERE NOT EXISTS (SELECT 1 FROM version WHERE user = new.user AND film = new.film);
  DELETE FROM version WHERE user = new.user AND film = new.film AND value IS NULL AND CASE field
    WHEN 'priority' THEN new.priority IS NOT old.priority
    WHEN 'public' THEN new.public IS NOT old.public
    WHEN 'watched' THEN (new.watched, new.watched_on, new.rating, new.earlier, new.seasons_watched)
      IS NOT (old.watched, old.watched_on, old.rating, old.earlier, old.seasons_watched)
    WHEN 'note' THEN new.note IS NOT old.note
    WHEN 'place' THEN new.place IS NOT old.place
    WHEN 'tags' THEN new.tags IS NOT old.tags
    -- A device that takes the film off knows nothing of this.
    ELSE (new.priority, new.public, new.watched, new.watched_on, new.rating, new.note, new.tags, new.earlier, new.seasons_watched)
      IS NOT (old.priority, old.public, old.watched, old.watched_on, old.rating, old.note, old.tags, old.earlier, old.seasons_watched) END;
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
    old.priority, old.public, old.watched, old.added_ms, old.place, old.watched_on, old.rating, old.note, old.tags, old.earlier,
    old.seasons_watched));
END;

-- Who had watched all seasons has something to watch again after a further one, and keeps the day among the earlier ones.
CREATE TRIGGER film_season_added AFTER UPDATE OF seasons ON film
  WHEN json_array_length(new.seasons) > json_array_length(old.seasons) BEGIN
  UPDATE entry SET watched = 0, watched_on = NULL, seasons_watched = json_array_length(old.seasons),
      earlier = iif(watched_on IS NULL, earlier, json_insert(earlier, '$[#]', watched_on))
    WHERE film = new.number AND seasons_watched > 0 AND watched AND json_array_length(old.seasons) > 0;
  -- The seasons are known for the first time.
  UPDATE entry SET seasons_watched = json_array_length(new.seasons)
    WHERE film = new.number AND seasons_watched > 0 AND watched AND json_array_length(old.seasons) = 0;
END;
CREATE TRIGGER film_season_removed AFTER UPDATE OF seasons ON film
  WHEN json_array_length(new.seasons) BETWEEN 1 AND json_array_length(old.seasons) - 1 BEGIN
  UPDATE entry SET seasons_watched = json_array_length(new.seasons)
    WHERE film = new.number AND seasons_watched > 0 AND seasons_watched > json_array_length(new.seasons);
END;
