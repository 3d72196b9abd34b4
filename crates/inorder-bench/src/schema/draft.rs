//! Writes the experiment.

use super::{
    catalog::{Catalog, page_bytes},
    class::{Class, class},
    ddl::{self, Shape},
    distinct::{Distinct, Plan, Room, plan},
    key::{Key, key_of},
    limits::{Limits, limits},
    recipe::Known,
    together::{self, Together},
};
use crate::error::Error;
use inorder_copy::model::{Column, ForeignKey, Table};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

/// Rows of the table whose rows are counted, quick and full.
const ROWS: (u64, u64) = (20_000, 1_000_000);
/// Rows of a table that is filled before, without data and at most.
const ROWS_BEFORE: u64 = 1000;
const ROWS_BEFORE_MAX: u64 = 100_000;
/// Kinds that a key is compared with.
const KINDS: [&str; 3] = ["uuid4", "uuid7", "int-seq"];

/// What the experiment is to be about.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Tables whose keys are in question, the one whose rows are counted first; empty: the schema decides.
    pub tables: Vec<String>,
    /// Engines to run on; empty: that of the schema.
    pub engines: Vec<String>,
    /// Where the schema comes from, for the comment at the top.
    pub origin: String,
}

/// An experiment that was drafted.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its name, which is that of the table.
    pub name: String,
    /// Its text in TOML.
    pub text: String,
}

/// Drafts the experiment that compares key kinds for tables of a schema.
///
/// # Errors
/// If the tables can't be chosen.
pub fn draft(catalog: &Catalog, wishes: &Wishes) -> Result<Draft, Error> {
    let together = together::choose(catalog, &wishes.tables)?;
    let engines = match wishes.engines.is_empty() {
        true => vec![catalog.engine.to_owned()],
        false => wishes.engines.clone(),
    };
    let unreadable = catalog.left_out.keys();
    let unreadable = unreadable.filter_map(|table| catalog.note_on(table));
    let mut notes: Vec<String> = unreadable.chain(catalog.notes.iter().cloned()).collect();
    let tables = catalog.tables.iter();
    notes.extend(
        tables
            .filter(|table| !together.has(&table.name))
            .map(|table| {
                format!(
                    "left out: table {}, which has nothing to do with {}",
                    table.name, together.root.name
                )
            }),
    );
    let mut body = String::new();
    let mut rows = BTreeMap::new();
    for table in all_tables(&together) {
        let mut writer = TableWriter {
            catalog,
            together: &together,
            engines: &engines,
            table,
            rows: 0,
            plan: Plan::default(),
        };
        writer.keep_apart(&rows, &mut notes);
        writer.write(&mut body, &mut notes);
        rows.insert(table.name.as_str(), writer.rows);
    }
    let mut text = header(&together, &engines, &wishes.origin, &notes);
    text += &factors(catalog, &together, &engines);
    text += &body;
    Ok(Draft {
        name: together.root.name.clone(),
        text,
    })
}

/// All tables of the experiment in the order in which they are created.
fn all_tables<'a>(together: &Together<'a>) -> Vec<&'a Table> {
    let before = together.before.iter().copied();
    let members = together.members.iter().map(|(table, ..)| *table);
    before.chain([together.root]).chain(members).collect()
}

fn header(together: &Together<'_>, engines: &[String], origin: &str, notes: &[String]) -> String {
    let root = &together.root.name;
    let mut text = format!("# Key kinds for `{root}`, drafted from {origin}.\n");
    let members: Vec<String> = together
        .members
        .iter()
        .map(|(table, key, repeat)| {
            format!("{repeat} of `{}` per row of `{}`", table.name, key.parent)
        })
        .collect();
    if !members.is_empty() {
        let _ = writeln!(
            text,
            "# A transaction has rows of `{root}` and the rows that belong to them: {}.",
            members.join(", ")
        );
    }
    for note in notes {
        let note = note.replace("not copied:", "left out:").replace('\n', " ");
        let _ = writeln!(text, "# {note}");
    }
    let string = |text: String| toml::Value::from(text).to_string();
    let _ = writeln!(
        text,
        "title = {}\nquestion = {}\nexpect = \"A key that arrives in order costs less than a random one.\"",
        string(format!("Keys of {root}")),
        string(format!(
            "Which key costs the table {root} least in {}?",
            engines.join(", ")
        ))
    );
    text
}

