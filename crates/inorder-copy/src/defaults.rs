//! Defaults of one database in the SQL of another.

use crate::model::{Column, Default_, Dialect, Table};
use crate::translate::translate;
use crate::value::{Kind, Target, hex, is_true};

/// A random UUID as SQLite makes one.
const RANDOM_UUID: &str = "(lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) \
     || '-' || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))";

/// What a default makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Now,
    Today,
    TimeOfDay,
    Uuid,
}

/// What an expression makes, in any database.
fn made(expression: &str) -> Option<Made> {
    let mut text = expression.to_lowercase();
    text.retain(|char| !char.is_whitespace());
    while let Some(inner) = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
    {
        text = inner.to_owned();
    }
    let text = text.replace("::text", "");
    Some(match &*text {
        "current_timestamp"
        | "now()"
        | "localtimestamp"
        | "transaction_timestamp()"
        | "statement_timestamp()"
        | "clock_timestamp()"
        | "datetime('now')"
        | "timezone('utc',now())"
        | "now()attimezone'utc'"
        | "current_timestampattimezone'utc'"
        | "timezone('utc',current_timestamp)"
        | "current_timestamp()"
        | "(now()attimezone'utc'" => Made::Now,
        "current_date" | "now()::date" | "date('now')" | "curdate()" | "('now'::date"
        | "'now'::date" => Made::Today,
        "current_time" | "localtime" | "time('now')" | "curtime()" => Made::TimeOfDay,
        "gen_random_uuid()" | "uuid_generate_v4()" | "uuid()" => Made::Uuid,
        _ => return None,
    })
}

/// The text of a constant of PostgreSQL, which may have casts.
fn constant(expression: &str) -> Option<String> {
    let mut text = expression.trim();
    loop {
        let bare = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        let cast = text.rsplit_once("::").filter(|(_, ty)| {
            let is_type = |c: char| c.is_alphanumeric() || "_ (),[]\".".contains(c);
            ty.chars().all(is_type)
        });
        text = match (bare, cast) {
            (Some(bare), _) if !bare.contains(['(', ')']) => bare.trim(),
            (_, Some((value, _))) => value.trim(),
            _ => break,
        };
    }
    if let Some(inner) = text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
    {
        let is_one = !inner.replace("''", "").contains('\'');
        return is_one.then(|| inner.replace("''", "'"));
    }
    let is_word = ["true", "false"].contains(&text);
    (is_word || crate::model::is_number(text)).then(|| text.to_owned())
}

/// A default as SQLite writes it; `None` if it has none of this kind.
pub fn in_sqlite(column: &Column, table: &Table) -> Option<String> {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    Some(match column.default.as_ref()? {
        // A number would lose zeros at its end.
        Default_::Number(number) if column.is_stored_as_text() => quoted(number),
        Default_::Number(number) => number.clone(),
        Default_::Text(text) => quoted(text),
        Default_::Bytes(bytes) => format!("x'{}'", hex(bytes)),
        Default_::Now => match column.kind {
            Kind::Date => "CURRENT_DATE".to_owned(),
            Kind::Clock => "CURRENT_TIME".to_owned(),
            _ => "CURRENT_TIMESTAMP".to_owned(),
        },
        Default_::Expression(text) | Default_::Postgres(text) => match made(text) {
            Some(Made::Now) if column.kind == Kind::Date => "CURRENT_DATE".to_owned(),
            Some(Made::Now) => "CURRENT_TIMESTAMP".to_owned(),
            Some(Made::Today) => "CURRENT_DATE".to_owned(),
            Some(Made::TimeOfDay) => "CURRENT_TIME".to_owned(),
            Some(Made::Uuid) => RANDOM_UUID.to_owned(),
            None => constant_in_sqlite(column, text).or_else(|| {
                let expression = translate(text, table.dialect?, Dialect::Sqlite, table)?;
                Some(format!("({expression})"))
            })?,
        },
    })
}

