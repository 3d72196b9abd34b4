-- A mail to an address that is no longer the user's, which says so.
CREATE TABLE outgoing_before AS SELECT * FROM outgoing;
DROP TABLE outgoing;
CREATE TABLE outgoing(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('confirm', 'reset', 'news', 'notice')),
  address TEXT NOT NULL DEFAULT '', -- empty for the user's own
  tries INTEGER NOT NULL DEFAULT 0,
  due_ms INTEGER NOT NULL,
  PRIMARY KEY (user, kind, address)
) STRICT, WITHOUT ROWID;
INSERT INTO outgoing(user, kind, tries, due_ms) SELECT user, kind, tries, due_ms FROM outgoing_before;
DROP TABLE outgoing_before;

-- When a session was begun with a passkey; NULL with a password.
ALTER TABLE session ADD COLUMN passkey_ms INTEGER;

-- When a user chose a new password with a link. Passkeys from before end some days later.
CREATE TABLE recovery(
  user INTEGER PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  at_ms INTEGER NOT NULL
) STRICT;

-- A change of a film takes nothing from what an entry says: the seasons that were watched, the days and the rating stay. A series is watched
-- with the last of its seasons, on the last of the days, and is to be watched again with a further one.
DROP TRIGGER film_season_added;
DROP TRIGGER film_seasons_changed;
DROP TRIGGER film_is_no_series;
DROP TRIGGER film_is_series;
CREATE TRIGGER film_seasons_changed AFTER UPDATE OF seasons, is_series ON film
  WHEN new.is_series AND json_array_length(new.seasons) > 0
    AND (NOT old.is_series OR json_array_length(new.seasons) <> json_array_length(old.seasons)) BEGIN
  -- The seasons are known for the first time.
  UPDATE entry SET seasons_watched = max(seasons_watched, json_array_length(new.seasons))
    WHERE film = new.number AND watched AND (seasons_watched = 0 OR old.is_series AND json_array_length(old.seasons) = 0);
  UPDATE entry SET watched = 0, watched_on = NULL, earlier = iif(watched_on IS NULL, earlier, json_insert(earlier, '$[#]', watched_on))
    WHERE film = new.number AND seasons_watched > 0 AND watched AND seasons_watched < json_array_length(new.seasons);
  UPDATE entry SET watched = 1, watched_on = earlier ->> '$[#-1]', earlier = json_remove(earlier, '$[#-1]')
    WHERE film = new.number AND seasons_watched > 0 AND NOT watched AND seasons_watched >= json_array_length(new.seasons);
END;
CREATE TRIGGER film_is_series AFTER UPDATE OF is_series ON film
  WHEN new.is_series AND NOT old.is_series AND json_array_length(new.seasons) = 0 BEGIN
  UPDATE entry SET seasons_watched = 1 WHERE film = new.number AND watched AND seasons_watched = 0;
END;

-- A film that was removed while others had it on their lists stays there, and is found no more.
ALTER TABLE film ADD COLUMN is_withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (is_withdrawn IN (0, 1));
