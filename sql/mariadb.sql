-- ULIDs and UUIDv7 in MariaDB 10.10 to 11.6 (11.7 has UUID_v7(); before 10.10 there are no RANDOM_BYTES).
--
--   mariadb DATABASE < mariadb.sql
--
-- ulid() and uuid7() give BINARY(16): the milliseconds, 16 bits for the microsecond within, then random bits. Ids of a
-- session are in order whatever the clock does, since a user variable holds the last; those of all sessions are as long
-- as the clock of the server is not set back. MariaDB allows no stored function in a DEFAULT; a trigger fills the key
-- instead:
--
--   CREATE TABLE note(id BINARY(16) PRIMARY KEY, text TEXT);
--   CREATE TRIGGER note_id BEFORE INSERT ON note FOR EACH ROW SET NEW.id = ulid();
--
-- | BINARY(16) | ulid(), uuid7()                | new, greater than the last
-- | CHAR(26)   | ulid_text(id)                  | the text of a ULID
-- | BINARY(16) | ulid_blob(text)                | the ULID of 26 characters, in either case
-- | CHAR(36)   | uuid_text(id)                  | the text of a UUID
-- | BINARY(16) | uuid_blob(text)                | the UUID of 36 characters, in either case
-- | BOOLEAN    | ulid_valid(text)               | whether it is a ULID; never raises
-- | BIGINT     | ulid_timestamp(id)             | milliseconds since 1970
-- | BIGINT     | uuid7_timestamp(id)            | the same, refusing other versions
-- | BINARY(16) | ulid_min(ms), ulid_max(ms)     | the least and greatest ULID of a millisecond
-- | BINARY(16) | uuid7_min(ms), uuid7_max(ms)   | the least and greatest UUIDv7 of a millisecond
--
-- NULL gives NULL; wrong input is an error.

DELIMITER //

-- The next count of the session: 48 bits of milliseconds and 16 of their fraction.
CREATE OR REPLACE FUNCTION inorder_count() RETURNS BIGINT NOT DETERMINISTIC NO SQL
BEGIN
  -- NOW() stands still during a statement, SYSDATE() does not; their difference knows no time zone.
  DECLARE micros BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
    + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6));
  SET @inorder_last = GREATEST((micros DIV 1000 << 16) + (micros MOD 1000 << 16) DIV 1000, COALESCE(@inorder_last, 0) + 1);
  RETURN @inorder_last;
END //

CREATE OR REPLACE FUNCTION ulid() RETURNS BINARY(16) NOT DETERMINISTIC NO SQL
  RETURN CONCAT(UNHEX(LPAD(HEX(inorder_count()), 16, '0')), RANDOM_BYTES(8)) //

CREATE OR REPLACE FUNCTION uuid7() RETURNS BINARY(16) NOT DETERMINISTIC NO SQL
BEGIN
  DECLARE counted BIGINT DEFAULT inorder_count();
  DECLARE counter INT DEFAULT counted & 65535;
  DECLARE random BINARY(8) DEFAULT RANDOM_BYTES(8);
  -- The counter makes room for the version, 7, and for the variant, the two bits 10.
  RETURN CONCAT(
    UNHEX(LPAD(HEX(counted >> 16), 12, '0')),
    UNHEX(LPAD(HEX(28672 | counter >> 4), 4, '0')),
    CHAR(128 | (counter & 15) << 2 | ORD(random) & 3 USING binary),
    SUBSTRING(random, 2));
END //

CREATE OR REPLACE FUNCTION ulid_text(id BINARY(16)) RETURNS CHAR(26) CHARSET ascii DETERMINISTIC NO SQL
BEGIN
  DECLARE digits CHAR(32) CHARSET ascii DEFAULT '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  DECLARE high, low BIGINT UNSIGNED;
  DECLARE answer VARCHAR(26) CHARSET ascii DEFAULT '';
  DECLARE i INT DEFAULT 0;
  IF id IS NULL THEN RETURN NULL; END IF;
  -- 128 bits are 26 digits of 5 bits after two that are 0; the 13th stands astride: 4 bits of the high half, 1 of the low.
  SET high = CONV(HEX(LEFT(id, 8)), 16, 10), low = CONV(HEX(RIGHT(id, 8)), 16, 10);
  WHILE i < 12 DO
    SET answer = CONCAT(SUBSTR(digits, (low >> (5 * i) & 31) + 1, 1), answer), i = i + 1;
  END WHILE;
  SET answer = CONCAT(SUBSTR(digits, ((low >> 60 | high << 4) & 31) + 1, 1), answer), i = 0;
  WHILE i < 13 DO
    SET answer = CONCAT(SUBSTR(digits, (high >> (5 * i + 1) & 31) + 1, 1), answer), i = i + 1;
  END WHILE;
  RETURN answer;
