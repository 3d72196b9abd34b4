//! Whoever the token belongs to.

use super::answer::{Answer, Bearer, Body};
use crate::{
    date,
    db::{account, entries, tokens},
    web::{App, Caller},
};
use axum::{
    Json,
    extract::{Path, State},
};
use inorder_key::Ulid;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Password {
    password: String,
}

pub async fn get(State(app): State<App>, Bearer(user): Bearer) -> Answer {
    let number = user.number;
    let (to_watch, watched) = app
        .db()
        .read(move |db| entries::counts(db, number, false))
        .await?;
    Ok(Json(json!({
        "name": user.name,
        "signed_up": date::day(user.id.ms()),
        "is_owner": user.is_owner,
        "to_watch": to_watch,
        "watched": watched,
    })))
}

pub async fn remove(
    State(app): State<App>,
    Bearer(user): Bearer,
    Caller(address): Caller,
    Body(Password { password }): Body<Password>,
) -> Answer {
    app.check_password(address, &user.name, password).await?;
    app.db().write(move |db| account::delete(db, &user)).await?;
    Ok(Json(json!({"done": true})))
}

pub async fn export(State(app): State<App>, Bearer(user): Bearer) -> Answer {
    Ok(Json(
        app.db().read(move |db| account::export(db, &user)).await?,
    ))
}

pub async fn tokens(State(app): State<App>, Bearer(user): Bearer) -> Answer {
    let tokens = app
        .db()
        .read(move |db| tokens::all(db, user.number))
        .await?;
    let token = |t: &tokens::Token| json!({"id": t.id.to_string(), "name": t.name, "made": date::day(t.id.ms())});
    let tokens: Vec<Value> = tokens.iter().map(token).collect();
    Ok(Json(json!({"tokens": tokens})))
}

pub async fn revoke(State(app): State<App>, Bearer(user): Bearer, Path(id): Path<Ulid>) -> Answer {
    app.db()
        .write(move |db| tokens::revoke(db, user.number, id))
        .await?;
    Ok(Json(json!({"done": true})))
}
