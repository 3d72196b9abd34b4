//! Picks a film that several friends want to watch.

use super::answer::{Answer, Bearer};
use crate::{
    db::{friends, tonight},
    request::{Wanted, with},
};
use axum::{Json, extract::Query};
use serde_json::{Value, json};

pub async fn get(Bearer(me): Bearer, Query(pairs): Query<Vec<(String, String)>>) -> Answer {
    let wanted = Wanted::of(&pairs)?;
    let names = with(pairs);
    let look = me.read_long(move |db, user| {
        let friends = friends::named(db, user.number, &names)?;
        let candidates = tonight::candidates(db, user, &friends, &wanted)?;
        Ok((friends, candidates))
    });
    let (friends, candidates) = look.await?;
    let people = std::iter::once(&me.user).chain(&friends);
    let people: Vec<&str> = people.map(|person| person.name.as_str()).collect();
    let film = |candidate: &tonight::Candidate| -> Value {
        let mut film = candidate.film.as_json();
        film["points"] = candidate.points.into();
        film["chance"] = candidate.chance.into();
        film["priorities"] = candidate.priorities.clone().into();
        film
    };
    let films =
        |candidates: &[tonight::Candidate]| -> Value { candidates.iter().map(film).collect() };
    let pick = tonight::pick(&candidates.all).map(|pick| pick.film.id.to_string());
    Ok(Json(
        json!({"people": people, "films": films(&candidates.all), "nearly": films(&candidates.nearly), "pick": pick}),
    ))
}
