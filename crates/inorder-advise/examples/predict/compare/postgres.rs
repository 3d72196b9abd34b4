//! Tables of PostgreSQL.

use super::{Fallible, INSERTED, NONE, Product, SAMPLE_ROWS, Schema, text};
use inorder_advise::server::model::{self, Column, ColumnTo, Database, Index, Sample, Table, Term};
use inorder_advise::server::predict::rows_per_key;
use inorder_engine as engine;

pub struct Postgres;

const SCHEMAS: &[Schema] = &[
    Schema {
        name: "uuid text to uuid",
        columns: "id text PRIMARY KEY, number int, note text",
        values: "gen_random_uuid()::text, i, md5(i::text)",
        indexes: &[("by_note", "(note)")],
        columns_to: &[("id", ColumnTo::Uuid)],
        change: "ALTER TABLE t ALTER id TYPE uuid USING id::uuid",
        ..NONE
    },
    Schema {
        name: "hex varchar(32) to uuid",
        columns: "id varchar(32) PRIMARY KEY, a smallint, b bigint",
        values: "replace(gen_random_uuid()::text, '-', ''), i % 7, i",
        indexes: &[("by_a", "(a)"), ("by_b", "(b)")],
        columns_to: &[("id", ColumnTo::Uuid)],
        dropped: &["by_b"],
        change: "ALTER TABLE t ALTER id TYPE uuid USING id::uuid; DROP INDEX by_b",
        ..NONE
    },
    Schema {
        name: "uuid to bigint",
        columns: "id uuid PRIMARY KEY, at timestamptz, state text",
        values: "gen_random_uuid(), now() + i * interval '1 s', (array['new','open','closed','gone'])[1 + i % 4]",
        indexes: &[("by_at", "(at)"), ("by_state", "(state)"), ("by_state_at", "(state, at)")],
        columns_to: &[("id", ColumnTo::Bigint)],
        change: "ALTER TABLE t DROP CONSTRAINT t_pkey; CREATE SEQUENCE s;
            ALTER TABLE t ALTER id TYPE bigint USING nextval('s'); ALTER TABLE t ADD PRIMARY KEY (id)",
        ..NONE
    },
    Schema {
        name: "int to bigint",
        columns: "id int PRIMARY KEY, kind int, flag bool, title varchar(80)",
        values: "i, (random() * 4)::int, random() < 0.02, 'title ' || repeat('x', (random() * 60)::int)",
        indexes: &[("by_kind", "(kind)"), ("by_flag", "(flag)"), ("by_title", "(title)")],
        columns_to: &[("id", ColumnTo::Bigint)],
        change: "ALTER TABLE t ALTER id TYPE bigint",
        ..NONE
    },
    Schema {
        name: "text foreign key, 4 rows each",
        columns: "id text PRIMARY KEY, parent text, n int",
        values: "gen_random_uuid()::text, md5(floor(random() * {rows} / 4)::text)::uuid::text, i",
        indexes: &[("by_parent", "(parent)")],
        columns_to: &[("id", ColumnTo::Uuid), ("parent", ColumnTo::Uuid)],
        change: "ALTER TABLE t ALTER id TYPE uuid USING id::uuid, ALTER parent TYPE uuid USING parent::uuid",
        ..NONE
    },
    Schema {
        name: "int foreign keys, 2 to 50 rows each",
        columns: "id bigint PRIMARY KEY, a int, b int, c bigint",
        values: "i, floor(random() * {rows} / 2), floor(random() * {rows} / 12), floor(random() * {rows} / 50)",
        indexes: &[("by_a", "(a)"), ("by_b", "(b)"), ("by_c", "(c)")],
        columns_to: &[("a", ColumnTo::Bigint)],
        change: "ALTER TABLE t ALTER a TYPE bigint",
        ..NONE
    },
    Schema {
        name: "skewed foreign key",
        columns: "id uuid PRIMARY KEY, customer uuid NOT NULL, total numeric(10,2)",
        values: "gen_random_uuid(), md5(floor({rows} / 5 * random() ^ 4)::text)::uuid, (random() * 1000)::numeric(10,2)",
        indexes: &[("by_customer", "(customer)"), ("by_total", "(total)")],
        columns_to: &[("customer", ColumnTo::Bigint)],
        change: "CREATE TABLE m AS SELECT customer, row_number() OVER () AS n FROM (SELECT DISTINCT customer FROM t) x;
            CREATE INDEX ON m (customer); ANALYZE m;
            CREATE FUNCTION f(uuid) RETURNS bigint LANGUAGE sql AS 'SELECT n FROM m WHERE customer = $1';
            ALTER TABLE t ALTER customer TYPE bigint USING f(customer)",
        ..NONE
    },
    Schema {
        name: "composite keys",
        columns: "tenant int, number bigint, kind text, PRIMARY KEY (tenant, number)",
        values: "i % 40, i, 'kind-' || floor(random() * 300)",
        indexes: &[("by_kind", "(tenant, kind)"), ("by_number", "(number, kind)")],
        columns_to: &[("tenant", ColumnTo::Bigint)],
        change: "ALTER TABLE t ALTER tenant TYPE bigint",
        ..NONE
    },
    Schema {
        name: "partial indexes",
        columns: "id bigint PRIMARY KEY, state text, owner uuid",
        values: "i, (array['open','done','done','done','done'])[1 + i % 5], md5((i / 3)::text)::uuid",
        indexes: &[("open", "(owner) WHERE state = 'open'"), ("open_id", "(id) WHERE state = 'open'")],
        columns_to: &[("owner", ColumnTo::Bigint)],
        change: "ALTER TABLE t ALTER owner TYPE bigint USING ('x' || left(replace(owner::text, '-', ''), 12))::bit(48)::bigint",
        ..NONE
    },
    Schema {
        name: "expressions",
        columns: "id text PRIMARY KEY, email text, at timestamp",
        values: "gen_random_uuid()::text, 'User' || i || '@Example' || i % 9 || '.com', '2020-01-01'::timestamp + i * interval '90 s'",
        indexes: &[("by_email", "UNIQUE (lower(email))"), ("by_day", "(date_trunc('day', at))")],
        columns_to: &[("id", ColumnTo::Uuid)],
        change: "ALTER TABLE t ALTER id TYPE uuid USING id::uuid",
        ..NONE
    },
    Schema {
        name: "mostly NULL",
        columns: "id bigint PRIMARY KEY, ref uuid, gone timestamptz, a int, b int",
        values: "i, CASE WHEN random() < 0.15 THEN gen_random_uuid() END, CASE WHEN random() < 0.3 THEN now() + i * interval '1 s' END, nullif(i % 3, 0), i",
        indexes: &[("by_ref", "(ref)"), ("by_gone", "(gone)"), ("by_a_b", "(a, b)")],
        partial: &[("by_ref", "ref"), ("by_gone", "gone")],
        change: "DROP INDEX by_ref, by_gone; CREATE INDEX by_ref ON t (ref) WHERE ref IS NOT NULL;
            CREATE INDEX by_gone ON t (gone) WHERE gone IS NOT NULL",
        ..NONE
    },
    Schema {
        name: "TOAST",
        columns: "id text PRIMARY KEY, body text",
        values: "gen_random_uuid()::text, CASE WHEN i % 8 = 0 THEN (SELECT string_agg(md5(random()::text || i || g), '') FROM generate_series(1, 80) g) ELSE repeat('ab ', (random() * 300)::int) END",
        columns_to: &[("id", ColumnTo::Uuid)],
        change: "ALTER TABLE t ALTER id TYPE uuid USING id::uuid",
        ..NONE
    },
    Schema {
        name: "long text keys",
        columns: "id uuid PRIMARY KEY, path text, title text COLLATE \"und-x-icu\"",
        values: "gen_random_uuid(), '/home/' || repeat(md5(i::text), 1 + (random() * 6)::int), initcap(left(md5(i::text), 5 + i % 20))",
        indexes: &[("by_path", "(path)"), ("by_title", "(title)")],
        columns_to: &[("id", ColumnTo::Bigint)],
        change: "ALTER TABLE t DROP CONSTRAINT t_pkey; CREATE SEQUENCE s;
            ALTER TABLE t ALTER id TYPE bigint USING nextval('s'); ALTER TABLE t ADD PRIMARY KEY (id)",
        ..NONE
    },
    Schema {
        name: "fill factors",
        columns: "id text PRIMARY KEY, n int",
        options: "WITH (fillfactor = 80)",
        values: "gen_random_uuid()::text, floor(random() * 2000)",
        indexes: &[("by_n", "(n) WITH (fillfactor = 60)"), ("by_id_n", "(id, n) WITH (fillfactor = 100)")],
        columns_to: &[("id", ColumnTo::Uuid)],
        change: "ALTER TABLE t ALTER id TYPE uuid USING id::uuid",
        ..NONE
    },
    Schema {
        name: "no deduplication",
        columns: "id bigint PRIMARY KEY, amount numeric, ratio float8, kind int",
        values: "i, (random() * 500)::int, (random() * 100)::int / 4.0, i % 50",
        indexes: &[("by_amount", "(amount)"), ("by_ratio", "(ratio)"), ("by_kind", "(kind) WITH (deduplicate_items = off)")],
        ..NONE
    },
    Schema {
        name: "INCLUDE",
        columns: "id uuid PRIMARY KEY, owner int, title varchar(40)",
        values: "gen_random_uuid(), floor(random() * 5000), left(md5(i::text), 3 + i % 25)",
        indexes: &[("by_owner", "(owner) INCLUDE (title)"), ("by_title", "UNIQUE (title, id) INCLUDE (owner)")],
        columns_to: &[("owner", ColumnTo::Bigint)],
        change: "ALTER TABLE t ALTER owner TYPE bigint",
        ..NONE
    },
    Schema {
        name: "bytea to uuid",
        columns: "id bytea PRIMARY KEY, other bytea, d date",
        values: "decode(md5(random()::text), 'hex'), decode(md5((i / 10)::text), 'hex'), '2000-01-01'::date + (random() * 4000)::int",
        indexes: &[("by_other", "(other)"), ("by_d", "(d)")],
        columns_to: &[("id", ColumnTo::Uuid), ("other", ColumnTo::Uuid)],
        change: "ALTER TABLE t ALTER id TYPE uuid USING encode(id, 'hex')::uuid, ALTER other TYPE uuid USING encode(other, 'hex')::uuid",
        ..NONE
    },
    Schema {
        name: "names",
        columns: "id bigint PRIMARY KEY, first text, last text, year int",
        values: "i, left(md5(floor(1500 * random() ^ 3)::text), 4 + i % 2), left(md5(floor({rows} / 30 * random() ^ 2)::text), 9), 1930 + (random() * 80)::int",
        indexes: &[("by_first", "(first)"), ("by_last", "(last, first)"), ("by_year", "(year)")],
        dropped: &["by_year"],
        change: "DROP INDEX by_year",
        ..NONE
    },
    Schema {
        name: "wide rows",
        columns: "id text PRIMARY KEY, a bool, b bigint, c bool, d float8, e char(10), f int, g text, h text, j text, k jsonb",
        values: "gen_random_uuid()::text, true, i, i % 2 = 0, random(), 'x', nullif(i % 5, 0), repeat('g', i % 90), nullif(repeat('h', i % 3), ''), NULL, jsonb_build_object('n', i, 'tag', md5(i::text))",
        indexes: &[("by_b", "(b)"), ("by_e_f", "(e, f)"), ("by_tag", "((k ->> 'tag'))")],
        columns_to: &[("id", ColumnTo::Uuid)],
        change: "ALTER TABLE t ALTER id TYPE uuid USING id::uuid",
        ..NONE
    },
    Schema {
        name: "ULID text to uuid",
        columns: "id char(26) PRIMARY KEY, seen timestamptz, n smallint",
        values: "'0' || upper(translate(left(md5(i::text) || md5(i::text), 25), '', '')), now() - i * interval '1 min', 3",
        indexes: &[("by_seen", "(seen DESC NULLS LAST)"), ("by_n", "(n)")],
        columns_to: &[("id", ColumnTo::Uuid)],
        change: "ALTER TABLE t ALTER id TYPE uuid USING md5(id)::uuid",
        ..NONE
    },
    Schema {
        name: "enum and array",
        columns: "id uuid PRIMARY KEY, mood text, tags text[], at timestamptz",
        values: "gen_random_uuid(), (array['sad','ok','happy'])[1 + floor(random() * 3)::int], array['a' || i % 4, 'b' || i % 3], now() + (i / 6) * interval '1 s'",
        indexes: &[("by_mood", "(mood, at)"), ("by_tags", "(tags)"), ("by_at", "(at)")],
        columns_to: &[("id", ColumnTo::OrderedUuid)],
        ..NONE
    },
];

