//! Scripts for PostgreSQL: the functions that they begin with, and changes of indexes and defaults.

mod change;
mod convert;
mod group;
mod links;
mod parts;
mod swap;

pub(super) use convert::convert;
pub(super) use parts::{attach_indexes, drop_check_or_reference, reindex, widen_sequence};

use super::{INDEX_BYTES_PER_S, Step, Steps, found, where_as_read};
use crate::{
    ddl::{literal as text, quoted as quote},
    server::{
        model::{Column, Database, Index, Table, TableKind, Term},
        named,
        shape::{self, Line},
    },
};

/// How long a statement waits that nobody waits for, unless `inorder.index_wait` says another time.
const LONG_WAIT: &str = "60s";

/// What a script begins with: settings and functions of its session.
pub(super) fn begin(database: &Database) -> String {
    let functions = include_str!("begin.sql").replace("{shape}", shape::POSTGRES);
    let is_here = block(
        "",
        &format!(
            "IF current_database() <> {0} THEN\n  RAISE EXCEPTION USING MESSAGE = format('this script is for the database %s, and this is %s', {0}, current_database());\nEND IF;",
            text(&database.name)
        ),
    );
    format!("{functions}{is_here}\n")
}

/// A statement that runs a body of PL/pgSQL.
fn block(declared: &str, inner: &str) -> String {
    let declared = match declared {
        "" => String::new(),
        some => format!("DECLARE\n  {some}\n"),
    };
    format!("DO {};", body(&format!("\n{declared}BEGIN\n{inner}\nEND ")))
}

/// A statement that tries again while others hold locks on the tables. The body ends early by `EXIT;`.
fn guarded(tables: &[String], declared: &str, inner: &str) -> String {
    let names: Vec<String> = tables.iter().map(|name| text(name)).collect();
    block(
        &format!(
            "inorder_tries int := pg_temp.inorder_tries(); inorder_n bigint; inorder_row text; {declared}"
        ),
        &format!(
            "LOOP\nBEGIN\n{inner}\nEXIT;\nEXCEPTION WHEN lock_not_available OR deadlock_detected THEN\n  inorder_tries := inorder_tries - 1;\n  \
             PERFORM pg_temp.inorder_wait(inorder_tries, ARRAY[{}], SQLERRM);\nEND;\nEND LOOP;",
            names.join(", ")
        ),
    )
}

/// Quotes a body of PL/pgSQL with dollars, by a tag that no name in it has. A body ends with a blank.
fn body(text: &str) -> String {
    let mut tag = "$inorder$".to_owned();
    let mut number = 0;
    while text.contains(&tag) {
        number += 1;
        tag = format!("$inorder{number}$");
    }
    format!("{tag}{text}{tag}")
}

/// The lock of a step that changes definitions.
fn lock(tables: &[String]) -> String {
    format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE;", tables.join(", "))
}

/// Sets how long the next statements wait for locks.
fn wait(is_long: bool) -> String {
    match is_long {
        true => block(
            "",
            &format!(
                "PERFORM set_config('lock_timeout', coalesce(nullif(current_setting('inorder.index_wait', true), ''), '{LONG_WAIT}'), false);"
            ),
        ),
        false => "SET lock_timeout = '50ms';".into(),
    }
}

/// The qualified name of a table.
fn name(table: &Table) -> String {
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}

/// The qualified name of something in a table's schema.
fn beside(table: &Table, name: &str) -> String {
    format!("{}.{}", quote(&table.schema), quote(name))
}

fn array(texts: impl IntoIterator<Item = String>) -> String {
    format!(
        "ARRAY[{}]::text[]",
        texts.into_iter().collect::<Vec<_>>().join(", ")
    )
}

/// Raises unless lines of a table are as they were read. `is_part`: others may have come.
fn same(table: &Table, lines: &[Line], ignored: Vec<String>, is_part: bool) -> String {
    format!(
        "PERFORM pg_temp.inorder_same({}, {}, {}, {}, {is_part});",
        text(&name(table)),
        array(lines.iter().map(|line| text(&line.key))),
        array(lines.iter().map(|line| text(&line.text))),
        array(ignored),
    )
}

/// The lines of a table about these things.
fn lines_of(table: &Table, keys: &[String]) -> Vec<Line> {
    let lines = table.shape.iter();
    lines
        .filter(|line| keys.contains(&line.key))
        .cloned()
        .collect()
}

