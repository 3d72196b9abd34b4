//! A schema while changes are made to it: each change is checked, made in the text, and proven.

mod keys;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::ids;
use super::schema::{Object, Schema};
use super::text::user_of_text;
use super::uses::Uses;
use crate::ddl::{self, Catalog, Statements, quoted};
use crate::{Change, Conversion, Error, IdForm};

/// Names that a message lists; more are counted.
const NAMED_MAX: usize = 8;

/// A schema, what it becomes, and what is done to the rows.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) old: Schema,
    pub(crate) new: Schema,
    /// Columns that are converted, by table.
    pub(crate) conversions: BTreeMap<String, Vec<(String, IdForm)>>,
    /// Tables whose rows get another key or layout.
    pub(crate) rekeyed: BTreeSet<String>,
    /// The new page size.
    pub(crate) page_bytes: Option<u32>,
    /// What has to be so of every row.
    conditions: Vec<Condition>,
}

/// What a change needs of every row.
#[derive(Debug)]
struct Condition {
    /// The change, in words.
    change: String,
    kind: ConditionKind,
}

#[derive(Debug)]
enum ConditionKind {
    /// The column is never NULL.
    NotNull { table: String, column: String },
    /// The column has integers only.
    Integers { table: String, column: String },
    /// The column has ids of this form only.
    Ids(Conversion),
}

/// Why a change isn't made.
type Refusal = Result<(), String>;

impl Draft {
    /// Makes changes to the schema of a database, whose rows are read to check them.
    ///
    /// # Errors
    /// [`Error::Refused`] where a change can't be made or its safety can't be proven.
    pub(crate) fn new(source: &Connection, changes: &[Change]) -> Result<Self, Error> {
        let draft = Draft::without_rows(source, changes)?;
        draft.check_rows(source)?;
        Ok(draft)
    }