impl Product for Postgres {
    fn engine(&self) -> &'static str {
        "postgres"
    }

    fn unit_bytes(&self) -> u64 {
        8192
    }

    fn schemas(&self) -> &'static [Schema] {
        SCHEMAS
    }

    fn fill(&self, server: &dyn engine::Database, schema: &Schema, rows: u64) -> Fallible<()> {
        let of = |text: &str| text.replace("{rows}", &rows.to_string());
        server.execute("DROP TABLE IF EXISTS t, m CASCADE; DROP SEQUENCE IF EXISTS s CASCADE; DROP FUNCTION IF EXISTS f")?;
        server.execute("SELECT setseed(0.5)")?;
        server.execute(&format!(
            "CREATE TABLE t ({}) {}",
            schema.columns, schema.options
        ))?;
        server.execute(&format!(
            "INSERT INTO t SELECT {} FROM generate_series(1, {rows}) AS i",
            of(schema.values)
        ))?;
        for (name, definition) in schema.indexes {
            let (unique, rest) = match definition.strip_prefix("UNIQUE ") {
                Some(rest) => ("UNIQUE", rest),
                None => ("", *definition),
            };
            server.execute(&format!(
                "CREATE {unique} INDEX {name} ON t USING btree {rest}"
            ))?;
        }
        Ok(server.execute("ANALYZE t")?)
    }

    fn describe(&self, server: &dyn engine::Database, rows: u64) -> Fallible<(Database, Table)> {
        let version = text(&server.select("SHOW server_version")?[0][0]);
        let (columns, all) = (columns(server)?, indexes(server)?);
        let fill = server.select("SELECT coalesce(substring(array_to_string(reloptions, ' ') FROM 'fillfactor=([0-9]+)'), '100') FROM pg_class WHERE oid = 't'::regclass")?;
        let mut table = Table {
            name: "t".to_owned(),
            columns,
            indexes: all,
            rows,
            fill_percent: text(&fill[0][0]).parse()?,
            bytes: text(&server.select("SELECT pg_relation_size('t')")?[0][0]).parse()?,
            ..Table::default()
        };
        let database = Database {
            product: model::Product::Postgres,
            release: (version.split('.').next().unwrap_or_default().parse()?, 0),
            version: format!("PostgreSQL {version}"),
            page_bytes: 8192,
            ..Database::default()
        };
        for at in 0..table.indexes.len() {
            if let Some(sql) = rows_per_key(&database, &table, &table.indexes[at]) {
                let found = server.select(&sql)?;
                let numbers = found.iter().map(|row| text(&row[0]).parse::<u64>());
                table.indexes[at].rows_per_key = numbers.collect::<Result<_, _>>()?;
            }
        }
        Ok((database, table))
    }

    fn sample(&self, server: &dyn engine::Database, table: &Table, rows: u64) -> Fallible<Sample> {
        let binary: Vec<String> = table
            .columns
            .iter()
            .filter(|column| column.base_type == "bytea")
            .map(|column| column.name.clone())
            .collect();
        let value = |column: &Column| match binary.contains(&column.name) {
            true => format!("encode({}, 'hex')", column.name),
            false => format!("{}::text", column.name),
        };
        let values: Vec<String> = table.columns.iter().map(value).collect();
        let percent = 100.0 * SAMPLE_ROWS as f64 / rows as f64;
        let sql = format!(
            "SELECT {} FROM t TABLESAMPLE BERNOULLI ({percent}) REPEATABLE (1) LIMIT {SAMPLE_ROWS}",
            values.join(", ")
        );
        Ok(Sample {
            columns: table
                .columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
            rows: server.select(&sql)?,
            binary,
            is_whole: false,
            is_in_storage_order: true,
        })
    }

    fn insert(&self, server: &dyn engine::Database, schema: &Schema, rows: u64) -> Fallible<u64> {
        let images = || -> Fallible<u64> {
            server.execute("SELECT pg_stat_force_next_flush()")?;
            Ok(text(&server.select("SELECT wal_fpi FROM pg_stat_wal")?[0][0]).parse()?)
        };
        server.execute("CHECKPOINT")?;
        let before = images()?;
        let values = schema.values.replace("{rows}", &rows.to_string());
        server.execute(&format!(
            "INSERT INTO t SELECT {values} FROM generate_series({rows} + 1, {rows} + {INSERTED}) AS i"
        ))?;
        Ok((images()? - before) * 8192)
    }

    fn rebuild(&self, server: &dyn engine::Database) -> Fallible<Vec<(Option<String>, u64)>> {
        server.execute("VACUUM FULL t")?;
        let rows = server.select(
            "SELECT NULL, pg_relation_size(oid) + coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0)
             FROM pg_class WHERE oid = 't'::regclass
             UNION ALL
             SELECT relname, pg_relation_size(oid) FROM pg_index JOIN pg_class ON oid = indexrelid
             WHERE indrelid = 't'::regclass",
        )?;
        let one = |row: Vec<Option<String>>| Ok((row[0].clone(), text(&row[1]).parse()?));
        rows.into_iter().map(one).collect()
    }
}

