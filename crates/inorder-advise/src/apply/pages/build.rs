//! The new file, tree by tree.

use std::fs::File;
use std::path::Path;

use inorder_btree::record::{Fields, Pick};
use inorder_btree::{
    Builder, IndexBuilder, KeyOrder, LeafPage, Options, Reader, SchemaEntry, TableBuilder, Value,
    Visitor, record,
};
use inorder_load::order::SortLimits;

use super::Failure;
use super::digest::{InOrder, Sum};
use super::join::{Keys, join};
use super::recipe::{Joined, Part, Plan, Plans, Recipe, Row, Rowid};
use super::shape::{Layout, Source, every};
use super::sorting::{Old, Sorted, Sorting};
use crate::apply::Settings;
use crate::apply::ids;

/// Rows between two looks at whether to stop.
const LOOK_ROWS: u64 = 4096;

/// Where a file is built, and how.
pub(crate) struct Work<'a> {
    pub(crate) settings: &'a Settings,
    /// Memory for sorting, in bytes.
    pub(crate) memory_bytes: usize,
    /// Where sorted runs are spilled to.
    pub(crate) folder: &'a Path,
    /// Whether the file is read back and compared with the old one.
    pub(crate) is_verified: bool,
    /// Called now and then; an error ends the work.
    pub(crate) look: &'a dyn Fn() -> Result<(), Failure>,
    /// Bytes that may be written beside the database; none where the system does not tell.
    pub(crate) free_bytes: Option<u64>,
    /// Called once before trees are built behind the pages of a database, with the bytes that they need.
    pub(crate) begins: &'a dyn Fn(u64),
}

/// What was built, by plan.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) trees: Vec<Option<Tree>>,
}

/// A tree that was built.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) source: Source,
    /// What was written, in its order; none of what is compared with rows.
    pub(super) written: Option<InOrder>,
    /// Whether only entries were taken that don't begin with NULL.
    pub(super) is_not_null: bool,
    /// What a table that changes was.
    pub(super) before: Before,
}

/// The rows of a table as they were.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) sum: Sum,
    /// Whether a row lacks columns that were added later.
    pub(super) is_short: bool,
}

impl Before {
    /// Reads the rows of a table.
    fn read(reader: &mut Reader, layout: &Layout, looks: &mut Looks<'_>) -> Result<Self, Failure> {
        let (mut before, mut fields) = (Before::default(), Fields::default());
        let needed = layout.needed();
        every(reader, layout.shape.source, |rowid, record| {
            looks.look()?;
            fields.read_first(record, needed);
            before.add(layout, &fields, rowid, record);
            Ok(())
        })?;
        Ok(before)
    }

    #[inline]
    fn add(&mut self, layout: &Layout, fields: &Fields, rowid: i64, record: &[u8]) {
        self.is_short |= layout.is_short(fields, record);
        self.sum.add(layout.row(fields, rowid, record));
    }
}

/// Builds the file, which is written but not synced.
pub(super) fn build(
    reader: &mut Reader,
    plans: &Plans,
    file: File,
    work: &Work<'_>,
) -> Result<Built, Failure> {
    let builder = Builder::create(file, options(reader, plans, work))?;
    let (builder, schema, built) = build_trees(reader, plans, builder, work)?;
    builder.finish(&schema)?;
    Ok(built)
}

/// The options of the new file.
pub(super) fn options(reader: &Reader, plans: &Plans, work: &Work<'_>) -> Options {
    let settings = work.settings;
    Options {
        page_bytes: settings.page_bytes,
        reserved_bytes: reader.reserved_bytes(),
        encoding: settings.encoding,
        auto_vacuum: settings.auto_vacuum,
        user_version: settings.user_version,
        application_id: settings.application_id,
        schema_cookie: settings.schema_version,
        trees: plans.trees(),
        // What is verified is read once more, and then gone.
        bypasses_page_cache: work.is_verified,
        ..Options::default()
    }
}

