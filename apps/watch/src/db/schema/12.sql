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
