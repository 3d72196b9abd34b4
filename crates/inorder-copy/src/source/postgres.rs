//! PostgreSQL. Rows are read by COPY.

use inorder_engine::remote::{EachRow, ReadOnly, ServerUrl, TextRows};

use super::{Mark, Source, quoted, select};
use crate::error::Error;
use crate::model::{
    Check, Column, Default_, Dialect, ForeignKey, Index, Schema, StoredIndex, Table, TableStorage,
};
use crate::value::Kind;

pub struct Postgres {
    name: String,
    session: ReadOnly,
    schema: String,
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn text(row: &[Option<String>], at: usize) -> String {
    row.get(at).cloned().flatten().unwrap_or_default()
}

fn is_true(row: &[Option<String>], at: usize) -> bool {
    text(row, at) == "t"
}

impl Postgres {
    pub fn new(url: &ServerUrl, session: ReadOnly, schema: &str) -> Self {
        Postgres {
            name: format!("{url} ({schema})"),
            session,
            schema: schema.to_owned(),
        }
    }

    fn about(&mut self, query: &str, oid: &str) -> Result<TextRows, Error> {
        Ok(self.session.rows(&query.replace("$1", oid))?)
    }

    fn table(&mut self, about: &[Option<String>]) -> Result<Table, Error> {
        let (oid, name) = (text(about, 0), text(about, 1));
        let mut table = Table {
            rows_estimated: text(about, 3)
                .parse::<f64>()
                .map_or(0, |rows| rows.max(0.0) as u64),
            comment: about.get(4).cloned().flatten(),
            ..Table::default()
        };
        if text(about, 2) == "p" {
            table.is_partitioned = true;
            table
                .notes
                .push("it is one table, without partitions".to_owned());
        }
        if let Some(parents) = &about[5] {
            table
                .notes
                .push(format!("not copied: its inheritance from {parents}"));
        }
        self.columns(&oid, &mut table)?;
        for row in self.about(INDEXES, &oid)? {
            let (index, definition) = (text(&row, 0), text(&row, 4));
            let columns: Vec<String> = text(&row, 3).lines().map(str::to_owned).collect();
            match (is_true(&row, 1), is_true(&row, 5)) {
                (true, is_usual) => {
                    table.key = columns;
                    table.key_definition = (!is_usual).then_some(definition);
                }
                (false, true) => table.indexes.push(Index {
                    name: index,
                    is_unique: is_true(&row, 2),
                    postgres: parts(&definition, &text(&row, 6)),
                    columns,
                    ..Index::default()
                }),
                (false, false) if definition.starts_with("CREATE ") => table.indexes.push(Index {
                    name: index,
                    is_unique: is_true(&row, 2),
                    definition: definition
                        .find(" USING ")
                        .map(|at| definition[at + 1..].to_owned()),
                    ..Index::default()
                }),
                (false, false) => table.constraints.push((index, definition)),
            }
        }
        for row in self.about(FOREIGN_KEYS, &oid)? {
            if !is_true(&row, 6) {
                table.notes.push(format!(
                    "not copied: the foreign key {} to another schema",
                    text(&row, 0)
                ));
                continue;
            }
            table.foreign_keys.push(foreign_key(&row));
        }
        for row in self.about(CHECKS, &oid)? {
            table.checks.push(Check {
                name: text(&row, 0),
                condition: text(&row, 1),
                is_valid: is_true(&row, 2),
                is_enforced: !is_true(&row, 3),
            });
        }
        table.name = name;
        Ok(table)
    }

    /// Reads the columns. Rows without columns can't be copied.
    fn columns(&mut self, oid: &str, table: &mut Table) -> Result<(), Error> {
        for row in self.about(COLUMNS, oid)? {
            let mut column = column(&row, &mut table.notes);
            if column.next.is_some() {
                self.counter(oid, &text(&row, 8), &mut column, &mut table.notes)?;
            }
            table.columns.push(column);
        }
        if table.columns.is_empty() {
            let from = text(&self.about(TABLE, oid)?[0], 0);
            let any = self
                .session
                .rows(&format!("SELECT EXISTS (SELECT FROM {from})"))?;
            if is_true(&any[0], 0) {
                let obstacle = "it has rows and no columns";
                table.obstacles.push(obstacle.to_owned());
            }
        }
        Ok(())
    }

