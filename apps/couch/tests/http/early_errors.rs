//! Answers that come before a request's body was read, on connections that are used again: every route of the list, with every
//! method. Either the next request on the connection is answered, or the answer has said that the connection ends, and then it
//! ends without a reset.

use crate::client::Running;
use inorder_couch::auth::password::PasswordHash;
use inorder_couch::auth::{Admin, Auth};
use inorder_couch::http::ServerSettings;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// `anna:secret`.
const RIGHT: &str = "Basic YW5uYTpzZWNyZXQ=";

const METHODS: &[&str] = &[
    "GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "OPTIONS", "PATCH",
];

/// Sizes of bodies: what comes with the head, what doesn't, and what the server doesn't read for nothing.
const SIZES: &[usize] = &[0, 30, 100_000, 1_500_000];

/// The fault of a request, apart from its method.
const WRONGS: &[Wrong] = &[
    Wrong {
        name: "no password",
        authorization: None,
        content_type: "application/json",
        query: "",
    },
    Wrong {
        name: "no JSON",
        authorization: Some(RIGHT),
        content_type: "text/plain",
        query: "",
    },
    Wrong {
        name: "malformed JSON",
        authorization: Some(RIGHT),
        content_type: "application/json",
        query: "",
    },
    Wrong {
        name: "malformed query",
        authorization: Some(RIGHT),
        content_type: "application/json",
        query: "?rev=x&limit=x&since=x&partitioned=x&count=x&attachments=x",
    },
];

struct Wrong {
    name: &'static str,
    authorization: Option<&'static str>,
    content_type: &'static str,
    query: &'static str,
}

/// The transfer of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length,
    Chunked,
    /// With a length, after `100 Continue`.
    Expected,
}

const FRAMINGS: &[Framing] = &[Framing::Length, Framing::Chunked, Framing::Expected];

/// The paths in the list of routes, with something in the place of each variable.
fn paths() -> Vec<String> {
    let source = include_str!("../../src/http/routes.rs");
    let routes = source.split(".route(").skip(1);
    let paths = routes.filter_map(|route| route.split('"').nth(1));
    let filled = paths.map(|path| {
        let parts = path.split('/').map(|part| match part {
            "{db}" => "db",
            "{node}" => "_local",
            "{*attachment}" => "file.txt",
            "{*rest}" => "x/y",
            variable if variable.starts_with('{') => "x",
            literal => literal,
        });
        parts.collect::<Vec<_>>().join("/")
    });
    let mut paths: Vec<String> = filled.collect();
    assert!(paths.len() > 60, "{}", paths.len());
    for other in [
        "/nodb",
        "/nodb/doc",
        "/NoName",
        "/db/_nothing",
        "/_nothing",
        "/db/_design",
        "/_utils/",
        "/db/%ff",
        "/nodb/_bulk_docs",
        "/_users",
    ] {
        paths.push(other.to_owned());
    }
    paths
}

/// An answer, and whether it says that the connection ends.
#[derive(Debug)]
struct Answer {
    status: u16,
    closes: bool,
}

struct Connection(BufReader<TcpStream>);

impl Connection {
    async fn open(server: &Running) -> Self {
        let address = server.url.strip_prefix("http://").unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Connection(BufReader::new(stream))
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sent = self.0.get_mut().write_all(bytes).await;
        sent.map_err(|error| format!("sending: {error}"))
    }

