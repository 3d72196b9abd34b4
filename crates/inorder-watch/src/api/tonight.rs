//! What friends could watch together.

use super::answer::{Answer, Bearer};
use crate::{
    Error,
    db::{account, friends, tonight, users::User},
    web::App,
};
use axum::{
    Json,
    extract::{Query, State},
};
use serde_json::{Value, json};

pub async fn get(
    State(app): State<App>,
    Bearer(user): Bearer,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer {
    let names = pairs
        .into_iter()
        .filter(|(key, _)| key == "with")
        .map(|(_, name)| name);
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        return Err(Error::invalid("name a friend: ?with=NAME").into());
    }
    let read = move |db: &rusqlite::Connection| {
        let friends = friends::named(db, user.number, &names)?;
        let mut people: Vec<&User> = vec![&user];
        people.extend(&friends);
        let names: Vec<String> = people.iter().map(|person| person.name.clone()).collect();
        Ok((names, tonight::candidates(db, &people)?))
    };
    let (people, candidates) = app.db().read(read).await?;
    let film = |candidate: &tonight::Candidate| -> Value {
        let mut film = account::film(&candidate.film);
        film["points"] = candidate.points.into();
        film["chance"] = candidate.chance.into();
        film["priorities"] = candidate.priorities.clone().into();
        film
    };
    let films: Vec<Value> = candidates.iter().map(film).collect();
    let pick = tonight::pick(&candidates).map(|pick| pick.film.id.to_string());
    Ok(Json(
        json!({"people": people, "films": films, "pick": pick}),
    ))
}