    /// Sets how a column counts, from its sequence: that of its identity or its default.
    fn counter(
        &mut self,
        oid: &str,
        name: &str,
        column: &mut Column,
        notes: &mut Vec<String>,
    ) -> Result<(), Error> {
        let query = SEQUENCE.replace("$2", &literal(name));
        let Some(row) = self.about(&query, oid)?.into_iter().next() else {
            let is_number = |ty: &str| {
                ["smallint", "integer", "bigint"].contains(&ty) || ty.starts_with("numeric")
            };
            if !is_number(&column.postgres) {
                column.next = None;
                notes.push(format!("column `{name}`: not copied: its counter"));
                return Ok(());
            }
            let own = quoted(name);
            let most = format!(
                "SELECT pg_catalog.floor(greatest(pg_catalog.max({own}), 0) + 1) FROM {}",
                text(&self.about(TABLE, oid)?[0], 0)
            );
            let next = self.session.rows(&most)?;
            column.next = Some(text(&next[0], 0));
            return Ok(());
        };
        let number = |at: usize| text(&row, at).parse::<i64>().unwrap_or_default();
        if number(7) > 1 {
            notes.push(format!(
                "column `{name}`: other columns have numbers of its sequence {}, and each one counts for itself in the copy",
                text(&row, 0)
            ));
        }
        let last = self.session.rows(&format!(
            "SELECT last_value, is_called FROM {}",
            text(&row, 0)
        ))?;
        let (increment, least, most) = (number(2), number(3), number(4));
        let mut next = i128::from(text(&last[0], 0).parse::<i64>().unwrap_or_default());
        if is_true(&last[0], 1) {
            next += i128::from(increment);
        }
        let is_cycle = is_true(&row, 5);
        if is_cycle && !(i128::from(least)..=i128::from(most)).contains(&next) {
            next = i128::from(if increment > 0 { least } else { most });
        }
        column.next = Some(next.to_string());
        column.counting = counting(
            &column.postgres,
            [number(1), increment, least, most],
            is_cycle,
        );
        Ok(())
    }
}

/// The options of a sequence, given its start, increment, least and largest number, as far as they are not those of a
/// sequence for this type.
fn counting(ty: &str, [start, increment, least, most]: [i64; 4], is_cycle: bool) -> String {
    let (lowest, highest) = match ty {
        "smallint" => (i64::from(i16::MIN), i64::from(i16::MAX)),
        "integer" => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    let (least, most) = (least.max(lowest), most.min(highest));
    let (usual_least, usual_most) = match increment > 0 {
        true => (1, highest),
        false => (lowest, -1),
    };
    let usual_start = if increment > 0 { least } else { most };
    let mut options = Vec::new();
    for (word, value, usual) in [
        ("INCREMENT BY", increment, 1),
        ("MINVALUE", least, usual_least),
        ("MAXVALUE", most, usual_most),
        ("START WITH", start, usual_start),
    ] {
        if value != usual {
            options.push(format!("{word} {value}"));
        }
    }
    if is_cycle {
        options.push("CYCLE".to_owned());
    }
    options.join(" ")
}

/// The columns in parentheses and the options of an index, if these are more than its columns.
fn parts(definition: &str, columns: &str) -> Option<String> {
    let (_, parts) = definition.split_once(" USING btree ")?;
    (parts != format!("({columns})")).then(|| parts.to_owned())
}

/// What follows the columns of the parent in a foreign key, if it is more than actions.
fn options(definition: &str, parent_columns: &str) -> Option<String> {
    let (_, parent) = definition.split_once(" REFERENCES ")?;
    let (_, options) = parent.split_once(&format!("({parent_columns})"))?;
    let is_more = ["(", "MATCH", "DEFERRABLE", "NOT "];
    let is_more = is_more.iter().any(|word| options.contains(word));
    is_more.then(|| options.trim().to_owned())
}

/// The name of a table with its schema. `ONLY` leaves out the rows of tables that inherit from it.
const TABLE: &str = "SELECT CASE relkind WHEN 'p' THEN '' ELSE 'ONLY ' END || format('%I.%I', nspname, relname)
    FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace WHERE pg_class.oid = $1";
/// The sequence of an identity or of a default, and the number of the defaults that use it.
const SEQUENCE: &str = "SELECT format('%I.%I', nspname, relname), seqstart, seqincrement, seqmin, seqmax, seqcycle, seqrelid,
        (SELECT count(*) FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_attrdef AS a ON a.oid = d.objid
            JOIN pg_catalog.pg_class AS t ON t.oid = adrelid WHERE NOT t.relispartition AND d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
            AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = seqrelid)
    FROM pg_catalog.pg_sequence JOIN pg_catalog.pg_class AS c ON c.oid = seqrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace
    WHERE seqrelid IN (
        SELECT d.objid FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_attribute ON attrelid = d.refobjid AND attnum = d.refobjsubid
            WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                AND d.deptype = 'i' AND attrelid = $1 AND attname = $2
        UNION SELECT d.refobjid FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_attrdef AS a ON a.oid = d.objid
            JOIN pg_catalog.pg_attribute ON attrelid = adrelid AND attnum = adnum
            WHERE d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                AND attrelid = $1 AND attname = $2)";
const COLUMNS: &str = "SELECT attname, pg_catalog.format_type(base.oid, CASE WHEN own.typtype = 'd' THEN own.typtypmod ELSE atttypmod END),
        base.typname, attnotnull,
        coalesce(pg_catalog.pg_get_expr(adbin, adrelid), CASE WHEN own.typtype = 'd' THEN pg_catalog.pg_get_expr(own.typdefaultbin, 0) END), attidentity, attgenerated, pg_catalog.col_description(attrelid, attnum), attname,
        base.typnamespace = 'pg_catalog'::pg_catalog.regnamespace AND base.typtype IN ('b', 'r', 'm'), own.typname,
        (SELECT format('%I.%I', nspname, collname) FROM pg_catalog.pg_collation JOIN pg_catalog.pg_namespace AS n ON n.oid = collnamespace
            WHERE pg_collation.oid = attcollation AND attcollation <> base.typcollation),
        CASE WHEN own.typtype = 'd' THEN pg_catalog.format_type(own.oid, NULL) END,
        concat_ws(', ', CASE WHEN own.typtype = 'd' AND own.typnotnull THEN 'NOT NULL' END,
            (SELECT string_agg(pg_catalog.pg_get_constraintdef(oid), ', ' ORDER BY conname) FROM pg_catalog.pg_constraint
                WHERE contypid = own.oid AND contype = 'c'))
    FROM pg_catalog.pg_attribute
    JOIN pg_catalog.pg_type AS own ON own.oid = atttypid
    JOIN pg_catalog.pg_type AS base ON base.oid = CASE WHEN own.typtype = 'd' THEN own.typbasetype ELSE own.oid END
    LEFT JOIN pg_catalog.pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
const INDEXES: &str = "SELECT c.relname, indisprimary, indisunique,
        (SELECT string_agg(attname, E'\\n' ORDER BY place) FROM unnest(indkey::int2[]) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = indrelid AND attnum = number WHERE place <= indnkeyatts),
        coalesce((SELECT pg_catalog.pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint
            WHERE conindid = indexrelid AND (contype IN ('x', 'p') OR (contype = 'u' AND (condeferrable OR indisexclusion)))),
            pg_catalog.pg_get_indexdef(indexrelid)),
        NOT indisexclusion AND indpred IS NULL AND indexprs IS NULL AND amname = 'btree' AND indnatts = indnkeyatts
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conindid = indexrelid AND contype <> 'f' AND condeferrable),
        (SELECT string_agg(quote_ident(attname), ', ' ORDER BY place) FROM unnest(indkey::int2[]) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = indrelid AND attnum = number)
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class AS c ON c.oid = indexrelid JOIN pg_catalog.pg_am ON pg_am.oid = relam
    WHERE indrelid = $1 AND indisvalid ORDER BY indisprimary DESC, c.relname";
const FOREIGN_KEYS: &str = "SELECT conname,
        (SELECT string_agg(attname, E'\\n' ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = conrelid AND attnum = number),
        p.relname,
        (SELECT string_agg(attname, E'\\n' ORDER BY place) FROM unnest(confkey) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = confrelid AND attnum = number),
        confdeltype, confupdtype, p.relnamespace = c.relnamespace, pg_catalog.pg_get_constraintdef(pg_constraint.oid),
        (SELECT string_agg(quote_ident(attname), ', ' ORDER BY place) FROM unnest(confkey) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = confrelid AND attnum = number)
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_class AS p ON p.oid = confrelid
    JOIN pg_catalog.pg_class AS c ON c.oid = conrelid
    WHERE conrelid = $1 AND contype = 'f' AND conparentid = 0 ORDER BY conname";
const CHECKS: &str = "SELECT conname, pg_catalog.pg_get_expr(conbin, conrelid), convalidated,
        pg_catalog.pg_get_constraintdef(oid) LIKE '% NOT ENFORCED' FROM pg_catalog.pg_constraint
    WHERE conrelid = $1 AND contype = 'c' ORDER BY conname";

/// Whether the object `c` of a catalog belongs to an extension.
const OF_EXTENSION: &str = "EXISTS (SELECT FROM pg_catalog.pg_depend AS e
    WHERE e.objid = c.oid AND e.classid = c.tableoid AND e.deptype = 'e')";

/// The query of what a schema has beside its tables. A column uses a sequence as its identity or in its default.
fn others(space: &str) -> String {
    format!(
        "SELECT CASE relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view ' ELSE 'foreign table ' END || relname
         FROM pg_catalog.pg_class AS c WHERE relkind IN ('v', 'm', 'f') AND relnamespace = {space} AND NOT {OF_EXTENSION}
         UNION ALL SELECT 'sequence ' || relname FROM pg_catalog.pg_class AS c
             WHERE relkind = 'S' AND relnamespace = {space} AND NOT {OF_EXTENSION} AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d
                 WHERE (d.objid = c.oid AND d.classid = c.tableoid AND d.deptype = 'i')
                     OR (d.refobjid = c.oid AND d.refclassid = c.tableoid AND d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass))
         UNION ALL SELECT 'trigger ' || tgname FROM pg_catalog.pg_trigger JOIN pg_catalog.pg_class ON pg_class.oid = tgrelid
             WHERE NOT tgisinternal AND relnamespace = {space}
         UNION ALL SELECT 'row-level security of table ' || relname FROM pg_catalog.pg_class WHERE relrowsecurity AND relnamespace = {space}
         UNION ALL SELECT 'policy ' || polname || ' of table ' || relname FROM pg_catalog.pg_policy
             JOIN pg_catalog.pg_class ON pg_class.oid = polrelid WHERE relnamespace = {space}
         UNION ALL SELECT 'rule ' || rulename || ' of table ' || relname FROM pg_catalog.pg_rewrite
             JOIN pg_catalog.pg_class ON pg_class.oid = ev_class WHERE relkind IN ('r', 'p') AND relnamespace = {space}
         UNION ALL SELECT 'extended statistics ' || stxname FROM pg_catalog.pg_statistic_ext WHERE stxnamespace = {space}
         UNION ALL SELECT 'function ' || proname FROM pg_catalog.pg_proc AS c WHERE pronamespace = {space} AND NOT {OF_EXTENSION}
         UNION ALL SELECT 'extension ' || extname FROM pg_catalog.pg_extension WHERE extnamespace = {space}
         ORDER BY 1"
    )
}

