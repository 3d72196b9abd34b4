//! Bytes of the cells of SQLite's B-trees: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.

use crate::arrivals::Order;
use crate::columns::Values;
use crate::question::{Layout, Question};
use inorder_key::{Encoding, KeyKind};

/// A value of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Field {
    /// So many bytes of text or blob.
    Bytes(u64),
    /// A random integer of 63 bits.
    Random,
    /// The number of the row.
    Row,
    /// The rowid alias, which is stored as NULL.
    Null,
    /// A bucket from 0 to 63.
    Bucket,
}

impl Field {
    fn of(values: Values) -> Self {
        match values {
            Values::Integer => Field::Random,
            Values::Fixed(bytes) | Values::Bytes(bytes) => Field::Bytes(bytes),
        }
    }
}

/// A tree of a database.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    /// Its name in reports.
    pub(super) name: String,
    /// Whether it is the table, and not an index.
    pub(super) is_table: bool,
    /// Whether its keys are rowids. Then its interior pages have no records.
    pub(super) has_rowids: bool,
    /// The order of its keys.
    pub(super) order: Order,
    /// Keys are shifted to the right by so many bits.
    pub(super) zeros: u32,
    fields: Vec<Field>,
    usable: u64,
}

/// The size of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// Bytes on the leaf page, without the pointer to it.
    pub(super) bytes: u16,
    /// Pages that hold the rest of its payload.
    pub(super) overflow_pages: u32,
}

/// Bytes of a variable-length integer.
pub(super) fn varint(value: u64) -> u64 {
    match value {
        0 => 1,
        value => u64::from(value.ilog2() / 7 + 1).min(9),
    }
}

/// Bytes of an integer in a record.
fn integer(value: u64) -> u64 {
    match value {
        0..=1 => 0,
        2..=0x7f => 1,
        0x80..=0x7fff => 2,
        0x8000..=0x7f_ffff => 3,
        0x80_0000..=0x7fff_ffff => 4,
        0x8000_0000..=0x7fff_ffff_ffff => 6,
        _ => 8,
    }
}

impl Spec {
    /// The trees of a table.
    pub(super) fn all(question: &Question) -> Vec<Spec> {
        let order = Order::of(question.key);
        let key = match (question.key, question.encoding) {
            (KeyKind::Composite, _) => vec![Field::Bucket, Field::Row],
            (KeyKind::Serial | KeyKind::IntSeq, _) => vec![Field::Row],
            (KeyKind::IntRandom, _) => vec![Field::Random],
            (kind, encoding) => {
                let bytes = kind.width_bytes(encoding).unwrap_or(8);
                vec![Field::Bytes(bytes as u64)]
            }
        };
        let is_alias = question.encoding == Encoding::Integer && question.key != KeyKind::Composite;
        let is_alias = is_alias && question.layout == Layout::Rowid;
        let mut rest = Vec::new();
        if question.payload_bytes > 0 {
            rest.push(Field::Bytes(question.payload_bytes));
        }
        rest.extend(question.columns.iter().map(|&values| Field::of(values)));
        let usable = u64::from(question.page_bytes);
        let tree = |name: &str, is_table, has_rowids, order, fields: Vec<Field>| Spec {
            name: name.to_owned(),
            is_table,
            has_rowids,
            order,
            zeros: 0,
            fields,
            usable,
        };
        // What entries of secondary indexes end with.
        let locator = match (question.layout, is_alias, question.key) {
            (Layout::WithoutRowid, ..) => key.clone(),
            (_, true, KeyKind::IntRandom) => vec![Field::Random],
            _ => vec![Field::Row],
        };
        let own = |columns: &[Field]| [columns, &rest].concat();
        let mut trees = match question.layout {
            Layout::WithoutRowid => vec![tree("table", true, false, order, own(&key))],
            _ if is_alias => vec![tree("table", true, true, order, own(&[Field::Null]))],
            _ => vec![tree("table", true, true, Order::Ascending, own(&key))],
        };
        if question.layout == Layout::Rowid && !is_alias {
            let entry = [&key[..], &[Field::Row]].concat();
            trees.push(tree("key", false, false, order, entry));
        }
        let by_key = is_alias || question.layout == Layout::WithoutRowid;
        let by = if by_key { order } else { Order::Ascending };
        for index in &question.indexes {
            let mut entry: Vec<Field> = index.values.iter().map(|&v| Field::of(v)).collect();
            entry.extend(&locator);
            let order = index.order_with(by);
            trees.push(tree(&index.name, false, false, order, entry));
        }
        trees
    }

    /// The cell of a row. `rowid` is the key of a tree with rowids.
    pub(super) fn cell(&self, row: u64, rowid: u64) -> Cell {
        let (mut header, mut body) = (0, 0);
        for field in &self.fields {
            let (types, bytes) = match *field {
                Field::Bytes(bytes) => (varint(12 + 2 * bytes), bytes),
                Field::Random => (1, 8),
                Field::Row => (1, integer(row)),
                Field::Null => (1, 0),
                // 0 and 1 have no byte.
                Field::Bucket => (1, u64::from(!row.is_multiple_of(32))),
            };
            header += types;
            body += bytes;
        }
        header += 1;
        if header > 127 {
            header += 1;
        }
        let payload = header + body;
        let mut bytes = varint(payload);
        if self.has_rowids {
            bytes += varint(rowid);
        }
        let local = self.local(payload);
        let overflow = payload - local;
        if overflow > 0 {
            bytes += 4;
        }
        Cell {
            bytes: (bytes + local).max(4) as u16,
            overflow_pages: overflow.div_ceil(self.usable - 4) as u32,
        }
    }

    /// Bytes of a payload that stay on the leaf page.
    fn local(&self, payload: u64) -> u64 {
        let most = match self.has_rowids {
            true => self.usable - 35,
            false => (self.usable - 12) * 64 / 255 - 23,
        };
        if payload <= most {
            return payload;
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let fits = least + (payload - least) % (self.usable - 4);
        match fits <= most {
            true => fits,
            false => least,
        }
    }

    /// Bytes of the cell of an interior page that divides its children after an entry of so many bytes.
    pub(super) fn divider(&self, entry_bytes: u16, key: u64) -> u16 {
        match self.has_rowids {
            true => 4 + varint(key << self.zeros) as u16,
            false => 4 + entry_bytes,
        }
    }
}
