//! The table-valued function `keys(kind, n)`: `n` new ids, made in batches.
#![allow(unsafe_code)]

use crate::Error;
use crate::function::Output;
use crate::list::{hex, hex_id, ulid_text, uuid_text};
use crate::read::whole;
use inorder_key::{Factory, TimeId, TsidFactory, Ulid, Uuid, fill_random};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection,
    VTabCursor,
};
use rusqlite::{Connection, Result, ToSql, ffi};
use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::panic::catch_unwind;

/// Number of ids per batch: those that a [`Factory`] makes per reading of the clock.
const BATCH: usize = 256;

/// Bytes per id in a batch: an id of 16 bytes, or a token.
type Slot = [u8; 20];

/// Whether a batch was made.
type Filled = std::result::Result<(), Error>;

/// A kind of key of `keys`.
#[derive(Debug)]
pub struct Kind {
    /// Name as an argument of `keys`, which is the name of the function that makes one such key.
    pub name: &'static str,
    fill: fn(&mut [Slot]) -> Filled,
    write: fn(&Slot) -> Output,
}

/// All kinds of keys.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "ulid",
        fill: fill_in_order::<Ulid>,
        write: |slot| Output::Id(id(slot)),
    },
    Kind {
        name: "ulid_text",
        fill: fill_in_order::<Ulid>,
        write: |slot| ulid_text(id(slot).into()),
    },
    Kind {
        name: "ulid_hex",
        fill: fill_in_order::<Ulid>,
        write: |slot| hex_id(id(slot)),
    },
    Kind {
        name: "uuid7",
        fill: fill_in_order::<Uuid>,
        write: |slot| Output::Id(id(slot)),
    },
    Kind {
        name: "uuid7_text",
        fill: fill_in_order::<Uuid>,
        write: |slot| uuid_text(id(slot).into()),
    },
    Kind {
        name: "uuid7_hex",
        fill: fill_in_order::<Uuid>,
        write: |slot| hex_id(id(slot)),
    },
    Kind {
        name: "uuid4",
        fill: fill_uuid4,
        write: |slot| Output::Id(id(slot)),
    },
    Kind {
        name: "uuid4_text",
        fill: fill_uuid4,
        write: |slot| uuid_text(id(slot).into()),
    },
    Kind {
        name: "uuid4_hex",
        fill: fill_uuid4,
        write: |slot| hex_id(id(slot)),
    },
    Kind {
        name: "tsid",
        fill: fill_tsids,
        write: |slot| Output::Integer(i64::from_be_bytes(*slot.first_chunk().expect("8 bytes"))),
    },
    Kind {
        name: "token160",
        fill: fill_tokens,
        write: |slot| Output::Blob(slot.to_vec()),
    },
    Kind {
        name: "token160_text",
        fill: fill_tokens,
        write: |slot| Output::Text(hex(slot)),
    },
];

#[inline]
fn id(slot: &Slot) -> [u8; 16] {
    *slot.first_chunk().expect("16 bytes of 20")
}

fn put(ids: &[impl Into<[u8; 16]> + Copy], out: &mut [Slot]) {
    for (slot, id) in out.iter_mut().zip(ids) {
        slot[..16].copy_from_slice(&(*id).into());
    }
}

fn fill_in_order<I: TimeId + Default + Into<[u8; 16]>>(out: &mut [Slot]) -> Filled {
    let mut ids = [I::default(); BATCH];
    Factory::process().fill(&mut ids[..out.len()]);
    put(&ids, out);
    Ok(())
}

fn fill_uuid4(out: &mut [Slot]) -> Filled {
    let mut ids = [Uuid::NIL; BATCH];
    Uuid::fill_v4(&mut ids[..out.len()]);
    put(&ids, out);
    Ok(())
}

fn fill_tsids(out: &mut [Slot]) -> Filled {
    for slot in out {
        let id = TsidFactory::process().try_next()?;
        slot[..8].copy_from_slice(&id.to_i64().to_be_bytes());
    }
    Ok(())
}

fn fill_tokens(out: &mut [Slot]) -> Filled {
    fill_random(out.as_flattened_mut());
    Ok(())
}

/// Registers the function with a connection.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    const MODULE: Module<Keys> = Module::eponymous_only_module();
    connection.create_module(c"keys", &MODULE, None)
}

const COLUMN_KIND: c_int = 1;
const COLUMN_N: c_int = 2;

#[repr(C)]
struct Keys {
    base: ffi::sqlite3_vtab,
}

// SAFETY: the base comes first, and nothing else is in it.
unsafe impl<'vtab> VTab<'vtab> for Keys {
    type Aux = ();
    type Cursor = Cursor<'vtab>;

