-- The order of a list (db/entries/order.rs). The columns from `place` on are there because then SQLite reads a page's films from the
-- index alone: it doesn't see that an expression of the index needs no other column.
CREATE INDEX entry_order ON entry(
  user, watched, watched_on DESC, priority DESC, coalesce(place, added_ms), film, public, place, added_ms
);

-- The films that have tags: most have none.
CREATE INDEX entry_tagged ON entry(user) WHERE tags <> '[]';

-- The numbers of films on a list, and of those that friends see. Every page of a list shows them.
ALTER TABLE user ADD COLUMN films_to_watch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN films_watched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN public_to_watch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN public_watched INTEGER NOT NULL DEFAULT 0;
UPDATE user SET (films_to_watch, films_watched, public_to_watch, public_watched) =
  (SELECT coalesce(sum(1 - watched), 0), coalesce(sum(watched), 0),
     coalesce(sum(public * (1 - watched)), 0), coalesce(sum(public * watched), 0)
   FROM entry WHERE entry.user = user.number);
CREATE TRIGGER entry_counted AFTER INSERT ON entry BEGIN
  UPDATE user SET films_to_watch = films_to_watch + 1 - new.watched, films_watched = films_watched + new.watched,
    public_to_watch = public_to_watch + new.public * (1 - new.watched), public_watched = public_watched + new.public * new.watched
    WHERE number = new.user;
END;
CREATE TRIGGER entry_uncounted AFTER DELETE ON entry BEGIN
  UPDATE user SET films_to_watch = films_to_watch - 1 + old.watched, films_watched = films_watched - old.watched,
    public_to_watch = public_to_watch - old.public * (1 - old.watched), public_watched = public_watched - old.public * old.watched
    WHERE number = old.user;
END;
CREATE TRIGGER entry_counted_again AFTER UPDATE OF watched, public ON entry
  WHEN (new.watched, new.public) IS NOT (old.watched, old.public) BEGIN
  UPDATE user SET films_to_watch = films_to_watch + old.watched - new.watched, films_watched = films_watched + new.watched - old.watched,
    public_to_watch = public_to_watch + new.public * (1 - new.watched) - old.public * (1 - old.watched),
    public_watched = public_watched + new.public * new.watched - old.public * old.watched
    WHERE number = new.user;
END;
