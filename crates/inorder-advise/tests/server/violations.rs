//! Fixtures of every kind of step, and what violates the assumptions that it makes.

/// A fixture and what its steps rely on.
pub struct Kind {
    pub name: &'static str,
    /// Begins the title of the plan.
    pub title: &'static str,
    pub make: &'static [&'static str],
    /// The values that must not change, whatever their types.
    pub values: &'static [&'static str],
    /// Tells that the change was made: a query and its answer.
    pub is_done: (&'static str, &'static str),
    pub violations: &'static [Violation],
    /// What takes back relies on, beside locks.
    pub back: &'static [Violation],
}

/// What another connection does, what takes it away again, and what the script then says.
pub struct Violation {
    pub name: &'static str,
    pub act: &'static str,
    pub heal: &'static str,
    /// One of these, parted by `|`.
    pub words: &'static str,
}

const UUIDS: &[&str] = &[
    "CREATE TABLE d (id char(36) PRIMARY KEY DEFAULT gen_random_uuid()::text, note text NOT NULL)",
    "CREATE TABLE e (k int PRIMARY KEY, d varchar(40) REFERENCES d ON DELETE SET NULL ON UPDATE CASCADE)",
    "CREATE INDEX e_d ON e (d)",
    "INSERT INTO d (note) SELECT 'note ' || g FROM generate_series(1, 1500) g",
    "INSERT INTO e SELECT row_number() OVER (), id FROM d",
    "ANALYZE",
];

