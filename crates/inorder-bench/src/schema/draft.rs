//! Writes the experiment.

use super::{
    catalog::{Catalog, Note, page_bytes},
    class::{Class, class},
    ddl::{self, Shape, Type},
    distinct::{Distinct, Plan, Room, plan},
    key::{Key, key_of},
    limits::{Limits, limits},
    recipe::Known,
    references::{LeftOut, References},
    together::{self, Together, id_column},
    toml_text::{comment, lines, string},
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
    let engines = match wishes.engines.is_empty() {
        true => vec![catalog.engine.to_owned()],
        false => wishes.engines.clone(),
    };
    let mut references = References::of(catalog);
    let mut named = wishes.tables.clone();
    loop {
        let together = together::choose(&references, &named)?;
        if named.is_empty() {
            // The same one without the foreign keys that are left out below.
            named.push(together.root.name.clone());
        }
        let mut unusable = together.unusable(&references);
        if unusable.is_empty() {
            let drafter = Drafter::new(&references, &together, &engines);
            let tables = drafter.plan();
            unusable = without_parents(&tables);
            if unusable.is_empty() {
                return Ok(drafter.write(&tables, &wishes.origin));
            }
        }
        for key in unusable {
            references.leave_out(key);
        }
    }
}

/// Foreign keys to columns that recipes can't keep unique.
fn without_parents(tables: &[TableWriter<'_>]) -> Vec<LeftOut> {
    let mut found = Vec::new();
    for writer in tables {
        for key in writer.links() {
            let mut parents = tables.iter().filter(|other| other.table.name == key.parent);
            let is_unmet = parents.any(|parent| {
                let mut unmet = parent.plan.unmet.iter();
                unmet.any(|(columns, _)| *columns == key.parent_columns)
            });
            if is_unmet {
                let (parent, column) = (&key.parent, &key.parent_columns[0]);
                let why = format!("{parent}.{column} is not unique in the experiment");
                found.push(LeftOut::new(writer.table, key, why));
            }
        }
    }
    found
}

/// What all tables of a draft depend on.
struct Drafter<'a> {
    catalog: &'a Catalog,
    references: &'a References<'a>,
    together: &'a Together<'a>,
    engines: &'a [String],
    /// Tables and columns that foreign keys of the experiment refer to.
    referred: BTreeSet<(&'a str, &'a str)>,
}

/// Types in place of those that columns have, by table and column.
type Types<'a> = BTreeMap<(&'a str, &'a str), Type<'a>>;

impl<'a> Drafter<'a> {
    fn new(
        references: &'a References<'a>,
        together: &'a Together<'a>,
        engines: &'a [String],
    ) -> Self {
        let tables = together.tables().into_iter();
        let keys = tables.flat_map(|table| references.of_table(table));
        let referred = keys.map(|key| (key.parent.as_str(), key.parent_columns[0].as_str()));
        Drafter {
            catalog: references.catalog,
            references,
            together,
            engines,
            referred: referred.collect(),
        }
    }

    /// The tables, each with its rows and how they are kept apart.
    fn plan(&'a self) -> Vec<TableWriter<'a>> {
        let mut rows = BTreeMap::new();
        let mut planned = Vec::new();
        for table in self.together.tables() {
            let mut writer = TableWriter {
                all: self,
                table,
                rows: 0,
                plan: Plan::default(),
            };
            writer.keep_apart(&rows);
            rows.insert(table.name.as_str(), writer.rows);
            planned.push(writer);
        }
        planned
    }

    fn write(&'a self, tables: &[TableWriter<'a>], origin: &str) -> Draft {
        let root = &self.together.root.name;
        let mut notes = self.notes();
        let mut body = String::new();
        let mut types = Types::new();
        for writer in tables {
            writer.notes_on_rows(&mut notes);
            writer.write(&mut body, &mut notes, &mut types);
        }
        let mut text = header(self.together, self.engines, origin, &notes);
        text += &factors(self.catalog, self.together, self.engines);
        text += &body;
        Draft {
            name: root.clone(),
            text,
        }
    }

    /// What of the schema is no part of the experiment.
    fn notes(&self) -> Vec<String> {
        let catalog = self.catalog;
        let unreadable = catalog.left_out.keys();
        let unreadable = unreadable.filter_map(|table| catalog.note_on(table));
        let of_catalog = catalog.notes.iter().map(Note::to_string);
        let mut notes: Vec<String> = unreadable.chain(of_catalog).collect();
        let tables = catalog.tables.iter();
        for table in tables.filter(|table| !self.together.has(&table.name)) {
            notes.push(format!(
                "left out: table {}, which no foreign key of the experiment connects with {}",
                table.name, self.together.root.name
            ));
            let has = |parent: &str| self.together.has(parent);
            notes.extend(self.references.notes(table, has));
        }
        notes
    }
}

