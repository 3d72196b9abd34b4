-- The title in the language of the film, where it is another one.
ALTER TABLE film ADD COLUMN original TEXT;
CREATE INDEX film_year ON film(year);

-- What titles in scripts without blanks between words may be typed as: every ending of theirs, apps/watch/src/title.rs.
CREATE TABLE film_ending(
  ending TEXT NOT NULL,
  film INTEGER NOT NULL REFERENCES film ON DELETE CASCADE,
  PRIMARY KEY (ending, film)
) STRICT, WITHOUT ROWID;
INSERT INTO film_ending SELECT value, number FROM film, json_each(title_endings(title));

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
INSERT INTO film_search(film_search) VALUES ('rebuild');