/// An expression that names a row by its key.
fn row(table: &Table) -> String {
    let key = table.primary().and_then(Index::columns);
    match key {
        Some(columns) => {
            let parts = columns.iter().map(|own| {
                format!(
                    "{} || quote_nullable({}::text)",
                    text(&format!("{own} = ")),
                    quote(own)
                )
            });
            format!("concat_ws(', ', {})", parts.collect::<Vec<_>>().join(", "))
        }
        None => "'ctid = ' || ctid::text".into(),
    }
}

/// Raises if rows of a table have a value of a column that stands in the way.
fn none(table: &Table, column: &str, condition: &str, what: &str) -> String {
    let value = format!(
        "{} || quote_nullable({}::text)",
        text(&format!("{column} = ")),
        quote(column)
    );
    let is_key = table
        .primary()
        .and_then(Index::columns)
        .is_some_and(|key| key.contains(&column));
    let example = match is_key {
        true => row(table),
        false => format!("concat_ws(', ', {}, {value})", row(table)),
    };
    format!(
        "SELECT count(*), min({example}) INTO inorder_n, inorder_row FROM {table} WHERE {condition};\nPERFORM pg_temp.inorder_none({}, inorder_n, inorder_row, {});",
        text(&name(table)),
        text(what),
        table = name(table),
    )
}

/// Removes an index that a failed build left.
fn without_failed(table: &Table, index: &str) -> String {
    let full = beside(table, index);
    let lock = match table.kind {
        TableKind::MaterializedView => String::new(),
        _ => format!(
            "LOCK TABLE {} IN SHARE UPDATE EXCLUSIVE MODE;\n",
            name(table)
        ),
    };
    guarded(
        &[name(table)],
        "",
        &format!(
            "{lock}IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass({}) AND NOT indisvalid) THEN\n  DROP INDEX {full};\nEND IF;",
            text(&full)
        ),
    )
}

/// Builds an index without blocking, where a condition holds and it is not there.
fn build(table: &Table, index: &str, definition: &str, condition: &str) -> Vec<String> {
    let is_missing = format!("to_regclass({}) IS NULL", text(&beside(table, index)));
    vec![
        without_failed(table, index),
        wait(true),
        format!(
            "SELECT {} WHERE {is_missing} AND {condition} \\gexec",
            text(definition)
        ),
        wait(false),
    ]
}

/// Raises if something in the database names an index or constraint.
fn unnamed(context_table: &Table, names: &[&str]) -> String {
    format!(
        "FOR inorder_row IN {} LOOP\n  RAISE EXCEPTION USING MESSAGE = format('%s names %s', inorder_row, {});\nEND LOOP;",
        named::postgres(context_table, names),
        text(names[0])
    )
}

/// Drops an index, under a lock that is held for a moment.
pub(super) fn drop_index(table: &Table, index: &str, cover: Option<&str>) -> Result<Steps, String> {
    let own = found(table, index)?;
    let (full, of) = (beside(table, index), name(table));
    let is_partitioned = table.kind == TableKind::Partitioned;
    let mut keys = vec![format!("index {index}")];
    keys.extend(cover.map(|cover| format!("index {cover}")));
    let proof = same(table, &lines_of(table, &keys), Vec::new(), true);
    // A materialized view takes no lock by itself: there DROP INDEX does, and what is not proved takes it back.
    let (before, after) = match table.kind {
        TableKind::MaterializedView => {
            let cover = lines_of(table, &keys[1..]);
            (String::new(), same(table, &cover, Vec::new(), true))
        }
        _ => (lock(std::slice::from_ref(&of)), String::new()),
    };
    let gone = format!(
        "{before}\nIF to_regclass({}) IS NULL THEN\n  RAISE NOTICE USING MESSAGE = {};\n  EXIT;\nEND IF;\n",
        text(&full),
        text(&format!("the index {full} is gone already"))
    );
    let step = Step::new(
        format!(
            "Drops the index{}. Locks the table for a moment, within 50 ms or not at all.",
            where_as_read(cover)
        ),
        vec![guarded(
            std::slice::from_ref(&of),
            "",
            &format!(
                "{gone}{proof}\n{}\nDROP INDEX {full};\n{after}",
                unnamed(table, &[index])
            ),
        )],
    );
    let undo = match is_partitioned {
        true => Step::new(
            "Builds the index again. Writes wait.",
            vec![guarded(
                std::slice::from_ref(&of),
                "",
                &format!(
                    "IF to_regclass({}) IS NULL THEN\n  {};\nEND IF;",
                    text(&full),
                    own.definition.replacen(" ON ONLY ", " ON ", 1)
                ),
            )],
        ),
        false => built_again(table, own),
    };
    Ok(Steps {
        steps: vec![step],
        is_online: true,
        // Nobody wants an invalid one back.
        undo: Vec::from_iter(own.is_valid.then_some(undo)),
        ..Steps::default()
    })
}