    /// Reads an answer, body and all.
    async fn answer(&mut self, is_head: bool) -> Result<Answer, String> {
        let failed = |error: std::io::Error| format!("receiving: {error}");
        let mut line = String::new();
        self.0.read_line(&mut line).await.map_err(failed)?;
        let status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
        let status: u16 = status.ok_or(format!("no answer: {line:?}"))?;
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            self.0.read_line(&mut line).await.map_err(failed)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.to_ascii_lowercase());
        }
        let header = |name: &str| headers.get(name).map_or("", String::as_str);
        if is_head || matches!(status, 100 | 204 | 304) {
        } else if header("transfer-encoding") == "chunked" {
            loop {
                line.clear();
                self.0.read_line(&mut line).await.map_err(failed)?;
                let bytes = usize::from_str_radix(line.trim_end(), 16);
                let bytes = bytes.map_err(|error| format!("{line:?}: {error}"))?;
                let mut chunk = vec![0; bytes + 2];
                self.0.read_exact(&mut chunk).await.map_err(failed)?;
                if bytes == 0 {
                    break;
                }
            }
        } else {
            let bytes: usize = header("content-length").parse().unwrap_or_default();
            let mut body = vec![0; bytes];
            self.0.read_exact(&mut body).await.map_err(failed)?;
        }
        Ok(Answer {
            status,
            closes: header("connection").contains("close"),
        })
    }

    /// Whether the server has ended it, and not by a reset.
    async fn has_ended(&mut self) -> Result<(), String> {
        let mut byte = [0];
        match timeout(Duration::from_secs(20), self.0.read(&mut byte)).await {
            Ok(Ok(0)) => Ok(()),
            Ok(Ok(_)) => Err("more than an answer".to_owned()),
            Ok(Err(error)) => Err(format!("at the end: {error}")),
            Err(_) => Err("it doesn't end".to_owned()),
        }
    }

    /// A request whose body is sent as a whole before its answer is read.
    async fn exchange(
        &mut self,
        method: &str,
        path: &str,
        wrong: &Wrong,
        (framing, bytes): (Framing, usize),
    ) -> Result<Answer, String> {
        let mut head = format!(
            "{method} {path}{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\n",
            wrong.query, wrong.content_type
        );
        if let Some(authorization) = wrong.authorization {
            head += &format!("Authorization: {authorization}\r\n");
        }
        let is_head = method == "HEAD";
        let body = vec![b'{'; bytes];
        match framing {
            Framing::Length => {
                head += &format!("Content-Length: {bytes}\r\n\r\n");
                self.send(&[head.as_bytes(), &body].concat()).await?;
            }
            Framing::Chunked => {
                head += "Transfer-Encoding: chunked\r\n\r\n";
                self.send(head.as_bytes()).await?;
                for chunk in body.chunks(60_000) {
                    let size = format!("{:x}\r\n", chunk.len());
                    self.send(&[size.as_bytes(), chunk, b"\r\n"].concat())
                        .await?;
                }
                self.send(b"0\r\n\r\n").await?;
            }
            Framing::Expected => {
                head += &format!("Content-Length: {bytes}\r\nExpect: 100-continue\r\n\r\n");
                self.send(head.as_bytes()).await?;
                let first = self.answer(is_head).await?;
                if first.status != 100 {
                    // The body stays here: what is sent next is a request, if anything is.
                    let is_right = first.closes || bytes == 0;
                    return is_right
                        .then_some(first)
                        .ok_or("it waits for the body".into());
                }
                self.send(&body).await?;
            }
        }
        self.answer(is_head).await
    }
}

async fn server() -> Running {
    let admin = Admin {
        name: "anna".into(),
        password: PasswordHash::new("secret", 1),
    };
    let settings = ServerSettings {
        body_bytes_max: 400_000,
        ..ServerSettings::default()
    };
    let server = Running::start_with(Auth::new(Some(admin), b"secret"), settings).await;
    let made = server.ask("PUT", "/db").header("authorization", RIGHT);
    assert_eq!(made.send().await.status, 201);
    server
}

/// One request after another on the same connection while it lasts: what was wrong, if anything.
async fn check(
    server: &Running,
    connection: &mut Connection,
    method: &str,
    path: &str,
    wrong: &Wrong,
    body: (Framing, usize),
) -> Result<Answer, String> {
    let answer = connection.exchange(method, path, wrong, body).await?;
    if answer.closes {
        connection.has_ended().await?;
        *connection = Connection::open(server).await;
        return Ok(answer);
    }
    let next = b"GET /_up HTTP/1.1\r\nHost: localhost\r\n\r\n";
    connection.send(next).await?;
    let next = connection.answer(false).await?;
    if next.status != 200 || next.closes {
        return Err(format!("the next request: {next:?}"));
    }
    Ok(answer)
}

