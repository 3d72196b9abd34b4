-- A film that was private and is made public is news, unless what friends have seen is later than it.
CREATE TRIGGER entry_published AFTER UPDATE OF public ON entry
  WHEN new.public AND new.added_ms > (SELECT added_ms FROM user WHERE number = new.user) BEGIN
  UPDATE user SET added_ms = new.added_ms WHERE number = new.user;
END;

-- Entries agree with their film (State::agree in db/entries/entry.rs) also after it was corrected: a series is watched with the last of
-- its seasons, on the last of the days; one that turns out to be a film has no seasons, and one to watch then neither days nor rating.
DROP TRIGGER film_season_removed;
CREATE TRIGGER film_seasons_changed AFTER UPDATE OF seasons ON film
  WHEN new.seasons <> old.seasons AND json_array_length(new.seasons) > 0 BEGIN
  UPDATE entry SET watched = 1, seasons_watched = json_array_length(new.seasons),
      watched_on = iif(watched, watched_on, earlier ->> '$[#-1]'), earlier = iif(watched, earlier, json_remove(earlier, '$[#-1]'))
    WHERE film = new.number AND seasons_watched > 0 AND seasons_watched >= json_array_length(new.seasons)
      AND (NOT watched OR seasons_watched > json_array_length(new.seasons));
END;
CREATE TRIGGER film_is_no_series AFTER UPDATE OF is_series ON film WHEN old.is_series AND NOT new.is_series BEGIN
  UPDATE entry SET seasons_watched = 0, rating = iif(watched, rating, NULL), earlier = iif(watched, earlier, '[]')
    WHERE film = new.number AND (seasons_watched > 0 OR (NOT watched AND (rating IS NOT NULL OR earlier <> '[]')));
END;
CREATE TRIGGER film_is_series AFTER UPDATE OF is_series ON film WHEN new.is_series AND NOT old.is_series BEGIN
  UPDATE entry SET seasons_watched = max(json_array_length(new.seasons), 1) WHERE film = new.number AND watched;
END;

-- Entries that such corrections have left.
UPDATE entry SET seasons_watched = 0, rating = iif(watched, rating, NULL), earlier = iif(watched, earlier, '[]')
  WHERE (seasons_watched > 0 OR (NOT watched AND (rating IS NOT NULL OR earlier <> '[]')))
    AND NOT (SELECT is_series FROM film WHERE number = entry.film);
UPDATE entry SET seasons_watched = max(json_array_length(film.seasons), 1) FROM film
  WHERE film.number = entry.film AND is_series AND watched AND (seasons_watched = 0 OR seasons_watched <> json_array_length(seasons) AND seasons <> '[]');
UPDATE entry SET watched = 1, seasons_watched = json_array_length(seasons),
    watched_on = earlier ->> '$[#-1]', earlier = json_remove(earlier, '$[#-1]') FROM film
  WHERE film.number = entry.film AND NOT watched AND seasons_watched > 0 AND seasons <> '[]' AND seasons_watched >= json_array_length(seasons);

-- json_valid(NULL) was 0 before SQLite 3.42, whose integrity check then refuses a row without a value.
CREATE TABLE version_before AS SELECT * FROM version;
DROP TABLE version;
CREATE TABLE version(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('listed', 'priority', 'public', 'watched', 'note', 'place', 'tags')),
  id BLOB NOT NULL, -- a ULID; zeros where nobody has written the field
  value TEXT CHECK (value IS NULL OR json_valid(value)), -- of a version that lost; NULL for what the list has
  PRIMARY KEY (user, film, field, id)
) STRICT, WITHOUT ROWID;
INSERT INTO version SELECT * FROM version_before;
DROP TABLE version_before;
CREATE INDEX version_lost ON version(user, film) WHERE value IS NOT NULL;
