//! How each tree of the new file comes from those of the old one.

use inorder_btree::record::KeyColumn;
use inorder_btree::{Collation, KeyOrder, Reader, TextEncoding};
use rusqlite::Connection;

use super::Failure;
use super::shape::{Layout, Shape, Source, key_index, needed};
use crate::IdForm;
use crate::apply::draft::Draft;
use crate::apply::schema::{Object, Schema};
use crate::ddl::{self, Catalog, Index};

/// A value of a record that is made of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The value in this field, as it is.
    Field(usize),
    /// The id in this field as a blob.
    Id(usize, IdForm),
    /// The row's rowid.
    Rowid,
    /// NULL.
    Null,
}

/// Which rowid a row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rowid {
    /// Its own.
    Kept,
    /// Its place in the order of the old tree, from 1.
    Counted,
    /// The integer in this field.
    Field(usize),
}

/// How a tree is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Recipe {
    /// Records as they are.
    Copy(Source),
    /// Records made anew, in the same order and with the same rowids.
    Recast { from: Source, row: Row },
    /// The entries whose first value isn't NULL.
    NotNull(Source),
    /// Rows of another layout, by rowid.
    Rows { from: Source, row: Row },
    /// The entries of an old index with the new keys of their rows.
    Joined(Box<Joined>),
    /// Records in another order.
    Sorted {
        from: Source,
        row: Row,
        order: KeyOrder,
        unique_columns: Option<usize>,
        /// Whether the tree has this order already.
        is_sorted: bool,
    },
}

/// An index whose entries lead to other keys than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Joined {
    /// The old index. Its entries end with the rowid.
    pub(crate) index: Source,
    /// How many of the first values of an entry stay.
    pub(crate) terms: usize,
    /// The old table, and the fields of its rows that follow in the new entries.
    pub(crate) table: Source,
    pub(crate) keys: Vec<usize>,
    pub(crate) order: KeyOrder,
    pub(crate) unique_columns: Option<usize>,
    /// How else the index is made, where the keys take too much memory.
    pub(crate) sorted: Recipe,
}

/// What becomes of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) parts: Vec<Part>,
    pub(crate) rowid: Rowid,
    /// The last field of a whole row, where shorter rows have other values than NULL: ALTER TABLE ADD COLUMN
    /// leaves rows as they are.
    pub(crate) last_field: Option<usize>,
    /// How many of the first parts are never NULL.
    pub(crate) not_null: usize,
    /// Whether the parts are all fields of the old row in their order.
    pub(crate) is_same: bool,
}

impl Row {
    /// How many values of a row have to be read for what becomes of it.
    pub(super) fn needed(&self) -> usize {
        let read = match self.is_same {
            true => self.not_null,
            false => self.parts.len(),
        };
        let of_part = |part: &Part| match part {
            Part::Field(field) | Part::Id(field, _) => Some(*field),
            Part::Rowid | Part::Null => None,
        };
        let of_rowid = match self.rowid {
            Rowid::Field(field) => Some(field),
            Rowid::Kept | Rowid::Counted => None,
        };
        let fields = self.parts[..read].iter().filter_map(of_part);
        needed(fields.chain(of_rowid).chain(self.last_field))
    }
}

/// An object of the new schema, and its tree if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) object: Object,
    pub(crate) recipe: Option<Recipe>,
    /// The root of its tree where that stays in the file as it is.
    pub(super) kept: Option<u32>,
    /// Of a table that changes.
    pub(super) change: Option<Change>,
}

/// How the rows of a table that changes are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: Layout,
    /// Its root isn't known yet.
    pub(super) new: Layout,
    pub(super) indexes: Vec<Index>,
}

/// All trees, and the indexes that SQLite makes afterwards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plans {
    pub(crate) plans: Vec<Plan>,
    pub(crate) statements_after: Vec<String>,
}

/// Why the file can't be built by pages.
pub(crate) type Obstacle = String;

