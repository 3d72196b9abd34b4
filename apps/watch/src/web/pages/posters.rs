//! The pictures of posters.

use super::common::Answer;
use crate::{
    Error,
    db::posters::{self, Size},
    posters::content_type,
    request::App,
    web::visitor::Member,
};
use axum::{
    Router,
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use inorder_key::Ulid;

pub fn router() -> Router<App> {
    Router::new()
        .route("/posters/{film}/small", get(small))
        .route("/posters/{film}/large", get(large))
}

async fn small(member: Member, Path(film): Path<Ulid>) -> Answer {
    picture(&member, film, Size::Small)
}

async fn large(member: Member, Path(film): Path<Ulid>) -> Answer {
    picture(&member, film, Size::Large)
}

fn picture(Member { me, .. }: &Member, film: Ulid, size: Size) -> Answer<Response> {
    let picture = me.read(|db, _| posters::picture(db, film, size))?;
    let picture = picture.ok_or(Error::NotFound("file"))?;
    let headers = [
        (
            header::CONTENT_TYPE,
            content_type(&picture).unwrap_or("application/octet-stream"),
        ),
        // Another picture has another address.
        (
            header::CACHE_CONTROL,
            "private, max-age=31536000, immutable",
        ),
    ];
    Ok((headers, picture).into_response())
}