/// Builds all trees that aren't kept. Returns the builder and the schema.
pub(super) fn build_trees(
    reader: &mut Reader,
    plans: &Plans,
    mut builder: Builder,
    work: &Work<'_>,
) -> Result<(Builder, Vec<SchemaEntry>, Built), Failure> {
    let (mut trees, mut keys) = (Vec::new(), None);
    for (at, plan) in plans.plans.iter().enumerate() {
        let mut built = None;
        if let Some(recipe) = &plan.recipe {
            if matches!(recipe, Recipe::Sorted { .. } | Recipe::Rows { .. }) {
                let joined = plans.joined_to(at).zip(reader.map());
                keys = joined.map(|(own, map)| Keys::in_rows(own, map, work.memory_bytes / 2));
            }
            let (next, mut made) = tree(reader, builder, recipe, plan, &mut keys, work)?;
            builder = next;
            made.is_not_null = matches!(recipe, Recipe::NotNull(_));
            built = Some(made);
        }
        trees.push(built);
    }
    Ok((builder, schema(plans, &trees), Built { trees }))
}

/// The rows of the new schema. Each plan has a tree that was built, one that is kept, or none.
pub(super) fn schema(plans: &Plans, trees: &[Option<Tree>]) -> Vec<SchemaEntry> {
    let entry = |(at, plan): (usize, &Plan)| {
        let built = trees.get(at).and_then(Option::as_ref);
        let object = plan.object.clone();
        SchemaEntry {
            kind: object.kind,
            name: object.name,
            table_name: object.table,
            root: built.map_or(plan.kept.unwrap_or(0), |tree| tree.source.root),
            sql: object.sql,
        }
    };
    plans.plans.iter().enumerate().map(entry).collect()
}

/// A tree of the new file that is being built.
enum Target {
    Table(TableBuilder),
    Index(IndexBuilder),
}

/// A tree and what was written to it.
struct Growing {
    target: Target,
    written: InOrder,
    /// Whether what is written is added up: rows that change, and indexes that are made of them, are compared in another
    /// way.
    is_added: bool,
}

impl Growing {
    fn table(builder: Builder) -> Result<Self, Failure> {
        Ok(Growing {
            target: Target::Table(builder.table()?),
            written: InOrder::default(),
            is_added: true,
        })
    }

    fn index(
        builder: Builder,
        order: KeyOrder,
        unique_columns: Option<usize>,
    ) -> Result<Self, Failure> {
        Ok(Growing {
            target: Target::Index(builder.index(order, unique_columns)?),
            written: InOrder::default(),
            is_added: true,
        })
    }

    /// A tree of the kind of another, whose entries come in the order that they have there.
    fn like(from: &Source, builder: Builder, work: &Work<'_>) -> Result<Self, Failure> {
        match from.is_table {
            true => Growing::table(builder),
            false => {
                let unordered = KeyOrder::new(Vec::new(), work.settings.encoding);
                Growing::index(builder, unordered, None)
            }
        }
    }

    #[inline]
    fn push(&mut self, rowid: i64, record: &[u8]) -> Result<(), Failure> {
        match &mut self.target {
            Target::Table(tree) => {
                if self.is_added {
                    self.written.add(rowid, record);
                }
                Ok(tree.push(rowid, record)?)
            }
            Target::Index(tree) => {
                if self.is_added {
                    self.written.add(0, record);
                }
                Ok(tree.push(record)?)
            }
        }
    }

    /// Doesn't add up what is written to a table that is compared row by row.
    fn compared(mut self, rows: &Rows<'_>) -> Self {
        self.is_added = !rows.is_compared;
        self
    }

    fn finish(self) -> Result<(Builder, Tree), Failure> {
        let is_table = matches!(self.target, Target::Table(_));
        let (builder, root) = match self.target {
            Target::Table(tree) => tree.finish()?,
            Target::Index(tree) => tree.finish()?,
        };
        let tree = Tree {
            source: Source { root, is_table },
            written: self.is_added.then_some(self.written),
            is_not_null: false,
            before: Before::default(),
        };
        Ok((builder, tree))
    }
}