/// The words of a foreign key's action.
fn action(letter: &str) -> String {
    let words = match letter {
        "c" => "CASCADE",
        "n" => "SET NULL",
        "d" => "SET DEFAULT",
        "r" => "RESTRICT",
        _ => "NO ACTION",
    };
    words.to_owned()
}

fn foreign_key(row: &[Option<String>]) -> ForeignKey {
    let lines = |at: usize| text(row, at).lines().map(str::to_owned).collect();
    ForeignKey {
        name: text(row, 0),
        columns: lines(1),
        parent: text(row, 2),
        parent_columns: lines(3),
        on_delete: action(&text(row, 4)),
        on_update: action(&text(row, 5)),
        has_period: text(row, 7).contains(", PERIOD "),
        postgres: options(&text(row, 7).replace(", PERIOD ", ", "), &text(row, 8)),
    }
}

fn column(row: &[Option<String>], notes: &mut Vec<String>) -> Column {
    let (name, declared, base) = (text(row, 0), text(row, 1), text(row, 2));
    let kind = match &*base {
        "text" | "varchar" | "bpchar" | "name" => Kind::Text,
        "bytea" => Kind::HexBytes,
        "float4" => Kind::Single,
        "float8" => Kind::Double,
        "bool" => Kind::Boolean,
        "date" => Kind::Date,
        "timestamp" => Kind::Time,
        "timestamptz" => Kind::Instant,
        "time" => Kind::Clock,
        "timetz" => Kind::ZonedClock,
        "interval" => Kind::Interval,
        _ => Kind::Plain,
    };
    let is_known = is_true(row, 9);
    let postgres = match is_known {
        true => declared.clone(),
        false => "text".to_owned(),
    };
    match &row[12] {
        Some(domain) => {
            let constraints = text(row, 13);
            let without = match constraints.is_empty() {
                true => String::new(),
                false => format!(", without {constraints}"),
            };
            notes.push(format!(
                "column `{name}`: the domain {domain} is {postgres} in the copy{without}"
            ));
        }
        None if !is_known => notes.push(format!(
            "column `{name}`: the type {declared} is text in the copy"
        )),
        None => {}
    }
    let is_generated = !text(row, 6).is_empty();
    let given = row[4].clone().filter(|_| !is_generated);
    let is_counted = !text(row, 5).is_empty()
        || given
            .as_deref()
            .is_some_and(|given| given.starts_with("nextval(") && given.ends_with("::regclass)"));
    let own = quoted(&name);
    Column {
        kind,
        read: match is_known {
            true => own,
            false => format!("{own}::text"),
        },
        postgres,
        is_not_null: is_true(row, 3),
        default: given.filter(|_| !is_counted).map(Default_::Postgres),
        next: is_counted.then(String::new),
        counting: String::new(),
        is_always: text(row, 5) == "a",
        collation: row[11].clone(),
        comment: row[7].clone(),
        generated: row[4]
            .clone()
            .filter(|_| is_generated)
            .map(|expression| (expression, text(row, 6) == "v")),
        name,
        declared,
        ..Column::default()
    }
}

