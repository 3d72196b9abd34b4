-- ULIDs and UUIDv7 in MariaDB 10.10 to 11.6 (11.7 has UUID_v7(); versions before 10.10 lack RANDOM_BYTES).
--
--   mariadb DATABASE < mariadb.sql
--
-- ulid() and uuid7() return BINARY(16): the milliseconds, 16 bits for the microsecond within the millisecond, then
-- random bits. The ids of one session are in order regardless of the clock, because a user variable holds the last one.
-- The ids of all sessions are in order unless the server's clock is set back. If it is set back by more than a minute, the
-- functions fail in sessions that made an id before, until SET @inorder_last = NULL. No lock is taken. MariaDB allows no stored function in a
-- DEFAULT; a trigger fills the key if the caller omits it. The empty default lets INSERT ... SELECT and VALUES
-- (DEFAULT) reach the trigger:
--
--   CREATE TABLE note(id BINARY(16) PRIMARY KEY DEFAULT '', text TEXT);
--   CREATE TRIGGER note_id BEFORE INSERT ON note FOR EACH ROW SET NEW.id = IF(NEW.id > REPEAT(CHAR(0), 16), NEW.id, ulid());
--
-- A caller of the functions needs EXECUTE on the database, because the functions call each other. For a table with such
-- a trigger only the trigger's definer needs it. mariadb-dump writes the functions with --routines.
--
-- | BINARY(16) | ulid(), uuid7()                | new, greater than the last
-- | BINARY(16) | uuid4()                        | new, in no order
-- | BINARY(16) | ulid_at(ms), uuid7_at(ms)      | of this millisecond, otherwise random
-- | BINARY(16) | ulid_at_s(s), uuid7_at_s(s)    | the same of seconds since 1970, which may have a fraction
-- | VARBINARY  | token(n)                       | n random bytes, 1 to 1024
-- | VARCHAR    | token_text(n)                  | n random bytes as 2n hex digits
-- | CHAR(26)   | ulid_text(id)                  | the text of a ULID
-- | CHAR(36)   | uuid_text(id)                  | the text of a UUID
-- | CHAR(32)   | uuid_hex(id)                   | the 32 hex digits of a UUID
-- | BINARY(16) | ulid_blob(text)                | the ULID of a text
-- | BINARY(16) | uuid_blob(text)                | the UUID of a text
-- | CHAR(36)   | ulid_to_uuid(text)             | the text of the UUID with the bits of a ULID
-- | CHAR(26)   | uuid_to_ulid(text)             | the text of the ULID with the bits of a UUID
-- | BOOLEAN    | ulid_valid(text)               | whether it is a ULID; never raises
-- | BOOLEAN    | uuid_valid(text)               | whether it is a UUID of any version; never raises
-- | BOOLEAN    | uuid7_valid(text)              | whether it is a UUIDv7; never raises
-- | INT        | uuid_version(id)               | the version, NULL if it is of another variant
-- | VARCHAR    | key_kind(text)                 | ulid, uuid7, uuid4, tsid, token160, otherwise in words; key_kind(HEX(id)) of an id
-- | BIGINT     | ulid_timestamp(id)             | milliseconds since 1970
-- | BIGINT     | uuid7_timestamp(id)            | the same, refusing other versions
-- | BINARY(16) | ulid_min(ms), ulid_max(ms)     | the least and greatest ULID of a millisecond
-- | BINARY(16) | uuid7_min(ms), uuid7_max(ms)   | the least and greatest UUIDv7 of a millisecond
-- | BINARY(16) | ulid_min_s(s), ulid_max_s(s), uuid7_min_s(s), uuid7_max_s(s)   | the same of seconds since 1970
-- | VARCHAR    | inorder_version()              | the version of these functions
--
-- An id is 16 bytes. NULL gives NULL; wrong input is an error. docs/ids.md lists the forms of text that are read.

-- With the binary log a user without SUPER may create no function (error 1419). Nothing is changed then.
DELIMITER //
BEGIN NOT ATOMIC
  IF @@log_bin AND NOT @@log_bin_trust_function_creators AND CURRENT_ROLE() IS NULL
    AND NOT EXISTS (SELECT 1 FROM information_schema.user_privileges WHERE privilege_type = 'SUPER') THEN
    SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO = 1419, MESSAGE_TEXT =
      'the binary log is on: a user with SUPER loads this file, or SET GLOBAL log_bin_trust_function_creators = 1 comes before';
  END IF;
