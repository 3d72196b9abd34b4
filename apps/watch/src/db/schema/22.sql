-- A film that came with an import that has its number at another site is none that its user made up: there is another limit for these.
ALTER TABLE film ADD COLUMN is_imported INTEGER NOT NULL DEFAULT 0 CHECK (is_imported IN (0, 1));
