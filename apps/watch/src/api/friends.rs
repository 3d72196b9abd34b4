//! Friends.

use super::{
    answer::{Answer, Bearer, Body, done},
    list::as_json,
};
use crate::{
    db::{
        account, blocks,
        entries::{self, tags},
        friends, links,
        users::User,
    },
    request::View,
    secret::Secret,
};
use axum::{
    Json,
    extract::{Path, Query},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    name: String,
}

pub async fn all(Bearer(me): Bearer) -> Answer {
    let (friends, blocked, received, sent) = me.read(|db, user| {
        Ok((
            friends::all(db, user.number)?,
            blocks::all(db, user.number)?,
            friends::received(db, user)?,
            friends::sent(db, user.number)?,
        ))
    })?;
    let names = |users: &[User]| -> Value { users.iter().map(|user| user.name.as_str()).collect() };
    Ok(Json(json!({
        "friends": names(&friends),
        "blocked": names(&blocked),
        "requests_received": account::requests(&received),
        "requests_sent": account::requests(&sent),
    })))
}

pub async fn request(Bearer(me): Bearer, Body(Name { name }): Body<Name>) -> Answer {
    me.write(move |db, user| friends::request(db, user, &name))
        .await?;
    done()
}

pub async fn accept(Bearer(me): Bearer, Path(name): Path<String>) -> Answer {
    me.write(move |db, user| friends::accept(db, user, &name))
        .await?;
    done()
}

pub async fn decline(Bearer(me): Bearer, Path(name): Path<String>) -> Answer {
    me.write(move |db, user| friends::decline(db, user, &name))
        .await?;
    done()
}

pub async fn take_back(Bearer(me): Bearer, Path(name): Path<String>) -> Answer {
    me.write(move |db, user| friends::take_back(db, user.number, &name))
        .await?;
    done()
}

pub async fn unfriend(Bearer(me): Bearer, Path(name): Path<String>) -> Answer {
    me.write(move |db, user| friends::unfriend(db, user.number, &name))
        .await?;
    done()
}

pub async fn block(Bearer(me): Bearer, Body(Name { name }): Body<Name>) -> Answer {
    me.write(move |db, user| blocks::block(db, user, &name))
        .await?;
    done()
}

pub async fn unblock(Bearer(me): Bearer, Path(name): Path<String>) -> Answer {
    me.write(move |db, user| blocks::unblock(db, user, &name))
        .await?;
    done()
}

pub async fn invite(Bearer(me): Bearer) -> Answer<(StatusCode, Json<Value>)> {
    let secret = Secret::new();
    me.write(move |db, user| links::invite(db, user.number, secret))
        .await?;
    let path = format!("/invitation/{secret}");
    let invitation = json!({"path": path, "days": links::INVITATION_DAYS});
    Ok((StatusCode::CREATED, Json(invitation)))
}

pub async fn tags(Bearer(me): Bearer, Path(name): Path<String>) -> Answer {
    let tags = me.read(|db, user| {
        let friend = friends::friend(db, user.number, &name)?;
        tags::shared(db, friend.number)
    })?;
    Ok(Json(json!({"tags": tags})))
}

pub async fn list(
    Bearer(me): Bearer,
    Path(name): Path<String>,
    Query(view): Query<View>,
) -> Answer {
    let (page, filter) = me.read(|db, user| {
        let friend = friends::friend(db, user.number, &name)?;
        let filter = view.of_friend(&tags::shared(db, friend.number)?);
        Ok((entries::page(db, friend.number, &filter)?, filter))
    })?;
    let mut page = as_json(&page, &filter);
    // Notes and tags are for their writers.
    for film in page["films"].as_array_mut().into_iter().flatten() {
        if let Some(film) = film.as_object_mut() {
            film.retain(|name, _| !["note", "tags"].contains(&name.as_str()));
        }
    }
    Ok(Json(page))
}
