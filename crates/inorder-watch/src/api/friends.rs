//! Friends.

use super::{
    answer::{Answer, Bearer, Body},
    list::as_json,
};
use crate::{
    date,
    db::{entries, friends, links},
    secret::Secret,
    web::{App, View},
};
use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    name: String,
}

fn done() -> Answer {
    Ok(Json(json!({"done": true})))
}

pub async fn all(State(app): State<App>, Bearer(user): Bearer) -> Answer {
    let read = move |db: &rusqlite::Connection| {
        let friends = friends::all(db, user.number)?;
        Ok((
            friends,
            friends::received(db, &user)?,
            friends::sent(db, user.number)?,
        ))
    };
    let (friends, received, sent) = app.db().read(read).await?;
    let names: Vec<&str> = friends.iter().map(|friend| friend.name.as_str()).collect();
    let request = |r: &friends::Request| json!({"name": r.name, "sent": date::day(r.id.ms())});
    let received: Vec<Value> = received.iter().map(request).collect();
    let sent: Vec<Value> = sent.iter().map(request).collect();
    Ok(Json(
        json!({"friends": names, "requests_received": received, "requests_sent": sent}),
    ))
}

pub async fn request(
    State(app): State<App>,
    Bearer(user): Bearer,
    Body(Name { name }): Body<Name>,
) -> Answer {
    app.db()
        .write(move |db| friends::request(db, &user, &name))
        .await?;
    done()
}

pub async fn accept(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(name): Path<String>,
) -> Answer {
    app.db()
        .write(move |db| friends::accept(db, &user, &name))
        .await?;
    done()
}

pub async fn decline(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(name): Path<String>,
) -> Answer {
    app.db()
        .write(move |db| friends::decline(db, &user, &name))
        .await?;
    done()
}

pub async fn take_back(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(name): Path<String>,
) -> Answer {
    app.db()
        .write(move |db| friends::take_back(db, user.number, &name))
        .await?;
    done()
}

pub async fn unfriend(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(name): Path<String>,
) -> Answer {
    app.db()
        .write(move |db| friends::unfriend(db, user.number, &name))
        .await?;
    done()
}

pub async fn invite(
    State(app): State<App>,
    Bearer(user): Bearer,
) -> Answer<(StatusCode, Json<Value>)> {
    let secret = Secret::new();
    app.db()
        .write(move |db| links::invite(db, user.number, secret))
        .await?;
    let path = format!("/invitation/{secret}");
    Ok((
        StatusCode::CREATED,
        Json(json!({"path": path, "days": links::INVITATION_DAYS})),
    ))
}

pub async fn list(
    State(app): State<App>,
    Bearer(user): Bearer,
    Path(name): Path<String>,
    Query(view): Query<View>,
) -> Answer {
    let filter = view.filter(true);
    let wanted = filter.clone();
    let read = move |db: &rusqlite::Connection| {
        let friend = friends::friend(db, user.number, &name)?;
        entries::page(db, friend.number, &wanted)
    };
    let page = app.db().read(read).await?;
    let mut page = as_json(&page, &filter);
    // Notes are for their writers.
    for film in page["films"].as_array_mut().into_iter().flatten() {
        film.as_object_mut().map(|film| film.remove("note"));
    }
    Ok(Json(page))
}