/// Builds a tree. The rows of a table that changes are added up while they are read.
fn tree(
    reader: &mut Reader,
    builder: Builder,
    recipe: &Recipe,
    plan: &Plan,
    keys: &mut Option<Keys>,
    work: &Work<'_>,
) -> Result<(Builder, Tree), Failure> {
    let mut looks = Looks::new(work);
    let change = plan.change.as_ref().map(|change| &change.old);
    let mut layout = change.filter(|_| work.is_verified);
    let mut before = Before::default();
    // The index that a new table is made of need not have what the old table has.
    if let (Recipe::Sorted { from, .. }, Some(old)) = (recipe, layout)
        && *from != old.shape.source
    {
        before = Before::read(reader, old, &mut looks)?;
        layout = None;
    }
    let mut rows = Rows {
        is_compared: change.is_some(),
        layout,
        before,
        looks,
    };
    let (builder, mut tree) = match recipe {
        Recipe::Copy(from) => copy(reader, builder, *from, &mut rows, None)?,
        Recipe::NotNull(from) => copy(reader, builder, *from, &mut rows, Some(is_not_null))?,
        Recipe::Recast { from, row } => {
            let tree = Growing::like(from, builder, work)?.compared(&rows);
            rows.recast(reader, *from, row, tree)?
        }
        Recipe::Joined(own) => {
            if !keys.as_ref().is_some_and(|keys| keys.are_of(own)) {
                // Not both at once.
                *keys = None;
                *keys = Keys::read(reader, own, work.memory_bytes, || rows.looks.look())?;
            }
            match keys {
                Some(keys) => joined(reader, builder, own, keys, &mut rows)?,
                None => return tree(reader, builder, &own.sorted, plan, keys, work),
            }
        }
        Recipe::Rows { from, row } => self::rows(reader, builder, *from, row, &mut rows, keys)?,
        Recipe::Sorted {
            from,
            row,
            order,
            unique_columns,
            is_sorted: true,
        } => {
            *keys = None;
            let tree = Growing::index(builder, order.clone(), *unique_columns)?.compared(&rows);
            rows.recast(reader, *from, row, tree)?
        }
        Recipe::Sorted {
            from,
            row,
            order,
            unique_columns,
            is_sorted: false,
        } => {
            let sorted = rows.sorted(reader, *from, row, order.clone(), keys)?;
            let tree = Growing::index(builder, order.clone(), *unique_columns)?.compared(&rows);
            self::sorted(sorted, tree, &mut rows)?
        }
    };
    tree.before = rows.before;
    Ok((builder, tree))
}

/// Builds an index of an old one and the new keys.
fn joined(
    reader: &mut Reader,
    builder: Builder,
    own: &Joined,
    keys: &Keys,
    rows: &mut Rows<'_>,
) -> Result<(Builder, Tree), Failure> {
    let mut tree = Growing::index(builder, own.order.clone(), own.unique_columns)?;
    // It is compared with the rows of its table: it is whole, and has no computed term.
    tree.is_added = false;
    let limits = rows.looks.work.limits();
    join(reader, own, keys, &limits, |entry| {
        rows.looks.look()?;
        tree.push(0, entry)
    })?;
    tree.finish()
}

/// Builds a tree of records that are sorted.
fn sorted(
    mut sorted: Sorted,
    mut tree: Growing,
    rows: &mut Rows<'_>,
) -> Result<(Builder, Tree), Failure> {
    while let Some(record) = sorted.next()? {
        rows.looks.look()?;
        tree.push(0, record)?;
    }
    tree.finish()
}

/// Copies the records of a tree, or some of them.
fn copy(
    reader: &mut Reader,
    builder: Builder,
    from: Source,
    rows: &mut Rows<'_>,
    is_taken: Option<fn(&[u8]) -> bool>,
) -> Result<(Builder, Tree), Failure> {
    let mut copy = Copy {
        tree: Growing::like(&from, builder, rows.looks.work)?,
        looks: &mut rows.looks,
        is_taken,
    };
    reader.visit(from.root, from.is_table, &mut copy)?;
    copy.tree.finish()
}

/// Whether the first value of an entry isn't NULL.
fn is_not_null(entry: &[u8]) -> bool {
    let entry = record::Record::parse(entry).ok();
    let first = entry.and_then(|entry| entry.value(0));
    !matches!(first, Some(Value::Null) | None)
}

/// A tree that is copied, by pages where they are full.
struct Copy<'a, 'w> {
    tree: Growing,
    looks: &'a mut Looks<'w>,
    is_taken: Option<fn(&[u8]) -> bool>,
}

impl Visitor for Copy<'_, '_> {
    type Error = Failure;

    fn page(&mut self, page: &LeafPage<'_>) -> Result<bool, Failure> {
        self.looks.look()?;
        if self.is_taken.is_some() {
            return Ok(false);
        }
        let mut written = self.tree.written;
        let is_copied = match &mut self.tree.target {
            Target::Table(tree) => tree.push_page(page, |rowid, row| written.add(rowid, row))?,
            Target::Index(tree) => tree.push_page(page, |entry| written.add(0, entry))?,
        };
        if is_copied {
            self.tree.written = written;
        }
        Ok(is_copied)
    }

