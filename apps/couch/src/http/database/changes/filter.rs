//! Filters of the changes feed: by selector, function or document ids.

use crate::http::caller::Caller;
use crate::http::functions::owner;
use crate::http::params::Params;
use crate::http::request::request_object;
use crate::http::{HttpError, HttpResult};
use crate::mango::Selector;
use crate::script::{Function, Owner, Purpose, Scripts};
use crate::store::{Change, Database, Document, Found, GetOptions};
use axum::http::request::Parts;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The condition that a filter checks.
#[derive(Debug, Clone)]
pub enum Filter {
    /// None: all changes pass.
    All,
    /// `_selector`.
    Selector(Arc<Selector>),
    /// `design/name`: a filter function, and the request it sees.
    Function(Function, Arc<str>),
    /// `_view`: a map function; what it emits something for passes.
    Map(Function),
}

impl Filter {
    /// Returns the filter that a request names.
    pub async fn read(
        caller: &Caller,
        db: &Database,
        params: &Params,
        head: &Parts,
        body: &Map<String, Value>,
    ) -> HttpResult<Self> {
        match params.get("filter") {
            None | Some("" | "_doc_ids" | "_design") => Ok(Filter::All),
            Some("_selector") => selector(params, body),
            Some("_view") => {
                let name = params.get("view").unwrap_or_default();
                let function = function(db, name, "view", map_source)?;
                compile(caller, db, &function).await?;
                Ok(Filter::Map(function))
            }
            Some(name) => {
                let function = function(db, name, "filter", filter_source)?;
                compile(caller, db, &function).await?;
                let body = (!body.is_empty()).then(|| Value::Object(body.clone()));
                let request = request_object(caller, db, head, None, body)?.to_string();
                Ok(Filter::Function(function, request.into()))
            }
        }
    }

    /// Returns whether the filter needs the documents.
    pub fn needs_documents(&self) -> bool {
        !matches!(self, Filter::All)
    }

    /// Returns the changes that pass the filter, each with the revisions that pass.
    pub async fn keep(
        &self,
        scripts: &Scripts,
        db: &Database,
        changes: Vec<Change>,
    ) -> HttpResult<Vec<Change>> {
        let mut documents = Vec::with_capacity(changes.len());
        for change in &changes {
            documents.push(leaves(db, change)?);
        }
        let verdicts = self.verdicts(scripts, db, documents.iter().flatten());
        let mut verdicts = verdicts.await?.into_iter();
        let mut kept = Vec::new();
        for (mut change, documents) in changes.into_iter().zip(documents) {
            let passed: Vec<_> = documents
                .iter()
                .filter(|_| verdicts.next().unwrap_or(false))
                .map(|document| &document.revision)
                .collect();
            change
                .revisions
                .retain(|revision| passed.contains(&revision));
            if !change.revisions.is_empty() {
                kept.push(change);
            }
        }
        Ok(kept)
    }

    async fn verdicts(
        &self,
        scripts: &Scripts,
        db: &Database,
        documents: impl Iterator<Item = &Document>,
    ) -> HttpResult<Vec<bool>> {
        if let Filter::Selector(selector) = self {
            return Ok(documents.map(|it| it.matches(selector)).collect());
        }
        let texts: Vec<String> = documents.map(Document::to_json).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let owner = reader(db);
        Ok(match self {
            Filter::Function(function, request) => {
                scripts.filter(&owner, function, request, &texts).await?
            }
            Filter::Map(function) => scripts.emits(&owner, function, &texts).await?,
            Filter::All | Filter::Selector(_) => vec![true; texts.len()],
        })
    }
}

fn reader(db: &Database) -> Owner {
    owner(db, Purpose::Read)
}

/// Compiles the function before the answer begins, so that an error gets its own status.
async fn compile(caller: &Caller, db: &Database, function: &Function) -> HttpResult<()> {
    let scripts = &caller.server.scripts;
    Ok(scripts.compile(&reader(db), function).await?)
}

/// Returns the documents of a change, one per revision.
fn leaves(db: &Database, change: &Change) -> HttpResult<Vec<Document>> {
    if let (1, Some(document)) = (change.revisions.len(), &change.document) {
        return Ok(vec![document.clone()]);
    }
    let found = db.open_revs(&change.id, Some(&change.revisions), &GetOptions::default())?;
    let documents = found.into_iter().filter_map(|one| match one {
        Found::Document(document) => Some(*document),
        Found::Missing(_) => None,
    });
    Ok(documents.collect())
}

fn selector(params: &Params, body: &Map<String, Value>) -> HttpResult<Filter> {
    let selector = match body.get("selector") {
        Some(selector) => Some(selector.clone()),
        None => params.json("selector")?,
    };
    let missing = || HttpError::BadRequest("Selector must be specified in POST payload".to_owned());
    let selector = selector.ok_or_else(missing)?;
    if !selector.is_object() {
        let reason = "Selector error: expected a JSON object";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    let selector = Selector::from_json(&selector);
    let selector = selector.map_err(|error| HttpError::BadRequest(error.message))?;
    Ok(Filter::Selector(Arc::new(selector)))
}

/// Returns the function `design/name`.
fn function(
    db: &Database,
    name: &str,
    what: &str,
    source: fn(&Value, &str) -> Option<String>,
) -> HttpResult<Function> {
    let (design, name) = name.split_once('/').ok_or_else(|| {
        HttpError::BadRequest(format!(
            "`{what}` must be of the form `designname/{what}name`."
        ))
    })?;
    let document = db.get(&format!("_design/{design}"), &GetOptions::default())?;
    let body: Value = serde_json::from_str(&document.body)
        .map_err(|error| HttpError::Internal(error.to_string()))?;
    let language = body["language"].as_str().unwrap_or("javascript");
    if language != "javascript" {
        let reason = format!("Functions in {language} can't be run, only those in javascript.");
        return Err(HttpError::NotImplemented(reason));
    }
    let source = source(&body, name);
    let missing = || HttpError::NotFound(format!("missing json key: {name}"));
    Ok(Function::new(source.ok_or_else(missing)?, document.body))
}

fn filter_source(design: &Value, name: &str) -> Option<String> {
    design["filters"][name].as_str().map(str::to_owned)
}

fn map_source(design: &Value, name: &str) -> Option<String> {
    design["views"][name]["map"].as_str().map(str::to_owned)
}
