-- The lists with names that a user shows to friends.
CREATE TABLE shared_tag(
  user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (user, tag)
) STRICT, WITHOUT ROWID;
