\set ON_ERROR_STOP on
\set ON_ERROR_ROLLBACK off
\set AUTOCOMMIT on
SET client_encoding = 'UTF8';
SET search_path = '';
SET standard_conforming_strings = on;
SET client_min_messages = notice;
SET datestyle = 'ISO, MDY';
SET intervalstyle = 'postgres';
SET extra_float_digits = 1;
SET timezone = 'UTC';
SET row_security = off;
SET statement_timeout = 0;
SET lock_timeout = '50ms';
-- Functions of this session.
CREATE OR REPLACE FUNCTION pg_temp.inorder_shape(t regclass) RETURNS TABLE (key text, line text) LANGUAGE sql STABLE AS $inorder$
SELECT s.key, s.line FROM ({shape}) s WHERE s.rel = t
$inorder$;
-- Raises if a table is not as it was read: a line that is missing or another one, or a new one unless it is about a column.
CREATE OR REPLACE FUNCTION pg_temp.inorder_same(t text, keys text[], lines text[], ignored text[], may_be_more boolean) RETURNS void LANGUAGE plpgsql AS $inorder$
DECLARE one record;
BEGIN
  IF to_regclass(t) IS NULL THEN
    RAISE EXCEPTION USING MESSAGE = format('the table %s is missing', t);
  END IF;
  SELECT e.key, e.line AS was, s.line AS is_now INTO one FROM unnest(keys, lines) e (key, line)
    LEFT JOIN pg_temp.inorder_shape(to_regclass(t)) s ON s.key = e.key
    WHERE s.line IS DISTINCT FROM e.line AND e.key <> ALL (ignored) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION USING MESSAGE = format('%s is not as it was when inorder advise read it: %s is %s', t, one.key,
      coalesce('now: ' || one.is_now, 'missing')), DETAIL = format('It was: %s', one.was), HINT = 'Run inorder advise again.';
  END IF;
  SELECT s.key, s.line INTO one FROM pg_temp.inorder_shape(to_regclass(t)) s
    WHERE s.key <> ALL (keys) AND s.key <> ALL (ignored) AND s.key !~ '^(column|default of|sequence of) ' LIMIT 1;
  IF FOUND AND NOT may_be_more THEN
    RAISE EXCEPTION USING MESSAGE = format('%s is not as it was when inorder advise read it: %s is new', t, one.key),
      DETAIL = format('It is: %s', one.line), HINT = 'Run inorder advise again.';
  END IF;
END
$inorder$;
-- Whether columns have their old types. Raises if some have neither their old nor their new type, or not all the same.
CREATE OR REPLACE FUNCTION pg_temp.inorder_pending(tables text[], columns text[], olds text[], news text[]) RETURNS boolean LANGUAGE plpgsql AS $inorder$
DECLARE one record; found_old boolean := false; found_new boolean := false;
BEGIN
  FOR one IN SELECT c.t, c.name, c.old, c.new, (SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
      WHERE a.attrelid = to_regclass(c.t) AND a.attname = c.name AND NOT a.attisdropped) AS is_now
    FROM unnest(tables, columns, olds, news) c (t, name, old, new) LOOP
    IF one.is_now IS NULL OR one.is_now NOT IN (one.old, one.new) THEN
      RAISE EXCEPTION USING MESSAGE = format('the column %s of %s is %s', one.name, one.t, coalesce('now ' || one.is_now, 'missing')),
        DETAIL = format('It was %s and is to become %s.', one.old, one.new), HINT = 'Run inorder advise again.';
    END IF;
    found_old := found_old OR one.is_now = one.old;
    found_new := found_new OR one.is_now = one.new;
  END LOOP;
  IF found_old AND found_new THEN
    RAISE EXCEPTION 'some of the columns have their new type, some their old one' USING HINT = 'Run inorder advise again.';
  END IF;
  RETURN found_old;
