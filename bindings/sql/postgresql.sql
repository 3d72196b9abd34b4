-- ULIDs and UUIDv7 in PostgreSQL 14 to 17, which have no built-in functions for them (18 has uuidv7()). Pure SQL and
-- PL/pgSQL.
--
--   psql -f postgresql.sql
--   psql -c 'CREATE SCHEMA ids' -c 'SET search_path = ids' -f postgresql.sql
--
-- The functions are created in the first schema of the search path. They do not depend on the search path when they
-- run, so a dump with defaults, generated columns or indexes on them restores. Every role may call them; in a schema
-- other than public a role needs USAGE on that schema.
--
-- ulid() and uuid7() return a uuid (16 bytes): the milliseconds, 16 bits of a fraction of the millisecond, then random bits.
-- They take no lock and write no log. The ids of one session are in order regardless of the clock, because the setting
-- inorder.last holds the last one. The ids of all sessions are in the order of the server's clock, to the microsecond. If
-- the clock is set back by more than a minute, a session warns, and its ids follow the clock.
--
-- ulid_shared() and uuid7_shared() are greater than all that any session made with them, also if the clock is set back: a
-- sequence is the mark, which is not affected by rollbacks. They fail if the mark is more than a minute ahead of the
-- clock; its owner resets it with inorder_reset(). A standby cannot make these ids. The sequence ends in the year 6429.
--
--   CREATE TABLE note(id uuid PRIMARY KEY DEFAULT ulid(), text text);
--
-- | uuid      | ulid(), uuid7()                    | new, greater than all before of this session
-- | uuid      | ulid_shared(), uuid7_shared()      | new, greater than all that these functions made in any session
-- | text      | ulid_text()                        | a new ULID as text
-- | uuid      | ulid_at(time), uuid7_at(time)      | of this millisecond, otherwise random
-- | bytea     | token(n)                           | n random bytes, 1 to 1024
-- | text      | token_text(n)                      | n random bytes as 2n hex digits
-- | text      | uuid_to_ulid(uuid)                 | the 26 characters of a ULID
-- | uuid      | ulid_to_uuid(text)                 | the ULID of a text
-- | text      | ulid_text(text)                    | the 26 characters of the ULID of a text
-- | text      | uuid_text(text)                    | the 36 characters of the UUID of a text
-- | boolean   | ulid_valid(text)                   | whether it is a ULID; never raises
-- | boolean   | uuid_valid(text)                   | whether it is a UUID of any version; never raises
-- | boolean   | uuid7_valid(text)                  | whether it is a UUIDv7; never raises
-- | integer   | uuid_version(uuid)                 | the version, NULL if it is of another variant
-- | text      | key_kind(text), key_kind(uuid)     | ulid, uuid7, uuid4, tsid, token160, otherwise in words
-- | timestamp | ulid_timestamp(uuid)               | when it was made
-- | timestamp | uuid7_timestamp(uuid)              | the same, refusing other versions
-- | uuid      | ulid_min(time), ulid_max(time)     | the least and greatest ULID of a millisecond
-- | uuid      | uuid7_min(time), uuid7_max(time)   | the least and greatest UUIDv7 of a millisecond
-- | void      | inorder_reset()                    | sets the mark of the shared ids to the clock; for its owner
-- | text      | inorder_version()                  | the version of these functions
--
-- NULL gives NULL; wrong input is an error. docs/ids.md lists the forms of text that are read.

BEGIN;
SET LOCAL client_min_messages = warning;

-- A body written as RETURN … is parsed when it is created, and refers to functions and relations by object id: it needs no
-- search path. PL/pgSQL resolves names at run time; such bodies refer to objects in pg_catalog only.

-- The next count of the session: 48 bits of milliseconds since 1970 and 16 bits after them. The clock has microseconds; half of
-- one is added, because a float of seconds can be slightly less. The count may be a minute ahead of the clock. A rollback
-- sets it back as well, to that of the ids that remain.
CREATE OR REPLACE FUNCTION inorder_count() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  count bigint := (date_part('epoch', clock_timestamp()) + 0.0000005) * 65536000;
  last bigint := nullif(current_setting('inorder.last', true), '');
BEGIN
  IF last >= count THEN
    IF last - count <= 3932160000 THEN
      count := last + 1;
    ELSE
      RAISE WARNING 'the clock was set back by % seconds: the ids of this session follow it, and sort before the last ones',
        (last - count) / 65536000;
    END IF;
  END IF;
  RETURN set_config('inorder.last', count::text, false);
END $$;

CREATE OR REPLACE FUNCTION inorder_ulid(count bigint) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  -- A random UUID has 7 bytes that are wholly random at its end and 6 at its beginning.
  random bytea := uuid_send(gen_random_uuid());
