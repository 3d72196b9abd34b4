-- A run of inorder. One file a run; every sample is kept. application_id and user_version name the format.
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- The machine and the engines, in reading order.
CREATE TABLE host(position INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE engine(name TEXT PRIMARY KEY, version TEXT NOT NULL, compile_options TEXT NOT NULL) WITHOUT ROWID;
-- One question. Lists are JSON arrays.
CREATE TABLE experiment(
  position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL, question TEXT NOT NULL,
  expect TEXT NOT NULL, claims TEXT NOT NULL, varied TEXT NOT NULL, levels TEXT NOT NULL,
  baseline INTEGER NOT NULL, answer TEXT NOT NULL, toml TEXT NOT NULL, data TEXT);
-- One combination of levels (a JSON object).
CREATE TABLE cell(
  id INTEGER PRIMARY KEY, experiment TEXT NOT NULL REFERENCES experiment(name), label TEXT NOT NULL,
  levels TEXT NOT NULL, is_twin INTEGER NOT NULL);
-- One cell, run once. status: planned, done, failed. noise, settings, texts are JSON.
CREATE TABLE trial(
  id INTEGER PRIMARY KEY, cell INTEGER NOT NULL REFERENCES cell(id), repetition INTEGER NOT NULL,
  seed INTEGER NOT NULL, status TEXT NOT NULL, error TEXT, noise TEXT NOT NULL, settings TEXT NOT NULL,
  texts TEXT NOT NULL);
-- One measured quantity; rows is the size of the measured table. A NULL value is unobservable.
CREATE TABLE sample(
  trial INTEGER NOT NULL REFERENCES trial(id), position INTEGER NOT NULL, probe TEXT NOT NULL,
  part TEXT NOT NULL, rows INTEGER NOT NULL, value REAL, PRIMARY KEY (trial, position)) WITHOUT ROWID;
