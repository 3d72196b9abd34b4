//! The target of a path: a database, a document or an attachment.

use super::rights::{Admitted, require_server_admin};
use super::{HttpError, HttpResult, Server};
use crate::auth::User;
use crate::store::Database;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use std::sync::Arc;

/// The database in the path.
#[derive(Debug)]
pub struct Db(pub Database);

/// The document in the path, with its database; `_design/` and `_local/` belong to the id.
#[derive(Debug)]
pub struct Doc {
    /// The database.
    pub db: Database,
    /// The id.
    pub id: String,
}

/// The attachment in the path.
#[derive(Debug)]
pub struct Att {
    /// The database.
    pub db: Database,
    /// The document's id.
    pub id: String,
    /// The attachment's name.
    pub name: String,
}

/// The parameters of a path, decoded.
struct Path(RawPathParams);

impl Path {
    async fn of(parts: &mut Parts, server: &Arc<Server>) -> HttpResult<Self> {
        let params = RawPathParams::from_request_parts(parts, server).await;
        let bad = |_| HttpError::BadRequest("The path is no UTF-8.".to_owned());
        params.map(Path).map_err(bad)
    }

    fn find(&self, name: &str) -> Option<&str> {
        let mut params = self.0.iter();
        params.find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// Returns a parameter of the route.
    fn get(&self, name: &'static str) -> HttpResult<&str> {
        let missing = || HttpError::Internal(format!("the route has no {{{name}}}"));
        self.find(name).ok_or_else(missing)
    }

    /// Returns the database that the gate admitted the user to.
    fn database(&self, parts: &Parts, server: &Server) -> HttpResult<Database> {
        let name = self.get("db")?;
        match parts.extensions.get::<Admitted>() {
            Some(admitted) if admitted.db.name() == name => Ok(admitted.db.clone()),
            // A database that was created a moment ago is as missing as before.
            _ => Err(match server.databases.get(name) {
                Ok(_) => HttpError::DatabaseMissing,
                Err(error) => error.into(),
            }),
        }
    }

    fn document_id(&self) -> HttpResult<String> {
        if let Some(name) = self.find("design") {
            return Ok(format!("_design/{name}"));
        }
        if let Some(name) = self.find("local") {
            return Ok(format!("_local/{name}"));
        }
        match self.get("id")? {
            // As `_local%2F` or `_local%2Fname` in the path.
            "_local/" => Err(HttpError::BadRequest(
                "Invalid _local document id.".to_owned(),
            )),
            id => Ok(id.to_owned()),
        }
    }
}

impl FromRequestParts<Arc<Server>> for Db {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> HttpResult<Self> {
        let path = Path::of(parts, server).await?;
        path.database(parts, server).map(Db)
    }
}

impl FromRequestParts<Arc<Server>> for Doc {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> HttpResult<Self> {
        let path = Path::of(parts, server).await?;
        Ok(Doc {
            db: path.database(parts, server)?,
            id: path.document_id()?,
        })
    }
}

/// The view in the path.
#[derive(Debug)]
pub struct ViewOf {
    /// The database.
    pub db: Database,
    /// The id of the design document.
    pub id: String,
    /// The view's name.
    pub name: String,
}

impl FromRequestParts<Arc<Server>> for ViewOf {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> HttpResult<Self> {
        let path = Path::of(parts, server).await?;
        Ok(ViewOf {
            db: path.database(parts, server)?,
            id: path.document_id()?,
            name: path.get("view")?.to_owned(),
        })
    }
}

impl FromRequestParts<Arc<Server>> for Att {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> HttpResult<Self> {
        let path = Path::of(parts, server).await?;
        Ok(Att {
            db: path.database(parts, server)?,
            id: path.document_id()?,
            name: path.get("attachment")?.to_owned(),
        })
    }
}

/// The name of a database in the path, whether the database exists or not. Only server admins get it.
#[derive(Debug)]
pub struct DbName(pub String);

impl FromRequestParts<Arc<Server>> for DbName {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> HttpResult<Self> {
        let path = Path::of(parts, server).await?;
        let name = path.get("db")?;
        let user = parts.extensions.get::<User>();
        require_server_admin(user.unwrap_or(&User::anonymous()))?;
        Ok(DbName(name.to_owned()))
    }
}
