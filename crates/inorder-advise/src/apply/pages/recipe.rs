//! How each tree of the new file comes from those of the old one.

use inorder_btree::record::KeyColumn;
use inorder_btree::{Collation, KeyOrder, TextEncoding};
use rusqlite::Connection;

use crate::IdForm;
use crate::apply::draft::Draft;
use crate::apply::schema::{Object, Schema};
use crate::ddl::{self, Catalog, Index};

/// A tree of the old file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) root: u32,
    /// Whether its rows have rowids.
    pub(crate) is_table: bool,
}

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
    /// Records in another order.
    Sorted {
        from: Source,
        row: Row,
        order: KeyOrder,
        unique_columns: Option<usize>,
    },
}

/// What becomes of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) parts: Vec<Part>,
    pub(crate) rowid: Rowid,
    /// The last field of a whole row, where shorter rows have other values than NULL: ALTER TABLE ADD COLUMN
    /// leaves rows as they are.
    pub(crate) last_field: Option<usize>,
}

/// An object of the new schema, and its tree if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) object: Object,
    pub(crate) recipe: Option<Recipe>,
}

/// All trees, and the indexes that SQLite makes afterwards.
#[derive(Debug, Default)]
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
        draft: &Draft,
        encoding: TextEncoding,
    ) -> rusqlite::Result<Result<Self, Obstacle>> {
        if encoding != TextEncoding::Utf8 && !draft.conversions.is_empty() {
            return Ok(Err("ids in UTF-16 are converted by statements".to_owned()));
        }
        let mut plans = Plans::default();
        for object in &draft.new.objects {
            let is_index = object.kind == "index";
            if object.kind == "table" && !object.is_virtual() {
                let made = match is_changed(draft, object) {
                    false => plans.copy(&draft.old, object),
                    true => plans.change(source, draft, object, encoding)?,
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
        self.plans.push(Plan { object, recipe });
    }

    /// How many trees there are.
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
        draft: &Draft,
        table: &Object,
        encoding: TextEncoding,
    ) -> rusqlite::Result<Result<(), Obstacle>> {
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
        Ok(change.plan(self, table))
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

/// Whether a table's text ends in WITHOUT ROWID.
fn is_without_rowid(table: &Object) -> bool {
    let sql = table.sql.as_deref().unwrap_or_default();
    let words = ddl::tokens(sql);
    let close = words.iter().rposition(|word| word.is_symbol(")"));
    close.is_some_and(|close| words[close..].iter().any(|word| word.is("WITHOUT")))
}

/// Where a table's columns are in its records.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) source: Source,
    /// The field of each column; none for virtual columns.
    pub(super) fields: Vec<Option<usize>>,
    /// The column that is the rowid.
    pub(super) alias: Option<usize>,
    /// As in [`Row`].
    pub(super) last_field: Option<usize>,
}

impl Shape {
    pub(super) fn new(catalog: &Catalog, root: u32) -> Self {
        let mut fields = vec![None; catalog.columns.len()];
        match key_index(catalog) {
            Some(key) => {
                for (field, term) in key.terms.iter().enumerate() {
                    if let Ok(column) = usize::try_from(term.column) {
                        fields[column] = Some(field);
                    }
                }
            }
            None => {
                let stored = (0..fields.len()).filter(|at| catalog.columns[*at].hidden != 2);
                for (field, column) in stored.collect::<Vec<_>>().into_iter().enumerate() {
                    fields[column] = Some(field);
                }
            }
        }
        let has_default = |column: &ddl::Column| {
            let default = column.default.as_deref().unwrap_or("NULL");
            column.hidden == 0 && !default.eq_ignore_ascii_case("NULL")
        };
        let alias = catalog.alias().map(|alias| alias.name.clone());
        Shape {
            source: Source {
                root,
                is_table: !catalog.is_without_rowid,
            },
            alias: catalog
                .columns
                .iter()
                .position(|own| Some(&own.name) == alias.as_ref()),
            last_field: fields
                .iter()
                .flatten()
                .max()
                .copied()
                .filter(|_| catalog.columns.iter().any(has_default)),
            fields,
        }
    }
}

/// The index that is a WITHOUT ROWID table itself.
pub(crate) fn key_index(catalog: &Catalog) -> Option<&Index> {
    let mut indexes = catalog.indexes.iter();
    let key = indexes.find(|index| index.origin == "pk");
    key.filter(|_| catalog.is_without_rowid)
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
    fn plan(&self, plans: &mut Plans, table: &Object) -> Result<(), Obstacle> {
        let recipe = match (self.is_rekeyed, key_index(&self.new)) {
            (false, _) => self.recast_table()?,
            (true, Some(key)) => self.sorted(key, true)?,
            (true, None) => self.rows()?,
        };
        plans.push(table.clone(), Some(recipe));
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
            let recipe = match self.is_rekeyed {
                true => self.sorted(index, false),
                false => self.recast_index(index),
            };
            match (recipe, &object.sql) {
                (Ok(recipe), _) => plans.push(object, Some(recipe)),
                (Err(_), Some(sql)) => plans.statements_after.push(sql.clone()),
                (Err(obstacle), None) => return Err(obstacle),
            }
        }
        Ok(())
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

    fn row(&self, parts: Vec<Part>, rowid: Rowid) -> Row {
        Row {
            parts,
            rowid,
            last_field: self.shape.last_field,
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
        Ok(Recipe::Rows {
            from: self.shape.source,
            row: self.row(parts.collect::<Result<_, _>>()?, self.rowid()?),
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
        Ok(Recipe::Sorted {
            from: self.shape.source,
            row: self.row(parts, rowid),
            order: KeyOrder::new(order, self.encoding),
            unique_columns: (index.is_unique && !is_table).then_some(keys),
        })
    }
}
