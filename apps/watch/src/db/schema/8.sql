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
INSERT INTO word SELECT term, backwards(term) FROM film_word;

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
INSERT INTO film_search(film_search) VALUES ('rebuild');
