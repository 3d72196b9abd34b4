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