#[tokio::test]
async fn an_early_answer_leaves_a_connection_that_can_be_used_or_says_so() {
    let server = server().await;
    let mut connection = Connection::open(&server).await;
    let (mut statuses, mut problems) = (BTreeMap::new(), Vec::new());
    let (mut turn, mut group) = (0, 0);
    for path in paths() {
        for method in METHODS {
            // With a password this would be no error.
            if matches!((*method, path.as_str()), ("DELETE", "/db" | "/db/")) {
                continue;
            }
            for wrong in WRONGS {
                group += 1;
                for (at, framing) in FRAMINGS.iter().enumerate() {
                    turn += 1;
                    // Three of the four sizes, different for each method.
                    let bytes = SIZES[(group + group / 4 + at) % SIZES.len()];
                    let body = (*framing, bytes);
                    let checked = check(&server, &mut connection, method, &path, wrong, body);
                    match checked.await {
                        Ok(answer) => {
                            *statuses.entry((answer.status, answer.closes)).or_insert(0) += 1;
                        }
                        Err(problem) => {
                            let name = wrong.name;
                            problems.push(format!("{method} {path} {name} {body:?}: {problem}"));
                            connection = Connection::open(&server).await;
                        }
                    }
                }
            }
        }
    }
    println!("{turn} requests, by status and whether the connection ended: {statuses:?}");
    assert!(
        problems.is_empty(),
        "{}:\n{}",
        problems.len(),
        problems.join("\n")
    );
    for status in [400, 401, 404, 405, 413, 415] {
        let closes = statuses.get(&(status, true));
        assert!(
            status == 413 || closes.is_some(),
            "{status} with a large body"
        );
        assert!(statuses.keys().any(|(seen, _)| *seen == status), "{status}");
    }
}

#[tokio::test]
async fn heads_that_are_refused_end_the_connection_without_a_reset() {
    let server = server().await;
    let long = "x".repeat(70_000);
    let heads = [
        (
            "GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n".to_owned(),
            400,
        ),
        (
            "GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello".to_owned(),
            400,
        ),
        (
            "PUT /db/a HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello"
                .to_owned(),
            400,
        ),
        (
            format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            414,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}{long}\r\n\r\n"),
            431,
        ),
        (
            format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(150)),
            431,
        ),
    ];
    for (head, status) in heads {
        let mut connection = Connection::open(&server).await;
        connection.send(head.as_bytes()).await.unwrap();
        // More than the server looks at.
        connection.send(&vec![b'x'; 300_000]).await.unwrap();
        let answer = connection.answer(false).await;
        let shown = &head[..head.len().min(60)];
        let answer = answer.unwrap_or_else(|error| panic!("{shown:?}: {error}"));
        assert_eq!(answer.status, status, "{shown:?}");
        assert!(answer.closes, "{shown:?}");
        connection.has_ended().await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_is_used_again_after_a_feed_that_was_asked_for_with_a_body() {
    let server = server().await;
    let mut connection = Connection::open(&server).await;
    let feed = format!(
        "POST /db/_changes?feed=longpoll&timeout=100&since=now HTTP/1.1\r\nHost: localhost\r\nAuthorization: {RIGHT}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    // The second one comes before the first is answered.
    connection
        .send([feed.as_bytes(), feed.as_bytes()].concat().as_slice())
        .await
        .unwrap();
    for _ in 0..2 {
        let answer = connection.answer(false).await.unwrap();
        assert_eq!((answer.status, answer.closes), (200, false));
    }
    connection
        .send(b"GET /_up HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(connection.answer(false).await.unwrap().status, 200);
}
