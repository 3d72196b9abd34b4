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

-- What a change found, for undoing it: without `before` the film was not on the list.
CREATE TABLE undo(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  change BLOB NOT NULL, -- a ULID, the same for all films of a change
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  before TEXT,
  PRIMARY KEY (user, change, film)
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
CREATE INDEX friend_request_folded ON friend_request(folded);

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