/// `[factors]`, `[fixed]`, the baseline and the scales.
fn factors(catalog: &Catalog, together: &Together<'_>, engines: &[String]) -> String {
    let root = together.root;
    let own = key_column(root).and_then(|column| {
        let values = catalog.values(&root.name, &column.name);
        key_of(column, class(catalog.engine, column), &values)
    });
    let own = own.unwrap_or(Key {
        kind: "int-seq",
        encoding: "default",
    });
    let own_encoding = match (own.encoding, &engines[0][..]) {
        ("native", "sqlite") => "blob",
        (encoding, _) => encoding,
    };
    let mut kinds = vec![own.kind];
    kinds.extend(KINDS.iter().filter(|kind| **kind != own.kind));
    let mut encodings = vec![own_encoding];
    for engine in engines {
        encodings.push(if engine == "sqlite" { "blob" } else { "native" });
    }
    encodings.push("default");
    let mut seen = BTreeSet::new();
    encodings.retain(|encoding| seen.insert(*encoding));
    let mut skips = Vec::new();
    for kind in &kinds {
        let is_integer = kind.starts_with("int");
        let wrong = encodings
            .iter()
            .filter(|e| is_integer != (**e == "default"));
        skips.extend(wrong.map(|e| format!("  {{ key = \"{kind}\", encoding = \"{e}\" }},\n")));
    }
    for engine in engines.iter().filter(|_| engines.len() > 1) {
        let foreign = if engine == "sqlite" { "native" } else { "blob" };
        if encodings.contains(&foreign) && foreign != own_encoding {
            skips.push(format!(
                "  {{ engine = \"{engine}\", encoding = \"{foreign}\" }},\n"
            ));
        }
    }
    let list = |levels: &[&str]| {
        levels
            .iter()
            .map(|l| format!("\"{l}\""))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let names: Vec<&str> = engines.iter().map(String::as_str).collect();
    let (engine_factor, engine_fixed) = match &names[..] {
        [one] => (String::new(), format!("engine = \"{one}\"\n")),
        all => (format!("engine = [{}]\n", list(all)), String::new()),
    };
    let pages = pages(engines);
    format!(
        "# The first level of each factor is the key as it is now.\nskip = [\n{}]\n\n[factors]\n{engine_factor}key = [{}]\nencoding = [{}]\n\n\
         [fixed]\n{engine_fixed}rows_per_transaction = 10\ncache_kib = 4096\n{pages}\n\
         [baseline]\nkey = \"{}\"\nencoding = \"{own_encoding}\"\n\n\
         [quick]\nrows = {}\nrepetitions = 3\n\n[full]\nrows = {}\ncache_kib = 65536\nrepetitions = 5\n\n\
         [reads]\npoints = 2000\n",
        skips.concat(),
        list(&kinds),
        list(&encodings),
        own.kind,
        ROWS.0,
        ROWS.1
    )
}

/// `[fixed.mariadb]`, if the experiment runs there.
fn pages(engines: &[String]) -> String {
    match engines.iter().any(|engine| engine == "mariadb") {
        true => format!(
            "\n[fixed.mariadb]\npage_size_bytes = {}\n",
            page_bytes("mariadb")
        ),
        false => String::new(),
    }
}

/// The column of a primary key that is one column.
fn key_column(table: &Table) -> Option<&Column> {
    match &table.key[..] {
        [key] => table.columns.iter().find(|column| column.name == *key),
        _ => None,
    }
}

/// Writes one table.
struct TableWriter<'a> {
    catalog: &'a Catalog,
    together: &'a Together<'a>,
    engines: &'a [String],
    table: &'a Table,
    /// Its rows, in the full scale if it is measured.
    rows: u64,
    /// How they are kept apart.
    plan: Plan<'a>,
}

impl<'a> TableWriter<'a> {
    /// Decides how many rows there are, and how its unique keys can hold them. `rows` has the rows of the tables before.
    fn keep_apart(&mut self, rows: &BTreeMap<&str, u64>, notes: &mut Vec<String>) {
        let name = &self.table.name;
        let is_measured = self.together.is_measured(name);
        let per_root = self.together.per_root(name);
        self.rows = match is_measured {
            true => ROWS.1.saturating_mul(per_root),
            false => self.rows_before(),
        };
        loop {
            let room = |column: &str| self.room(column, rows);
            let keys = self.unique_keys().map(Vec::as_slice);
            self.plan = plan(keys.collect(), (self.rows, per_root), room);
            let fewest = self.plan.unmet.iter().map(|(_, most)| *most).min();
            match fewest {
                Some(most) if !is_measured => self.rows = most.max(1),
                _ => break,
            }
        }
        if !is_measured && self.rows < self.rows_before() {
            let rows = self.rows;
            notes.push(format!("{name} has {rows} rows, because recipes make no more different values for its unique keys"));
        }
        for (key, most) in &self.plan.unmet {
            let columns = key.join(", ");
            let left_out = match **key == self.table.key {
                true => "PRIMARY KEY",
                false => "UNIQUE",
            };
            notes.push(format!(
                "left out: {left_out} ({columns}) of {name}, for which recipes make {most} different values"
            ));
        }
    }

