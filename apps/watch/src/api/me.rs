//! The user of the token.

use super::answer::{Answer, Bearer, Body, done};
use crate::{
    date,
    db::{account, entries, tokens},
};
use axum::{Json, extract::Path};
use inorder_key::Ulid;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Password {
    password: String,
}

pub async fn get(Bearer(me): Bearer) -> Answer {
    let (to_watch, watched) = me.read(|db, user| entries::counts(db, user.number, false))?;
    Ok(Json(json!({
        "name": me.user.name,
        "signed_up": date::day(me.user.id.ms()),
        "is_owner": me.user.is_owner,
        "to_watch": to_watch,
        "watched": watched,
        "news": me.news,
    })))
}

pub async fn remove(Bearer(me): Bearer, Body(Password { password }): Body<Password>) -> Answer {
    me.app.check_password(&me.user, password).await?;
    me.write(account::delete).await?;
    done()
}

pub async fn export(Bearer(me): Bearer) -> Answer {
    Ok(Json(me.read_long(account::export).await?))
}

pub async fn tokens(Bearer(me): Bearer) -> Answer {
    let tokens = me.read(|db, user| tokens::all(db, user.number))?;
    let token = |t: &tokens::Token| json!({"id": t.id.to_string(), "name": t.name, "made": date::day(t.id.ms())});
    let tokens: Vec<Value> = tokens.iter().map(token).collect();
    Ok(Json(json!({"tokens": tokens})))
}

pub async fn revoke(Bearer(me): Bearer, Path(id): Path<Ulid>) -> Answer {
    me.write(move |db, user| tokens::revoke(db, user.number, id))
        .await?;
    done()
}