/// The number of percent of a page that an object fills, whether an index keeps equal values once, and its size. All operator classes
/// must say that equal values are equal in every byte (support function 4).
const STORAGE: &str = "SELECT c.relname, indisprimary, indisunique,
        (SELECT string_agg(coalesce(attname, ''), E'\\n' ORDER BY place) FROM unnest(indkey::int2[]) WITH ORDINALITY AS k(number, place)
            LEFT JOIN pg_catalog.pg_attribute ON attrelid = indrelid AND attnum = number WHERE place <= indnkeyatts),
        (SELECT string_agg(attname, E'\\n' ORDER BY place) FROM unnest(indkey::int2[]) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = indrelid AND attnum = number WHERE place > indnkeyatts),
        (SELECT option_value FROM pg_catalog.pg_options_to_table(c.reloptions) WHERE option_name = 'fillfactor'),
        coalesce((SELECT option_value::bool FROM pg_catalog.pg_options_to_table(c.reloptions) WHERE option_name = 'deduplicate_items'), true)
            AND (SELECT bool_and(EXISTS (SELECT FROM pg_catalog.pg_amproc JOIN pg_catalog.pg_opclass AS o ON amprocfamily = opcfamily
                AND amproclefttype = opcintype WHERE o.oid = class AND amprocnum = 4)) FROM unnest(indclass::oid[]) AS u(class)),
        amname, indpred IS NOT NULL, indexprs IS NOT NULL, pg_catalog.pg_relation_size(indexrelid)
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class AS c ON c.oid = indexrelid JOIN pg_catalog.pg_am ON pg_am.oid = relam
    WHERE indrelid = $1 ORDER BY c.relname";