impl Plans {
    /// Plans the new file of a draft.
    pub(crate) fn new(
        source: &Connection,
        reader: &mut Reader,
        draft: &Draft,
        encoding: TextEncoding,
    ) -> Result<Result<Self, Obstacle>, Failure> {
        if encoding != TextEncoding::Utf8 && !draft.conversions.is_empty() {
            return Ok(Err("ids in UTF-16 are converted by statements".to_owned()));
        }
        let mut plans = Plans::default();
        for object in &draft.new.objects {
            let is_index = object.kind == "index";
            if object.kind == "table" && !object.is_virtual() {
                let made = match is_changed(draft, object) {
                    false => plans.copy(&draft.old, object),
                    true => plans.change(source, reader, draft, object, encoding)?,
                };
                if let Err(obstacle) = made {
                    return Ok(Err(obstacle));
                }
            } else if !is_index {
                plans.push(object.clone(), None);
            }
        }
        plans.in_order_of(&draft.new);
        Ok(Ok(plans))
    }

    fn push(&mut self, object: Object, recipe: Option<Recipe>) {
        self.plans.push(Plan {
            object,
            recipe,
            kept: None,
            change: None,
        });
    }

    /// Keeps trees of the file itself where their records stay as they are. Returns their roots.
    pub(super) fn keep(&mut self, may_keep: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut kept = Vec::new();
        for plan in &mut self.plans {
            if let Some(Recipe::Copy(source)) = plan.recipe
                && may_keep(source.root)
                && !kept.contains(&source.root)
            {
                kept.push(source.root);
                (plan.kept, plan.recipe) = (Some(source.root), None);
            }
        }
        kept
    }

    /// The first index of a table that needs the new keys of the rows that the table is made of.
    pub(crate) fn joined_to(&self, table: usize) -> Option<&Joined> {
        let Some(Recipe::Sorted { from, .. } | Recipe::Rows { from, .. }) =
            &self.plans[table].recipe
        else {
            return None;
        };
        let name = &self.plans[table].object.name;
        let indexes = self.plans[table + 1..].iter();
        let indexes = indexes.take_while(|plan| plan.object.is_on(name));
        let mut joined = indexes.filter_map(|plan| match &plan.recipe {
            Some(Recipe::Joined(joined)) => Some(&**joined),
            _ => None,
        });
        joined.find(|joined| joined.table == *from)
    }

    /// The pages of the trees that are built, and those of the largest one that is sorted. `pages` tells those of the old
    /// tree at a root.
    pub(super) fn built_pages(&self, pages: impl Fn(u32) -> u64) -> (u64, u64) {
        let (mut built, mut sorted) = (0, 0);
        for recipe in self.plans.iter().filter_map(|plan| plan.recipe.as_ref()) {
            let own = match recipe {
                Recipe::Copy(from) | Recipe::NotNull(from) | Recipe::Recast { from, .. } => {
                    pages(from.root)
                }
                Recipe::Rows { from, .. } | Recipe::Sorted { from, .. } => {
                    sorted = sorted.max(pages(from.root));
                    pages(from.root)
                }
                // The new keys may be longer than rowids.
                Recipe::Joined(joined) => {
                    sorted = sorted.max(pages(joined.index.root));
                    2 * pages(joined.index.root)
                }
            };
            built += own;
        }
        (built, sorted)
    }

    /// How many trees are built.
    pub(crate) fn trees(&self) -> u32 {
        let trees = self.plans.iter().filter(|plan| plan.recipe.is_some());
        trees.count() as u32
    }

    /// Plans a table whose rows stay as they are; its indexes may have been dropped or made partial.
    fn copy(&mut self, old: &Schema, table: &Object) -> Result<(), Obstacle> {
        let catalogless = |object: &Object| Source {
            root: object.root,
            is_table: false,
        };
        self.push(
            table.clone(),
            Some(Recipe::Copy(Source {
                root: table.root,
                is_table: !is_without_rowid(table),
            })),
        );
        let indexes = old
            .objects
            .iter()
            .filter(|object| object.kind == "index" && object.is_on(&table.name));
        for index in indexes {
            self.push(index.clone(), Some(Recipe::Copy(catalogless(index))));
        }
        Ok(())
    }