    #[inline]
    fn row(&mut self, rowid: i64, record: &[u8]) -> Result<(), Failure> {
        self.looks.look()?;
        match self.is_taken {
            Some(is_taken) if !is_taken(record) => Ok(()),
            _ => self.tree.push(rowid, record),
        }
    }
}

/// Builds a rowid table whose rowids are counted, or are the values of a column.
fn rows(
    reader: &mut Reader,
    builder: Builder,
    from: Source,
    row: &Row,
    rows: &mut Rows<'_>,
    keys: &mut Option<Keys>,
) -> Result<(Builder, Tree), Failure> {
    let mut tree = Growing::table(builder)?.compared(rows);
    let Rowid::Field(field) = row.rowid else {
        *keys = None;
        rows.each(reader, from, row, |rowid, row, _| tree.push(rowid, row))?;
        return tree.finish();
    };
    let alias = row
        .parts
        .iter()
        .position(|part| *part == Part::Field(field));
    let alias = alias.ok_or(Failure::Unforeseen("the new rowid is no column"))?;
    let columns = vec![record::KeyColumn::ascending(alias)];
    let by_alias = KeyOrder::new(columns, rows.looks.work.settings.encoding);
    let mut sorted = rows.sorted(reader, from, row, by_alias, keys)?;
    let (mut fields, mut stored) = (Fields::default(), Vec::new());
    let pick = |at: usize| match at == alias {
        true => Pick::Null,
        false => Pick::Value(at),
    };
    while let Some(record) = sorted.next()? {
        rows.looks.look()?;
        fields.read_first(record, alias + 1);
        let Some(Value::Integer(rowid)) = fields.value(record, alias) else {
            return Err(Failure::Unforeseen("a row's new key is not an integer"));
        };
        stored.clear();
        if !fields.write_with_null(record, alias, &mut stored) {
            fields.read(record);
            fields.write(record, (0..row.parts.len()).map(pick), &mut stored);
        }
        tree.push(rowid, &stored)?;
    }
    tree.finish()
}

/// The rows of a table while they are read.
struct Rows<'a> {
    /// The table's, if its rows are added up.
    layout: Option<&'a Layout>,
    /// Whether the new rows are compared with the old ones.
    is_compared: bool,
    before: Before,
    looks: Looks<'a>,
}

impl Rows<'_> {
    /// Builds a tree of the rows of another in the order that they have there.
    fn recast(
        &mut self,
        reader: &mut Reader,
        from: Source,
        row: &Row,
        mut tree: Growing,
    ) -> Result<(Builder, Tree), Failure> {
        self.each(reader, from, row, |rowid, row, _| tree.push(rowid, row))?;
        tree.finish()
    }

    /// Sorts the rows of a tree as they become. `keys` has the keys of the rows afterwards, or nothing.
    fn sorted(
        &mut self,
        reader: &mut Reader,
        from: Source,
        row: &Row,
        order: KeyOrder,
        keys: &mut Option<Keys>,
    ) -> Result<Sorted, Failure> {
        let map = reader.map().filter(|_| row.is_same).cloned();
        let mut sorting = Sorting::new(order, self.looks.work.limits(), map, keys.take());
        self.each(reader, from, row, |_, row, old| sorting.push(row, old))?;
        let sorted;
        (sorted, *keys) = sorting.finish()?;
        Ok(sorted)
    }

    /// Gives each row of a tree as it becomes, in the old order.
    fn each(
        &mut self,
        reader: &mut Reader,
        from: Source,
        row: &Row,
        mut push: impl FnMut(i64, &[u8], Old<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut maker = Maker::new(row);
        let needed = row.needed().max(self.layout.map_or(0, Layout::needed));
        every(reader, from, |rowid, record| {
            self.looks.look()?;
            maker.fields.read_first(record, needed);
            if let Some(layout) = self.layout {
                self.before.add(layout, &maker.fields, rowid, record);
            }
            let made = maker.make(rowid, record)?;
            let old = Old { rowid, record };
            match row.is_same {
                true => push(made, record, old),
                false => push(made, &maker.made, old),
            }
        })
    }
}

