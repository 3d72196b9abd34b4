//! A browser without a screen: pages and forms over the app itself, without a socket.

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, StatusCode, header},
};
use http_body_util::BodyExt;
use inorder_watch::{
    db::Database,
    films::demo,
    request::{App, Config},
    web,
};
use std::{collections::BTreeMap, path::Path, sync::LazyLock};
use tower::ServiceExt;

pub const PASSWORD: &str = "a long enough password";

/// The content type of [`multipart`].
pub const MULTIPART: &str = "multipart/form-data; boundary=x-x-x";

/// The body of a form with a file, which comes last.
pub fn multipart(fields: &[(&str, &str)], (name, file): (&str, &[u8])) -> Vec<u8> {
    let mut body = Vec::new();
    let mut part = |disposition: &str, bytes: &[u8]| {
        let head = format!("--x-x-x\r\nContent-Disposition: form-data; {disposition}\r\n\r\n");
        body.extend([head.as_bytes(), bytes, b"\r\n"].concat());
    };
    for (name, value) in fields {
        part(&format!("name=\"{name}\""), value.as_bytes());
    }
    part(&format!("name=\"file\"; filename=\"{name}\""), file);
    body.extend(b"--x-x-x--\r\n");
    body
}

/// An app over a file of its own, with the demo's films.
pub struct Site {
    pub app: App,
    pub folder: tempfile::TempDir,
}

/// Somebody who remembers cookies.
#[derive(Clone)]
pub struct Client {
    pub router: Router,
    pub cookies: BTreeMap<String, String>,
    pub token: Option<String>,
    /// The header `Accept-Language`.
    pub language: Option<String>,
    /// The client address, which the server accepts from a proxy.
    pub address: Option<String>,
}

/// The answer of the server.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
    pub bytes: Vec<u8>,
}

/// The file of a new app. A test that needs one copies it: the migrations of all versions take longer than most tests.
pub static WITHOUT_FILMS: LazyLock<Vec<u8>> = LazyLock::new(|| file_of(|_| Ok(())));
/// The same with the demo's films.
pub static WITH_FILMS: LazyLock<Vec<u8>> = LazyLock::new(|| file_of(demo::add_to_empty));

fn file_of<T>(fill: impl FnOnce(&Database) -> inorder_watch::Result<T>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (made, copy) = (folder.path().join("made.db"), folder.path().join("copy.db"));
    fill(&Database::open(&made).unwrap()).unwrap();
    rusqlite::Connection::open(made)
        .unwrap()
        .execute("VACUUM INTO ?1", [copy.to_string_lossy()])
        .unwrap();
    std::fs::read(copy).unwrap()
}

/// Opens a new file that is a copy of another one.
pub fn new_database(path: &Path, file: &[u8]) -> Database {
    std::fs::write(path, file).unwrap();
    Database::open(path).unwrap()
}

impl Site {
    pub fn new(config: Config) -> Self {
        Site::of(config, &WITH_FILMS)
    }

    fn of(config: Config, file: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = new_database(&folder.path().join("watch.db"), file);
        Site {
            app: App::new(db, config).unwrap(),
            folder,
        }
    }

    /// A server with an owner and other users, all signed in.
    pub async fn with_people(names: &[&str]) -> (Self, Vec<Client>) {
        Site::with_people_and(Config::default(), names).await
    }

    /// Like [`Site::with_people`], with an empty catalogue.
    pub async fn without_films(names: &[&str]) -> (Self, Vec<Client>) {
        let site = Site::of(Config::default(), &WITHOUT_FILMS);
        site.join(names).await
    }

    /// Like [`Site::with_people`], for a server that was started in another way.
    pub async fn with_people_and(config: Config, names: &[&str]) -> (Self, Vec<Client>) {
        Site::new(config).join(names).await
    }

    async fn join(self, names: &[&str]) -> (Self, Vec<Client>) {
        let site = self;
        let mut owner = site.visitor();
        owner.set_up(&site, names[0]).await;
        let mut people = vec![owner];
        for name in &names[1..] {
            let invitation = people[0].invitation().await;
            let mut guest = site.visitor();
            let answer = guest.sign_up(&invitation, name).await;
            assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
            people.push(guest);
        }
        (site, people)
    }

    pub fn visitor(&self) -> Client {
        Client {
            router: web::router(&self.app),
            cookies: BTreeMap::new(),
            token: None,
            language: None,
            address: None,
        }
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    /// The value of the first field of this name.
    pub fn field(&self, name: &str) -> String {
        let after = self.text.split_once(&format!("name=\"{name}\" value=\""));
        let (_, rest) = after.unwrap_or_else(|| panic!("no field {name} in {}", self.text));
        rest.split('"').next().unwrap().to_owned()
    }
}

impl Client {
    /// The same browser after its cookies were deleted.
    pub fn clone_signed_out(&self) -> Client {
        Client {
            cookies: BTreeMap::new(),
            ..self.clone()
        }
    }