    /// Plans a table that changes.
    fn change(
        &mut self,
        source: &Connection,
        reader: &mut Reader,
        draft: &Draft,
        table: &Object,
        encoding: TextEncoding,
    ) -> Result<Result<(), Obstacle>, Failure> {
        let old = Catalog::read(source, &table.name)?;
        let new = match draft.new.statements(&table.name) {
            Some(statements) => statements.catalog()?,
            None => return Ok(Err(format!("{} has no definition", table.name))),
        };
        let change = TableChange {
            draft,
            encoding,
            conversions: draft
                .conversions
                .get(&table.name)
                .map_or(&[], Vec::as_slice),
            is_rekeyed: draft.rekeyed.contains(&table.name),
            shape: Shape::new(&old, table.root),
            old,
            new,
        };
        change.plan(self, table, reader)
    }

    /// Leaves out what was dropped, takes the new definitions over, and puts indexes behind their tables.
    fn in_order_of(&mut self, new: &Schema) {
        let plans = std::mem::take(&mut self.plans);
        for mut plan in plans {
            let Object { kind, name, .. } = &plan.object;
            let is_made = kind == "index" && plan.object.sql.is_some();
            let definition = new.find(kind, name).cloned();
            match definition {
                None if is_made => continue,
                Some(definition) if is_made => {
                    if let (Some(Recipe::Copy(source)), true) =
                        (&plan.recipe, definition.sql != plan.object.sql)
                    {
                        plan.recipe = Some(Recipe::NotNull(*source));
                    }
                    plan.object.sql = definition.sql;
                }
                _ => {}
            }
            self.plans.push(plan);
        }
    }
}

pub(super) fn is_changed(draft: &Draft, table: &Object) -> bool {
    let is_same = draft.old.objects.contains(table);
    !is_same || draft.conversions.contains_key(&table.name) || draft.rekeyed.contains(&table.name)
}

/// What of a term decides about the order of entries.
fn like(term: &ddl::Term) -> (i64, bool, String) {
    (term.column, term.is_descending, term.collation.clone())
}

/// Whether a table's text ends in WITHOUT ROWID.
fn is_without_rowid(table: &Object) -> bool {
    let sql = table.sql.as_deref().unwrap_or_default();
    let words = ddl::tokens(sql);
    let close = words.iter().rposition(|word| word.is_symbol(")"));
    close.is_some_and(|close| words[close..].iter().any(|word| word.is("WITHOUT")))
}

/// A table that changes.
struct TableChange<'a> {
    draft: &'a Draft,
    encoding: TextEncoding,
    conversions: &'a [(String, IdForm)],
    is_rekeyed: bool,
    old: Catalog,
    new: Catalog,
    shape: Shape,
}