END
$inorder$;
-- Waits a moment for locks that others hold, or raises and names them.
CREATE OR REPLACE FUNCTION pg_temp.inorder_wait(tries int, tables text[], what text) RETURNS void LANGUAGE plpgsql AS $inorder$
DECLARE holders text;
BEGIN
  IF tries > 0 THEN
    PERFORM pg_sleep(0.03 + 0.07 * random());
    RETURN;
  END IF;
  SELECT string_agg(DISTINCT coalesce('process ' || l.pid || coalesce(' (' || nullif(a.application_name, '') || ')', ''), 'a prepared transaction'), ', ')
    INTO holders FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.granted AND l.pid IS DISTINCT FROM pg_backend_pid() AND l.relation IN (SELECT to_regclass(t) FROM unnest(tables) t);
  RAISE EXCEPTION USING ERRCODE = 'lock_not_available', MESSAGE = format('no lock on %s: %s', array_to_string(tables, ', '), what),
    DETAIL = coalesce('Locks on it are held by ' || holders || '.', ''), HINT = 'Nothing was changed by this step. Run the file again.';
END
$inorder$;
-- How often a lock is tried: SET inorder.lock_tries before, or PGOPTIONS="-c inorder.lock_tries=1000".
CREATE OR REPLACE FUNCTION pg_temp.inorder_tries() RETURNS int LANGUAGE sql AS $inorder$
SELECT coalesce(nullif(current_setting('inorder.lock_tries', true), '')::int, 200)
$inorder$;
-- Raises if there are rows that stand in the way.
CREATE OR REPLACE FUNCTION pg_temp.inorder_none(t text, count bigint, example text, what text) RETURNS void LANGUAGE plpgsql AS $inorder$
BEGIN
  IF count > 0 THEN
    RAISE EXCEPTION USING MESSAGE = format('%s: the row %s: %s (%s)', t, example, what, CASE count WHEN 1 THEN 'the only one' ELSE count || ' such rows' END),
      HINT = 'Nothing is lost. Correct these rows, then run the file again.';
  END IF;
END
$inorder$;
-- Raises unless an index is valid and over these columns, where an expression is an empty name.
CREATE OR REPLACE FUNCTION pg_temp.inorder_index(i text, t text, is_unique boolean, columns text[]) RETURNS void LANGUAGE plpgsql AS $inorder$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_index x WHERE x.indexrelid = to_regclass(i) AND x.indrelid = to_regclass(t) AND x.indisvalid AND x.indisready AND x.indislive
      AND x.indisunique = is_unique AND columns = (SELECT array_agg(coalesce(a.attname::text, '') ORDER BY k) FROM generate_series(1, x.indnatts::int) k
        LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[k - 1] AND x.indkey[k - 1] <> 0)) THEN
    RAISE EXCEPTION USING MESSAGE = format('the index %s on %s is missing, invalid or another one', i, t), HINT = 'Run the file again: it is built then.';
  END IF;