BEGIN
  RETURN encode(int8send(count) || substring(random FROM 10 FOR 7) || substring(random FROM 1 FOR 1), 'hex')::uuid;
END $$;

-- The 16 bits make room for the version, 7, and for the variant, the two bits 10.
CREATE OR REPLACE FUNCTION inorder_uuid7(count bigint) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  random bytea := uuid_send(gen_random_uuid());
BEGIN
  RETURN encode(int8send(((count >> 16) << 16) | 28672 | ((count >> 4) & 4095))
    || set_byte(substring(random FROM 9), 0, 128 | (((count & 15)::int) << 2) | (get_byte(random, 8) & 3)), 'hex')::uuid;
END $$;

CREATE OR REPLACE FUNCTION ulid() RETURNS uuid LANGUAGE sql VOLATILE
RETURN inorder_ulid(inorder_count());

CREATE OR REPLACE FUNCTION uuid7() RETURNS uuid LANGUAGE sql VOLATILE
RETURN inorder_uuid7(inorder_count());

-- The mark of the shared ids: the count of the last one. Only the functions below change it, with the rights of its owner.
CREATE SEQUENCE IF NOT EXISTS inorder_last MINVALUE 0 START 0;
REVOKE ALL ON SEQUENCE inorder_last FROM PUBLIC;
-- Has no columns and no rows: its lock is the turn to set the mark. Every role can take an advisory lock, and keep it.
CREATE TABLE IF NOT EXISTS inorder_turn();
REVOKE ALL ON TABLE inorder_turn FROM PUBLIC;

-- Returns the next count of the mark. If it lags behind the clock, one session at a time sets it: to the clock, plus 12 random
-- bits. An error that is caught ends the subtransaction, which releases the lock; the value of a sequence stays.
CREATE OR REPLACE FUNCTION inorder_raise(mark regclass, turn regclass) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  now_ms bigint := floor(date_part('epoch', clock_timestamp()) * 1000 + 0.0005);
  count bigint;
BEGIN
  IF pg_sequence_last_value(mark) >> 16 >= now_ms THEN
    count := nextval(mark);
  ELSE
    BEGIN
      EXECUTE format('LOCK TABLE %s IN EXCLUSIVE MODE', turn);
      IF pg_sequence_last_value(mark) >> 16 >= now_ms THEN
        count := nextval(mark);
      ELSE
        count := setval(mark, (now_ms << 16) + floor(random() * 4096)::bigint);
      END IF;
      RAISE SQLSTATE 'INORD';
    EXCEPTION WHEN SQLSTATE 'INORD' THEN
      NULL;
    END;
  END IF;
  IF (count >> 16) - now_ms > 60000 THEN
    RAISE 'the mark of the shared ids, %, is % seconds ahead of the clock', mark, ((count >> 16) - now_ms) / 1000
      USING ERRCODE = 'object_not_in_prerequisite_state',
        HINT = 'A clock was wrong. The owner of the mark runs SELECT inorder_reset(). Ids made so far can sort after new ones.';
  END IF;
  RETURN count;
END $$;
-- Not for every role: the function sets any sequence that it is given.
REVOKE EXECUTE ON FUNCTION inorder_raise(regclass, regclass) FROM PUBLIC;

-- The same for this mark, callable by every role.
CREATE OR REPLACE FUNCTION inorder_shared() RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER
RETURN inorder_raise('inorder_last', 'inorder_turn');

CREATE OR REPLACE FUNCTION ulid_shared() RETURNS uuid LANGUAGE sql VOLATILE
RETURN inorder_ulid(inorder_shared());

CREATE OR REPLACE FUNCTION uuid7_shared() RETURNS uuid LANGUAGE sql VOLATILE
RETURN inorder_uuid7(inorder_shared());

CREATE OR REPLACE FUNCTION inorder_reset() RETURNS void LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT setval('inorder_last', 0);
END;
REVOKE EXECUTE ON FUNCTION inorder_reset() FROM PUBLIC;

CREATE OR REPLACE FUNCTION uuid_to_ulid(id uuid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  bits varbit := B'00' || ('x' || encode(uuid_send(id), 'hex'))::bit(128);
  answer text := '';
BEGIN
  FOR digit IN 0..25 LOOP
    answer := answer || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(bits FROM 5 * digit + 1 FOR 5)::bit(5)::int + 1, 1);
  END LOOP;
  RETURN answer;
END $$;

CREATE OR REPLACE FUNCTION ulid_text() RETURNS text LANGUAGE sql VOLATILE
RETURN uuid_to_ulid(ulid());

