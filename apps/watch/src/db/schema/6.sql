-- A suspended user can't sign in. Only the owner suspends, and resumes.
ALTER TABLE user ADD COLUMN is_suspended INTEGER NOT NULL DEFAULT 0 CHECK (is_suspended IN (0, 1));