fn header(together: &Together<'_>, engines: &[String], origin: &str, notes: &[String]) -> String {
    let root = &together.root.name;
    let mut text = comment(&format!("Key kinds for `{root}`, drafted from {origin}."));
    let members: Vec<String> = together
        .members
        .iter()
        .map(|(table, key, repeat)| {
            format!("{repeat} of `{}` per row of `{}`", table.name, key.parent)
        })
        .collect();
    if !members.is_empty() {
        text += &comment(&format!(
            "A transaction has rows of `{root}` and the rows that belong to them: {}.",
            members.join(", ")
        ));
    }
    for note in notes {
        text += &comment(&note.replace("not copied:", "left out:"));
    }
    let _ = writeln!(
        text,
        "title = {}\nquestion = {}\nexpect = \"A key that arrives in order costs less than a random one.\"",
        string(&format!("Keys of {root}")),
        string(&format!(
            "Which key costs the table {root} least in {}?",
            engines.join(", ")
        ))
    );
    text
}

/// `[factors]`, `[fixed]`, the baseline and the scales.
fn factors(catalog: &Catalog, together: &Together<'_>, engines: &[String]) -> String {
    let root = together.root;
    let own = id_column(catalog, root).and_then(|column| {
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

/// The column of this name.
fn column_of<'a>(table: &'a Table, name: &str) -> Option<&'a Column> {
    table.columns.iter().find(|column| column.name == name)
}

/// Writes one table.
struct TableWriter<'a> {
    all: &'a Drafter<'a>,
    table: &'a Table,
    /// Its rows, in the full scale if it is measured.
    rows: u64,
    /// How they are kept apart.
    plan: Plan<'a>,
}

impl<'a> TableWriter<'a> {
    /// Decides how many rows there are, and how its unique keys can hold them. `rows` has the rows of the tables before.
    fn keep_apart(&mut self, rows: &BTreeMap<&str, u64>) {
        let name = &self.table.name;
        let is_measured = self.all.together.is_measured(name);
        let per_root = self.all.together.per_root(name);
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
    }