END //

CREATE OR REPLACE FUNCTION ulid_valid(x TEXT CHARSET utf8mb4) RETURNS BOOLEAN DETERMINISTIC NO SQL
  RETURN CHAR_LENGTH(x) = 26 AND x REGEXP '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$' //

CREATE OR REPLACE FUNCTION ulid_blob(x TEXT CHARSET utf8mb4) RETURNS BINARY(16) DETERMINISTIC NO SQL
BEGIN
  DECLARE high, low BIGINT UNSIGNED DEFAULT 0;
  DECLARE digit BIGINT UNSIGNED;
  DECLARE i INT DEFAULT 1;
  IF x IS NULL THEN RETURN NULL; END IF;
  IF NOT ulid_valid(x) THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'not a ULID: 26 characters of 0-9 and A-Z without I, L, O and U, the first 0 to 7';
  END IF;
  WHILE i <= 26 DO
    SET digit = LOCATE(UPPER(SUBSTR(x, i, 1)), '0123456789ABCDEFGHJKMNPQRSTVWXYZ') - 1;
    SET high = high << 5 | low >> 59, low = low << 5 | digit, i = i + 1;
  END WHILE;
  RETURN UNHEX(CONCAT(LPAD(HEX(high), 16, '0'), LPAD(HEX(low), 16, '0')));
END //

CREATE OR REPLACE FUNCTION uuid_text(id BINARY(16)) RETURNS CHAR(36) CHARSET ascii DETERMINISTIC NO SQL
  RETURN LOWER(CONCAT_WS('-', HEX(LEFT(id, 4)), HEX(SUBSTR(id, 5, 2)), HEX(SUBSTR(id, 7, 2)), HEX(SUBSTR(id, 9, 2)),
    HEX(SUBSTR(id, 11)))) //

CREATE OR REPLACE FUNCTION uuid_blob(x TEXT CHARSET utf8mb4) RETURNS BINARY(16) DETERMINISTIC NO SQL
BEGIN
  IF CHAR_LENGTH(x) <> 36 OR x NOT REGEXP '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'not a UUID: 36 characters, hex digits in groups of 8, 4, 4, 4 and 12';
  END IF;
  RETURN UNHEX(REPLACE(x, '-', ''));
END //

CREATE OR REPLACE FUNCTION ulid_timestamp(id BINARY(16)) RETURNS BIGINT DETERMINISTIC NO SQL
  RETURN CONV(HEX(LEFT(id, 6)), 16, 10) //

CREATE OR REPLACE FUNCTION uuid7_timestamp(id BINARY(16)) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  IF HEX(id) NOT REGEXP '^.{12}7.{3}[89AB]' THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'the UUID is not of version 7: it does not begin with its time';
  END IF;
  RETURN ulid_timestamp(id);
END //

-- The first 6 bytes of an id, and what follows them in hex digits.
CREATE OR REPLACE FUNCTION inorder_bound(ms BIGINT, tail CHAR(20)) RETURNS BINARY(16) DETERMINISTIC NO SQL
BEGIN
  IF ms NOT BETWEEN 0 AND 281474976710655 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'ids begin in 1970 with millisecond 0 and end in the year 10889 with 281474976710655';
  END IF;
  RETURN UNHEX(CONCAT(LPAD(HEX(ms), 12, '0'), tail));
END //

CREATE OR REPLACE FUNCTION ulid_min(ms BIGINT) RETURNS BINARY(16) DETERMINISTIC NO SQL
  RETURN inorder_bound(ms, '00000000000000000000') //
CREATE OR REPLACE FUNCTION ulid_max(ms BIGINT) RETURNS BINARY(16) DETERMINISTIC NO SQL
  RETURN inorder_bound(ms, 'FFFFFFFFFFFFFFFFFFFF') //
CREATE OR REPLACE FUNCTION uuid7_min(ms BIGINT) RETURNS BINARY(16) DETERMINISTIC NO SQL
  RETURN inorder_bound(ms, '70008000000000000000') //
CREATE OR REPLACE FUNCTION uuid7_max(ms BIGINT) RETURNS BINARY(16) DETERMINISTIC NO SQL
  RETURN inorder_bound(ms, '7FFFBFFFFFFFFFFFFFFF') //

DELIMITER ;