END //
DELIMITER ;

-- Routines keep the SQL mode of their creation. The caller's mode governs the conversion of arguments; without a strict
-- mode MariaDB truncates, pads and guesses. Parameters are therefore bytes, which the functions check.
SET @inorder_sql_mode = @@sql_mode, SESSION sql_mode = 'STRICT_ALL_TABLES';

DELIMITER //

-- The next count of the session: 48 bits of milliseconds and a fraction of 16 bits. It may be a minute ahead of the clock.
CREATE OR REPLACE FUNCTION inorder_count() RETURNS BIGINT NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  -- A UUID of version 1 begins with the time in UTC, in units of 100 ns since 1582. NOW() stands still during a statement, and SYSDATE()
  -- depends on the time zone.
  DECLARE clock CHAR(36) CHARSET ascii DEFAULT UUID();
  DECLARE micros BIGINT DEFAULT
    (CAST(CONV(CONCAT(SUBSTR(clock, 16, 3), SUBSTR(clock, 10, 4), LEFT(clock, 8)), 16, 10) AS SIGNED) - 122192928000000000) DIV 10;
  DECLARE counted BIGINT DEFAULT (micros DIV 1000 << 16) + (micros MOD 1000 << 16) DIV 1000;
  -- A warning would not reach the caller of a function.
  IF @inorder_last > counted + 3932160000 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT =
      'the clock was set back by more than a minute: SET @inorder_last = NULL lets the ids of this session follow it';
  END IF;
  SET @inorder_last = GREATEST(counted, COALESCE(@inorder_last, 0) + 1);
  RETURN @inorder_last;
END //

CREATE OR REPLACE FUNCTION ulid() RETURNS BINARY(16) NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN CONCAT(UNHEX(LPAD(HEX(inorder_count()), 16, '0')), RANDOM_BYTES(8)) //

CREATE OR REPLACE FUNCTION uuid7() RETURNS BINARY(16) NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
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

CREATE OR REPLACE FUNCTION uuid4() RETURNS BINARY(16) NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  DECLARE random BINARY(16) DEFAULT RANDOM_BYTES(16);
  RETURN CONCAT(
    LEFT(random, 6), CHAR(64 | ORD(SUBSTR(random, 7)) & 15 USING binary),
    SUBSTR(random, 8, 1), CHAR(128 | ORD(SUBSTR(random, 9)) & 63 USING binary), RIGHT(random, 7));
END //

-- CONV in base 32 uses the digits 0 to 9 and A to V. Crockford's base 32 omits I, L, O and U. The time has 10 digits;
-- the rest is two groups of 8 digits, 5 bytes each.
CREATE OR REPLACE FUNCTION ulid_text(id LONGBLOB) RETURNS CHAR(26) CHARSET ascii DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF LENGTH(id) <> 16 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'a ULID has 16 bytes; ulid_blob() reads its text';
  END IF;
  RETURN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    CONCAT(
      LPAD(CONV(HEX(LEFT(id, 6)), 16, 32), 10, '0'),
      LPAD(CONV(HEX(SUBSTR(id, 7, 5)), 16, 32), 8, '0'),
      LPAD(CONV(HEX(RIGHT(id, 5)), 16, 32), 8, '0')),
    'V', 'Z'), 'U', 'Y'), 'T', 'X'), 'S', 'W'), 'R', 'V'), 'Q', 'T'), 'P', 'S'), 'O', 'R'), 'N', 'Q'), 'M', 'P'), 'L', 'N'),
    'K', 'M'), 'J', 'K'), 'I', 'J');
END //

-- Accepted text is the same as in SQLite's functions and in the command: docs/ids.md has the table. Bytes are compared,
-- because some collations treat letters of other alphabets as equal to ASCII letters. Each length has its own pattern,
-- because default_regex_flags may let ^ and $ match within a text.
CREATE OR REPLACE FUNCTION ulid_valid(x LONGBLOB) RETURNS BOOLEAN DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN CASE LENGTH(x)
    WHEN 26 THEN x REGEXP '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$'
    WHEN 32 THEN x REGEXP '^[0-9A-Fa-f]{32}$'
    ELSE x IS NULL AND NULL
  END //

