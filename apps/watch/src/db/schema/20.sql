-- Another number after each change of a film or of a poster. What the program keeps of films in memory belongs to one number. It is
-- random: after a restore the number is that of the restored films, or one that no file had.
CREATE TABLE film_state(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  stamp INTEGER NOT NULL
) STRICT;
INSERT INTO film_state VALUES (1, random());
CREATE TRIGGER film_stamped_inserted AFTER INSERT ON film BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER film_stamped_updated AFTER UPDATE ON film BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER film_stamped_deleted AFTER DELETE ON film BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER poster_stamped_inserted AFTER INSERT ON poster BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER poster_stamped_updated AFTER UPDATE ON poster BEGIN
  UPDATE film_state SET stamp = random();
END;
CREATE TRIGGER poster_stamped_deleted AFTER DELETE ON poster BEGIN
  UPDATE film_state SET stamp = random();
END;
