//! `validate_doc_update`: the functions of design documents that every edit is shown to before it is written.

use super::{HttpError, HttpResult, Server, database::security_of};
use crate::auth::User;
use crate::script::{Script, ScriptError, Verdict};
use crate::store::{AllDocs, Database, Document, GetOptions, Refusal, RowValue, Validate};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// A database's functions, in the order of their design documents.
type Functions = Arc<[Arc<tokio::sync::Mutex<Script>>]>;

/// The functions of all databases that were written to, read again when a design document has changed; by the database's
/// own id, with the sequence up to which they are good.
#[derive(Debug, Default)]
pub struct Validations(Mutex<HashMap<String, (u64, Functions)>>);

/// Databases whose functions are remembered.
const DATABASES_MAX: usize = 1000;

impl Validations {
    async fn functions(&self, server: &Server, db: &Database) -> HttpResult<Functions> {
        let seq = db.design_seq()?;
        if let Some((good, functions)) = self.lock().get(db.uuid())
            && *good == seq
        {
            return Ok(Arc::clone(functions));
        }
        let mut functions = Vec::new();
        for design in designs(db)? {
            let Ok(Value::Object(body)) = serde_json::from_str(&design.body) else {
                continue;
            };
            if let Some(Value::String(source)) = body.get("validate_doc_update") {
                functions.push(server.scripts.get(source, &design.body).await?);
            }
        }
        let functions = Functions::from(functions);
        let known = (seq, Arc::clone(&functions));
        let mut databases = self.lock();
        if databases.len() >= DATABASES_MAX {
            // Most of them may be deleted; those that are not are read again.
            databases.clear();
        }
        databases.insert(db.uuid().to_owned(), known);
        Ok(functions)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (u64, Functions)>> {
        self.0.lock().expect("no panic while held")
    }

    /// What asks a database's functions about an edit by this user; none when there are no functions.
    ///
    /// # Errors
    /// When a function can't be compiled, or the design documents not read.
    pub async fn validate(
        &self,
        server: &Server,
        db: &Database,
        user: &User,
    ) -> HttpResult<Option<Validate>> {
        let functions = self.functions(server, db).await?;
        if functions.is_empty() {
            return Ok(None);
        }
        let security = security_of(db)?;
        let user = json!({ "db": db.name(), "name": user.name(), "roles": user.roles() });
        let user = user.to_string();
        let mut failed = None;
        Ok(Some(Box::new(move |new, old| {
            // A function that was stopped is not tried with the next of many documents: the database's writer waits for it.
            if let Some(reason) = &failed {
                return Err(Refusal::Failed(String::clone(reason)));
            }
            let (new, old) = (shown(new), old.map(shown));
            let old = old.as_deref().unwrap_or("null");
            for function in functions.iter() {
                let verdict = function
                    .blocking_lock()
                    .validate(&new, old, &user, &security);
                if let Err(ScriptError::Timeout(_)) = &verdict {
                    failed = verdict.as_ref().err().map(ToString::to_string);
                }
                refusal(verdict)?;
            }
            Ok(())
        })))
    }
}

/// A document as functions see it.
fn shown(document: &Document) -> String {
    document.to_json()
}

fn refusal(verdict: Result<Verdict, ScriptError>) -> Result<(), Refusal> {
    match verdict {
        Ok(Verdict::Fine) => Ok(()),
        Ok(Verdict::Forbidden(reason)) => Err(Refusal::Forbidden(reason)),
        Ok(Verdict::Unauthorized(reason)) => Err(Refusal::Unauthorized(reason)),
        Err(error) => Err(Refusal::Failed(error.to_string())),
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
