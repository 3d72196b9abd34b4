//! Tables of MariaDB.

use super::{Fallible, INSERTED, NONE, Product, SAMPLE_ROWS, Schema, text};
use inorder_advise::server::model::{self, Column, ColumnTo, Database, Index, Sample, Table, Term};
use inorder_engine as engine;

pub struct MariaDb;

/// Text UUIDs to 16 bytes.
const TO_BINARY: &str = "ALTER TABLE t ADD new_id binary(16) NOT NULL FIRST; UPDATE t SET new_id = unhex(replace(id, '-', ''));
    ALTER TABLE t DROP PRIMARY KEY, DROP COLUMN id, CHANGE new_id id binary(16) NOT NULL, ADD PRIMARY KEY (id)";
/// A UUID of version 4 from the digest of an expression.
fn uuid(of: &str) -> String {
    let part = |from: u32, length: u32| format!("substr(md5({of}), {from}, {length})");
    let (a, b, c, d, e) = (
        part(1, 8),
        part(9, 4),
        part(14, 3),
        part(18, 3),
        part(21, 12),
    );
    format!("concat({a}, '-', {b}, '-4', {c}, '-8', {d}, '-', {e})")
}

const SCHEMAS: &[Schema] = &[
    Schema {
        name: "char(36) ascii to binary(16)",
        columns: "id char(36) CHARACTER SET ascii NOT NULL PRIMARY KEY, number int NOT NULL, note varchar(40), KEY by_note (note)",
        values: "{uuid}, i, md5(i)",
        columns_to: &[("id", ColumnTo::Binary16)],
        change: TO_BINARY,
        ..NONE
    },
    Schema {
        name: "char(36) utf8mb4 to uuid",
        columns: "id char(36) NOT NULL PRIMARY KEY, a smallint, b bigint, KEY by_a (a), KEY by_b (b)",
        values: "{uuid}, i % 7, i",
        columns_to: &[("id", ColumnTo::Uuid)],
        dropped: &["by_b"],
        change: "ALTER TABLE t MODIFY id uuid NOT NULL, DROP KEY by_b",
        ..NONE
    },
    Schema {
        name: "uuid to bigint",
        columns: "id uuid NOT NULL PRIMARY KEY, at datetime(6), state varchar(10), KEY by_at (at), KEY by_state (state), KEY by_state_at (state, at)",
        values: "{uuid}, '2020-01-01' + INTERVAL i SECOND, elt(1 + i % 4, 'new', 'open', 'closed', 'gone')",
        columns_to: &[("id", ColumnTo::Bigint)],
        change: "ALTER TABLE t DROP PRIMARY KEY, DROP COLUMN id, ADD id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST",
        ..NONE
    },
    Schema {
        name: "int to bigint",
        columns: "id int NOT NULL PRIMARY KEY, kind int, flag bool, title varchar(80), KEY by_kind (kind), KEY by_flag (flag), KEY by_title (title)",
        values: "i, rand() * 4, rand() < 0.02, concat('title ', repeat('x', rand() * 60))",
        columns_to: &[("id", ColumnTo::Bigint)],
        change: "ALTER TABLE t MODIFY id bigint NOT NULL",
        ..NONE
    },
    Schema {
        name: "text foreign key to binary(16)",
        columns: "id varchar(36) NOT NULL PRIMARY KEY, parent varchar(36), n int, KEY by_parent (parent)",
        values: "{uuid}, {parent}, i",
        columns_to: &[("id", ColumnTo::Binary16), ("parent", ColumnTo::Binary16)],
        change: "ALTER TABLE t ADD new_id binary(16) NOT NULL FIRST, ADD new_parent binary(16) AFTER id; UPDATE t SET new_id = unhex(replace(id, '-', '')), new_parent = unhex(replace(parent, '-', ''));
            ALTER TABLE t DROP PRIMARY KEY, DROP COLUMN id, DROP KEY by_parent, DROP COLUMN parent, CHANGE new_id id binary(16) NOT NULL, CHANGE new_parent parent binary(16), ADD PRIMARY KEY (id), ADD KEY by_parent (parent)",
        ..NONE
    },
    Schema {
        name: "int foreign keys",
        columns: "id bigint NOT NULL PRIMARY KEY, a int, b int, c bigint NOT NULL, KEY by_a (a), KEY by_b (b), KEY by_c (c)",
        values: "i, rand() * {rows} / 2, rand() * {rows} / 12, rand() * {rows} / 50",
        columns_to: &[("a", ColumnTo::Bigint)],
        change: "ALTER TABLE t MODIFY a bigint",
        ..NONE
    },
    Schema {
        name: "composite primary key",
        columns: "tenant int NOT NULL, number bigint NOT NULL, kind varchar(20), PRIMARY KEY (tenant, number), KEY by_kind (tenant, kind), KEY by_number (number, kind)",
        values: "i % 40, i, concat('kind-', floor(rand() * 300))",
        columns_to: &[("tenant", ColumnTo::Bigint)],
        change: "ALTER TABLE t MODIFY tenant bigint NOT NULL",
        ..NONE
    },
    Schema {
        name: "mostly NULL",
        columns: "id bigint NOT NULL PRIMARY KEY, ref binary(16), gone datetime, a int, b int, KEY by_ref (ref), KEY by_gone (gone), KEY by_a_b (a, b)",
        values: "i, if(rand() < 0.15, unhex(md5(i)), NULL), if(rand() < 0.3, '2020-01-01' + INTERVAL i SECOND, NULL), nullif(i % 3, 0), i",
        columns_to: &[("id", ColumnTo::Bigint)],
        dropped: &["by_gone"],
        change: "ALTER TABLE t DROP KEY by_gone",
        ..NONE
    },
    Schema {
        name: "long text off the page",
        columns: "id char(36) CHARACTER SET ascii NOT NULL PRIMARY KEY, body longtext",
        values: "{uuid}, if(i % 16 = 0, repeat(md5(i), 700), repeat('ab ', rand() * 300))",
        columns_to: &[("id", ColumnTo::Binary16)],
        change: TO_BINARY,
        ..NONE
    },
    Schema {
        name: "ROW_FORMAT=COMPACT",
        columns: "id char(36) CHARACTER SET ascii NOT NULL PRIMARY KEY, body text, title varchar(200), KEY by_title (title(20))",
        options: "ROW_FORMAT=COMPACT",
        values: "{uuid}, repeat('text ', rand() * 80), concat(md5(i), repeat('t', rand() * 60))",
        columns_to: &[("id", ColumnTo::Binary16)],
        change: TO_BINARY,
        ..NONE
    },
    Schema {
        name: "ROW_FORMAT=REDUNDANT",
        columns: "id varchar(36) CHARACTER SET latin1 NOT NULL PRIMARY KEY, n int, title varchar(60), KEY by_n (n), KEY by_title (title)",
        options: "ROW_FORMAT=REDUNDANT",
        values: "{uuid}, i % 100, left(md5(i), 5 + i % 25)",
        columns_to: &[("id", ColumnTo::Binary16)],
        change: TO_BINARY,
        ..NONE
    },
    Schema {
        name: "long keys",
        columns: "id uuid NOT NULL PRIMARY KEY, path varchar(300) CHARACTER SET ascii, title varchar(100) COLLATE utf8mb4_unicode_ci, KEY by_path (path), KEY by_title (title)",
        values: "{uuid}, concat('/home/', repeat(md5(i), 1 + rand() * 6)), left(md5(i), 5 + i % 20)",
        columns_to: &[("id", ColumnTo::Bigint)],
        change: "ALTER TABLE t DROP PRIMARY KEY, DROP COLUMN id, ADD id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST",
        ..NONE
    },
    Schema {
        name: "many columns",
        columns: "id char(36) CHARACTER SET ascii NOT NULL PRIMARY KEY, a bool, b bigint, c decimal(12,4), d double, e char(10), f int unsigned, g varchar(300), h varchar(10), j timestamp NULL, k json, l date, m time, KEY by_b (b), KEY by_e_f (e, f), KEY by_c (c)",
        values: "{uuid}, 1, i, i / 7, rand(), 'x', nullif(i % 5, 0), repeat('g', i % 250), nullif(repeat('h', i % 3), ''), NULL, json_object('n', i, 'tag', md5(i)), '2020-01-01', '10:00:00'",
        columns_to: &[("id", ColumnTo::Binary16)],
        change: TO_BINARY,
        ..NONE
    },
    Schema {
        name: "utf8mb4 text",
        columns: "id bigint NOT NULL PRIMARY KEY, name varchar(50) CHARACTER SET utf8mb4, code char(8) CHARACTER SET utf8mb4, KEY by_name (name), KEY by_code (code)",
        values: "i, concat(elt(1 + i % 3, 'Zoë', '东京', 'Иван'), i), left(md5(i), 3 + i % 6)",
        dropped: &["by_code"],
        change: "ALTER TABLE t DROP KEY by_code",
        ..NONE
    },
    Schema {
        name: "prefix index",
        columns: "id bigint NOT NULL PRIMARY KEY, url text, KEY by_url (url(30)), KEY by_url_id (url(8), id)",
        values: "i, concat('https://example.org/', md5(i), repeat('/path', rand() * 30))",
        columns_to: &[("id", ColumnTo::Bigint)],
        ..NONE
    },
    Schema {
        name: "unique keys",
        columns: "id bigint NOT NULL PRIMARY KEY, email varchar(100) NOT NULL, token varchar(36), UNIQUE KEY by_email (email), UNIQUE KEY by_token (token)",
        values: "i, concat('user', i, '@example', i % 9, '.com'), {uuid}",
        columns_to: &[("token", ColumnTo::Binary16)],
        change: "ALTER TABLE t ADD new binary(16); UPDATE t SET new = unhex(replace(token, '-', '')); ALTER TABLE t DROP KEY by_token, DROP COLUMN token, CHANGE new token binary(16), ADD UNIQUE KEY by_token (token)",
        ..NONE
    },
    Schema {
        name: "no primary key",
        columns: "ref char(36) CHARACTER SET ascii, n int, KEY by_ref (ref)",
        values: "{uuid}, i",
        columns_to: &[("ref", ColumnTo::Binary16)],
        change: "ALTER TABLE t ADD new binary(16) FIRST; UPDATE t SET new = unhex(replace(ref, '-', '')); ALTER TABLE t DROP KEY by_ref, DROP COLUMN ref, CHANGE new ref binary(16), ADD KEY by_ref (ref)",
        ..NONE
    },
    Schema {
        name: "ULID to binary(16)",
        columns: "id char(26) CHARACTER SET ascii NOT NULL PRIMARY KEY, seen datetime(3), n tinyint, KEY by_seen (seen), KEY by_n (n)",
        values: "concat('0', upper(left(concat(md5(i), md5(i)), 25))), '2020-01-01' + INTERVAL i MINUTE, 3",
        columns_to: &[("id", ColumnTo::Binary16)],
        change: "ALTER TABLE t ADD new_id binary(16) NOT NULL FIRST; UPDATE t SET new_id = unhex(md5(id));
            ALTER TABLE t DROP PRIMARY KEY, DROP COLUMN id, CHANGE new_id id binary(16) NOT NULL, ADD PRIMARY KEY (id)",
        ..NONE
    },
    Schema {
        name: "enum, set and bit",
        columns: "id uuid NOT NULL PRIMARY KEY, mood enum('sad','ok','happy'), tags set('a','b','c'), flags bit(12), KEY by_mood (mood, flags), KEY by_tags (tags)",
        values: "{uuid}, 1 + rand() * 2, i % 8, i % 4096",
        columns_to: &[("id", ColumnTo::Bigint)],
        change: "ALTER TABLE t DROP PRIMARY KEY, DROP COLUMN id, ADD id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST",
        ..NONE
    },
    Schema {
        name: "new rows in order",
        columns: "id uuid NOT NULL PRIMARY KEY, owner varchar(36) NOT NULL, n int, KEY by_owner (owner), KEY by_n (n)",
        values: "{uuid}, md5(i / 3), rand() * 5000",
        columns_to: &[("id", ColumnTo::OrderedUuid)],
        ..NONE
    },
    Schema {
        name: "small rows",
        columns: "id int NOT NULL PRIMARY KEY, n tinyint NOT NULL, KEY by_n (n)",
        values: "i, i % 3",
        columns_to: &[("id", ColumnTo::Bigint)],
        change: "ALTER TABLE t MODIFY id bigint NOT NULL",
        ..NONE
    },
];