END
$inorder$;
-- Gives a column the comment, rights and planner settings of another one. Returns the name of the other one's NOT NULL constraint.
CREATE OR REPLACE FUNCTION pg_temp.inorder_keep(t text, was text, fresh text) RETURNS text LANGUAGE plpgsql AS $inorder$
DECLARE a record; g record;
BEGIN
  SELECT p.attnum, (to_jsonb(p) ->> 'attstattarget')::int AS target, p.attoptions, p.attacl INTO STRICT a
    FROM pg_attribute p WHERE p.attrelid = to_regclass(t) AND p.attname = was AND NOT p.attisdropped;
  EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', t, fresh, col_description(to_regclass(t), a.attnum));
  IF a.target >= 0 THEN
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', t, fresh, a.target);
  END IF;
  IF a.attoptions IS NOT NULL THEN
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', t, fresh, array_to_string(a.attoptions, ', '));
  END IF;
  FOR g IN SELECT x.* FROM aclexplode(a.attacl) x LOOP
    EXECUTE format('GRANT %s (%I) ON TABLE %s TO %s%s', g.privilege_type, fresh, t,
      CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
  END LOOP;
  RETURN (SELECT k.conname FROM pg_constraint k WHERE k.conrelid = to_regclass(t) AND k.contype = 'n' AND k.conkey = ARRAY[a.attnum]);
END
$inorder$;
-- Gives the NOT NULL constraint of a column a name, where the release has names for them.
CREATE OR REPLACE FUNCTION pg_temp.inorder_label(t text, named text, label text) RETURNS void LANGUAGE plpgsql AS $inorder$
DECLARE own text;
BEGIN
  SELECT k.conname INTO own FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
    WHERE k.conrelid = to_regclass(t) AND k.contype = 'n' AND a.attname = named AND NOT a.attisdropped;
  IF own <> label THEN
    EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', t, own, label);
  END IF;
END
$inorder$;
-- Gives an index the comment of another one.
CREATE OR REPLACE FUNCTION pg_temp.inorder_index_comment(was text, fresh text) RETURNS void LANGUAGE plpgsql AS $inorder$
BEGIN
  IF to_regclass(was) IS NOT NULL AND to_regclass(fresh) IS NOT NULL THEN
    EXECUTE format('COMMENT ON INDEX %s IS %L', fresh, obj_description(to_regclass(was), 'pg_class'));
  END IF;
END
$inorder$;
-- The comment of a constraint, or an empty text.
CREATE OR REPLACE FUNCTION pg_temp.inorder_comment(t text, c text) RETURNS text LANGUAGE sql AS $inorder$
SELECT coalesce((SELECT obj_description(k.oid, 'pg_constraint') FROM pg_constraint k WHERE k.conrelid = to_regclass(t) AND k.conname = c), '')
$inorder$;
-- The statements that give a column the identity that it has, after its sequence went with the old column: with the number
-- that it has reached, and ends of the type where it had those. Nobody takes a number meanwhile.
CREATE OR REPLACE FUNCTION pg_temp.inorder_identity(t text, named text) RETURNS text[] LANGUAGE plpgsql AS $inorder$
DECLARE s record; g record; low bigint; reached bigint; is_called boolean; made text[];
BEGIN
  SELECT a.attidentity, q.*, format('%I.%I', n.nspname, c.relname) AS name, c.relacl, obj_description(c.oid, 'pg_class') AS label INTO STRICT s
    FROM pg_attribute a JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
      AND d.classid = 'pg_class'::regclass AND d.deptype = 'i' JOIN pg_sequence q ON q.seqrelid = d.objid
    JOIN pg_class c ON c.oid = q.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE a.attrelid = to_regclass(t) AND a.attname = named AND NOT a.attisdropped;
  EXECUTE format('ALTER SEQUENCE %s INCREMENT BY %s', s.name, s.seqincrement);
  EXECUTE format('SELECT last_value, is_called FROM %s', s.name) INTO reached, is_called;
  low := CASE s.seqtypid::regtype::text WHEN 'smallint' THEN -32768 WHEN 'integer' THEN -2147483648 ELSE -9223372036854775808 END;
  made := ARRAY[
    format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s START WITH %s INCREMENT BY %s %s %s CACHE %s %s)', t, named,
      CASE s.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, s.name, s.seqstart, s.seqincrement,
      CASE WHEN s.seqincrement < 0 AND s.seqmin = low THEN 'NO MINVALUE' ELSE 'MINVALUE ' || s.seqmin END,
      CASE WHEN s.seqincrement > 0 AND s.seqmax = -(low + 1) THEN 'NO MAXVALUE' ELSE 'MAXVALUE ' || s.seqmax END,
      s.seqcache, CASE WHEN s.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END),
    format('SELECT setval(%L, %s, %L)', s.name, reached, is_called), format('COMMENT ON SEQUENCE %s IS %L', s.name, s.label)];
  FOR g IN SELECT x.* FROM aclexplode(s.relacl) x LOOP
    made := made || format('GRANT %s ON SEQUENCE %s TO %s%s', g.privilege_type, s.name,
      CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
  END LOOP;
  RETURN made;
END
$inorder$;