const FILL: &str =
    "SELECT option_value FROM pg_catalog.pg_class, pg_catalog.pg_options_to_table(reloptions)
    WHERE pg_class.oid = $1 AND option_name = 'fillfactor'";

fn stored_index(row: &[Option<String>]) -> StoredIndex {
    let columns = |at: usize| text(row, at).lines().map(str::to_owned).collect::<Vec<_>>();
    let special = [
        (text(row, 7) != "btree").then(|| text(row, 7)),
        is_true(row, 8).then(|| "partial".to_owned()),
        is_true(row, 9).then(|| "of an expression".to_owned()),
    ];
    let special: Vec<String> = special.into_iter().flatten().collect();
    StoredIndex {
        name: text(row, 0),
        is_key: is_true(row, 1),
        is_unique: is_true(row, 2),
        columns: columns(3).into_iter().map(|name| (name, None)).collect(),
        included: columns(4),
        fill_percent: text(row, 5).parse().ok(),
        is_deduplicated: is_true(row, 6) && text(row, 4).is_empty(),
        special: (!special.is_empty()).then(|| special.join(", ")),
        bytes: text(row, 10).parse().ok(),
    }
}

impl Source for Postgres {
    fn storage(&mut self, table: &Table) -> Result<TableStorage, Error> {
        let name = format!("{}.{}", quoted(&self.schema), quoted(&table.name));
        let oid = format!("{}::pg_catalog.regclass", literal(&name));
        let fill = self.about(FILL, &oid)?;
        let rows = self.about(STORAGE, &oid)?;
        let page = self
            .session
            .rows("SELECT pg_catalog.current_setting('block_size')")?;
        Ok(TableStorage {
            page_bytes: page.first().and_then(|row| text(row, 0).parse().ok()),
            fill_percent: fill.first().and_then(|row| text(row, 0).parse().ok()),
            indexes: rows.iter().map(|row| stored_index(row)).collect(),
        })
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn has(&mut self, mark: &Mark) -> Result<bool, Error> {
        let Mark::Query(query) = mark else {
            return Ok(false);
        };
        let query = query.replace("$1", &literal(&self.schema));
        let rows = self.session.rows(&query)?;
        Ok(rows.first().is_some_and(|row| is_true(row, 0)))
    }

    fn schema(&mut self) -> Result<Schema, Error> {
        let schema_name = literal(&self.schema);
        let tables = self.session.rows(&format!(
            "SELECT oid, relname, relkind, reltuples, pg_catalog.obj_description(oid, 'pg_class'),
                 (SELECT string_agg(p.relname, ', ' ORDER BY inhseqno) FROM pg_catalog.pg_inherits
                     JOIN pg_catalog.pg_class AS p ON p.oid = inhparent WHERE inhrelid = c.oid)
             FROM pg_catalog.pg_class AS c WHERE relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {schema_name})
                 AND relkind IN ('r', 'p') AND NOT relispartition AND NOT {OF_EXTENSION} ORDER BY relname"
        ))?;
        let mut schema = Schema::default();
        for row in tables {
            schema.tables.push(self.table(&row)?);
        }
        let space =
            format!("(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {schema_name})");
        for row in self.session.rows(&others(&space))? {
            schema.notes.push(format!("not copied: {}", text(&row, 0)));
        }
        Ok(schema)
    }

    fn answers(&mut self, sql: &str) -> Result<TextRows, Error> {
        Ok(self.session.rows(sql)?)
    }

    fn table(&self, table: &Table) -> String {
        let only = if table.is_partitioned { "" } else { "ONLY " };
        format!("{only}{}.{}", quoted(&self.schema), quoted(&table.name))
    }

    fn rows(
        &mut self,
        table: &Table,
        rows_max: Option<u64>,
        each: EachRow<'_>,
    ) -> Result<(), Error> {
        let sql = select(table, &Source::table(self, table), quoted, rows_max);
        Ok(self.session.stream(&sql, each)?)
    }
}
