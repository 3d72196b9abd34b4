//! Authentication by token, and answers as JSON.

use crate::{
    Error,
    db::{Access, news, tokens, users::User},
    request::{App, Me, error_status, with_wait},
    secret::Secret,
};
use axum::{
    Json,
    extract::{FromRequest, FromRequestParts, Request, rejection::JsonRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Value, json};
use std::{
    fmt::{self, Formatter},
    marker::PhantomData,
};

/// The scheme of authentication, RFC 6750.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer");

/// An error that is answered as JSON: `{"error": "what was wrong"}`.
pub struct ApiError(pub Error);

/// The result of a route's handler.
pub type Answer<T = Json<Value>> = Result<T, ApiError>;

impl<E: Into<Error>> From<E> for ApiError {
    fn from(error: E) -> Self {
        ApiError(error.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, words) = error_status(&self.0);
        let mut response = with_wait(&self.0, said(status, &words.plain()));
        if status == StatusCode::UNAUTHORIZED {
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
        }
        response
    }
}

fn said(status: StatusCode, words: &str) -> Response {
    (status, Json(json!({"error": words}))).into_response()
}

/// A user whose token was sent.
pub struct Bearer(pub Me);

impl FromRequestParts<App> for Bearer {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let words = "send a token: Authorization: Bearer TOKEN; one is made on your account's page";
        let refused = || {
            let challenge = [(header::WWW_AUTHENTICATE, CHALLENGE)];
            (challenge, said(StatusCode::UNAUTHORIZED, words)).into_response()
        };
        let secret = token(&parts.headers).ok_or_else(refused)?;
        let found = app.db().read(|db| {
            let with_news = |user: User| news::count(db, user.number).map(|news| (user, news));
            tokens::find(db, secret)?.map(with_news).transpose()
        });
        let found = found.map_err(|error| ApiError(error).into_response())?;
        let (app, access) = (app.clone(), Access::Token(secret.hash()));
        let me = |(user, news)| {
            Bearer(Me {
                app,
                user,
                access,
                news,
            })
        };
        found.map(me).ok_or_else(refused)
    }
}

fn token(headers: &HeaderMap) -> Option<Secret> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    token
        .trim()
        .parse()
        .ok()
        .filter(|_| scheme.eq_ignore_ascii_case("bearer"))
}

/// The answer without other content.
pub fn done() -> Answer {
    Ok(Json(json!({"done": true})))
}

/// A body of JSON.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let refused = |error: JsonRejection| said(error.status(), &error.body_text());
        // Serde would take an array too, as the values of the fields in their order.
        let Json(body) = Json::<ObjectsOnly<T>>::from_request(request, app)
            .await
            .map_err(refused)?;
        Ok(Body(body.0))
    }
}

/// A value that is read from a JSON object.
pub struct ObjectsOnly<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ObjectsOnly<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Object<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = T;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        source.deserialize_map(Object(PhantomData)).map(ObjectsOnly)
    }
}

/// The answer where there is no route.
pub async fn no_route() -> Response {
    said(
        StatusCode::NOT_FOUND,
        "there is no such route: /api lists them",
    )
}