/// The statement that inserts the rows of these numbers.
fn insert(schema: &Schema, rows: u64, from: u64, to: u64) -> String {
    let values = schema
        .values
        .replace("{uuid}", &uuid("concat(i, 'x')"))
        .replace("{parent}", &uuid("i * 7919 % ({rows} DIV 4)"))
        .replace("{rows}", &rows.to_string());
    format!(
        "INSERT INTO t SELECT {values} FROM (SELECT seq AS i FROM seq_{from}_to_{to}) AS numbers"
    )
}

impl Product for MariaDb {
    fn engine(&self) -> &'static str {
        "mariadb"
    }

    fn unit_bytes(&self) -> u64 {
        1 << 20
    }

    fn schemas(&self) -> &'static [Schema] {
        SCHEMAS
    }

    fn fill(&self, server: &dyn engine::Database, schema: &Schema, rows: u64) -> Fallible<()> {
        server.execute("DROP TABLE IF EXISTS t")?;
        server.execute("SET rand_seed1 = 17, rand_seed2 = 4")?;
        server.execute(&format!(
            "CREATE TABLE t ({}) {}",
            schema.columns, schema.options
        ))?;
        Ok(server.execute(&insert(schema, rows, 1, rows))?)
    }

    fn insert(&self, server: &dyn engine::Database, schema: &Schema, rows: u64) -> Fallible<u64> {
        let dirty = || -> Fallible<u64> {
            let sql = "SELECT variable_value FROM information_schema.global_status
                 WHERE variable_name = 'innodb_buffer_pool_pages_dirty'";
            Ok(text(&server.select(sql)?[0][0]).parse()?)
        };
        server.quiesce()?;
        let before = dirty()?;
        server.execute(&insert(schema, rows, rows + 1, rows + INSERTED))?;
        Ok((dirty()? - before) * 16_384)
    }

    fn describe(&self, server: &dyn engine::Database, rows: u64) -> Fallible<(Database, Table)> {
        let version = text(&server.select("SELECT version()")?[0][0]);
        let columns = server.select(
            "SELECT column_name, column_type, data_type, is_nullable, character_set_name, collation_name
             FROM information_schema.columns WHERE table_schema = database() AND table_name = 't'
             ORDER BY ordinal_position",
        )?;
        let column = |row: &Vec<Option<String>>| Column {
            name: text(&row[0]),
            type_name: text(&row[1]),
            base_type: text(&row[2]),
            is_not_null: text(&row[3]) == "NO",
            character_set: row[4].clone(),
            collation: row[5].clone(),
            ..Column::default()
        };
        let terms = server.select(
            "SELECT index_name, column_name, sub_part, non_unique, collation FROM information_schema.statistics
             WHERE table_schema = database() AND table_name = 't'
             ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index",
        )?;
        let mut indexes: Vec<Index> = Vec::new();
        for row in &terms {
            let name = text(&row[0]);
            if indexes.last().is_none_or(|index| index.name != name) {
                indexes.push(Index {
                    is_primary: name == "PRIMARY",
                    is_clustered: name == "PRIMARY",
                    is_unique: text(&row[3]) == "0",
                    name,
                    method: "btree".to_owned(),
                    ..Index::default()
                });
            }
            let term = Term {
                column: row[1].clone(),
                prefix: row[2].as_ref().map(|length| length.parse()).transpose()?,
                is_descending: text(&row[4]) == "D",
                ..Term::default()
            };
            if let Some(index) = indexes.last_mut() {
                index.terms.push(term);
            }
        }
        let format = server.select(
            "SELECT row_format FROM information_schema.tables WHERE table_schema = database() AND table_name = 't'",
        )?;
        let table = Table {
            name: "t".to_owned(),
            columns: columns.iter().map(column).collect(),
            indexes,
            rows,
            row_format: text(&format[0][0]),
            ..Table::default()
        };
        let database = Database {
            product: model::Product::Mariadb,
            version: format!("MariaDB {version}"),
            page_bytes: 16_384,
            ..Database::default()
        };
        Ok((database, table))
    }

    fn sample(&self, server: &dyn engine::Database, table: &Table, rows: u64) -> Fallible<Sample> {
        let is_binary =
            |column: &&Column| ["binary", "varbinary"].contains(&column.base_type.as_str());
        let value = |column: &Column| match column.base_type.as_str() {
            _ if is_binary(&column) => format!("lower(hex({}))", column.name),
            "bit" => format!("{} + 0", column.name), // as a number
            _ => column.name.clone(),
        };
        let values: Vec<String> = table.columns.iter().map(value).collect();
        // In the order of the clustered index.
        let order = match table.primary() {
            Some(_) => " FORCE INDEX (PRIMARY)",
            None => "",
        };
        let share = SAMPLE_ROWS as f64 / rows as f64;
        let sql = format!(
            "SELECT {} FROM t{order} WHERE rand(5) < {share} LIMIT {SAMPLE_ROWS}",
            values.join(", ")
        );
        let names = |columns: &mut dyn Iterator<Item = &Column>| {
            columns.map(|column| column.name.clone()).collect()
        };
        Ok(Sample {
            columns: names(&mut table.columns.iter()),
            rows: server.select(&sql)?,
            binary: names(&mut table.columns.iter().filter(is_binary)),
            is_whole: false,
            is_in_storage_order: true,
        })
    }

    fn rebuild(&self, server: &dyn engine::Database) -> Fallible<Vec<(Option<String>, u64)>> {
        server.execute("ALTER TABLE t FORCE, ALGORITHM=INPLACE")?;
        let trees = server.structure()?;
        let of_table = trees.into_iter().filter(|tree| tree.table == "t");
        Ok(of_table
            .map(|tree| (tree.is_index.then_some(tree.name), tree.size_bytes))
            .collect())
    }
}
