-- What a change left, so that undo restores no field that was changed since. Of earlier changes it is what the next one to the film found,
-- or what is there now.
ALTER TABLE undo ADD COLUMN after TEXT; -- NULL: the film was not on the list
UPDATE undo SET after = iif(next.is_there, next.before,
    (SELECT json_array(priority, public, watched, added_ms, place, watched_on, rating, note, tags, earlier, seasons_watched)
     FROM entry WHERE entry.user = undo.user AND entry.film = undo.film))
  FROM (SELECT user, sequence, film, lead(before) OVER films AS before, lead(TRUE) OVER films AS is_there
        FROM undo WINDOW films AS (PARTITION BY user, film ORDER BY sequence)) next
  WHERE (next.user, next.sequence, next.film) = (undo.user, undo.sequence, undo.film);