impl TableChange<'_> {
    fn plan(
        &self,
        plans: &mut Plans,
        table: &Object,
        reader: &mut Reader,
    ) -> Result<Result<(), Obstacle>, Failure> {
        let recipe = match (self.is_rekeyed, key_index(&self.new)) {
            (false, _) => self.recast_table(),
            (true, Some(key)) => self.keyed(key),
            (true, None) => self.rows(),
        };
        let recipe = match recipe {
            Ok(recipe) => recipe,
            Err(obstacle) => return Ok(Err(obstacle)),
        };
        plans.plans.push(Plan {
            object: table.clone(),
            change: self.compared(table.root, &recipe),
            recipe: Some(recipe),
            kept: None,
        });
        for index in &self.new.indexes {
            if key_index(&self.new) == Some(index) {
                continue;
            }
            let made = self.draft.new.find("index", &index.name);
            let made = made.filter(|_| index.origin == "c");
            let object = Object {
                kind: "index".to_owned(),
                name: index.name.clone(),
                table: table.name.clone(),
                root: 0,
                sql: made.and_then(|made| made.sql.clone()),
            };
            let recipe = match (self.is_rekeyed, self.empty(index, reader)?) {
                (true, Some(empty)) => Ok(Recipe::Copy(empty)),
                (true, None) => self.joined(index),
                (false, _) => self.recast_index(index),
            };
            match (recipe, &object.sql) {
                (Ok(recipe), _) => plans.push(object, Some(recipe)),
                (Err(_), Some(sql)) => plans.statements_after.push(sql.clone()),
                (Err(obstacle), None) => return Ok(Err(obstacle)),
            }
        }
        Ok(Ok(()))
    }

    /// What is needed to compare the table with what it was; nothing where its records are copied.
    fn compared(&self, root: u32, recipe: &Recipe) -> Option<Change> {
        let keeps_rowid = !self.is_rekeyed;
        let is_copied = !self.is_rekeyed && self.conversions.is_empty();
        if is_copied {
            return None;
        }
        let is_same = matches!(recipe, Recipe::Sorted { row, .. } if row.is_same);
        let mut old = Layout::new(&self.old, root, self.conversions, keeps_rowid, is_same);
        let mut new = Layout::new(&self.new, 0, &[], keeps_rowid, is_same);
        // The entries of an index may have values in another form than the rows.
        let is_of_rows = match recipe {
            Recipe::Sorted { from, .. } | Recipe::Rows { from, .. } => *from == self.shape.source,
            _ => false,
        };
        if is_of_rows && self.conversions.is_empty() {
            old.join_values(&mut new);
        }
        Some(Change {
            old,
            new,
            indexes: self.new.indexes.clone(),
        })
    }

    /// The tree of a partial index that no row of the old table has an entry in: none of the new one has. A condition
    /// that depends on the rowid or on how an id is stored is refused before.
    fn empty(&self, index: &Index, reader: &mut Reader) -> Result<Option<Source>, Failure> {
        let old = self.draft.old.find("index", &index.name);
        let is_same = old.map(|old| &old.sql)
            == self
                .draft
                .new
                .find("index", &index.name)
                .map(|new| &new.sql);
        match old.filter(|_| index.is_partial && is_same) {
            Some(old) if reader.is_empty(old.root)? => Ok(Some(Source {
                root: old.root,
                is_table: false,
            })),
            _ => Ok(None),
        }
    }

    fn form(&self, column: usize) -> Option<IdForm> {
        let name = &self.new.columns[column].name;
        let conversion = self.conversions.iter().find(|(own, _)| own == name);
        conversion.map(|(_, form)| *form)
    }

    /// A column's value in a record of the old table.
    fn part(&self, column: usize) -> Result<Part, Obstacle> {
        if self.shape.alias == Some(column) {
            return Ok(Part::Rowid);
        }
        let field = self.shape.fields.get(column).copied().flatten();
        let field = field.ok_or_else(|| format!("{} computes a column", self.new.name))?;
        Ok(match self.form(column) {
            Some(form) => Part::Id(field, form),
            None => Part::Field(field),
        })
    }

    /// Whether a row's record stays as it is.
    fn is_same(&self, row: &Row) -> bool {
        let fields = (0..row.parts.len()).map(Part::Field);
        let stored = self.shape.fields.iter().flatten().count();
        row.parts.iter().copied().eq(fields) && row.parts.len() == stored
    }

    fn row(&self, parts: Vec<Part>, rowid: Rowid) -> Row {
        Row {
            parts,
            rowid,
            last_field: self.shape.last_field,
            not_null: 0,
            is_same: false,
        }
    }

    /// The rowid of a rekeyed row.
    fn rowid(&self) -> Result<Rowid, Obstacle> {
        let alias = self.new.alias().map(|alias| alias.name.clone());
        let alias = self
            .new
            .columns
            .iter()
            .position(|own| Some(&own.name) == alias.as_ref());
        match alias {
            None => Ok(Rowid::Counted),
            Some(column) => match self.part(column)? {
                Part::Field(field) => Ok(Rowid::Field(field)),
                _ => Err(format!("{} keeps its rowid", self.new.name)),
            },
        }
    }

    /// The columns of a rowid table's records.
    fn stored(&self, catalog: &Catalog) -> Vec<usize> {
        (0..catalog.columns.len())
            .filter(|at| catalog.columns[*at].hidden != 2)
            .collect()
    }

    fn recast_table(&self) -> Result<Recipe, Obstacle> {
        let from = self.shape.source;
        if self.conversions.is_empty() {
            return Ok(Recipe::Copy(from));
        }
        let columns: Vec<usize> = match key_index(&self.old) {
            Some(key) => key
                .terms
                .iter()
                .filter_map(|term| usize::try_from(term.column).ok())
                .collect(),
            None => self.stored(&self.old),
        };
        let part = |column: usize| match self.part(column)? {
            Part::Rowid => Ok(Part::Null),
            part => Ok(part),
        };
        let parts: Result<Vec<Part>, Obstacle> = columns.into_iter().map(part).collect();
        Ok(Recipe::Recast {
            from,
            row: self.row(parts?, Rowid::Kept),
        })
    }

    /// An index of a table whose keys and layout stay.
    fn recast_index(&self, index: &Index) -> Result<Recipe, Obstacle> {
        let is_same = |own: &&Index| match index.origin.as_str() {
            "c" => own.name == index.name,
            origin => own.origin == origin && own.terms == index.terms,
        };
        let old = self.old.indexes.iter().find(is_same);
        let root = old.and_then(|old| self.draft.old.find("index", &old.name));
        let (Some(old), Some(root)) = (old, root) else {
            return Err(format!("the index {} is new", index.name));
        };
        let from = Source {
            root: root.root,
            is_table: false,
        };
        let mut parts = Vec::new();
        for (field, term) in old.terms.iter().enumerate() {
            let form = usize::try_from(term.column)
                .ok()
                .and_then(|column| self.form(column));
            parts.push(match form {
                Some(form) => Part::Id(field, form),
                None => Part::Field(field),
            });
        }
        let is_made_partial = index.is_partial && !old.is_partial;
        let is_converted = parts.iter().any(|part| matches!(part, Part::Id(..)));
        Ok(match (is_made_partial, is_converted) {
            (true, true) => return Err(format!("{} changes twice", index.name)),
            (true, false) => Recipe::NotNull(from),
            (false, false) => Recipe::Copy(from),
            (false, true) => Recipe::Recast {
                from,
                row: Row {
                    parts,
                    rowid: Rowid::Kept,
                    last_field: None,
                    not_null: 0,
                    is_same: false,
                },
            },
        })
    }

    /// Rows of a rowid table with other rowids.
    fn rows(&self) -> Result<Recipe, Obstacle> {
        let parts = self
            .stored(&self.new)
            .into_iter()
            .map(|column| self.part(column));
        let mut row = self.row(parts.collect::<Result<_, _>>()?, self.rowid()?);
        row.is_same = self.is_same(&row) && matches!(row.rowid, Rowid::Field(_));
        Ok(Recipe::Rows {
            from: self.shape.source,
            row,
        })
    }

    /// An index of a table whose keys change. What an old index has of it needs no sorting.
    fn joined(&self, index: &Index) -> Result<Recipe, Obstacle> {
        let sorted = self.sorted(index, false)?;
        Ok(match self.join(index, &sorted) {
            Some(joined) => Recipe::Joined(Box::new(joined)),
            None => sorted,
        })
    }

    fn join(&self, index: &Index, sorted: &Recipe) -> Option<Joined> {
        let Recipe::Sorted {
            from,
            row,
            order,
            unique_columns,
            ..
        } = sorted
        else {
            return None;
        };
        let keys = |index: &Index| -> Vec<(i64, bool, String)> {
            let keys = index.terms.iter().filter(|term| term.is_key);
            keys.map(like).collect()
        };
        let wanted = keys(index);
        let is_same = |old: &&Index| {
            let is_named = index.origin != "c" || old.name == index.name;
            old.origin == index.origin && is_named && !old.is_partial && keys(old) == wanted
        };
        let old = self.old.indexes.iter().find(is_same)?;
        let root = self.draft.old.find("index", &old.name)?.root;
        if self.has_other_forms(old) || old.terms.len() != wanted.len() + 1 {
            return None;
        }
        let field = |part: &Part| match (*part, row.rowid) {
            (Part::Field(field), _) | (Part::Rowid, Rowid::Field(field)) => Some(field),
            _ => None,
        };
        let tail = row.parts[wanted.len()..].iter().map(field);
        Some(Joined {
            index: Source {
                root,
                is_table: false,
            },
            terms: wanted.len(),
            table: *from,
            keys: tail.collect::<Option<_>>()?,
            order: order.clone(),
            unique_columns: *unique_columns,
            sorted: sorted.clone(),
        })
    }

    /// Whether the entries of an old index may have values in another form than the rows, or than the new table.
    fn has_other_forms(&self, index: &Index) -> bool {
        // CREATE INDEX keeps whole numbers of such a column as reals, the table as integers.
        let is_real = |term: &ddl::Term| {
            let column = usize::try_from(term.column).ok();
            let column = column.and_then(|column| self.old.columns.get(column));
            column.is_some_and(|column| {
                let kind = column.kind.to_ascii_uppercase();
                let mut names = ["REAL", "FLOA", "DOUB"].iter();
                names.any(|real| kind.contains(real))
            })
        };
        self.shape.last_field.is_some()
            || !self.conversions.is_empty()
            || self.old.is_without_rowid
            || index.terms.iter().any(is_real)
    }

    /// A WITHOUT ROWID table. An old index that has all of its columns, in its order, needs no sorting.
    fn keyed(&self, key: &Index) -> Result<Recipe, Obstacle> {
        let mut recipe = self.sorted(key, true)?;
        if let Recipe::Sorted { row, .. } = &mut recipe {
            row.is_same = self.is_same(row);
        }
        if let (
            Some((covering, parts)),
            Recipe::Sorted {
                from,
                row,
                is_sorted,
                ..
            },
        ) = (self.covering(key), &mut recipe)
        {
            (*from, *is_sorted) = (covering, true);
            (row.parts, row.last_field) = (parts, None);
            row.is_same = false;
        }
        Ok(recipe)
    }

    /// An old index that begins with the terms of a key and has all of its table's columns, and where they are in its
    /// entries.
    fn covering(&self, key: &Index) -> Option<(Source, Vec<Part>)> {
        let keys = key.terms.iter().filter(|term| term.is_key).count();
        let has_order = |old: &&Index| {
            let begins = old.terms.iter().map(like).take(keys);
            !old.is_partial
                && !self.has_other_forms(old)
                && begins.eq(key.terms.iter().map(like).take(keys))
        };
        let fields = |old: &Index| -> Option<Vec<Part>> {
            let place = |column: i64| old.terms.iter().position(|term| term.column == column);
            let terms = key.terms.iter().map(|term| term.column);
            terms
                .map(|column| Some(Part::Field(place(column.max(0)).filter(|_| column >= 0)?)))
                .collect()
        };
        let mut candidates = self.old.indexes.iter().filter(has_order);
        candidates.find_map(|old| {
            let root = self.draft.old.find("index", &old.name)?.root;
            let source = Source {
                root,
                is_table: false,
            };
            Some((source, fields(old)?))
        })
    }

    /// An index, or a WITHOUT ROWID table, in the order of its terms.
    fn sorted(&self, index: &Index, is_table: bool) -> Result<Recipe, Obstacle> {
        let (mut parts, mut order) = (Vec::new(), Vec::new());
        let keys = index.terms.iter().filter(|term| term.is_key).count();
        if index.is_partial {
            return Err(format!("the index {} is partial", index.name));
        }
        for (at, term) in index.terms.iter().enumerate() {
            let is_twice = index.terms[..at]
                .iter()
                .any(|before| before.column == term.column);
            let column = match term.column {
                -1 => None,
                column => Some(
                    usize::try_from(column)
                        .map_err(|_| format!("{} computes a term", index.name))?,
                ),
            };
            if is_table && is_twice {
                return Err(format!("the key of {} has a column twice", self.new.name));
            }
            parts.push(match column {
                None => Part::Rowid,
                Some(column) => self.part(column)?,
            });
            let collation = Collation::from_name(&term.collation);
            order.push(KeyColumn {
                index: at,
                collation: collation.ok_or_else(|| {
                    format!("{} has the collation {}", index.name, term.collation)
                })?,
                is_descending: term.is_descending,
            });
        }
        if is_table {
            order.truncate(keys);
        }
        let rowid = match key_index(&self.new) {
            Some(_) => Rowid::Kept,
            None => self.rowid()?,
        };
        let row = Row {
            not_null: if is_table { keys } else { 0 },
            ..self.row(parts, rowid)
        };
        Ok(Recipe::Sorted {
            from: self.shape.source,
            row,
            order: KeyOrder::new(order, self.encoding),
            unique_columns: (index.is_unique && !is_table).then_some(keys),
            is_sorted: false,
        })
    }
}