CREATE OR REPLACE FUNCTION uuid_valid(x LONGBLOB) RETURNS BOOLEAN DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN CASE LENGTH(x)
    WHEN 32 THEN x REGEXP '^[0-9A-Fa-f]{32}$'
    WHEN 36 THEN x REGEXP '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$'
    WHEN 38 THEN x REGEXP '^[{][0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}[}]$'
    WHEN 45 THEN x REGEXP '^[Uu][Rr][Nn]:[Uu][Uu][Ii][Dd]:[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$'
    ELSE x IS NULL AND NULL
  END //

CREATE OR REPLACE FUNCTION ulid_blob(x LONGBLOB) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  DECLARE digits CHAR(32) CHARSET ascii;
  IF NOT ulid_valid(x) THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT =
      'not a ULID: 26 characters of 0-9 and A-Z without I, L, O and U, the first 0 to 7, or 32 hex digits';
  END IF;
  SET digits = x;
  IF LENGTH(x) = 32 THEN RETURN UNHEX(digits); END IF;
  SET digits =
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    UPPER(digits),
    'J', 'I'), 'K', 'J'), 'M', 'K'), 'N', 'L'), 'P', 'M'), 'Q', 'N'), 'R', 'O'), 'S', 'P'), 'T', 'Q'), 'V', 'R'), 'W', 'S'),
    'X', 'T'), 'Y', 'U'), 'Z', 'V');
  RETURN UNHEX(CONCAT(
    LPAD(CONV(LEFT(digits, 10), 32, 16), 12, '0'),
    LPAD(CONV(SUBSTR(digits, 11, 8), 32, 16), 10, '0'),
    LPAD(CONV(SUBSTR(digits, 19, 8), 32, 16), 10, '0')));
END //

CREATE OR REPLACE FUNCTION uuid_text(id LONGBLOB) RETURNS CHAR(36) CHARSET ascii DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF LENGTH(id) <> 16 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'a UUID has 16 bytes; uuid_blob() reads its text';
  END IF;
  RETURN LOWER(CONCAT(HEX(LEFT(id, 4)), '-', HEX(SUBSTR(id, 5, 2)), '-', HEX(SUBSTR(id, 7, 2)), '-', HEX(SUBSTR(id, 9, 2)),
    '-', HEX(SUBSTR(id, 11))));
END //

CREATE OR REPLACE FUNCTION uuid_hex(id LONGBLOB) RETURNS CHAR(32) CHARSET ascii DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF LENGTH(id) <> 16 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'a UUID has 16 bytes; uuid_blob() reads its text';
  END IF;
  RETURN LOWER(HEX(id));
END //

CREATE OR REPLACE FUNCTION uuid_blob(x LONGBLOB) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF NOT uuid_valid(x) THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT =
      'not a UUID: hex digits in groups of 8, 4, 4, 4, 12, also in braces or after urn:uuid:, or 32 hex digits';
  END IF;
  RETURN UNHEX(RIGHT(REPLACE(REPLACE(x, '-', ''), '}', ''), 32));
END //

CREATE OR REPLACE FUNCTION ulid_to_uuid(x LONGBLOB) RETURNS CHAR(36) CHARSET ascii DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN uuid_text(ulid_blob(x)) //

CREATE OR REPLACE FUNCTION uuid_to_ulid(x LONGBLOB) RETURNS CHAR(26) CHARSET ascii DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN ulid_text(uuid_blob(x)) //

CREATE OR REPLACE FUNCTION uuid_version(id LONGBLOB) RETURNS INT DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF LENGTH(id) <> 16 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'a UUID has 16 bytes; uuid_blob() reads its text';
  END IF;
  RETURN IF(ORD(SUBSTR(id, 9)) >> 6 = 2, ORD(SUBSTR(id, 7)) >> 4, NULL);
END //

CREATE OR REPLACE FUNCTION uuid7_valid(x LONGBLOB) RETURNS BOOLEAN DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN IF(uuid_valid(x), uuid_version(uuid_blob(x)) <=> 7, uuid_valid(x)) //