pub const POSTGRES: &[Kind] = &[
    Kind {
        name: "drop index",
        title: "drop the index d_a",
        make: &[
            "CREATE TABLE d (id int PRIMARY KEY, a int, b int, note text)",
            "INSERT INTO d SELECT g, g, g, '' FROM generate_series(1, 1500) g",
            "CREATE INDEX d_a ON d (a)",
            "CREATE INDEX d_ab ON d (a, b)",
            "ANALYZE",
        ],
        values: &["SELECT md5(string_agg(d::text, ',' ORDER BY id)) FROM d"],
        is_done: (
            "SELECT NOT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('d_a') AND indisvalid)",
            "t",
        ),
        violations: &[
            Violation {
                name: "a dropped index",
                act: "DROP INDEX d_ab",
                heal: "CREATE INDEX d_ab ON d (a, b)",
                words: "index d_ab is missing",
            },
            Violation {
                name: "another index",
                act: "DROP INDEX d_ab; CREATE INDEX d_ab ON d (b, a)",
                heal: "DROP INDEX d_ab; CREATE INDEX d_ab ON d (a, b)",
                words: "index d_ab is now",
            },
            Violation {
                name: "a partial index",
                act: "DROP INDEX d_ab; CREATE INDEX d_ab ON d (a, b) WHERE a > 5",
                heal: "DROP INDEX d_ab; CREATE INDEX d_ab ON d (a, b)",
                words: "index d_ab is now",
            },
            Violation {
                name: "the same name",
                act: "DROP INDEX d_a; CREATE INDEX d_a ON d (b)",
                heal: "DROP INDEX d_a; CREATE INDEX d_a ON d (a)",
                words: "index d_a is now",
            },
            Violation {
                name: "the replica identity",
                act: "ALTER TABLE d ALTER a SET NOT NULL; DROP INDEX d_a; CREATE UNIQUE INDEX d_a ON d (a); ALTER TABLE d REPLICA IDENTITY USING INDEX d_a",
                heal: "ALTER TABLE d REPLICA IDENTITY DEFAULT; DROP INDEX d_a; CREATE INDEX d_a ON d (a)",
                words: "index d_a is now",
            },
            Violation {
                name: "a function",
                act: "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS 'BEGIN REINDEX INDEX d_a;\nEND'",
                heal: "DROP FUNCTION f()",
                words: "the function public.f() names d_a",
            },
        ],
        back: &[],
    },
    Kind {
        name: "drop constraint",
        title: "drop the constraint d_twice",
        make: &[
            "CREATE TABLE d (id int PRIMARY KEY, a int, note text, CONSTRAINT d_once UNIQUE (a))",
            "ALTER TABLE d ADD CONSTRAINT d_twice UNIQUE (a)",
            "INSERT INTO d SELECT g, g, '' FROM generate_series(1, 1500) g",
            "ANALYZE",
        ],
        values: &["SELECT md5(string_agg(d::text, ',' ORDER BY id)) FROM d"],
        is_done: (
            "SELECT count(*) FROM pg_constraint WHERE conname = 'd_twice'",
            "0",
        ),
        violations: &[
            Violation {
                name: "a dropped constraint",
                act: "ALTER TABLE d DROP CONSTRAINT d_once",
                heal: "ALTER TABLE d ADD CONSTRAINT d_once UNIQUE (a)",
                words: "d_once is missing",
            },
            Violation {
                name: "a deferrable constraint",
                act: "ALTER TABLE d DROP CONSTRAINT d_once, ADD CONSTRAINT d_once UNIQUE (a) DEFERRABLE",
                heal: "ALTER TABLE d DROP CONSTRAINT d_once, ADD CONSTRAINT d_once UNIQUE (a)",
                words: "d_once is now",
            },
            Violation {
                name: "a function",
                act: "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'INSERT INTO d VALUES (1) ON CONFLICT ON CONSTRAINT d_twice DO NOTHING'",
                heal: "DROP FUNCTION f()",
                words: "the function public.f() names d_twice",
            },
        ],
        back: &[],
    },
    Kind {
        name: "partial index",
        title: "make the index d_n partial",
        make: &[
            "CREATE TABLE d (id int PRIMARY KEY, n int, note text)",
            "INSERT INTO d SELECT g, NULL, '' FROM generate_series(1, 1500) g",
            "CREATE INDEX d_n ON d (n)",
            "ANALYZE",
        ],
        values: &["SELECT md5(string_agg(d::text, ',' ORDER BY id)) FROM d"],
        is_done: (
            "SELECT indpred IS NOT NULL FROM pg_index WHERE indexrelid = 'd_n'::regclass",
            "t",
        ),
        violations: &[
            Violation {
                name: "a value",
                act: "UPDATE d SET n = 77 WHERE id = 5",
                heal: "UPDATE d SET n = NULL",
                words: "id = '5', n = '77'",
            },
            Violation {
                name: "a new row",
                act: "INSERT INTO d VALUES (9000, 9, '')",
                heal: "DELETE FROM d WHERE id = 9000",
                words: "id = '9000', n = '9'",
            },
            Violation {
                name: "another index",
                act: "DROP INDEX d_n; CREATE INDEX d_n ON d (n, id)",
                heal: "DROP INDEX d_n; CREATE INDEX d_n ON d (n)",
                words: "index d_n is now",
            },
        ],
        back: &[],
    },
    Kind {
        name: "uuid",
        title: "uuid in place of text",
        make: UUIDS,
        values: &[
            "SELECT md5(string_agg(id::text || note, ',' ORDER BY id::text)) FROM d",
            "SELECT md5(string_agg(k || coalesce(d::text, '-'), ',' ORDER BY k)) FROM e",
        ],
        is_done: (
            "SELECT string_agg(DISTINCT data_type, ',') FROM information_schema.columns WHERE table_schema = 'public' AND (table_name, column_name) IN (('d', 'id'), ('e', 'd'))",
            "uuid",
        ),
        violations: &[
            Violation {
                name: "a value that does not convert",
                act: "INSERT INTO d (id, note) VALUES ('none', 'bad')",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "id = 'none'",
            },
            Violation {
                name: "a changed value",
                act: "UPDATE d SET id = 'none' WHERE note = 'note 7'",
                heal: "UPDATE d SET id = gen_random_uuid()::text WHERE note = 'note 7'",
                words: "id = 'none'",
            },
            Violation {
                name: "two values equal after conversion",
                act: "INSERT INTO d (id, note) SELECT upper(id), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "is not 32 hexadecimal digits in lower case with hyphens",
            },
            Violation {
                name: "an old value in a replica",
                act: "SET session_replication_role = replica; INSERT INTO d (id, note) VALUES ('none', 'bad'); RESET session_replication_role",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "id = 'none'",
            },
            Violation {
                name: "NULL",
                act: "ALTER TABLE d ALTER note DROP NOT NULL, DROP CONSTRAINT d_pkey CASCADE; ALTER TABLE d ALTER id DROP NOT NULL; INSERT INTO d (id, note) VALUES (NULL, 'bad')",
                heal: "DELETE FROM d WHERE note = 'bad'; ALTER TABLE d ADD PRIMARY KEY (id), ALTER note SET NOT NULL; ALTER TABLE e ADD FOREIGN KEY (d) REFERENCES d ON DELETE SET NULL ON UPDATE CASCADE",
                words: "is not as it was",
            },
            Violation {
                name: "a dropped index",
                act: "DROP INDEX e_d",
                heal: "CREATE INDEX e_d ON e (d)",
                words: "index e_d is missing",
            },
            Violation {
                name: "a new index",
                act: "CREATE INDEX late ON d (note)",
                heal: "DROP INDEX late",
                words: "index late is new",
            },
            Violation {
                name: "a dropped foreign key",
                act: "ALTER TABLE e DROP CONSTRAINT e_d_fkey",
                heal: "ALTER TABLE e ADD FOREIGN KEY (d) REFERENCES d ON DELETE SET NULL ON UPDATE CASCADE",
                words: "constraint e_d_fkey",
            },
            Violation {
                name: "a new check",
                act: "ALTER TABLE d ADD CONSTRAINT late CHECK (length(id) > 3)",
                heal: "ALTER TABLE d DROP CONSTRAINT late",
                words: "constraint late is new",
            },
            Violation {
                name: "a new trigger",
                act: "CREATE TRIGGER late BEFORE UPDATE ON d FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
                heal: "DROP TRIGGER late ON d",
                words: "trigger late is new",
            },
            Violation {
                name: "another default",
                act: "ALTER TABLE d ALTER id SET DEFAULT 'x'",
                heal: "ALTER TABLE d ALTER id SET DEFAULT gen_random_uuid()::text",
                words: "default of id is now",
            },
            Violation {
                name: "another type",
                act: "ALTER TABLE e ALTER d TYPE varchar(50)",
                heal: "ALTER TABLE e ALTER d TYPE varchar(40)",
                words: "the column d of \"public\".\"e\" is now character varying(50)",
            },
        ],
        back: &[],
    },
    Kind {
        name: "16 bytes",
        title: "16 bytes in place of text",
        make: &[
            "CREATE TABLE d (id text PRIMARY KEY, note text NOT NULL)",
            "INSERT INTO d SELECT md5(g::text), 'note ' || g FROM generate_series(1, 1500) g",
            "ANALYZE",
        ],
        values: &[
            "SELECT md5(string_agg(CASE pg_typeof(id)::text WHEN 'bytea' THEN substr(id::text, 3) ELSE id::text END || note, ',' ORDER BY note)) FROM d",
        ],
        is_done: (
            "SELECT data_type FROM information_schema.columns WHERE table_name = 'd' AND column_name = 'id'",
            "bytea",
        ),
        violations: &[
            Violation {
                name: "a value that does not convert",
                act: "INSERT INTO d (id, note) VALUES ('none', 'bad')",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "id = 'none'",
            },
            Violation {
                name: "two values equal after conversion",
                act: "INSERT INTO d (id, note) SELECT upper(id), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "as all others are",
            },
        ],
        back: &[Violation {
            name: "a value that does not convert",
            act: "INSERT INTO d (id, note) VALUES ('\\x00', 'bad')",
            heal: "DELETE FROM d WHERE note = 'bad'",
            words: "these are not 16 bytes",
        }],
    },
    Kind {
        name: "digests",
        title: "bytes in place of text",
        make: &[
            "CREATE TABLE d (id text PRIMARY KEY, note text NOT NULL)",
            "CREATE TABLE e (k int PRIMARY KEY, d varchar(70) REFERENCES d ON DELETE SET NULL)",
            "CREATE INDEX e_d ON e (d)",
            "INSERT INTO d SELECT '0x' || encode(sha256(g::text::bytea), 'hex'), 'note ' || g FROM generate_series(1, 1500) g",
            "INSERT INTO e SELECT row_number() OVER (), id FROM d",
            "ANALYZE",
        ],
        values: &[
            "SELECT md5(string_agg('0' || substr(id::text, 2) || note, ',' ORDER BY note)) FROM d",
            "SELECT md5(string_agg('0' || substr(d::text, 2), ',' ORDER BY k)) FROM e",
        ],
        is_done: (
            "SELECT string_agg(DISTINCT data_type, ',') FROM information_schema.columns WHERE table_schema = 'public' AND (table_name, column_name) IN (('d', 'id'), ('e', 'd'))",
            "bytea",
        ),
        violations: &[
            Violation {
                name: "a value that does not convert",
                act: "INSERT INTO d (id, note) VALUES ('none', 'bad')",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "id = 'none'",
            },
            Violation {
                name: "two values equal after conversion",
                act: "INSERT INTO d (id, note) SELECT '0x' || upper(substr(id, 3)), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "is not 0x and 64 hexadecimal digits in lower case, as all others are",
            },
            Violation {
                name: "a value without the prefix",
                act: "INSERT INTO d (id, note) SELECT substr(id, 3), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "is not 0x and 64 hexadecimal digits in lower case, as all others are",
            },
            Violation {
                name: "a shorter value",
                act: "INSERT INTO d (id, note) SELECT left(id, 64), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "is not 0x and 64 hexadecimal digits in lower case, as all others are",
            },
            Violation {
                name: "a dropped index",
                act: "DROP INDEX e_d",
                heal: "CREATE INDEX e_d ON e (d)",
                words: "index e_d is missing",
            },
        ],
        back: &[Violation {
            name: "a value of another length",
            act: "INSERT INTO d (id, note) VALUES ('\\x00', 'bad')",
            heal: "DELETE FROM d WHERE note = 'bad'",
            words: "these are not 32 bytes",
        }],
    },
    Kind {
        name: "bigint",
        title: "bigint",
        make: &[
            "CREATE TABLE d (id serial PRIMARY KEY, note text NOT NULL)",
            "CREATE TABLE e (d int REFERENCES d, k int)",
            "SELECT setval('d_id_seq', 1900000000)",
            "INSERT INTO d (note) SELECT 'note ' || g FROM generate_series(1, 1500) g",
            "INSERT INTO e SELECT id, 1 FROM d",
            "ANALYZE",
        ],
        values: &[
            "SELECT md5(string_agg(id::text || note, ',' ORDER BY id::text)) FROM d",
            "SELECT md5(string_agg(d::text, ',' ORDER BY d::text)) FROM e",
        ],
        is_done: (
            "SELECT string_agg(DISTINCT data_type, ',') FROM information_schema.columns WHERE table_schema = 'public' AND (table_name, column_name) IN (('d', 'id'), ('e', 'd'))",
            "bigint",
        ),
        violations: &[
            Violation {
                name: "a dropped foreign key",
                act: "ALTER TABLE e DROP CONSTRAINT e_d_fkey",
                heal: "ALTER TABLE e ADD FOREIGN KEY (d) REFERENCES d",
                words: "constraint e_d_fkey",
            },
            Violation {
                name: "another type",
                act: "ALTER TABLE e ALTER d TYPE bigint",
                heal: "ALTER TABLE e ALTER d TYPE int",
                words: "some of the columns have their new type",
            },
        ],
        back: &[Violation {
            name: "a value that does not fit",
            act: "INSERT INTO d (id, note) VALUES (3000000000, 'bad')",
            heal: "DELETE FROM d WHERE note = 'bad'",
            words: "id = '3000000000'",
        }],
    },
    Kind {
        name: "both cases",
        title: "uuid in place of text",
        make: &[
            "CREATE TABLE d (id text PRIMARY KEY, note text NOT NULL)",
            "INSERT INTO d SELECT CASE g % 2 WHEN 0 THEN upper(x) ELSE x END, 'note ' || g FROM (SELECT g, gen_random_uuid()::text AS x FROM generate_series(1, 1500) g) y",
            "ANALYZE",
        ],
        values: &["SELECT md5(string_agg(lower(id::text) || note, ',' ORDER BY note)) FROM d"],
        is_done: (
            "SELECT data_type FROM information_schema.columns WHERE table_name = 'd' AND column_name = 'id'",
            "uuid",
        ),
        violations: &[
            Violation {
                name: "two values equal after conversion",
                act: "INSERT INTO d (id, note) SELECT lower(id), 'bad' FROM d WHERE note = 'note 6'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "one value of the unique index d_pkey|is duplicated",
            },
            Violation {
                name: "a value that does not convert",
                act: "INSERT INTO d (id, note) VALUES ('{0f8fad5b-d9cb-469f-a165-70867728950e}', 'bad')",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "the text can't become uuid",
            },
        ],
        back: &[],
    },
];