    /// What a column can do to keep rows apart.
    fn room(&self, name: &str, rows: &BTreeMap<&str, u64>) -> Room {
        if let Some(key) = self.link(name) {
            let owner = self.together.owner(&self.table.name);
            return match (owner, rows.get(key.parent.as_str())) {
                (Some((owner, repeat)), _) if owner.name == key.name => Room::Owner(repeat),
                (_, Some(rows)) if !self.together.is_measured(&key.parent) => Room::Parent(*rows),
                _ => Room::None,
            };
        }
        let mut columns = self.table.columns.iter();
        let Some(column) = columns.find(|column| column.name == name) else {
            return Room::None;
        };
        let is_key = self.table.key == [name];
        let known = self.known(column);
        let key = key_of(column, known.class, &known.values);
        let is_varied = self.together.varied.contains(self.table.name.as_str());
        let is_id = key.is_some_and(|key| !key.kind.starts_with("int"));
        match is_key && (is_varied || is_id) || known.is_empty() {
            true => Room::Distinct,
            false => known.room(),
        }
    }

    fn write(&self, text: &mut String, notes: &mut Vec<String>) {
        let table = self.table;
        let string = |text: &str| toml::Value::from(text).to_string();
        let _ = writeln!(text, "\n[[table]]\nname = {}", string(&table.name));
        match self.together.is_measured(&table.name) {
            true => text.push_str("measured = true\n"),
            false => {
                let _ = writeln!(text, "rows = {}", self.rows);
            }
        }
        text.push_str("\n[table.columns]\n");
        let mut types = BTreeMap::new();
        for column in &table.columns {
            let known = self.known(column);
            match self.recipe(column, &known, &mut types) {
                Some(recipe) => _ = writeln!(text, "{} = {recipe}", string(&column.name)),
                // As in the database.
                None if known.is_empty() => {}
                None => notes.push(self.without_recipe(column, "NULL")),
            }
            if types.contains_key(column.name.as_str()) {
                notes.push(self.without_recipe(column, "text"));
            }
            if let Some(bytes) = known.shortened_to() {
                notes.push(format!(
                    "{}.{} has values of at most {bytes} bytes, because it belongs to a unique key",
                    table.name, column.name
                ));
            }
        }
        let links = self.kept_links();
        for key in &table.foreign_keys {
            if !links.iter().any(|kept| kept.name == key.name) {
                notes.push(format!(
                    "left out: the foreign key {} of {}",
                    key.name, table.name
                ));
            }
        }
        if !table.checks.is_empty() {
            notes.push(format!("left out: the CHECK constraints of {}", table.name));
        }
        text.push_str("\n[table.create]\n");
        let shape = Shape {
            from: self.catalog.engine,
            keys: self.key_columns(),
            types,
            classes: links
                .iter()
                .filter_map(|key| self.class_of_parent(key))
                .collect(),
            links,
            not_unique: self.plan.unmet.iter().map(|(key, _)| *key).collect(),
        };
        for engine in self.engines {
            let sql = ddl::create(table, engine, &shape);
            let _ = writeln!(text, "{engine} = '''\n{sql}'''");
        }
    }

    /// Rows of a table that is filled before: those it has, scaled to the rows of the root.
    fn rows_before(&self) -> u64 {
        let has_rows = |table: &Table| {
            let rows = self.catalog.samples.get(&table.name);
            rows.is_some_and(|rows| !rows.is_empty())
        };
        if !has_rows(self.table) || !has_rows(self.together.root) {
            return ROWS_BEFORE;
        }
        let share = ROWS.0 as f64 / self.together.root.rows_estimated.max(1) as f64;
        let rows = self.table.rows_estimated as f64 * share.min(1.0);
        (rows as u64).clamp(1, ROWS_BEFORE_MAX)
    }

