//! A cache of the validation functions of databases.

use super::{HttpError, HttpResult};
use crate::script::{Function, Owner, Purpose};
use crate::store::{AllDocs, Database, Document, GetOptions, RowValue};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The functions of a database, in the order of their design documents, and the sequence up to which they are valid.
#[derive(Debug, Clone)]
pub struct Functions {
    pub design_seq: u64,
    pub list: Arc<[Function]>,
    /// The function of the design document `_auth`, which is among the others elsewhere than in the database of users.
    pub auth: Option<Function>,
}

impl Functions {
    /// The functions to run. The rules of the database of users are built in.
    pub fn to_run(&self, is_users: bool) -> impl Iterator<Item = &Function> {
        self.list
            .iter()
            .chain(self.auth.as_ref().filter(|_| !is_users))
    }
}

/// The functions of all databases that were written to, read again when a design document has changed; by the database's
/// own id.
#[derive(Debug, Default)]
pub struct Validations(Mutex<HashMap<String, Functions>>);

/// The design document with the rules of the database of users.
pub const AUTH_DESIGN: &str = "_design/_auth";

/// The maximum number of databases in the cache.
const DATABASES_MAX: usize = 1000;

impl Validations {
    /// Returns the functions of a database.
    ///
    /// # Errors
    /// If the design documents cannot be read.
    pub fn functions(&self, db: &Database) -> HttpResult<Functions> {
        let design_seq = db.design_seq()?;
        let known = self.lock().get(db.uuid()).cloned();
        if let Some(known) = known.filter(|known| known.design_seq == design_seq) {
            return Ok(known);
        }
        let (mut list, mut auth) = (Vec::new(), None);
        for design in designs(db)? {
            let Ok(Value::Object(mut body)) = serde_json::from_str(&design.body) else {
                continue;
            };
            if let Some(Value::String(source)) = body.remove("validate_doc_update") {
                let function = Function::new(source, design.body);
                match design.id == AUTH_DESIGN {
                    true => auth = Some(function),
                    false => list.push(function),
                }
            }
        }
        let functions = Functions {
            design_seq,
            list: list.into(),
            auth,
        };
        let mut databases = self.lock();
        if databases.len() >= DATABASES_MAX {
            // Most of them may be deleted; the others are read again.
            databases.clear();
        }
        databases.insert(db.uuid().to_owned(), functions.clone());
        Ok(functions)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Functions>> {
        self.0.lock().expect("no panic while held")
    }
}

/// The owner of a database's functions.
pub fn owner(db: &Database, purpose: Purpose) -> Owner {
    Owner {
        database: db.uuid().to_owned(),
        purpose,
    }
}

/// A database's design documents.
fn designs(db: &Database) -> Result<Vec<Document>, HttpError> {
    let mut designs = Vec::new();
    let mut question = Some(AllDocs {
        start: Some("_design/".to_owned()),
        end: Some("_design0".to_owned()),
        inclusive_end: false,
        include_docs: Some(GetOptions::default()),
        ..AllDocs::default()
    });
    while let Some(asked) = question {
        let page = db.all_docs(&asked)?;
        designs.extend(page.rows.into_iter().filter_map(|row| match row.value {
            RowValue::Present { document, .. } => document.map(|document| *document),
            _ => None,
        }));
        question = page.next;
    }
    Ok(designs)
}