/// Builds an index as it was, and proves that it is.
fn built_again(table: &Table, own: &Index) -> Step {
    let mut statements = build(table, &own.name, &concurrently(&own.definition), "true");
    let comment = commented(table, own);
    statements.push(guarded(
        &[name(table)],
        "",
        &format!("{}\n{comment}", is_valid(table, own, &own.name)),
    ));
    Step::new(
        "Builds the index again. Reads and writes go on. What a failed build leaves is removed first.",
        statements,
    )
}

/// Gives an index the comment that it had.
fn commented(table: &Table, own: &Index) -> String {
    match own.comment.is_empty() {
        true => String::new(),
        false => format!(
            "COMMENT ON INDEX {} IS {};",
            beside(table, &own.name),
            text(&own.comment)
        ),
    }
}

/// Raises unless an index is valid and over the columns of another one.
fn is_valid(table: &Table, like: &Index, index: &str) -> String {
    is_valid_as(table, like, index, &|column| column.to_owned())
}

/// The same where columns have other names.
fn is_valid_as(
    table: &Table,
    like: &Index,
    index: &str,
    renamed: &dyn Fn(&str) -> String,
) -> String {
    let terms = like.terms.iter();
    let of_terms = terms.map(|term| term.column.as_deref().map_or(String::new(), renamed));
    let columns = of_terms.chain(like.include.iter().map(|column| renamed(column)));
    format!(
        "PERFORM pg_temp.inorder_index({}, {}, {}, {});",
        text(&beside(table, index)),
        text(&name(table)),
        like.is_unique,
        array(columns.map(|column| text(&column)))
    )
}

/// Drops a UNIQUE constraint.
pub(super) fn drop_constraint(
    table: &Table,
    index: &str,
    cover: Option<&str>,
) -> Result<Steps, String> {
    let own = found(table, index)?;
    let constraint = own
        .constraint
        .as_ref()
        .ok_or("the index backs no constraint")?;
    let (of, named) = (name(table), quote(&constraint.name));
    let mut keys = vec![
        format!("index {index}"),
        format!("constraint {}", constraint.name),
    ];
    if let Some(cover) = cover {
        keys.push(format!("index {cover}"));
        let other = found(table, cover)?.constraint.as_ref();
        keys.extend(other.map(|other| format!("constraint {}", other.name)));
    }
    let is_there = format!(
        "EXISTS (SELECT FROM pg_constraint WHERE conrelid = to_regclass({}) AND conname = {})",
        text(&of),
        text(&constraint.name)
    );
    let forward = format!(
        "{}\nIF NOT {is_there} THEN\n  RAISE NOTICE USING MESSAGE = {};\n  EXIT;\nEND IF;\n{}\n{}\nALTER TABLE {of} DROP CONSTRAINT {named};",
        lock(std::slice::from_ref(&of)),
        text(&format!("the constraint {named} of {of} is gone already")),
        same(table, &lines_of(table, &keys), Vec::new(), true),
        unnamed(table, &[&constraint.name, index]),
    );
    let mut undo = build(
        table,
        index,
        &concurrently(&own.definition),
        &format!("NOT {is_there}"),
    );
    undo.push(guarded(
        std::slice::from_ref(&of),
        "",
        &format!(
            "IF NOT {is_there} THEN\n  {}\n  ALTER TABLE {of} ADD CONSTRAINT {named} UNIQUE USING INDEX {};\n  {}\nEND IF;",
            is_valid(table, own, index),
            quote(index),
            commented(table, own)
        ),
    ));
    Ok(Steps {
        steps: vec![Step::new(
            format!(
                "Drops the constraint and its index{}. Locks the table for a moment, within 50 ms or not at all.",
                where_as_read(cover)
            ),
            vec![guarded(std::slice::from_ref(&of), "", &forward)],
        )],
        is_online: true,
        undo: vec![Step::new(
            "Builds the index again and gives it its constraint. Reads and writes go on.",
            undo,
        )],
        ..Steps::default()
    })
}

