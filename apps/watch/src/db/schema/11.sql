-- The tag of the language that the user chose; NULL for that of the browser.
ALTER TABLE user ADD COLUMN language TEXT;