CREATE OR REPLACE FUNCTION key_kind(x LONGBLOB) RETURNS VARCHAR(60) CHARSET ascii DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  DECLARE id BINARY(16) DEFAULT IF(uuid_valid(x), uuid_blob(x), NULL);
  DECLARE version INT DEFAULT uuid_version(id);
  RETURN CASE
    WHEN x IS NULL THEN NULL
    WHEN id = REPEAT(CHAR(0), 16) THEN 'the nil UUID'
    WHEN id = REPEAT(CHAR(255), 16) THEN 'the max UUID'
    WHEN ulid_valid(x) AND COALESCE(version, 0) NOT BETWEEN 1 AND 8 THEN 'ulid'
    WHEN version IN (4, 7) THEN CONCAT('uuid', version)
    WHEN version IS NOT NULL THEN CONCAT('UUID version ', version)
    WHEN id IS NOT NULL THEN 'UUID of another variant'
    WHEN LENGTH(x) <= 20 AND x NOT REGEXP '[^-0-9]' AND x REGEXP '^(0|-?[1-9][0-9]*)$'
      AND CAST(x AS DECIMAL(20)) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN 'integer'
    WHEN LENGTH(x) BETWEEN 28 AND 90 AND x NOT REGEXP '[^_0-9a-z]' AND x REGEXP '^[a-z]([a-z_]{0,61}[a-z])?_[0-7][0-9a-hjkmnp-tv-z]{25}$' THEN 'TypeID'
    WHEN LENGTH(x) = 13 AND x REGEXP '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{12}$' THEN 'tsid'
    -- The greatest KSUID is 160 bits in base 62, whose digits are in the order of their bytes.
    WHEN LENGTH(x) = 27 AND x REGEXP '^[0-9A-Za-z]{27}$' AND x <= 'aWgEPTl1tmebfsQzFP4bxwgy80V' THEN 'KSUID'
    WHEN LENGTH(x) IN (0, 26) OR LENGTH(x) MOD 2 OR x REGEXP '[^0-9A-Fa-f]' THEN 'no id'
    WHEN LENGTH(x) = 24 THEN 'ObjectId'
    WHEN LENGTH(x) = 40 THEN 'token160'
    ELSE CONCAT('token of ', LENGTH(x) DIV 2, ' bytes')
  END;
END //

CREATE OR REPLACE FUNCTION ulid_timestamp(id LONGBLOB) RETURNS BIGINT DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF LENGTH(id) <> 16 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'a ULID has 16 bytes; ulid_blob() reads its text';
  END IF;
  RETURN CONV(HEX(LEFT(id, 6)), 16, 10);
END //

CREATE OR REPLACE FUNCTION uuid7_timestamp(id LONGBLOB) RETURNS BIGINT DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF NOT uuid_version(id) <=> 7 AND id IS NOT NULL THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'the UUID is not of version 7: it does not begin with its time';
  END IF;
  RETURN CONV(HEX(LEFT(id, 6)), 16, 10);
END //

-- The 6 bytes of a time. In the caller's mode, BIGINT could convert 'abc' to 0 and 1.5 to 2. Milliseconds since March 1973
-- have 12 digits: fewer are seconds, a date or a year. 0 is the same time in each unit.
CREATE OR REPLACE FUNCTION inorder_ms(ms VARBINARY(64)) RETURNS BINARY(6) DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF ms REGEXP '[^.0-9]' OR ms NOT REGEXP '^(0|[0-9]{12,15})([.]0{1,30})?$' OR CAST(ms AS DECIMAL(15)) > 281474976710655 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT =
      'a time is whole milliseconds since 1970, 12 digits or more; of seconds, UNIX_TIMESTAMP(t), take the function with _s';
  END IF;
  IF inorder_is_date(SUBSTRING_INDEX(ms, '.', 1)) THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT =
      'the digits of a date are no milliseconds since 1970: take the function with _s of UNIX_TIMESTAMP(t)';
  END IF;
  RETURN UNHEX(LPAD(HEX(CAST(ms AS DECIMAL(15))), 12, '0'));
END //

-- The milliseconds of seconds since 1970. The digits after the third of a fraction are cut off.
CREATE OR REPLACE FUNCTION inorder_s(s VARBINARY(64)) RETURNS DECIMAL(15) DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF s REGEXP '[^.0-9]' OR s NOT REGEXP '^(0|[0-9]{9,12})([.][0-9]{1,30})?$' OR CAST(SUBSTRING_INDEX(s, '.', 1) AS DECIMAL(12)) > 281474976710
    OR inorder_is_date(SUBSTRING_INDEX(s, '.', 1)) THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT =
      'a time is seconds since 1970, UNIX_TIMESTAMP(t), 9 digits or more; of milliseconds take the function without _s';
  END IF;
  RETURN CAST(CONCAT(SUBSTRING_INDEX(s, '.', 1), LEFT(CONCAT(IF(LOCATE('.', s), SUBSTRING_INDEX(s, '.', -1), ''), '000'), 3)) AS DECIMAL(15));