/// Replaces an index by one with the condition `column IS NOT NULL`.
pub(super) fn partial_index(table: &Table, index: &str, column: &str) -> Result<Steps, String> {
    let own = found(table, index)?;
    let condition = format!("{} IS NOT NULL", quote(column));
    let fresh = temporary(index, 0);
    let (whole, partial) = (
        definition(table, own, &fresh, &|name| name.to_owned(), None, true),
        definition(
            table,
            own,
            &fresh,
            &|name| name.to_owned(),
            Some(&condition),
            true,
        ),
    );
    let is_null = none(
        table,
        column,
        &condition,
        "it has a value, and the index of NULLs is what this change saves",
    );
    let forward = exchanged(
        table,
        own,
        &fresh,
        &partial,
        true,
        &format!("{is_null}\n{}\n", unnamed(table, &[index])),
    );
    let back = exchanged(table, own, &fresh, &whole, false, "");
    Ok(Steps {
        steps: vec![Step::new(
            "Builds the partial index and puts it in the place of the old one. Reads and writes go on but for the exchange, which locks the table for a moment, within 50 ms or not at all.",
            forward,
        )],
        is_online: true,
        extra_bytes: 8192,
        seconds: table.bytes as f64 / INDEX_BYTES_PER_S,
        undo: vec![Step::new(
            "Builds the whole index and puts it in the place of the partial one. Reads and writes go on.",
            back,
        )],
    })
}

/// Builds an index and puts it in the place of one, if that one has no condition (`from_whole`), or has one.
fn exchanged(
    table: &Table,
    own: &Index,
    fresh: &str,
    definition: &str,
    from_whole: bool,
    proof: &str,
) -> Vec<String> {
    let (full, of) = (beside(table, &own.name), name(table));
    let is_pending = format!(
        "EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass({}) AND (indpred IS NULL) = {from_whole})",
        text(&full)
    );
    let is_done = format!(
        "EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass({}) AND (indpred IS NULL) = {})",
        text(&full),
        !from_whole
    );
    let own_line = match from_whole {
        true => same(
            table,
            &lines_of(table, &[format!("index {}", own.name)]),
            Vec::new(),
            true,
        ),
        false => String::new(),
    };
    let comment = commented(table, own);
    let mut statements = build(table, fresh, definition, &is_pending);
    statements.push(guarded(
        std::slice::from_ref(&of),
        "",
        &format!(
            "{}\nIF {is_done} THEN\n  DROP INDEX IF EXISTS {temporary};\n  EXIT;\nEND IF;\n{own_line}\n{}\n{proof}DROP INDEX {full};\nALTER INDEX {temporary} RENAME TO {};\n{comment}",
            lock(std::slice::from_ref(&of)),
            format_args!(
                "{}\nIF NOT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass({}) AND (indpred IS NULL) <> {from_whole}) THEN\n  RAISE EXCEPTION USING MESSAGE = 'another index has the name ' || {};\nEND IF;",
                is_valid(table, own, fresh),
                text(&beside(table, fresh)),
                text(fresh)
            ),
            quote(&own.name),
            temporary = beside(table, fresh),
        ),
    ));
    statements
}

/// The default of a column that makes UUIDv7.
pub(super) fn ordered(table: &Table, column: &Column, default: &str) -> Result<Steps, String> {
    let (of, own) = (name(table), quote(&column.name));
    let is_now = format!(
        "SELECT pg_get_expr(d.adbin, d.adrelid), format_type(a.atttypid, a.atttypmod) INTO inorder_row, inorder_type FROM pg_attribute a
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = to_regclass({}) AND a.attname = {};",
        text(&of),
        text(&column.name)
    );
    let other = |wanted: &str| {
        format!(
            "RAISE EXCEPTION USING MESSAGE = format('the default of %s.%s is %s, and was %s when inorder advise read it', {}, {}, coalesce(inorder_row, 'missing'), {}), HINT = 'Run inorder advise again.';",
            text(&of),
            text(&column.name),
            text(wanted)
        )
    };
    // Another change may have given the column another type, and its default with it.
    let is_old = format!(
        "inorder_type = {} AND inorder_row IS DISTINCT FROM {}",
        text(&column.type_name),
        text(default)
    );
    let forward = format!(
        "{}\n{is_now}\nIF inorder_row LIKE 'uuidv7()%' OR inorder_row LIKE '(uuidv7())%' THEN\n  EXIT;\nEND IF;\nIF {is_old} OR inorder_row IS NULL THEN\n  {}\nEND IF;\n\
         EXECUTE {} || CASE inorder_type WHEN 'uuid' THEN 'uuidv7()' ELSE '(uuidv7())::text' END;",
        lock(std::slice::from_ref(&of)),
        other(default),
        text(&format!("ALTER TABLE {of} ALTER COLUMN {own} SET DEFAULT ")),
    );
    let back = format!(
        "{}\n{is_now}\nIF inorder_type = {old} AND inorder_row = {expression} THEN\n  EXIT;\nEND IF;\nIF inorder_row IS NULL OR inorder_row NOT LIKE '%uuidv7()%' THEN\n  {}\nEND IF;\n\
         EXECUTE {} || CASE inorder_type WHEN {old} THEN {expression} ELSE {converted} END;",
        lock(std::slice::from_ref(&of)),
        other("uuidv7()"),
        text(&format!("ALTER TABLE {of} ALTER COLUMN {own} SET DEFAULT ")),
        old = text(&column.type_name),
        expression = text(default),
        converted = text(&format!("({default})::text::uuid")),
    );
    let tables = std::slice::from_ref(&of);
    let step = |what: &str, inner: &str| {
        Step::new(what, vec![guarded(tables, "inorder_type text;", inner)])
    };
    Ok(Steps {
        steps: vec![step(
            "New rows get UUIDv7. Locks the table for a moment, within 50 ms or not at all.",
            &forward,
        )],
        is_online: true,
        undo: vec![step("New rows get ids as before.", &back)],
        ..Steps::default()
    })
}