/// Makes records of rows.
struct Maker<'a> {
    row: &'a Row,
    fields: Fields,
    made: Vec<u8>,
    blobs: Vec<Vec<u8>>,
    has_ids: bool,
    /// Whether the parts are the first fields of a row in their order.
    is_beginning: bool,
    rows: i64,
}

impl<'a> Maker<'a> {
    fn new(row: &'a Row) -> Self {
        Maker {
            has_ids: row.parts.iter().any(|part| matches!(part, Part::Id(..))),
            is_beginning: (0..row.parts.len())
                .map(Part::Field)
                .eq(row.parts.iter().copied()),
            row,
            fields: Fields::default(),
            made: Vec::new(),
            blobs: Vec::new(),
            rows: 0,
        }
    }

    /// Makes the record of a row whose fields were read, and returns its rowid.
    #[inline]
    fn make(&mut self, rowid: i64, record: &[u8]) -> Result<i64, Failure> {
        if let Some(last) = self.row.last_field
            && self.fields.value(record, last).is_none()
        {
            return Err(Failure::ShortRow);
        }
        for part in &self.row.parts[..self.row.not_null] {
            if let Part::Field(field) | Part::Id(field, _) = part
                && self.fields.is_null(*field)
            {
                return Err(Failure::Unforeseen("a row has NULL in its new key"));
            }
        }
        self.rows += 1;
        let rowid = match self.row.rowid {
            Rowid::Kept => rowid,
            Rowid::Counted => self.rows,
            Rowid::Field(field) => match self.fields.value(record, field) {
                Some(Value::Integer(rowid)) => rowid,
                _ => return Err(Failure::Unforeseen("a row's new key is not an integer")),
            },
        };
        if self.row.is_same {
            return Ok(rowid);
        }
        self.made.clear();
        if self.has_ids {
            self.convert(rowid, record)?;
            return Ok(rowid);
        }
        let count = self.row.parts.len();
        if self.is_beginning && self.fields.write_first(record, count, &mut self.made) {
            return Ok(rowid);
        }
        let pick = |part: &Part| match part {
            Part::Field(field) | Part::Id(field, _) => Pick::Value(*field),
            Part::Rowid => Pick::Integer(rowid),
            Part::Null => Pick::Null,
        };
        self.fields
            .write(record, self.row.parts.iter().map(pick), &mut self.made);
        Ok(rowid)
    }

    fn convert(&mut self, rowid: i64, record: &[u8]) -> Result<(), Failure> {
        self.blobs.clear();
        for part in &self.row.parts {
            if let Part::Id(field, form) = part {
                self.blobs.push(match self.fields.value(record, *field) {
                    Some(Value::Text(text)) => ids::to_blob(text, *form)
                        .ok_or(Failure::Unforeseen("a value is no id of its column's form"))?,
                    None | Some(Value::Null) => Vec::new(),
                    Some(_) => return Err(Failure::Unforeseen("an id is not text")),
                });
            }
        }
        let mut blobs = self.blobs.iter();
        let value = |part: &Part| match part {
            Part::Field(field) => self.fields.value(record, *field).unwrap_or(Value::Null),
            Part::Id(..) => match blobs.next() {
                Some(blob) if !blob.is_empty() => Value::Blob(blob),
                _ => Value::Null,
            },
            Part::Rowid => Value::Integer(rowid),
            Part::Null => Value::Null,
        };
        let values: Vec<Value<'_>> = self.row.parts.iter().map(value).collect();
        record::encode(&values, &mut self.made);
        Ok(())
    }
}

impl Work<'_> {
    fn limits(&self) -> SortLimits {
        SortLimits {
            memory_bytes: self.memory_bytes,
            spill_folder: self.folder.to_owned(),
            threads: 1,
        }
    }
}

/// Looks at whether to stop, every few thousand rows.
struct Looks<'a> {
    work: &'a Work<'a>,
    rows: u64,
}

impl<'a> Looks<'a> {
    fn new(work: &'a Work<'a>) -> Self {
        Looks { work, rows: 0 }
    }

    #[inline]
    fn look(&mut self) -> Result<(), Failure> {
        self.rows += 1;
        match self.rows % LOOK_ROWS {
            0 => (self.work.look)(),
            _ => Ok(()),
        }
    }
}
