-- ULIDs and UUIDv7 in PostgreSQL 13 to 17, where none are built in (18 has uuidv7()). Pure SQL and PL/pgSQL.
--
--   psql -f postgresql.sql
--
-- ulid() and uuid7() give a uuid, 16 bytes, and are in one order over all sessions: the milliseconds and a counter of 16
-- bits are a sequence, which rollbacks do not turn back and which a clock that steps back does not move. What follows
-- them is random. A standby cannot make ids, since it cannot advance a sequence.
--
--   CREATE TABLE note(id uuid PRIMARY KEY DEFAULT ulid(), text text);
--
-- | uuid      | ulid(), uuid7()                    | new, greater than all before
-- | text      | ulid_text()                        | a new ULID as text
-- | text      | uuid_to_ulid(uuid)                 | the 26 characters of a ULID
-- | uuid      | ulid_to_uuid(text)                 | the ULID of 26 characters, in either case
-- | boolean   | ulid_valid(text)                   | whether it is a ULID; never raises
-- | timestamp | ulid_timestamp(uuid)               | when it was made
-- | timestamp | uuid7_timestamp(uuid)              | the same, refusing other versions
-- | uuid      | ulid_min(time), ulid_max(time)     | the least and greatest ULID of a millisecond
-- | uuid      | uuid7_min(time), uuid7_max(time)   | the least and greatest UUIDv7 of a millisecond
--
-- NULL gives NULL; wrong input is an error.

BEGIN;

CREATE SEQUENCE IF NOT EXISTS inorder_last MINVALUE 0 START 0;

-- The next count: 48 bits of milliseconds and 16 of a counter that starts each millisecond below 2^12, at random.
CREATE OR REPLACE FUNCTION inorder_count() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  count bigint := nextval('inorder_last');
BEGIN
  IF count >> 16 < now_ms THEN
    -- Once a millisecond. The lock keeps two sessions from setting the same one; counting needs no lock.
    BEGIN
      PERFORM pg_advisory_lock(hashtext('inorder_last'));
      count := nextval('inorder_last');
      IF count >> 16 < now_ms THEN
        count := setval('inorder_last', (now_ms << 16) + floor(random() * 4096)::bigint);
      END IF;
      PERFORM pg_advisory_unlock(hashtext('inorder_last'));
    EXCEPTION WHEN query_canceled OR OTHERS THEN
      PERFORM pg_advisory_unlock(hashtext('inorder_last'));
      RAISE;
    END;
  END IF;
  RETURN count;
END $$;

CREATE OR REPLACE FUNCTION ulid() RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  count bytea := int8send(inorder_count());
  random bytea := uuid_send(gen_random_uuid());
BEGIN
  -- A random UUID has 7 bytes that are wholly random at its end and 6 at its beginning.
  RETURN encode(count || substring(random FROM 10 FOR 7) || substring(random FROM 1 FOR 1), 'hex')::uuid;
END $$;

CREATE OR REPLACE FUNCTION uuid7() RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  count bigint := inorder_count();
  counter int := (count & 65535)::int;
  id bytea := int8send(count) || substring(uuid_send(gen_random_uuid()) FROM 9);
BEGIN
  -- The counter makes room for the version, 7, and for the variant, the two bits 10.
  id := set_byte(id, 6, 112 | (counter >> 12));
  id := set_byte(id, 7, (counter >> 4) & 255);
  id := set_byte(id, 8, 128 | ((counter & 15) << 2) | (get_byte(id, 8) & 3));
  RETURN encode(id, 'hex')::uuid;
END $$;

CREATE OR REPLACE FUNCTION uuid_to_ulid(id uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(bits FROM 5 * i + 1 FOR 5)::bit(5)::int + 1, 1), '' ORDER BY i)
  FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) AS padded, generate_series(0, 25) AS i
$$;

CREATE OR REPLACE FUNCTION ulid_text() RETURNS text LANGUAGE sql VOLATILE AS 'SELECT uuid_to_ulid(ulid())';

CREATE OR REPLACE FUNCTION ulid_valid(x text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT x ~ '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$' AND length(x) = 26
$$;

CREATE OR REPLACE FUNCTION ulid_to_uuid(x text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  bits varbit;
BEGIN
  IF NOT ulid_valid(x) THEN
    RAISE 'not a ULID, 26 characters of 0-9 and A-Z without I, L, O and U, the first 0 to 7: %', x
      USING ERRCODE = 'invalid_text_representation';
  END IF;
  SELECT string_agg(
    (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(x, i, 1))) - 1)::bit(5)::text, '' ORDER BY i)::varbit
  INTO bits FROM generate_series(1, 26) AS i;
  RETURN (lpad(to_hex(substring(bits FROM 3 FOR 64)::bit(64)::bigint), 16, '0')
    || lpad(to_hex(substring(bits FROM 67 FOR 64)::bit(64)::bigint), 16, '0'))::uuid;
END $$;

CREATE OR REPLACE FUNCTION ulid_timestamp(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000::float8)
$$;

CREATE OR REPLACE FUNCTION uuid7_timestamp(id uuid) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF id::text !~ '^.{14}7.{4}[89ab]' THEN
    RAISE '% is not of version 7: it does not begin with its time', id USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN ulid_timestamp(id);
END $$;

-- The 12 hex digits of a time. Whole numbers throughout: a fraction of seconds times 1000 is off by one now and then.
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

CREATE OR REPLACE FUNCTION ulid_min(t timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$SELECT (inorder_ms_hex(t) || '00000000000000000000')::uuid$$;
CREATE OR REPLACE FUNCTION ulid_max(t timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$SELECT (inorder_ms_hex(t) || 'ffffffffffffffffffff')::uuid$$;
CREATE OR REPLACE FUNCTION uuid7_min(t timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$SELECT (inorder_ms_hex(t) || '70008000000000000000')::uuid$$;
CREATE OR REPLACE FUNCTION uuid7_max(t timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$SELECT (inorder_ms_hex(t) || '7fffbfffffffffffffff')::uuid$$;

COMMIT;