/// The statement of an index, built without blocking writes.
fn concurrently(definition: &str) -> String {
    match definition.strip_prefix("CREATE UNIQUE INDEX ") {
        Some(rest) => format!("CREATE UNIQUE INDEX CONCURRENTLY {rest}"),
        None => definition.replacen("CREATE INDEX ", "CREATE INDEX CONCURRENTLY ", 1),
    }
}

/// Bytes of a name at most (NAMEDATALEN - 1).
const NAME_BYTES: usize = 63;

/// A name for a time, made from another one.
fn temporary(name: &str, number: usize) -> String {
    let end = format!("_inorder{number}");
    let mut until = name.len().min(NAME_BYTES - end.len());
    while !name.is_char_boundary(until) {
        until -= 1;
    }
    format!("{}{end}", &name[..until])
}

/// The statement of a B-tree or hash index under another name, with other columns and another condition. `is_text`: the
/// columns have the types that the collations and operator classes are of.
fn definition(
    table: &Table,
    index: &Index,
    new: &str,
    renamed: &dyn Fn(&str) -> String,
    predicate: Option<&str>,
    is_text: bool,
) -> String {
    let term = |term: &Term| {
        let mut out = match (&term.column, &term.expression) {
            (Some(column), _) => quote(&renamed(column)),
            (_, expression) => format!("({})", expression.as_deref().unwrap_or_default()),
        };
        let is_converted = term
            .column
            .as_ref()
            .is_some_and(|column| renamed(column) != *column);
        if is_text || !is_converted {
            if let Some(collation) = &term.collation {
                out += &format!(" COLLATE {collation}");
            }
            if let Some(class) = &term.operator_class {
                out += &format!(" {class}");
            }
        }
        if index.method == "btree" {
            out += if term.is_descending { " DESC" } else { "" };
            out += if term.nulls_first {
                " NULLS FIRST"
            } else {
                " NULLS LAST"
            };
        }
        out
    };
    let terms: Vec<String> = index.terms.iter().map(term).collect();
    let mut out = format!(
        "CREATE {}INDEX CONCURRENTLY {} ON {} USING {} ({})",
        if index.is_unique { "UNIQUE " } else { "" },
        quote(new),
        name(table),
        index.method,
        terms.join(", ")
    );
    if !index.include.is_empty() {
        let columns: Vec<String> = index
            .include
            .iter()
            .map(|column| quote(&renamed(column)))
            .collect();
        out += &format!(" INCLUDE ({})", columns.join(", "));
    }
    if index.nulls_are_equal {
        out += " NULLS NOT DISTINCT";
    }
    let fill = index
        .fill_percent
        .map(|fill| format!("fillfactor = {fill}"));
    let equal = (!index.deduplicates).then(|| "deduplicate_items = off".to_owned());
    let options: Vec<String> = fill.into_iter().chain(equal).collect();
    if !options.is_empty() {
        out += &format!(" WITH ({})", options.join(", "));
    }
    if let Some(predicate) = predicate.or(index.predicate.as_deref()) {
        out += &format!(" WHERE {predicate}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{body, temporary};

    #[test]
    fn a_body_is_quoted_by_a_tag_that_it_does_not_have() {
        assert_eq!(body("BEGIN END "), "$inorder$BEGIN END $inorder$");
        let text = "UPDATE \"$inorder$; $inorder1$\" ";
        assert_eq!(body(text), format!("$inorder2${text}$inorder2$"));
    }

    #[test]
    fn a_name_for_a_time_fits_and_keeps_whole_letters() {
        assert_eq!(temporary("orders_pkey", 3), "orders_pkey_inorder3");
        let long = temporary(&"ü".repeat(40), 10);
        assert!(long.len() <= 63 && long.ends_with("_inorder10"), "{long}");
    }
}
