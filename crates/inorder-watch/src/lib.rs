//! What to Watch: a watch list for friends, in one SQLite file.