END //

-- Whether the digits are a date and a time of day, such as those of NOW() + 0. As milliseconds they lie in 1976, or from 2572 on.
CREATE OR REPLACE FUNCTION inorder_is_date(digits VARBINARY(64)) RETURNS BOOLEAN DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN digits REGEXP '^(19|20|21)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])([01][0-9]|2[0-3])[0-5][0-9]([0-5][0-9])?$' //

CREATE OR REPLACE FUNCTION ulid_min(ms VARBINARY(64)) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN CONCAT(inorder_ms(ms), UNHEX('00000000000000000000')) //
CREATE OR REPLACE FUNCTION ulid_min_s(s VARBINARY(64)) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN ulid_min(inorder_s(s)) //
CREATE OR REPLACE FUNCTION ulid_max(ms VARBINARY(64)) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN CONCAT(inorder_ms(ms), UNHEX('FFFFFFFFFFFFFFFFFFFF')) //
CREATE OR REPLACE FUNCTION ulid_max_s(s VARBINARY(64)) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN ulid_max(inorder_s(s)) //
CREATE OR REPLACE FUNCTION uuid7_min(ms VARBINARY(64)) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN CONCAT(inorder_ms(ms), UNHEX('70008000000000000000')) //
CREATE OR REPLACE FUNCTION uuid7_min_s(s VARBINARY(64)) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN uuid7_min(inorder_s(s)) //
CREATE OR REPLACE FUNCTION uuid7_max(ms VARBINARY(64)) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN CONCAT(inorder_ms(ms), UNHEX('7FFFBFFFFFFFFFFFFFFF')) //
CREATE OR REPLACE FUNCTION uuid7_max_s(s VARBINARY(64)) RETURNS BINARY(16) DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN uuid7_max(inorder_s(s)) //

CREATE OR REPLACE FUNCTION ulid_at(ms VARBINARY(64)) RETURNS BINARY(16) NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN CONCAT(inorder_ms(ms), RANDOM_BYTES(10)) //
CREATE OR REPLACE FUNCTION uuid7_at(ms VARBINARY(64)) RETURNS BINARY(16) NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  DECLARE random BINARY(16) DEFAULT uuid4();
  RETURN CONCAT(inorder_ms(ms), CHAR(112 | ORD(SUBSTR(random, 7)) & 15 USING binary), SUBSTR(random, 8));
END //

CREATE OR REPLACE FUNCTION ulid_at_s(s VARBINARY(64)) RETURNS BINARY(16) NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN ulid_at(inorder_s(s)) //
CREATE OR REPLACE FUNCTION uuid7_at_s(s VARBINARY(64)) RETURNS BINARY(16) NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN uuid7_at(inorder_s(s)) //

CREATE OR REPLACE FUNCTION token(n VARBINARY(64)) RETURNS VARBINARY(1024) NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
BEGIN
  IF n REGEXP '[^.0-9]' OR n NOT REGEXP '^[0-9]{1,4}([.]0{1,30})?$' OR CAST(n AS DECIMAL(4)) NOT BETWEEN 1 AND 1024 THEN
    SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'a token has 1 to 1024 bytes';
  END IF;
  RETURN RANDOM_BYTES(CAST(n AS DECIMAL(4)));
END //
CREATE OR REPLACE FUNCTION token_text(n VARBINARY(64)) RETURNS VARCHAR(2048) CHARSET ascii NOT DETERMINISTIC NO SQL
  SQL SECURITY INVOKER
  RETURN LOWER(HEX(token(n))) //

CREATE OR REPLACE FUNCTION inorder_version() RETURNS VARCHAR(20) CHARSET ascii DETERMINISTIC NO SQL SQL SECURITY INVOKER
  RETURN '0.1.0' //

-- Removes a function of an earlier version of this file.
DROP FUNCTION IF EXISTS inorder_bound //

DELIMITER ;

SET SESSION sql_mode = @inorder_sql_mode;