/// A constant of PostgreSQL as SQLite stores it.
fn constant_in_sqlite(column: &Column, text: &str) -> Option<String> {
    let value = constant(text)?;
    match column.kind {
        Kind::Boolean => is_true(value.as_bytes()).map(|is_true| i32::from(is_true).to_string()),
        Kind::HexBytes => Some(format!("x'{}'", value.strip_prefix("\\x")?)),
        kind => {
            let mut canonical = Vec::new();
            kind.canonical(value.as_bytes(), Target::Sqlite, &mut canonical)
                .ok()?;
            let value = String::from_utf8(canonical).ok()?;
            let is_number = crate::model::is_number(&value) && !column.is_stored_as_text();
            Some(match is_number {
                true => value,
                false => format!("'{}'", value.replace('\'', "''")),
            })
        }
    }
}

/// An expression of SQLite or MariaDB as the default of a column of PostgreSQL.
pub fn in_postgres(column: &Column, text: &str, table: &Table) -> Option<String> {
    // SQLite's functions give the time in UTC.
    let utc = match table.dialect {
        Some(Dialect::Sqlite) => "timezone('utc', now())",
        _ => "localtimestamp",
    };
    let of_text = |format: &str| format!("to_char({utc}, '{format}')");
    Some(match (made(text), column.kind) {
        (Some(Made::Now), Kind::Instant) => "now()".to_owned(),
        (Some(Made::Now), Kind::Time) => utc.to_owned(),
        (Some(Made::Now | Made::Today), Kind::Date) => format!("({utc})::date"),
        (Some(Made::Today), Kind::Time | Kind::Instant) => format!("({utc})::date"),
        (Some(Made::TimeOfDay), Kind::Clock) => format!("({utc})::time"),
        (Some(Made::Now), Kind::Text) => of_text("YYYY-MM-DD HH24:MI:SS"),
        (Some(Made::Today), Kind::Text) => of_text("YYYY-MM-DD"),
        (Some(Made::TimeOfDay), Kind::Text) => of_text("HH24:MI:SS"),
        (Some(Made::Uuid), _) => match column.is_text() {
            true => "gen_random_uuid()::text".to_owned(),
            false => "gen_random_uuid()".to_owned(),
        },
        (Some(_), _) => return None,
        (None, _) => translate(text, table.dialect?, Dialect::Postgres, table)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_postgresql_lose_their_casts() {
        for (text, expected) in [
            ("'x'::text", Some("x")),
            ("'it''s'::character varying(10)", Some("it's")),
            ("0", Some("0")),
            ("(-1)", Some("-1")),
            ("'-1'::integer", Some("-1")),
            ("(0)::numeric", Some("0")),
            ("'{}'::jsonb", Some("{}")),
            ("'{}'::text[]", Some("{}")),
            ("true", Some("true")),
            ("nextval('s'::regclass)", None),
            ("('a'::text || 'b'::text)", None),
        ] {
            assert_eq!(constant(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn times_and_uuids_are_made_in_each_database() {
        for (text, expected) in [
            ("CURRENT_TIMESTAMP", Some(Made::Now)),
            ("now()", Some(Made::Now)),
            ("(now() AT TIME ZONE 'utc'::text)", Some(Made::Now)),
            ("timezone('utc'::text, now())", Some(Made::Now)),
            ("(datetime('now'))", Some(Made::Now)),
            ("CURRENT_DATE", Some(Made::Today)),
            ("gen_random_uuid()", Some(Made::Uuid)),
            ("uuid()", Some(Made::Uuid)),
            ("now() + '1 day'::interval", None),
        ] {
            assert_eq!(made(text), expected, "{text}");
        }
        let db = rusqlite::Connection::open_in_memory().expect("a database");
        let uuid: String = db
            .query_row(&format!("SELECT {RANDOM_UUID}"), [], |row| row.get(0))
            .expect("a UUID");
        assert!(
            crate::value::is_uuid(uuid.as_bytes()) && &uuid[14..15] == "4",
            "{uuid}"
        );
    }
}