    /// The foreign keys that rows are made by.
    fn kept_links(&self) -> Vec<&'a ForeignKey> {
        let all = all_tables(self.together);
        let place = |name: &str| all.iter().position(|table| table.name == name);
        let own = place(&self.table.name);
        together::links(self.table)
            .filter(|key| place(&key.parent).is_some_and(|parent| Some(parent) < own))
            .collect()
    }

    /// The column of a reference, and the class of the column that it refers to.
    fn class_of_parent(&self, key: &'a ForeignKey) -> Option<(&'a str, Class)> {
        let parent = self.catalog.table(&key.parent)?;
        let column = (parent.columns.iter()).find(|column| column.name == key.parent_columns[0])?;
        Some((&key.columns[0], class(self.catalog.engine, column)))
    }

    /// Columns with a key in question: the table's own and those that refer to one.
    fn key_columns(&self) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        if self.together.varied.contains(self.table.name.as_str()) {
            found.extend(key_column(self.table).map(|column| column.name.as_str()));
        }
        for key in self.kept_links() {
            let parent = self.catalog.table(&key.parent);
            let is_key = parent.is_some_and(|parent| parent.key == key.parent_columns);
            if is_key && self.together.varied.contains(key.parent.as_str()) {
                found.insert(&key.columns[0]);
            }
        }
        found
    }

    /// A note on a column whose type has no recipe.
    fn without_recipe(&self, column: &Column, stored: &str) -> String {
        let (table, name, declared) = (&self.table.name, &column.name, &column.declared);
        format!(
            "left out: values of {table}.{name}, which stores {stored}: no recipe makes values of the type {declared}"
        )
    }

    /// What is known of a column, and how it keeps rows apart.
    fn known(&self, column: &Column) -> Known<'a> {
        Known {
            class: class(self.catalog.engine, column),
            values: self.catalog.values(&self.table.name, &column.name),
            limits: limits(self.catalog.engine, &column.declared),
            distinct: self.plan.columns.get(column.name.as_str()).copied(),
        }
    }

    /// The foreign key that fills a column.
    fn link(&self, name: &str) -> Option<&'a ForeignKey> {
        let mut links = self.kept_links().into_iter();
        links.find(|key| key.columns[0] == name)
    }

    /// The recipe of a column; `None` leaves it to the engine, or NULL. `types` receives the type that a recipe needs.
    fn recipe(
        &self,
        column: &'a Column,
        known: &Known<'_>,
        types: &mut BTreeMap<&'a str, String>,
    ) -> Option<String> {
        let (table, name) = (self.table, column.name.as_str());
        if let Some(key) = self.link(name) {
            return Some(self.reference(key));
        }
        let is_key = table.key == [name];
        if is_key && self.together.varied.contains(table.name.as_str()) {
            return Some("\"key\"".to_owned());
        }
        let is_unmet = self.plan.unmet.iter().any(|(key, _)| *key == [name]);
        if is_key
            && !is_unmet
            && let Some(key) = key_of(column, known.class, &known.values)
        {
            return Some(match (key.kind, key.encoding) {
                ("int-seq", _) => "\"sequence\"".to_owned(),
                (kind, "text" | "hex" | "blob") => {
                    let encoding = key.encoding;
                    format!("{{ fill = \"key\", kind = \"{kind}\", encoding = \"{encoding}\" }}")
                }
                (kind, _) => format!("{{ fill = \"key\", kind = \"{kind}\" }}"),
            });
        }
        let recipe = known.recipe();
        if recipe.is_some() || !(column.is_not_null || table.key.iter().any(|key| key == name)) {
            return recipe;
        }
        types.insert(name, "{text}".to_owned());
        let is_unique = self.unique_keys().any(|key| key.iter().any(|c| c == name));
        Known {
            class: Class::Text(None),
            values: Vec::new(),
            limits: Limits::None,
            distinct: is_unique.then_some(Distinct::Always),
        }
        .recipe()
    }

    /// The recipe of a column that refers to a table.
    fn reference(&self, key: &ForeignKey) -> String {
        let from = toml::Value::from(format!("{}.{}", key.parent, key.parent_columns[0]));
        if self.together.is_measured(&self.table.name) && self.together.is_measured(&key.parent) {
            let repeat = match self.together.owner(&self.table.name) {
                Some((owner, repeat)) if owner.name == key.name => format!(", repeat = {repeat}"),
                _ => String::new(),
            };
            return format!("{{ fill = \"each\", from = {from}{repeat} }}");
        }
        let column = key.columns[0].as_str();
        let values = self.catalog.values(&self.table.name, column);
        let nulls = values.iter().filter(|value| value.is_none()).count();
        let null_share = match nulls {
            0 => String::new(),
            _ => format!(", null_share = {:.3}", nulls as f64 / values.len() as f64),
        };
        let fill = match self.plan.columns.get(column) {
            Some(Distinct::InTurn { repeat, .. }) => {
                format!("\"each\", from = {from}, repeat = {repeat}")
            }
            Some(_) => format!("\"pick\", from = {from}, distinct = true"),
            None => format!("\"pick\", from = {from}"),
        };
        format!("{{ fill = {fill}{null_share} }}")
    }

    /// The columns of each unique index and of the primary key.
    fn unique_keys(&self) -> impl Iterator<Item = &'a Vec<String>> {
        let indexes = self.table.indexes.iter().filter(|index| index.is_unique);
        let keys = indexes.map(|index| &index.columns);
        keys.chain([&self.table.key]).filter(|key| !key.is_empty())
    }
}