    /// Says what was changed for the unique keys.
    fn notes_on_rows(&self, notes: &mut Vec<String>) {
        let name = &self.table.name;
        if !self.all.together.is_measured(name) && self.rows < self.rows_before() {
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
        if let Some(key) = self.all.references.at(self.table, name) {
            let owner = self.all.together.owner(&self.table.name);
            return match (owner, rows.get(key.parent.as_str())) {
                (Some((owner, repeat)), _) if owner.name == key.name => Room::Owner(repeat),
                (_, Some(rows)) if !self.all.together.is_measured(&key.parent) => {
                    Room::Parent(*rows)
                }
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
        let is_id = key.is_some_and(|key| !key.kind.starts_with("int"));
        match is_key && is_id || self.is_in_question(name) || known.is_empty() {
            true => Room::Distinct,
            false => known.room(),
        }
    }

    fn write(&self, text: &mut String, notes: &mut Vec<String>, types: &mut Types<'a>) {
        let table = self.table;
        let _ = writeln!(text, "\n[[table]]\nname = {}", string(&table.name));
        match self.all.together.is_measured(&table.name) {
            true => text.push_str("measured = true\n"),
            false => {
                let _ = writeln!(text, "rows = {}", self.rows);
            }
        }
        text.push_str("\n[table.columns]\n");
        let mut own_types = self.types(types);
        for column in &table.columns {
            let known = self.known(column);
            match self.recipe(column, &known, &mut own_types) {
                Some(recipe) => _ = writeln!(text, "{} = {recipe}", string(&column.name)),
                // As in the database.
                None if known.is_empty() => {}
                None => notes.push(self.without_recipe(column, "NULL")),
            }
            if let Some(ty) = own_types.get(column.name.as_str()) {
                notes.extend(self.note_on_type(column, *ty));
            }
            notes.extend(self.notes_on_values(column, &known));
        }
        notes.extend(self.all.references.notes(table, |_| true));
        if !table.checks.is_empty() {
            notes.push(format!("left out: the CHECK constraints of {}", table.name));
        }
        text.push_str("\n[table.create]\n");
        let of_table = own_types.iter();
        types.extend(of_table.map(|(column, ty)| ((table.name.as_str(), *column), *ty)));
        let shape = Shape {
            from: self.all.catalog.engine,
            types: own_types,
            links: self.links(),
            not_unique: self.plan.unmet.iter().map(|(key, _)| *key).collect(),
        };
        for engine in self.all.engines {
            let sql = ddl::create(table, engine, &shape);
            let _ = writeln!(text, "{engine} = {}", lines(&sql));
        }
    }

    /// Rows of a table that is filled before: those it has, scaled to the rows of the root.
    fn rows_before(&self) -> u64 {
        let has_rows = |table: &Table| {
            let rows = self.all.catalog.samples.get(&table.name);
            rows.is_some_and(|rows| !rows.is_empty())
        };
        if !has_rows(self.table) || !has_rows(self.all.together.root) {
            return ROWS_BEFORE;
        }
        let share = ROWS.0 as f64 / self.all.together.root.rows_estimated.max(1) as f64;
        let rows = self.table.rows_estimated as f64 * share.min(1.0);
        (rows as u64).clamp(1, ROWS_BEFORE_MAX)
    }

    /// The foreign keys that rows are made by.
    fn links(&self) -> Vec<&'a ForeignKey> {
        self.all.references.of_table(self.table).collect()
    }

    /// The types of the key in question and of references. `parents` has those of the tables before.
    fn types(&self, parents: &Types<'a>) -> BTreeMap<&'a str, Type<'a>> {
        let mut found = BTreeMap::new();
        if self.all.together.varied.contains(self.table.name.as_str()) {
            found.extend(
                self.id_column()
                    .map(|column| (column.name.as_str(), Type::Key)),
            );
        }
        for key in self.links() {
            let referred = (key.parent.as_str(), key.parent_columns[0].as_str());
            let parent = self.all.catalog.table(referred.0);
            let column = parent.and_then(|parent| column_of(parent, referred.1));
            let ty = parents.get(&referred).copied().or(column.map(Type::Of));
            found.extend(ty.map(|ty| (key.columns[0].as_str(), ty)));
        }
        found
    }

    /// The column whose kind of ids would be in question.
    fn id_column(&self) -> Option<&'a Column> {
        id_column(self.all.catalog, self.table)
    }

    /// Whether the ids of a column are in question.
    fn is_in_question(&self, column: &str) -> bool {
        let is_varied = self.all.together.varied.contains(self.table.name.as_str());
        is_varied && self.id_column().is_some_and(|id| id.name == column)
    }

    /// A note on a column that has another type than in the schema.
    fn note_on_type(&self, column: &Column, ty: Type<'_>) -> Option<String> {
        let engine = self.all.catalog.engine;
        match ty {
            Type::Text => Some(self.without_recipe(column, "text")),
            Type::Of(other) if ddl::is_narrower(engine, column, other) => Some(format!(
                "not as it is: {}.{} has the type {} of the column that it refers to",
                self.table.name, column.name, other.declared
            )),
            _ => None,
        }
    }

    /// Notes on a column that has other values than in the schema.
    fn notes_on_values(&self, column: &Column, known: &Known<'_>) -> Vec<String> {
        let (table, name) = (&self.table.name, &column.name);
        let shortened = known.shortened_to().map(|bytes| {
            format!(
                "{table}.{name} has values of at most {bytes} bytes, because it belongs to a unique key"
            )
        });
        let values = self.all.catalog.values(table, name);
        let is_filled = values.iter().any(Option::is_none)
            && self.is_referred(column)
            && !self.refuses_null(column);
        let filled = is_filled.then(|| {
            format!(
                "not as it is: {table}.{name} is never NULL, because a foreign key refers to it"
            )
        });
        shortened.into_iter().chain(filled).collect()
    }

    /// Whether a column has no NULL in the schema.
    fn refuses_null(&self, column: &Column) -> bool {
        column.is_not_null || self.table.key.contains(&column.name)
    }

    /// Whether a column is made without NULL.
    fn is_needed(&self, column: &Column) -> bool {
        self.refuses_null(column) || self.is_referred(column)
    }

    /// Whether a foreign key of the experiment refers to a column.
    fn is_referred(&self, column: &Column) -> bool {
        let name = (self.table.name.as_str(), column.name.as_str());
        self.all.referred.contains(&name)
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
        let mut values = self.all.catalog.values(&self.table.name, &column.name);
        if self.is_needed(column) {
            values.retain(Option::is_some);
        }
        Known {
            class: class(self.all.catalog.engine, column),
            values,
            limits: limits(self.all.catalog.engine, &column.declared),
            distinct: self.plan.columns.get(column.name.as_str()).copied(),
        }
    }

    /// The recipe of a column; `None` leaves it to the engine, or NULL. `types` receives the type that a recipe needs.
    fn recipe(
        &self,
        column: &'a Column,
        known: &Known<'_>,
        types: &mut BTreeMap<&'a str, Type<'a>>,
    ) -> Option<String> {
        let (table, name) = (self.table, column.name.as_str());
        if let Some(key) = self.all.references.at(table, name) {
            return Some(self.reference(key, known));
        }
        let is_key = table.key == [name];
        if self.is_in_question(name) {
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
        if recipe.is_some() || !self.is_needed(column) {
            return recipe;
        }
        types.insert(name, Type::Text);
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
    fn reference(&self, key: &ForeignKey, known: &Known<'_>) -> String {
        let from = string(&format!("{}.{}", key.parent, key.parent_columns[0]));
        if self.all.together.is_measured(&self.table.name)
            && self.all.together.is_measured(&key.parent)
        {
            let repeat = match self.all.together.owner(&self.table.name) {
                Some((owner, repeat)) if owner.name == key.name => format!(", repeat = {repeat}"),
                _ => String::new(),
            };
            return format!("{{ fill = \"each\", from = {from}{repeat} }}");
        }
        let column = key.columns[0].as_str();
        let values = &known.values;
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
