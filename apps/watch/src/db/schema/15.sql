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