fn columns(server: &dyn engine::Database) -> Fallible<Vec<Column>> {
    let columns = server.select(
        "SELECT attname, format_type(atttypid, atttypmod), typname, attnotnull FROM pg_attribute
             JOIN pg_type ON pg_type.oid = atttypid
             WHERE attrelid = 't'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
    )?;
    let column = |row: &Vec<Option<String>>| Column {
        name: text(&row[0]),
        type_name: text(&row[1]),
        base_type: text(&row[2]),
        is_not_null: text(&row[3]) == "t",
        ..Column::default()
    };
    Ok(columns.iter().map(column).collect())
}

fn indexes(server: &dyn engine::Database) -> Fallible<Vec<Index>> {
    let indexes = server.select(
            "SELECT relname, indisunique, indisprimary, pg_get_expr(indpred, indrelid),
                 indnkeyatts, indnatts, coalesce(array_to_string(reloptions, ' '), ''), reltuples::bigint, index.indexrelid
             FROM pg_index AS index JOIN pg_class ON oid = indexrelid
             WHERE indrelid = 't'::regclass ORDER BY NOT indisprimary, relname",
        )?;
    let mut all = Vec::new();
    for row in &indexes {
        let number = |at: usize| text(&row[at]).parse::<u64>();
        let mut term = |at: u64| -> Fallible<String> {
            let sql = format!("SELECT pg_get_indexdef({}, {at}, true)", text(&row[8]));
            Ok(text(&server.select(&sql)?[0][0]))
        };
        let (keys, columns) = (number(4)?, number(5)?);
        let terms: Vec<String> = (1..=keys).map(&mut term).collect::<Fallible<_>>()?;
        let option = |name: &str| {
            let options = text(&row[6]);
            let value = options
                .split(' ')
                .find_map(|one| one.strip_prefix(name).map(str::to_owned));
            value.map(|value| value.trim_start_matches('=').to_owned())
        };
        all.push(Index {
            name: text(&row[0]),
            method: "btree".to_owned(),
            terms: terms.iter().map(|text| of_term(text)).collect(),
            include: (keys + 1..=columns)
                .map(&mut term)
                .collect::<Fallible<_>>()?,
            predicate: row[3].clone(),
            is_unique: text(&row[1]) == "t",
            is_primary: text(&row[2]) == "t",
            fill_percent: option("fillfactor").and_then(|value| value.parse().ok()),
            deduplicates: option("deduplicate_items").as_deref() != Some("off"),
            entries: row[3].is_some().then_some(number(7)?),
            ..Index::default()
        });
    }
    Ok(all)
}

fn of_term(text: &str) -> Term {
    let is_name = text
        .chars()
        .all(|char| char.is_alphanumeric() || char == '_');
    Term {
        column: is_name.then(|| text.to_owned()),
        expression: (!is_name).then(|| text.to_owned()),
        is_default_class: true,
        ..Term::default()
    }
}