pub const MARIADB: &[Kind] = &[
    Kind {
        name: "drop index",
        title: "drop the index d_a",
        make: &[
            "CREATE TABLE d (id int PRIMARY KEY, a int, b int, note varchar(9), KEY d_a (a), KEY d_ab (a, b))",
            "INSERT INTO d SELECT seq, seq, seq, '' FROM seq_1_to_2000",
            "ANALYZE TABLE d",
        ],
        values: &["SELECT count(*), sum(crc32(concat_ws(',', id, a, b, note))) FROM d"],
        is_done: (
            "SELECT count(*) FROM information_schema.statistics WHERE table_schema = database() AND index_name = 'd_a'",
            "0",
        ),
        violations: &[
            Violation {
                name: "a dropped index",
                act: "ALTER TABLE d DROP INDEX d_ab",
                heal: "ALTER TABLE d ADD INDEX d_ab (a, b)",
                words: "index d_ab is missing",
            },
            Violation {
                name: "another index",
                act: "ALTER TABLE d DROP INDEX d_ab, ADD INDEX d_ab (b, a)",
                heal: "ALTER TABLE d DROP INDEX d_ab, ADD INDEX d_ab (a, b)",
                words: "index d_ab is now",
            },
            Violation {
                name: "an ignored index",
                act: "ALTER TABLE d ALTER INDEX d_ab IGNORED",
                heal: "ALTER TABLE d ALTER INDEX d_ab NOT IGNORED",
                words: "index d_ab is now",
            },
            Violation {
                name: "a view",
                act: "CREATE VIEW v AS SELECT * FROM d FORCE INDEX (d_a)",
                heal: "DROP VIEW v",
                words: ".v names d_a",
            },
        ],
        back: &[],
    },
    Kind {
        name: "uuid",
        title: "uuid in place of text",
        make: &[
            "CREATE TABLE d (id char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT uuid() COMMENT 'it''s' PRIMARY KEY, note varchar(40) NOT NULL)",
            "CREATE TABLE e (k int PRIMARY KEY, d char(36) CHARACTER SET ascii COLLATE ascii_bin, KEY e_d (d), CONSTRAINT e_of FOREIGN KEY (d) REFERENCES d (id) ON UPDATE CASCADE)",
            "INSERT INTO d (note) SELECT concat('note ', seq) FROM seq_1_to_2000",
            "INSERT INTO e SELECT substr(note, 6), id FROM d",
            "ANALYZE TABLE d, e",
        ],
        values: &[
            "SELECT count(*), sum(crc32(concat(cast(id AS char), note))) FROM d",
            "SELECT count(*), sum(crc32(concat(k, cast(d AS char)))) FROM e",
        ],
        is_done: (
            "SELECT group_concat(DISTINCT column_type) FROM information_schema.columns WHERE table_schema = database() AND ((table_name = 'd' AND column_name = 'id') OR (table_name = 'e' AND column_name = 'd'))",
            "uuid",
        ),
        violations: &[
            Violation {
                name: "a value that does not convert",
                act: "INSERT INTO d (id, note) VALUES ('none', 'bad')",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "id = 'none'",
            },
            Violation {
                name: "two values equal after conversion",
                act: "INSERT INTO d (id, note) SELECT upper(id), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "as all others are",
            },
            Violation {
                name: "NULL",
                act: "ALTER TABLE e MODIFY d char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL",
                heal: "ALTER TABLE e MODIFY d char(36) CHARACTER SET ascii COLLATE ascii_bin",
                words: "column d is now",
            },
            Violation {
                name: "a dropped index",
                act: "ALTER TABLE e DROP FOREIGN KEY e_of, DROP INDEX e_d",
                heal: "ALTER TABLE e ADD INDEX e_d (d), ADD CONSTRAINT e_of FOREIGN KEY (d) REFERENCES d (id) ON UPDATE CASCADE",
                words: "index e_d is missing",
            },
            Violation {
                name: "another foreign key",
                act: "ALTER TABLE e DROP FOREIGN KEY e_of; ALTER TABLE e ADD CONSTRAINT e_of FOREIGN KEY (d) REFERENCES d (id)",
                heal: "ALTER TABLE e DROP FOREIGN KEY e_of; ALTER TABLE e ADD CONSTRAINT e_of FOREIGN KEY (d) REFERENCES d (id) ON UPDATE CASCADE",
                words: "foreign key e_of is now",
            },
            Violation {
                name: "a new trigger",
                act: "CREATE TRIGGER late BEFORE UPDATE ON d FOR EACH ROW SET NEW.note = 'x'",
                heal: "DROP TRIGGER late",
                words: "trigger late is new",
            },
        ],
        back: &[],
    },
    Kind {
        name: "16 bytes",
        title: "16 bytes in place of text",
        make: &[
            "CREATE TABLE d (id char(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, note varchar(40) NOT NULL)",
            "INSERT INTO d SELECT md5(seq), concat('note ', seq) FROM seq_1_to_2000",
            "ANALYZE TABLE d",
        ],
        values: &[
            "SELECT count(*), sum(crc32(concat(if(length(id) = 16, lower(hex(id)), id), note))) FROM d",
        ],
        is_done: (
            "SELECT column_type FROM information_schema.columns WHERE table_schema = database() AND column_name = 'id'",
            "binary(16)",
        ),
        violations: &[
            Violation {
                name: "a value that does not convert",
                act: "INSERT INTO d (id, note) VALUES ('none', 'bad')",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "id = 'none'",
            },
            Violation {
                name: "two values equal after conversion",
                act: "INSERT INTO d (id, note) SELECT upper(id), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "as all others are",
            },
        ],
        back: &[],
    },
    Kind {
        name: "digests",
        title: "bytes in place of text",
        make: &[
            "CREATE TABLE d (id char(66) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, note varchar(40) NOT NULL)",
            "CREATE TABLE e (k int PRIMARY KEY, d char(66) CHARACTER SET ascii COLLATE ascii_bin, KEY e_d (d), CONSTRAINT e_of FOREIGN KEY (d) REFERENCES d (id) ON DELETE SET NULL)",
            "INSERT INTO d SELECT concat('0x', sha2(seq, 256)), concat('note ', seq) FROM seq_1_to_2000",
            "INSERT INTO e SELECT substr(note, 6), id FROM d",
            "ANALYZE TABLE d, e",
        ],
        values: &[
            "SELECT count(*), sum(crc32(concat(if(length(id) = 32, concat('0x', lower(hex(id))), id), note))) FROM d",
            "SELECT count(*), sum(crc32(concat(if(length(d) = 32, concat('0x', lower(hex(d))), d), k))) FROM e",
        ],
        is_done: (
            "SELECT group_concat(DISTINCT column_type) FROM information_schema.columns WHERE table_schema = database() AND ((table_name = 'd' AND column_name = 'id') OR (table_name = 'e' AND column_name = 'd'))",
            "binary(32)",
        ),
        violations: &[
            Violation {
                name: "a value that does not convert",
                act: "INSERT INTO d (id, note) VALUES ('none', 'bad')",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "id = 'none'",
            },
            Violation {
                name: "two values equal after conversion",
                act: "INSERT INTO d (id, note) SELECT concat('0x', upper(substr(id, 3))), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "as all others are",
            },
            Violation {
                name: "another prefix",
                act: "INSERT INTO d (id, note) SELECT concat('0X', substr(id, 3)), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "as all others are",
            },
            Violation {
                name: "a value without the prefix",
                act: "INSERT INTO d (id, note) SELECT substr(id, 3), 'bad' FROM d WHERE note = 'note 5'",
                heal: "DELETE FROM d WHERE note = 'bad'",
                words: "as all others are",
            },
            Violation {
                name: "a dropped index",
                act: "ALTER TABLE e DROP FOREIGN KEY e_of, DROP INDEX e_d",
                heal: "ALTER TABLE e ADD INDEX e_d (d), ADD CONSTRAINT e_of FOREIGN KEY (d) REFERENCES d (id) ON DELETE SET NULL",
                words: "index e_d is missing",
            },
        ],
        back: &[],
    },
    Kind {
        name: "bigint",
        title: "bigint",
        make: &[
            "CREATE TABLE d (id int unsigned AUTO_INCREMENT PRIMARY KEY, note varchar(40) NOT NULL)",
            "CREATE TABLE e (k int PRIMARY KEY, d int unsigned, KEY e_d (d), CONSTRAINT e_of FOREIGN KEY (d) REFERENCES d (id))",
            "ALTER TABLE d AUTO_INCREMENT = 4200000000",
            "INSERT INTO d (note) SELECT concat('note ', seq) FROM seq_1_to_2000",
            "INSERT INTO e SELECT substr(note, 6), id FROM d",
            "ANALYZE TABLE d, e",
        ],
        values: &[
            "SELECT count(*), sum(crc32(concat(id, note))) FROM d",
            "SELECT count(*), sum(crc32(concat(k, d))) FROM e",
        ],
        is_done: (
            "SELECT group_concat(DISTINCT column_type) FROM information_schema.columns WHERE table_schema = database() AND ((table_name = 'd' AND column_name = 'id') OR (table_name = 'e' AND column_name = 'd'))",
            "bigint(20) unsigned",
        ),
        violations: &[Violation {
            name: "a dropped index",
            act: "ALTER TABLE e DROP FOREIGN KEY e_of, DROP INDEX e_d",
            heal: "ALTER TABLE e ADD INDEX e_d (d), ADD CONSTRAINT e_of FOREIGN KEY (d) REFERENCES d (id)",
            words: "index e_d is missing",
        }],
        back: &[Violation {
            name: "a value that does not fit",
            act: "INSERT INTO d (id, note) VALUES (5000000000, 'bad')",
            heal: "DELETE FROM d WHERE note = 'bad'",
            words: "id = '5000000000'",
        }],
    },
    Kind {
        name: "both cases",
        title: "uuid in place of text",
        make: &[
            "CREATE TABLE d (id char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, note varchar(40) NOT NULL)",
            "INSERT INTO d SELECT IF(seq % 2, uuid(), upper(cast(uuid() AS char))), concat('note ', seq) FROM seq_1_to_2000",
            "ANALYZE TABLE d",
        ],
        values: &["SELECT count(*), sum(crc32(concat(lower(cast(id AS char)), note))) FROM d"],
        is_done: (
            "SELECT column_type FROM information_schema.columns WHERE table_schema = database() AND column_name = 'id'",
            "uuid",
        ),
        violations: &[Violation {
            name: "two values equal after conversion",
            act: "INSERT INTO d (id, note) SELECT lower(id), 'bad' FROM d WHERE note = 'note 6'",
            heal: "DELETE FROM d WHERE note = 'bad'",
            words: "one value of the unique index PRIMARY",
        }],
        back: &[],
    },
];