    fn connect(
        db: &mut VTabConnection,
        _aux: Option<&()>,
        _module_name: &[u8],
        _database_name: &[u8],
        _table_name: &[u8],
        _arguments: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        db.config(VTabConfig::Innocuous)?;
        let table = Keys {
            base: ffi::sqlite3_vtab::default(),
        };
        Ok((c"CREATE TABLE x(key, kind HIDDEN, n HIDDEN)".into(), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let mut found = [None; 2];
        for (i, constraint) in info.constraints().enumerate() {
            let is_equal = constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ;
            if let column @ (COLUMN_KIND | COLUMN_N) = constraint.column()
                && is_equal
            {
                if !constraint.is_usable() {
                    return Ok(false);
                }
                found[(column - COLUMN_KIND) as usize] = Some(i);
            }
        }
        // With a missing argument, `filter` returns none and reports it.
        if let [Some(kind), Some(n)] = found {
            for (argument, i) in (1..).zip([kind, n]) {
                let mut usage = info.constraint_usage(i);
                usage.set_argv_index(argument);
                usage.set_omit(true);
            }
        }
        info.set_estimated_cost(1000.0);
        info.set_estimated_rows(1000);
        Ok(true)
    }

    fn open(&'vtab mut self) -> Result<Cursor<'vtab>> {
        Ok(Cursor::default())
    }
}

#[repr(C)]
struct Cursor<'vtab> {
    base: ffi::sqlite3_vtab_cursor,
    kind: &'static Kind,
    n: usize,
    /// Number of the current row, from 0.
    row: usize,
    batch: Box<[Slot; BATCH]>,
    table: PhantomData<&'vtab Keys>,
}

impl Default for Cursor<'_> {
    fn default() -> Self {
        Cursor {
            base: ffi::sqlite3_vtab_cursor::default(),
            kind: &KINDS[0],
            n: 0,
            row: 0,
            batch: Box::new([[0; 20]; BATCH]),
            table: PhantomData,
        }
    }
}

impl Cursor<'_> {
    /// Makes the next batch of ids at the start of a batch.
    fn refill(&mut self) -> Result<()> {
        let wanted = (self.n - self.row).min(BATCH);
        let (fill, out) = (self.kind.fill, &mut self.batch[..wanted]);
        // Nothing of what a panic leaves is read: the statement fails.
        catch_unwind(std::panic::AssertUnwindSafe(|| fill(out)))
            .unwrap_or(Err(Error::Panic))
            .map_err(|error| rusqlite::Error::ModuleError(format!("keys(): {error}")))
    }
}

// SAFETY: the base comes first.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(
        &mut self,
        _index: c_int,
        _name: Option<&str>,
        arguments: &Filters<'_>,
    ) -> Result<()> {
        (self.n, self.row) = (0, 0);
        let mut values = arguments.iter();
        match (values.next(), values.next()) {
            (Some(ValueRef::Null), _) | (_, Some(ValueRef::Null)) => return Ok(()),
            (kind, n) => {
                let (kind, n) = read(kind, n).map_err(|message| {
                    rusqlite::Error::ModuleError(format!("keys(): {message}"))
                })?;
                (self.kind, self.n) = (kind, n);
            }
        }
        self.refill()
    }

    #[inline]
    fn next(&mut self) -> Result<()> {
        self.row += 1;
        match self.row % BATCH {
            0 => self.refill(),
            _ => Ok(()),
        }
    }

    #[inline]
    fn eof(&self) -> bool {
        self.row >= self.n
    }

    #[inline]
    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        match column {
            COLUMN_KIND => context.set_result(&self.kind.name),
            COLUMN_N => context.set_result(&(self.n as i64)),
            _ => context.set_result(&(self.kind.write)(&self.batch[self.row % BATCH])),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.row as i64 + 1)
    }
}

/// Reads the arguments, or returns the error in them.
fn read(
    kind: Option<ValueRef<'_>>,
    n: Option<ValueRef<'_>>,
) -> std::result::Result<(&'static Kind, usize), String> {
    let names = || {
        KINDS
            .iter()
            .map(|kind| kind.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (Some(kind), Some(n)) = (kind, n) else {
        return Err("write keys(kind, n), such as keys('ulid', 10)".into());
    };
    let found = match kind {
        ValueRef::Text(name) => KINDS.iter().find(|kind| kind.name.as_bytes() == name),
        _ => None,
    };
    let Some(found) = found else {
        return Err(format!("the kind is one of {}", names()));
    };
    let n = match n {
        ValueRef::Integer(n) => Some(n),
        ValueRef::Real(n) => whole(n),
        _ => None,
    };
    match n {
        Some(n @ 0..) => Ok((found, n as usize)),
        _ => Err("the number of keys is an integer from 0 on".into()),
    }
}

impl ToSql for Output {
    #[inline]
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Output::Null => ValueRef::Null,
            Output::Integer(integer) => ValueRef::Integer(*integer),
            Output::Id(id) => ValueRef::Blob(id),
            Output::UlidText(text) => ValueRef::Text(text),
            Output::UuidText(text) => ValueRef::Text(text),
            Output::Hex(digits) => ValueRef::Text(digits),
            Output::Blob(blob) => ValueRef::Blob(blob),
            Output::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}