    pub async fn send(&mut self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        for cookie in parts.headers.get_all(header::SET_COOKIE) {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            match value {
                "" => self.cookies.remove(name),
                value => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes: bytes.into(),
        }
    }

    pub fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let cookies: Vec<String> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let mut request = Request::builder().method(method).uri(path);
        if !cookies.is_empty() {
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        if let Some(address) = &self.address {
            request = request.header("x-forwarded-for", address);
        }
        if let Some(language) = &self.language {
            request = request.header(header::ACCEPT_LANGUAGE, language);
        }
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        request
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        let request = self.request("GET", path).body(Body::empty()).unwrap();
        self.send(request).await
    }

    /// Sends a form as it is, with whatever token is in it.
    pub async fn post_as_is(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = serde_urlencoded::to_string(fields).unwrap();
        let request = self
            .request("POST", path)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(body))
            .unwrap();
        self.send(request).await
    }

    /// Sends a form of the page at `page`.
    pub async fn post(&mut self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.get(page).await.field("token");
        let mut all = vec![("token", token.as_str())];
        all.extend(fields);
        self.post_as_is(path, &all).await
    }

    /// Sends a form of the page at `page` with a file, which comes last.
    pub async fn post_file(
        &mut self,
        page: &str,
        path: &str,
        fields: &[(&str, &str)],
        (name, file): (&str, &[u8]),
    ) -> Answer {
        let token = self.get(page).await.field("token");
        let mut all = vec![("token", token.as_str())];
        all.extend(fields);
        let body = multipart(&all, (name, file));
        let request = self
            .request("POST", path)
            .header(header::CONTENT_TYPE, MULTIPART)
            .body(Body::from(body))
            .unwrap();
        self.send(request).await
    }

    /// Asks the API.
    pub async fn api(&mut self, method: &str, path: &str, body: serde_json::Value) -> Answer {
        let mut request = self.request(method, &format!("/api/v1{path}"));
        let mut sent = Body::empty();
        if !body.is_null() {
            request = request.header(header::CONTENT_TYPE, "application/json");
            sent = Body::from(body.to_string());
        }
        self.send(request.body(sent).unwrap()).await
    }

    pub async fn set_up(&mut self, site: &Site, name: &str) {
        let code = site.app.setup_code().expect("a new file");
        let fields = [
            ("code", code.as_str()),
            ("name", name),
            ("password", PASSWORD),
            ("sign_up", "invitation"),
        ];
        let answer = self.post("/setup", "/setup", &fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    }

    pub async fn invitation(&mut self) -> String {
        let answer = self.post("/friends", "/friends/invite", &[]).await;
        let answer = self.get(answer.header("location")).await;
        let (_, rest) = answer.text.split_once("/invitation/").expect("a link");
        rest[..40].to_owned()
    }

    pub async fn sign_up(&mut self, invitation: &str, name: &str) -> Answer {
        let page = format!("/invitation/{invitation}");
        let fields = [
            ("invitation", invitation),
            ("name", name),
            ("password", PASSWORD),
        ];
        self.post(&page, "/sign-up", &fields).await
    }

    pub async fn sign_in(&mut self, name: &str, password: &str) -> Answer {
        self.post(
            "/sign-in",
            "/sign-in",
            &[("name", name), ("password", password)],
        )
        .await
    }

    /// Makes a token for the API, and uses it from now on.
    pub async fn make_token(&mut self) {
        let answer = self
            .post(
                "/account",
                "/account/tokens",
                &[("name", "Проба"), ("confirm", PASSWORD)],
            )
            .await;
        let answer = self.get(answer.header("location")).await;
        let (_, rest) = answer
            .text
            .split_once("id=\"made\" readonly value=\"")
            .expect("a token");
        self.token = Some(rest[..40].to_owned());
    }

    /// The id of the best film for these words.
    pub async fn film(&mut self, words: &str) -> String {
        let query = serde_urlencoded::to_string([("q", words)]).unwrap();
        let answer = self.get(&format!("/films?{query}")).await;
        let (_, rest) = answer
            .text
            .split_once("<li class=\"film\" id=\"f")
            .expect("a film");
        rest[..26].to_owned()
    }

    /// Puts the best film for these words on the list, and gives its id.
    pub async fn add(&mut self, words: &str, fields: &[(&str, &str)]) -> String {
        let film = self.film(words).await;
        let answer = self
            .post(
                &format!("/films/{film}"),
                &format!("/list/{film}/save"),
                fields,
            )
            .await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        film
    }
}