    /// As [`new`](Self::new), but no row is read: [`check_rows`](Self::check_rows) does that. Building the new file by
    /// pages fails where one isn't as it has to be.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn without_rows(source: &Connection, changes: &[Change]) -> Result<Self, Error> {
        let old = Schema::read(source)?;
        let mut draft = Draft {
            new: old.clone(),
            old,
            conversions: BTreeMap::new(),
            rekeyed: BTreeSet::new(),
            page_bytes: None,
            conditions: Vec::new(),
        };
        for change in changes {
            let refused = |why| Error::Refused {
                change: change.to_string(),
                why,
            };
            draft.make(source, change).map_err(refused)?;
            if changes.len() == 1 {
                draft.refuse_broken().map_err(refused)?;
            }
            for condition in &mut draft.conditions {
                if condition.change.is_empty() {
                    condition.change = change.to_string();
                }
            }
        }
        if changes.len() > 1
            && let Err(why) = draft.refuse_broken()
        {
            return Err(Draft::first_that_breaks(source, changes, why));
        }
        Ok(draft)
    }

    /// The refusal of changes that break a statement together, in the words of the first one that does.
    fn first_that_breaks(source: &Connection, changes: &[Change], why: String) -> Error {
        let mut made =
            (1..changes.len()).map(|count| Draft::without_rows(source, &changes[..count]));
        made.find_map(Result::err)
            .unwrap_or_else(|| Error::Refused {
                change: changes.last().map(ToString::to_string).unwrap_or_default(),
                why,
            })
    }

    /// Reads the rows that the changes make demands on.
    ///
    /// # Errors
    /// [`Error::Refused`] where one isn't as it has to be, and SQLite's.
    pub(crate) fn check_rows(&self, source: &Connection) -> Result<(), Error> {
        self.conditions.iter().try_for_each(|condition| {
            let checked = match &condition.kind {
                ConditionKind::NotNull { table, column } => refuse_null(source, table, column),
                ConditionKind::Integers { table, column } => {
                    refuse_other_than_integers(source, table, column)
                }
                ConditionKind::Ids(conversion) => refuse_other_than_ids(source, conversion),
            };
            checked.map_err(|why| Error::Refused {
                change: condition.change.clone(),
                why,
            })
        })
    }

    /// The columns of a table that must have integers only.
    pub(crate) fn integers_of(&self, table: &str) -> impl Iterator<Item = &str> {
        self.conditions
            .iter()
            .filter_map(move |own| match &own.kind {
                ConditionKind::Integers { table: of, column } if of.eq_ignore_ascii_case(table) => {
                    Some(&**column)
                }
                _ => None,
            })
    }

    fn demand(&mut self, kind: ConditionKind) {
        self.conditions.push(Condition {
            change: String::new(),
            kind,
        });
    }

    /// Leaves nothing in the new schema but these tables and their indexes.
    pub(super) fn keep_tables(&mut self, tables: &[&str]) {
        self.new.objects.retain(|object| {
            matches!(&*object.kind, "table" | "index")
                && tables.iter().any(|table| object.is_on(table))
        });
    }

    fn make(&mut self, source: &Connection, change: &Change) -> Refusal {
        match change {
            Change::DropIndex { index } => self.drop_index(index),
            Change::PartialIndex { index, column } => self.make_partial(index, column),
            Change::DropUnique { table, columns } => self.drop_unique(table, columns),
            Change::WithoutRowid { table } => self.without_rowid(table),
            Change::WithoutRowidByUnique { table, columns } => {
                self.without_rowid_by_unique(table, columns)
            }
            Change::Rowid { table } => self.with_rowid(table),
            Change::IntegerPrimaryKey { table, column } => self.integer_primary_key(table, column),
            Change::IdsToBlobs { columns } => self.ids_to_blobs(source, columns),
            Change::PageSize { bytes }
                if bytes.is_power_of_two() && (512..=65536).contains(bytes) =>
            {
                self.page_bytes = Some(*bytes);
                Ok(())
            }
            Change::PageSize { .. } => {
                Err("SQLite has pages of 512 to 65536 bytes, a power of two".into())
            }
            Change::Vacuum => Ok(()),
        }
    }

    /// What compiled before compiles after. The old schema is compiled only if something of the new one does not: in a schema
    /// of hundreds of tables that takes longer than a small change.
    fn refuse_broken(&self) -> Refusal {
        let failed = |error: rusqlite::Error| error.to_string();
        let is_other = |object: &&Object| !self.old.objects.contains(object);
        let is_gone = |object: &&Object| !self.new.objects.contains(object);
        let made = self.new.objects.iter().filter(is_other);
        let changed = made.chain(self.old.objects.iter().filter(is_gone));
        let changed: BTreeSet<&str> = changed.map(|object| &*object.table).collect();
        let mentions = |object: &Object, word| {
            let sql = object.sql.as_deref().unwrap_or_default();
            ddl::has_text(sql, word)
        };
        let names_indexes = self
            .old
            .objects
            .iter()
            .any(|object| mentions(object, "INDEXED"));
        // No statement needs an index that is not unique, unless it names it.
        let is_wanted = |object: &Object| {
            let is_index = object.kind == "index";
            !is_index
                || names_indexes
                || mentions(object, "UNIQUE")
                || changed.contains(&*object.table)
        };
        let after = self.new.compile(is_wanted).map_err(failed)?;
        if after.values().all(Option::is_none) {
            return Ok(());
        }
        let before = self.old.compile(is_wanted).map_err(failed)?;
        let is_broken = |(statement, error): (&String, &Option<String>)| match error {
            Some(error) if before.get(statement).is_some_and(Option::is_none) => {
                Some(format!("it breaks {statement}: {error}"))
            }
            _ => None,
        };
        after.iter().find_map(is_broken).map_or(Ok(()), Err)
    }

    fn statements(&self, table: &str) -> Result<Statements, String> {
        let statements = self.new.statements(table);
        let statements = statements.filter(|_| !table.to_ascii_lowercase().starts_with("sqlite_"));
        let is_shadow = || {
            let mut virtuals = self.new.objects.iter().filter(|object| object.is_virtual());
            virtuals.any(|object| {
                let prefix = format!("{}_", object.name.to_ascii_lowercase());
                table.to_ascii_lowercase().starts_with(&prefix)
            })
        };
        match statements {
            Some(_) if is_shadow() => Err(format!("{table} may belong to a virtual table")),
            Some(statements) => Ok(statements),
            None => Err(format!("there is no table {table} that can be changed")),
        }
    }

    fn catalog(&self, table: &str) -> Result<Catalog, String> {
        let failed = |error| format!("SQLite cannot make the table {table}: {error}");
        self.statements(table)?.catalog().map_err(failed)
    }

    /// Proves and makes an edit of a table's statement.
    fn edit(
        &mut self,
        table: &str,
        edited: Option<String>,
        expect: impl FnOnce(&mut Catalog),
    ) -> Refusal {
        let old = self.statements(table)?;
        let edited = edited.ok_or_else(|| {
            format!("the definition of {table} has another form than this change expects")
        })?;
        let new = Statements {
            table: edited,
            ..old.clone()
        };
        ddl::prove(&old, &new, expect)?;
        self.new.replace("table", table, new.table);
        Ok(())
    }

    fn index(&self, name: &str) -> Result<(Object, ddl::Index, Catalog), String> {
        let object = self
            .new
            .find("index", name)
            .filter(|object| object.sql.is_some());
        let object = object.ok_or_else(|| self.no_index(name))?;
        let catalog = self.catalog(&object.table)?;
        let mut indexes = catalog.indexes.iter();
        let index = indexes.find(|index| index.name.eq_ignore_ascii_case(name));
        let index = index.ok_or_else(|| format!("SQLite does not report the index {name}"))?;
        Ok((object.clone(), index.clone(), catalog))
    }

    fn no_index(&self, name: &str) -> String {
        let objects = self.new.objects.iter();
        let names = objects.filter(|object| object.kind == "index" && object.sql.is_some());
        let names: Vec<&str> = names.map(|object| object.name.as_str()).collect();
        let known = match &names[..] {
            [] => "there is none".to_owned(),
            names if names.len() > NAMED_MAX => format!("there are {} others", names.len()),
            names => format!("there are {}", names.join(", ")),
        };
        format!("CREATE INDEX made no index {name}: {known}. Were the changes made before?")
    }

    fn drop_index(&mut self, name: &str) -> Refusal {
        let (object, index, catalog) = self.index(name)?;
        if index.is_unique {
            self.refuse_unless_implied(&catalog, &index)?;
        }
        self.new.objects.retain(|other| *other != object);
        Ok(())
    }

    fn make_partial(&mut self, name: &str, column: &str) -> Refusal {
        let (object, index, _) = self.index(name)?;
        if index.is_unique || index.is_partial {
            return Err(format!("the index {name} is unique or partial already"));
        }
        let first = index.terms.first().and_then(|term| term.name.as_deref());
        if !first.is_some_and(|first| first.eq_ignore_ascii_case(column)) {
            return Err(format!("{column} is not the first column of {name}"));
        }
        let old = self.statements(&object.table)?;
        let sql = object.sql.as_deref().unwrap_or_default();
        let edited = ddl::partial(sql, column)
            .ok_or_else(|| format!("the definition of {name} has another form than expected"))?;
        let mut new = old.clone();
        for statement in &mut new.indexes {
            if statement == sql {
                statement.clone_from(&edited);
            }
        }
        ddl::prove(&old, &new, |catalog| {
            for index in &mut catalog.indexes {
                index.is_partial |= index.name.eq_ignore_ascii_case(name);
            }
        })?;
        self.new.replace("index", name, edited);
        Ok(())
    }

    fn drop_unique(&mut self, table: &str, columns: &[String]) -> Refusal {
        let catalog = self.catalog(table)?;
        let is_same = |index: &ddl::Index| {
            let own = index.key_columns().unwrap_or_default();
            let is_equal = |(a, b): (&&str, &String)| a.eq_ignore_ascii_case(b);
            index.origin == "u"
                && own.len() == columns.len()
                && own.iter().zip(columns).all(is_equal)
        };
        let Some(index) = catalog.indexes.iter().find(|index| is_same(index)) else {
            return Err(format!("{table} has no UNIQUE({})", columns.join(", ")));
        };
        self.refuse_unless_implied(&catalog, index)?;
        let edited = ddl::without_unique(&self.statements(table)?.table, columns);
        self.edit(table, edited, |catalog| {
            catalog.indexes.retain(|index| !is_same(index))
        })
    }

    /// A unique key may go only if another one, whose columns it has, keeps its rows apart, and says nothing of
    /// its own about conflicts.
    fn refuse_unless_implied(&self, catalog: &Catalog, index: &ddl::Index) -> Refusal {
        let Some(columns) = index.key_columns().filter(|_| !index.is_partial) else {
            return Err("it is unique, and of an expression or of some rows".into());
        };
        let collation = |name: &str| {
            let mut terms = index.terms.iter().filter(|term| term.is_key);
            let term = terms.find(|term| term.name.as_deref() == Some(name));
            term.map(|term| term.collation.clone())
        };
        let is_covered = |other: &&ddl::Index| {
            let keys: Vec<_> = other.terms.iter().filter(|term| term.is_key).collect();
            let is_equal = keys.len() == columns.len();
            other.is_unique
                && !other.is_partial
                && other.name != index.name
                && keys.iter().all(|term| {
                    let Some(name) = term.name.as_deref().filter(|_| term.column >= 0) else {
                        return false;
                    };
                    let own = collation(name);
                    let is_never_null = catalog
                        .column(name)
                        .is_some_and(|column| column.is_not_null);
                    own.is_some_and(|own| own == "BINARY" || own == term.collation)
                        && (is_equal || is_never_null)
                })
        };
        let rowid = catalog.alias().map(|alias| &*alias.name);
        let rowids = rowid
            .filter(|rowid| columns.contains(rowid))
            .map(|rowid| vec![rowid]);
        let keys = catalog.indexes.iter().filter(is_covered);
        let mut covers = rowids
            .into_iter()
            .chain(keys.filter_map(ddl::Index::key_columns))
            .peekable();
        if covers.peek().is_none() {
            return Err("it is unique, and no other key keeps these rows apart".into());
        }
        let table = &catalog.name;
        let clauses = ddl::clauses(&self.statements(table)?.table);
        match covers.all(|cover| ddl::changes_without(&clauses, &columns, &cover, rowid)) {
            true => Err(format!(
                "a key of {table} says what happens on conflict, which would change"
            )),
            false => Ok(()),
        }
    }

    /// Refuses where the rowid is relied on.
    fn refuse_use_of_rowid(&self, catalog: &Catalog) -> Refusal {
        let uses = Uses::of(&self.new).map_err(|error| error.to_string())?;
        match uses.users_of_rowid(&self.new, catalog).first() {
            None => Ok(()),
            Some(object) => Err(format!(
                "the {} {} uses the rowid of {}, or may use it",
                object.kind, object.name, catalog.name
            )),
        }
    }

    fn ids_to_blobs(&mut self, source: &Connection, columns: &[Conversion]) -> Refusal {
        for conversion in columns {
            let Conversion {
                table,
                column,
                form,
            } = conversion;
            let catalog = self.catalog(table)?;
            let Some(own) = catalog.column(column).filter(|own| own.hidden == 0) else {
                return Err(format!(
                    "{table} has no column {column} that can be converted"
                ));
            };
            if catalog.is_strict && !own.kind.eq_ignore_ascii_case("ANY") {
                return Err(format!(
                    "{table} is STRICT, and {column} takes {} only",
                    own.kind
                ));
            }
            let default = own.default.as_deref().unwrap_or("NULL");
            if !default.eq_ignore_ascii_case("NULL") {
                return Err(format!(
                    "{table}.{column} has a DEFAULT: new rows would get text"
                ));
            }
            self.refuse_use_of_text(&catalog, column)?;
            self.demand(ConditionKind::Ids(conversion.clone()));
            let name = own.name.clone();
            let edited = ddl::retyped(&self.statements(table)?.table, column, "BLOB", false);
            self.edit(table, edited, |catalog| {
                for own in &mut catalog.columns {
                    if own.name == name {
                        own.kind = "BLOB".to_owned();
                    }
                }
            })?;
            let all = self.conversions.entry(catalog.name.clone()).or_default();
            all.push((name, *form));
        }
        self.refuse_half_converted_keys(source)
    }

    /// Refuses where the text of a column is used by more than plain columns and indexes of them.
    fn refuse_use_of_text(&self, catalog: &Catalog, column: &str) -> Refusal {
        let table = &catalog.name;
        let uses = Uses::of(&self.new).map_err(|error| error.to_string())?;
        let is_over = |object: &&Object| {
            let is_about = object.mentions(table) && (object.mentions(column) || has_star(object));
            object.is_virtual() && is_about
        };
        let over = self.new.objects.iter().find(is_over);
        if let Some(object) = over.or_else(|| user_of_text(&self.new, &uses, table, column)) {
            return Err(format!(
                "the {} {} may use the text of {table}.{column}",
                object.kind, object.name
            ));
        }
        let sql = self.statements(table)?.table;
        if ddl::within_expression(&sql, column) {
            return Err(format!(
                "a CHECK or a generated column of {table} may use the text of {column}"
            ));
        }
        let is_computed = |index: &&ddl::Index| {
            let object = self.new.find("index", &index.name);
            let sql = object.and_then(|object| object.sql.as_deref());
            let is_plain = |term: &ddl::Term| {
                let name = term.name.as_deref();
                term.is_key && name.is_some_and(|name| name.eq_ignore_ascii_case(column))
            };
            let plain = index.terms.iter().filter(|term| is_plain(term));
            let words = ddl::tokens(sql.unwrap_or_default());
            let terms = words.iter().skip_while(|word| !word.is_symbol("("));
            let all = terms.filter(|word| word.is_name(column));
            // More often than as a plain term: in an expression or the condition.
            sql.is_some() && all.count() > plain.count()
        };
        match catalog.indexes.iter().find(is_computed) {
            None => Ok(()),
            Some(index) => Err(format!("the index {} computes with {column}", index.name)),
        }
    }

    /// Columns that a foreign key joins are converted together.
    fn refuse_half_converted_keys(&self, source: &Connection) -> Refusal {
        let form = |table: &str, column: &str| {
            let mut tables = self.conversions.iter();
            let (_, columns) = tables.find(|(name, _)| name.eq_ignore_ascii_case(table))?;
            let is_named = |(name, _): &&(String, IdForm)| name.eq_ignore_ascii_case(column);
            columns.iter().find(is_named).map(|(_, form)| *form)
        };
        let tables: Vec<&str> = self.old.tables().map(|table| &*table.name).collect();
        for table in tables {
            for [from, parent, to] in
                foreign_keys(source, table).map_err(|error| error.to_string())?
            {
                let to = match to.is_empty() {
                    true => self.implied_parent_column(&parent, &from),
                    false => Some(to),
                };
                let Some(to) = to else { continue };
                if form(table, &from) != form(&parent, &to) {
                    return Err(format!(
                        "{table}.{from} refers to {parent}.{to}: both have to be converted together"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The column of a parent's key where a foreign key of one column doesn't name it.
    fn implied_parent_column(&self, parent: &str, _from: &str) -> Option<String> {
        let catalog = self.old.statements(parent)?.catalog().ok()?;
        catalog.key().first().map(|column| column.name.clone())
    }
}

/// Whether a text has a `*`, which may stand for a column.
fn has_star(object: &Object) -> bool {
    let sql = object.sql.as_deref().unwrap_or_default();
    ddl::tokens(sql).iter().any(|token| token.is_symbol("*"))
}

/// From, parent and to of each column of a table's foreign keys.
fn foreign_keys(source: &Connection, table: &str) -> rusqlite::Result<Vec<[String; 3]>> {
    let list = "SELECT \"from\", \"table\", coalesce(\"to\", '') FROM pragma_foreign_key_list(?1)";
    let mut statement = source.prepare(list)?;
    let rows = statement.query_map([table], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    rows.collect()
}

fn count(source: &Connection, table: &str, condition: &str) -> Result<u64, String> {
    let count = format!(
        "SELECT count(*) FROM main.{} WHERE {condition}",
        quoted(table)
    );
    let count = source.query_row(&count, [], |row| row.get(0));
    count.map_err(|error| error.to_string())
}

fn refuse_null(source: &Connection, table: &str, column: &str) -> Refusal {
    match count(source, table, &format!("{} IS NULL", quoted(column)))? {
        0 => Ok(()),
        nulls => Err(format!("{nulls} rows have NULL in {column}, of the key")),
    }
}

fn refuse_other_than_integers(source: &Connection, table: &str, column: &str) -> Refusal {
    let others = count(
        source,
        table,
        &format!("typeof({}) <> 'integer'", quoted(column)),
    )?;
    match others {
        0 => Ok(()),
        others => Err(format!(
            "{others} rows have something else than an integer in {column}"
        )),
    }
}

fn refuse_other_than_ids(source: &Connection, conversion: &Conversion) -> Refusal {
    let Conversion {
        table,
        column,
        form,
    } = conversion;
    let column = quoted(column);
    let select = format!(
        "SELECT {column} FROM main.{} WHERE {column} IS NOT NULL",
        quoted(table)
    );
    let others = || -> rusqlite::Result<u64> {
        let mut statement = source.prepare(&select)?;
        let mut rows = statement.query([])?;
        let mut others = 0;
        while let Some(row) = rows.next()? {
            let is_id = match row.get_ref(0)? {
                rusqlite::types::ValueRef::Text(text) => ids::to_blob(text, *form).is_some(),
                _ => false,
            };
            others += u64::from(!is_id);
        }
        Ok(others)
    };
    match others().map_err(|error| error.to_string())? {
        0 => Ok(()),
        others => Err(format!(
            "{others} rows of {table} have something else in {column} than an id of this form"
        )),
    }
}
