-- A list that a user has sent and not yet confirmed: what was read from it, one per user.
CREATE TABLE import(
  user INTEGER PRIMARY KEY REFERENCES user ON DELETE CASCADE,
  id BLOB NOT NULL DEFAULT (ulid()),
  reading TEXT NOT NULL CHECK (json_valid(reading))
) STRICT;
