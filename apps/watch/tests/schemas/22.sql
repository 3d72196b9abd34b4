-- What is referred to from many rows has a small number beside its id: apps/watch/docs/performance.md has the figures.
-- Ids are ULIDs and hold the time at which their row was made.

CREATE TABLE setting(
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE user(
  number INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE DEFAULT (ulid()),
  name TEXT NOT NULL,
  folded TEXT NOT NULL UNIQUE, -- the name as it is compared
  password TEXT, -- a PHC string; without one nobody signs in
  is_owner INTEGER NOT NULL DEFAULT 0 CHECK (is_owner IN (0, 1))
) STRICT;

CREATE TABLE film(
  number INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE DEFAULT (ulid()),
  title TEXT NOT NULL,
  year INTEGER,
  people TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(people)), -- JSON arrays of names
  genres TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(genres)),
  imdb INTEGER, -- the digits of IMDb's tt number
  added_by INTEGER REFERENCES user ON DELETE SET NULL
) STRICT;
CREATE UNIQUE INDEX film_imdb ON film(imdb) WHERE imdb IS NOT NULL;
CREATE INDEX film_added_by ON film(added_by) WHERE added_by IS NOT NULL;

CREATE VIRTUAL TABLE film_search USING fts5(
  title, people, genres, year,
  content = 'film', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE film_word USING fts5vocab(film_search, row);
CREATE TRIGGER film_inserted AFTER INSERT ON film BEGIN
  INSERT INTO film_search(rowid, title, people, genres, year)
    VALUES (new.number, new.title, new.people, new.genres, new.year);
END;
CREATE TRIGGER film_updated AFTER UPDATE OF title, people, genres, year ON film BEGIN
  INSERT INTO film_search(film_search, rowid, title, people, genres, year)
    VALUES ('delete', old.number, old.title, old.people, old.genres, old.year);
  INSERT INTO film_search(rowid, title, people, genres, year)
    VALUES (new.number, new.title, new.people, new.genres, new.year);
END;
CREATE TRIGGER film_deleted AFTER DELETE ON film BEGIN
  INSERT INTO film_search(film_search, rowid, title, people, genres, year)
    VALUES ('delete', old.number, old.title, old.people, old.genres, old.year);
END;

-- A film on somebody's list. The pair is the key, and the only index: lists are read by user.
CREATE TABLE entry(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  priority INTEGER NOT NULL DEFAULT 3 CHECK (priority BETWEEN 1 AND 5), -- 5 is the most wanted
  public INTEGER NOT NULL DEFAULT 1 CHECK (public IN (0, 1)),
  watched INTEGER NOT NULL DEFAULT 0 CHECK (watched IN (0, 1)),
  added_ms INTEGER NOT NULL, -- there is no id to hold it
  place REAL, -- within the priority; where it was not moved, it is the time at which it was added
  watched_on TEXT CHECK (watched_on IS NULL OR watched_on = date(watched_on)),
  rating INTEGER CHECK (rating BETWEEN 1 AND 10),
  note TEXT,
  PRIMARY KEY (user, film)
) STRICT, WITHOUT ROWID;

-- Both directions of a friendship are rows.
CREATE TABLE friend(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  friend INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  PRIMARY KEY (user, friend)
) STRICT, WITHOUT ROWID;
CREATE INDEX friend_friend ON friend(friend);

-- By name, whether or not anybody has it: who asks doesn't learn which.
CREATE TABLE friend_request(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  folded TEXT NOT NULL,
  name TEXT NOT NULL, -- as it was typed
  id BLOB NOT NULL DEFAULT (ulid()),
  PRIMARY KEY (user, folded)
) STRICT, WITHOUT ROWID;

-- Secrets are stored as their SHA-256.
CREATE TABLE session(
  hash BLOB NOT NULL PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  expires INTEGER NOT NULL -- seconds since 1970
) STRICT, WITHOUT ROWID;
CREATE INDEX session_user ON session(user);

CREATE TABLE api_token(
  id BLOB NOT NULL PRIMARY KEY DEFAULT (ulid()),
  hash BLOB NOT NULL UNIQUE,
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  name TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_token_user ON api_token(user);

CREATE TABLE invitation(
  id BLOB NOT NULL PRIMARY KEY DEFAULT (ulid()),
  hash BLOB NOT NULL UNIQUE,
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_user ON invitation(user);

CREATE TABLE reset(
  user INTEGER PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  id BLOB NOT NULL DEFAULT (ulid()),
  hash BLOB NOT NULL UNIQUE
) STRICT;

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

-- Whom a request reaches is settled when it is sent, and so whatever the clock says: nobody, if nobody has that name.
ALTER TABLE friend_request ADD COLUMN reaches INTEGER REFERENCES user ON DELETE SET NULL;
-- A request that was declined stays: who sent it doesn't learn of it.
ALTER TABLE friend_request ADD COLUMN declined INTEGER NOT NULL DEFAULT 0 CHECK (declined IN (0, 1));
CREATE INDEX friend_request_reaches ON friend_request(reaches) WHERE reaches IS NOT NULL;

-- Changes are counted: a clock may be set back.
CREATE TABLE undo(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  sequence INTEGER NOT NULL, -- the same for all films of a change
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  change BLOB NOT NULL, -- a ULID, which the outside calls it
  before TEXT,
  PRIMARY KEY (user, sequence, film)
) STRICT, WITHOUT ROWID;

-- How long a film is; none where it isn't known.
ALTER TABLE film ADD COLUMN minutes INTEGER CHECK (minutes > 0);

-- When a user last added a film that friends see, and up to when they have seen what their friends added. Pages show from
-- these whether something is new, without reading a list.
ALTER TABLE user ADD COLUMN added_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN seen_ms INTEGER NOT NULL DEFAULT 0;
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

-- A list that a user has sent and not yet confirmed: what was read from it, one per user.
CREATE TABLE import(
  user INTEGER PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  id BLOB NOT NULL DEFAULT (ulid()),
  reading TEXT NOT NULL CHECK (json_valid(reading))
) STRICT;

-- The title in the language of the film, where it is another one.
ALTER TABLE film ADD COLUMN original TEXT;
CREATE INDEX film_year ON film(year);

-- What titles in scripts without blanks between words may be typed as: every ending of theirs, apps/watch/src/title.rs.
CREATE TABLE film_ending(
  ending TEXT NOT NULL,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  PRIMARY KEY (ending, film)
) STRICT, WITHOUT ROWID;

DROP TRIGGER film_inserted;
DROP TRIGGER film_updated;
DROP TRIGGER film_deleted;
DROP TABLE film_word;
DROP TABLE film_search;
CREATE VIRTUAL TABLE film_search USING fts5(
  title, people, genres, year, original,
  content = 'film', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE film_word USING fts5vocab(film_search, row);
CREATE TRIGGER film_inserted AFTER INSERT ON film BEGIN
  INSERT INTO film_search(rowid, title, people, genres, year, original)
    VALUES (new.number, new.title, new.people, new.genres, new.year, new.original);
END;
CREATE TRIGGER film_updated AFTER UPDATE OF title, people, genres, year, original ON film BEGIN
  INSERT INTO film_search(film_search, rowid, title, people, genres, year, original)
    VALUES ('delete', old.number, old.title, old.people, old.genres, old.year, old.original);
  INSERT INTO film_search(rowid, title, people, genres, year, original)
    VALUES (new.number, new.title, new.people, new.genres, new.year, new.original);
END;
CREATE TRIGGER film_deleted AFTER DELETE ON film BEGIN
  INSERT INTO film_search(film_search, rowid, title, people, genres, year, original)
    VALUES ('delete', old.number, old.title, old.people, old.genres, old.year, old.original);
END;

-- A suspended user can't sign in. Only the owner suspends, and resumes.
ALTER TABLE user ADD COLUMN is_suspended INTEGER NOT NULL DEFAULT 0 CHECK (is_suspended IN (0, 1));

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

-- Searches in catalogues of hundreds of thousands of films read few rows.

-- Titles that begin with a text, the shortest first.
CREATE INDEX film_key_letters ON film_key(length(key), key);
CREATE INDEX film_ending_letters ON film_ending(length(ending), ending);
-- A film that is changed or removed.
CREATE INDEX film_key_film ON film_key(film);
CREATE INDEX film_ending_film ON film_ending(film);

-- Words of films, also from their ends: similar ones begin or end alike. Those of removed films stay, and find nothing.
CREATE TABLE word(
  word TEXT NOT NULL PRIMARY KEY,
  backwards TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX word_backwards ON word(backwards);

DROP TRIGGER film_inserted;
DROP TRIGGER film_updated;
DROP TRIGGER film_deleted;
DROP TABLE film_word;
DROP TABLE film_search;
CREATE VIRTUAL TABLE film_search USING fts5(
  title, people, genres, year, original,
  content = 'film', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TRIGGER film_inserted AFTER INSERT ON film BEGIN
  INSERT INTO film_search(rowid, title, people, genres, year, original)
    VALUES (new.number, new.title, new.people, new.genres, new.year, new.original);
END;
CREATE TRIGGER film_updated AFTER UPDATE OF title, people, genres, year, original ON film BEGIN
  INSERT INTO film_search(film_search, rowid, title, people, genres, year, original)
    VALUES ('delete', old.number, old.title, old.people, old.genres, old.year, old.original);
  INSERT INTO film_search(rowid, title, people, genres, year, original)
    VALUES (new.number, new.title, new.people, new.genres, new.year, new.original);
END;
CREATE TRIGGER film_deleted AFTER DELETE ON film BEGIN
  INSERT INTO film_search(film_search, rowid, title, people, genres, year, original)
    VALUES ('delete', old.number, old.title, old.people, old.genres, old.year, old.original);
END;

-- Tags are lists with names: a film of a user's list may have several.
DROP TRIGGER entry_changed;
DROP TRIGGER entry_removed;
DROP TRIGGER entry_added;
ALTER TABLE entry ADD COLUMN tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)); -- a JSON array of names, sorted
ALTER TABLE entry ADD COLUMN earlier TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(earlier)); -- a JSON array of days before watched_on

DROP TABLE version;
CREATE TABLE version(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('listed', 'priority', 'public', 'watched', 'note', 'place', 'tags')),
  id BLOB NOT NULL, -- a ULID; zeros where nobody has written the field
  value TEXT CHECK (json_valid(value)), -- of a version that lost; NULL for what the list has
  PRIMARY KEY (user, film, field, id)
) STRICT, WITHOUT ROWID;
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

-- The lists with names that a user shows to friends.
CREATE TABLE shared_tag(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (user, tag)
) STRICT, WITHOUT ROWID;

PRAGMA application_id = 2004116328;
-- The tag of the language that the user chose; NULL for that of the browser.
ALTER TABLE user ADD COLUMN language TEXT;

-- The mail addresses of users.
CREATE TABLE mail(
  user INTEGER PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  address TEXT NOT NULL,
  is_confirmed INTEGER NOT NULL DEFAULT 0 CHECK (is_confirmed IN (0, 1)),
  hash BLOB, -- of the secret that confirms the address
  wants_news INTEGER NOT NULL DEFAULT 0 CHECK (wants_news IN (0, 1)),
  news_ms INTEGER NOT NULL DEFAULT 0, -- when news was last sent
  reset_ms INTEGER NOT NULL DEFAULT 0 -- when a link for a new password was last sent
) STRICT;

-- The mails that wait to be sent. Their text is made when they are: no secret is kept here.
CREATE TABLE outgoing(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('confirm', 'reset', 'news')),
  tries INTEGER NOT NULL DEFAULT 0,
  due_ms INTEGER NOT NULL,
  PRIMARY KEY (user, kind)
) STRICT, WITHOUT ROWID;

-- The order of a list (db/entries/order.rs). The columns from `place` on are there because then SQLite reads a page's films from the
-- index alone: it doesn't see that an expression of the index needs no other column.
CREATE INDEX entry_order ON entry(
  user, watched, watched_on DESC, priority DESC, coalesce(place, added_ms), film, public, place, added_ms
);

-- The films that have tags: most have none.
CREATE INDEX entry_tagged ON entry(user) WHERE tags <> '[]';

-- The numbers of films on a list, and of those that friends see. Every page of a list shows them.
ALTER TABLE user ADD COLUMN films_to_watch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN films_watched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN public_to_watch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN public_watched INTEGER NOT NULL DEFAULT 0;
UPDATE user SET (films_to_watch, films_watched, public_to_watch, public_watched) =
  (SELECT coalesce(sum(1 - watched), 0), coalesce(sum(watched), 0),
     coalesce(sum(public * (1 - watched)), 0), coalesce(sum(public * watched), 0)
   FROM entry WHERE entry.user = user.number);
CREATE TRIGGER entry_counted AFTER INSERT ON entry BEGIN
  UPDATE user SET films_to_watch = films_to_watch + 1 - new.watched, films_watched = films_watched + new.watched,
    public_to_watch = public_to_watch + new.public * (1 - new.watched), public_watched = public_watched + new.public * new.watched
    WHERE number = new.user;
END;
CREATE TRIGGER entry_uncounted AFTER DELETE ON entry BEGIN
  UPDATE user SET films_to_watch = films_to_watch - 1 + old.watched, films_watched = films_watched - old.watched,
    public_to_watch = public_to_watch - old.public * (1 - old.watched), public_watched = public_watched - old.public * old.watched
    WHERE number = old.user;
END;
CREATE TRIGGER entry_counted_again AFTER UPDATE OF watched, public ON entry
  WHEN (new.watched, new.public) IS NOT (old.watched, old.public) BEGIN
  UPDATE user SET films_to_watch = films_to_watch + old.watched - new.watched, films_watched = films_watched + new.watched - old.watched,
    public_to_watch = public_to_watch + new.public * (1 - new.watched) - old.public * (1 - old.watched),
    public_watched = public_watched + new.public * new.watched - old.public * old.watched
    WHERE number = new.user;
END;

-- What TMDB says of a film, as far as it was asked.
CREATE TABLE poster(
  film INTEGER PRIMARY KEY REFERENCES film ON DELETE CASCADE,
  asked_ms INTEGER NOT NULL,
  small BLOB, -- pictures of two widths; NULL if there is none
  large BLOB,
  CHECK ((small IS NULL) = (large IS NULL))
) STRICT;
CREATE INDEX poster_asked ON poster(asked_ms);
CREATE TABLE synopsis(
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  language TEXT NOT NULL, -- a tag
  text TEXT NOT NULL,
  PRIMARY KEY (film, language)
) STRICT, WITHOUT ROWID;
-- Credentials of WebAuthn.
CREATE TABLE passkey(
  id BLOB NOT NULL PRIMARY KEY DEFAULT (ulid()),
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  credential BLOB NOT NULL UNIQUE, -- the authenticator's id of it
  name TEXT NOT NULL,
  public_key BLOB NOT NULL, -- a SubjectPublicKeyInfo, DER
  algorithm INTEGER NOT NULL, -- a number of COSE
  counter INTEGER NOT NULL, -- of signatures; 0 if the authenticator counts none
  is_synced INTEGER NOT NULL CHECK (is_synced IN (0, 1)), -- it may be copied to the user's other devices
  used_ms INTEGER -- NULL if never
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_user ON passkey(user);
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
-- What a change left, so that undo restores no field that was changed since. Of earlier changes it is what the next one to the film found,
-- or what is there now.
ALTER TABLE undo ADD COLUMN after TEXT; -- NULL: the film was not on the list
UPDATE undo SET after = iif(next.is_there, next.before,
    (SELECT json_array(priority, public, watched, added_ms, place, watched_on, rating, note, tags, earlier, seasons_watched)
     FROM entry WHERE entry.user = undo.user AND entry.film = undo.film))
  FROM (SELECT user, sequence, film, lead(before) OVER films AS before, lead(TRUE) OVER films AS is_there
        FROM undo WINDOW films AS (PARTITION BY user, film ORDER BY sequence)) next
  WHERE (next.user, next.sequence, next.film) = (undo.user, undo.sequence, undo.film);
-- An import that was confirmed stays for a while, with its change and its counts in place of what was read: who confirms it again is told the same.
ALTER TABLE import ADD COLUMN change BLOB; -- a ULID; NULL while the import waits

-- Up to when mails have told what friends added, by the times of the films, and the last request that they told.
ALTER TABLE mail ADD COLUMN told_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mail ADD COLUMN told_request BLOB NOT NULL DEFAULT x'00000000000000000000000000000000';
UPDATE mail SET told_ms = news_ms, told_request = ulid_min(news_ms);
-- Another number after each change of a film or of a poster. What the program keeps of films in memory belongs to one number. It is
-- random: after a restore the number is that of the restored films, or one that no file had.
CREATE TABLE film_state(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  stamp INTEGER NOT NULL
) STRICT;
INSERT INTO film_state VALUES (1, random());
CREATE TRIGGER film_stamped_inserted AFTER INSERT ON film BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER film_stamped_updated AFTER UPDATE ON film BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER film_stamped_deleted AFTER DELETE ON film BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER poster_stamped_inserted AFTER INSERT ON poster BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER poster_stamped_updated AFTER UPDATE ON poster BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER poster_stamped_deleted AFTER DELETE ON poster BEGIN
  UPDATE film_state SET stamp = random();
END;
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
-- A film that came with an import that has its number at another site is none that its user made up: there is another limit for these.
ALTER TABLE film ADD COLUMN is_imported INTEGER NOT NULL DEFAULT 0 CHECK (is_imported IN (0, 1));
PRAGMA user_version = 22;
INSERT INTO setting VALUES ('sign_up', 'open');
INSERT INTO user(number, name, folded, password, is_owner, language) VALUES (1, 'Anna', 'anna', NULL, 1, 'de'), (2, 'Ben', 'ben', NULL, 0, NULL);
INSERT INTO film(number, title, year, people, genres, imdb, added_by)
  VALUES (1, 'Alien', 1979, '["Sigourney Weaver"]', '["Horror"]', 78748, NULL), (2, 'Home video', 2024, '[]', '[]', NULL, 1);
UPDATE film SET is_series = 1, end_year = 2025, seasons = '[3,0]' WHERE number = 2;
INSERT INTO entry(user, film, priority, public, watched, added_ms, place, watched_on, rating, note, tags, earlier)
  VALUES (1, 1, 5, 0, 1, 1700000000000, 1.0, '2024-01-31', 9, 'With the lights on', '["Halloween"]', '["2023-10-31"]'), (2, 2, 3, 1, 0, 1700000000001, NULL, NULL, NULL, NULL, '[]', '[]');
UPDATE entry SET seasons_watched = 1 WHERE film = 2;
INSERT INTO undo VALUES (1, 1, 1, ulid_at(1700000000000), NULL, '[5,0,1,1700000000000,1.0,"2024-01-31",9,"With the lights on","[\"Halloween\"]","[\"2023-10-31\"]",0]');
INSERT INTO block VALUES (1, 2);
INSERT INTO feed VALUES (1, zeroblob(32));
INSERT INTO friend VALUES (1, 2), (2, 1);
INSERT INTO friend_request(user, folded, name, reaches, declined) VALUES (1, 'cleo', 'Cleo', NULL, 0);
INSERT INTO session(hash, user, expires, passkey_ms) VALUES (zeroblob(32), 1, 4000000000, 1700000000000);
INSERT INTO recovery VALUES (1, 1700000000000);
INSERT INTO api_token(hash, user, name) VALUES (zeroblob(32), 1, 'test');
INSERT INTO invitation(hash, user) VALUES (zeroblob(32), 1);
INSERT INTO reset(user, hash) VALUES (1, zeroblob(32));
INSERT INTO device VALUES (zeroblob(32), 1, 4000000000);
INSERT INTO film_key VALUES ('alien', 1), ('homevideo', 2);
INSERT INTO import(user, reading, change) VALUES (1, '[1,0,0,0]', ulid_at(1700000000000)), (2, '{}', NULL);
INSERT INTO film_ending VALUES ('ideo', 2);
INSERT INTO gone(user, film, before) VALUES (1, 2, '[3,1,0,1700000000000,null,null,null,"Once","[\"Halloween\"]","[]",0]');
INSERT INTO version VALUES (1, 2, 'listed', ulid_at(1700000000000), NULL), (1, 2, 'note', ulid_at(1700000000000), '"Twice"'), (1, 2, 'tags', zeroblob(16), NULL);
INSERT INTO operation VALUES (1, ulid_at(1700000000000));
INSERT INTO word VALUES ('alien', 'neila'), ('home', 'emoh'), ('video', 'oediv');
INSERT INTO shared_tag VALUES (1, 'Halloween');
INSERT INTO mail(user, address, is_confirmed, hash, wants_news, news_ms, told_ms, told_request) VALUES (1, 'anna@example.org', 1, NULL, 1, 1700000000000, 1700000000000, ulid_at(1700000000000)), (2, 'ben@example.org', 0, zeroblob(32), 0, 0, 0, zeroblob(16));
INSERT INTO outgoing(user, kind, address, due_ms) VALUES (2, 'confirm', '', 1700000000000), (1, 'notice', 'old@example.org', 1700000000000);
INSERT INTO poster VALUES (1, 1700000000000, x'ffd8ff', x'ffd8ff00'), (2, 1700000000000, NULL, NULL);
INSERT INTO synopsis VALUES (1, 'en', 'A ship answers a call.');
INSERT INTO passkey(user, credential, name, public_key, algorithm, counter, is_synced, used_ms)
  VALUES (1, x'01', 'Telephone', x'30', -7, 3, 1, 1700000000000), (2, x'02', 'Key', x'30', -8, 0, 0, NULL);