-- Accepted text is the same as in SQLite's functions and in the command: docs/ids.md has the table. COLLATE "C",
-- because a column may have a collation without support for regular expressions.
CREATE OR REPLACE FUNCTION ulid_valid(x text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN x COLLATE "C" ~ '^(?:[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}|[0-9A-Fa-f]{32})$';

CREATE OR REPLACE FUNCTION uuid_valid(x text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN x COLLATE "C" ~ ('^(?:[0-9A-Fa-f]{32}'
  '|(?:[Uu][Rr][Nn]:[Uu][Uu][Ii][Dd]:)?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}'
  '|\{[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\})$');

CREATE OR REPLACE FUNCTION inorder_read_ulid(x text, is_valid boolean) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  digits text COLLATE "C" := upper(x COLLATE "C");
  bits varbit := B'';
BEGIN
  IF NOT is_valid THEN
    RAISE 'not a ULID, 26 characters of 0-9 and A-Z without I, L, O and U, the first 0 to 7, or 32 hex digits: %', x
      USING ERRCODE = 'invalid_text_representation';
  END IF;
  IF length(x) = 32 THEN
    RETURN x::uuid;
  END IF;
  FOR i IN 1..26 LOOP
    bits := bits || (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(digits, i, 1)) - 1)::bit(5);
  END LOOP;
  RETURN encode(int8send(substring(bits FROM 3 FOR 64)::bit(64)::bigint)
    || int8send(substring(bits FROM 67 FOR 64)::bit(64)::bigint), 'hex')::uuid;
END $$;

CREATE OR REPLACE FUNCTION inorder_read_uuid(x text, is_valid boolean) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF NOT is_valid THEN
    RAISE 'not a UUID, hex digits in groups of 8, 4, 4, 4 and 12, bare, in braces or after urn:uuid:, or 32 hex digits: %', x
      USING ERRCODE = 'invalid_text_representation';
  END IF;
  RETURN replace(lower(x COLLATE "C"), 'urn:uuid:', '')::uuid;
END $$;

CREATE OR REPLACE FUNCTION ulid_to_uuid(x text) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN inorder_read_ulid(x, ulid_valid(x));

CREATE OR REPLACE FUNCTION ulid_text(x text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN uuid_to_ulid(ulid_to_uuid(x));

CREATE OR REPLACE FUNCTION uuid_text(x text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN inorder_read_uuid(x, uuid_valid(x))::text;

CREATE OR REPLACE FUNCTION uuid_version(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN get_byte(uuid_send(id), 8) >> 6 = 2 THEN get_byte(uuid_send(id), 6) >> 4 END;

CREATE OR REPLACE FUNCTION uuid7_valid(x text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN uuid_valid(x) AND x COLLATE "C" ~ '7[0-9A-Fa-f]{3}-?[89ABab][0-9A-Fa-f]{3}-?[0-9A-Fa-f]{12}\}?$';

CREATE OR REPLACE FUNCTION inorder_kind(x text, is_ulid boolean, is_uuid boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  hex text COLLATE "C" := replace(replace(lower(x COLLATE "C"), 'urn:uuid:', ''), '-', '');
  version int;
BEGIN
  IF is_uuid THEN
    hex := btrim(hex, '{}');
    version := ('x' || substr(hex, 13, 1))::bit(4)::int;
    RETURN CASE
      WHEN hex ~ '^0*$' THEN 'the nil UUID'
      WHEN hex ~ '^f*$' THEN 'the max UUID'
      WHEN is_ulid AND (substr(hex, 17, 1) !~ '[89ab]' OR version NOT BETWEEN 1 AND 8) THEN 'ulid'
      WHEN substr(hex, 17, 1) !~ '[89ab]' THEN 'UUID of another variant'
      WHEN version IN (4, 7) THEN 'uuid' || version
      ELSE 'UUID version ' || version
    END;
  END IF;
  RETURN CASE
    WHEN is_ulid THEN 'ulid'
    WHEN length(x) <= 20 AND x COLLATE "C" ~ '^(?:0|-?[1-9][0-9]*)$'
      AND x::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 THEN 'integer'
    WHEN x COLLATE "C" ~ '^[a-z](?:[a-z_]{0,61}[a-z])?_[0-7][0-9a-hjkmnp-tv-z]{25}$' THEN 'TypeID'
    WHEN x COLLATE "C" ~ '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{12}$' THEN 'tsid'
    -- The greatest KSUID is 160 bits in base 62, whose digits are in the order of the collation.
    WHEN x COLLATE "C" ~ '^[0-9A-Za-z]{27}$' AND x COLLATE "C" <= 'aWgEPTl1tmebfsQzFP4bxwgy80V' THEN 'KSUID'
    WHEN length(x) = 26 OR x COLLATE "C" !~ '^(?:[0-9A-Fa-f]{2})+$' THEN 'no id'
    WHEN length(x) = 24 THEN 'ObjectId'
    WHEN length(x) = 40 THEN 'token160'
    ELSE 'token of ' || length(x) / 2 || ' bytes'
  END;
END $$;

CREATE OR REPLACE FUNCTION key_kind(x text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN inorder_kind(x, ulid_valid(x), uuid_valid(x));

-- Without hyphens: the bits do not identify it as a UUID.
CREATE OR REPLACE FUNCTION key_kind(x uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN key_kind(encode(uuid_send(x), 'hex'));

-- A time in milliseconds since 1970. to_timestamp() takes a float, which is some microseconds off from 2242 on.
CREATE OR REPLACE FUNCTION inorder_time(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '1970-01-01' + ms / 1000 * interval '1 s' + ms % 1000 * interval '1 ms') AT TIME ZONE 'UTC';

CREATE OR REPLACE FUNCTION ulid_timestamp(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN inorder_time(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint);

CREATE OR REPLACE FUNCTION inorder_uuid7_timestamp(id uuid, at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF id::text !~ '^.{14}7.{4}[89ab]' THEN
    RAISE '% is not of version 7: it does not begin with its time', id USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN at;
END $$;

CREATE OR REPLACE FUNCTION uuid7_timestamp(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN inorder_uuid7_timestamp(id, ulid_timestamp(id));

-- The 12 hex digits of a time. The computation uses integers: seconds with a fraction, multiplied by 1000, are
-- sometimes off by one.
CREATE OR REPLACE FUNCTION inorder_ms_hex(t timestamptz) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  utc timestamp := t AT TIME ZONE 'UTC';
  ms bigint;
BEGIN
  IF t < '1970-01-01Z' OR t > '10889-08-02 05:31:50.655999Z' THEN
    RAISE 'ids begin in 1970 and end in 10889: no id is of %', t USING ERRCODE = 'datetime_field_overflow';
  END IF;
  ms := extract(epoch FROM date_trunc('minute', utc))::bigint * 1000 + extract(microseconds FROM utc)::bigint / 1000;
  RETURN lpad(to_hex(ms), 12, '0');
END $$;

CREATE OR REPLACE FUNCTION ulid_min(t timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (inorder_ms_hex(t) || '00000000000000000000')::uuid;
CREATE OR REPLACE FUNCTION ulid_max(t timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (inorder_ms_hex(t) || 'ffffffffffffffffffff')::uuid;
CREATE OR REPLACE FUNCTION uuid7_min(t timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (inorder_ms_hex(t) || '70008000000000000000')::uuid;
CREATE OR REPLACE FUNCTION uuid7_max(t timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (inorder_ms_hex(t) || '7fffbfffffffffffffff')::uuid;

-- The random tails come from the random bytes of a UUID.
CREATE OR REPLACE FUNCTION ulid_at(t timestamptz) RETURNS uuid LANGUAGE sql VOLATILE STRICT
RETURN (inorder_ms_hex(t) || left(gen_random_uuid()::text, 8) || right(gen_random_uuid()::text, 12))::uuid;
CREATE OR REPLACE FUNCTION uuid7_at(t timestamptz) RETURNS uuid LANGUAGE sql VOLATILE STRICT
RETURN (inorder_ms_hex(t) || '7' || right(gen_random_uuid()::text, 3) || right(gen_random_uuid()::text, 17))::uuid;

CREATE OR REPLACE FUNCTION token(n integer) RETURNS bytea LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
  bytes bytea := '';
BEGIN
  IF n NOT BETWEEN 1 AND 1024 THEN
    RAISE 'a token has 1 to 1024 bytes, not %', n USING ERRCODE = 'invalid_parameter_value';
  END IF;
  WHILE length(bytes) < n LOOP
    bytes := bytes || substring(uuid_send(gen_random_uuid()) FROM 10 FOR 7);
  END LOOP;
  RETURN substring(bytes FROM 1 FOR n);
END $$;

CREATE OR REPLACE FUNCTION token_text(n integer) RETURNS text LANGUAGE sql VOLATILE STRICT
RETURN encode(token(n), 'hex');

CREATE OR REPLACE FUNCTION inorder_version() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '0.1.0';

-- Removes a function of an earlier version of this file.
DROP FUNCTION IF EXISTS inorder_advance(), inorder_set(regclass), inorder_ulid(bigint, timestamptz), inorder_uuid7(bigint, timestamptz);

COMMIT;
