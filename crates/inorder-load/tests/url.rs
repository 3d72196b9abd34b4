//! Inputs by URL, from a server that does what real ones do: lengths, chunks, parts, broken connections, changed files.
#![cfg(feature = "url")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Folder, rows};
use inorder_load::{Create, Job, Progress, run, source::Downloads};

/// What the server does with a file.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Whole,
    Chunked,
    /// Without a length: the end of the connection is the end of the file.
    Endless,
    /// Each connection breaks after so many bytes. Parts are sent.
    Breaks(usize),
    /// Breaks once, and has another version afterwards.
    Changes,
    /// Breaks, and knows no parts.
    BreaksWithoutParts,
    /// Sends the beginning, and no more.
    Stalls,
    Missing,
}

/// A server of one file, until the process ends.
struct Server {
    port: u16,
    /// The heads of all requests.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(file: impl Into<Vec<u8>>, way: Way) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (file, seen) = (file.into(), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let count = seen.lock().expect("requests").len();
                let head = head_of(&stream);
                seen.lock().expect("requests").push(head.clone());
                // A client that has seen enough closes the connection.
                _ = answer(stream, &head, &file, way, count);
            }
        });
        Server { port, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://me:secret@127.0.0.1:{}/{path}", self.port)
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("requests").clone()
    }
}

fn head_of(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    head.join("\n").to_lowercase()
}

fn answer(
    mut to: TcpStream,
    head: &str,
    file: &[u8],
    way: Way,
    count: usize,
) -> std::io::Result<()> {
    let version = if way == Way::Changes { count } else { 0 };
    let tag = format!("ETag: \"v{version}\"\r\n");
    let range = head
        .lines()
        .find_map(|line| line.strip_prefix("range: bytes="));
    let from: usize = range.map_or(0, |range| {
        range.trim_end_matches('-').parse().expect("a number")
    });
    let is_same = head.contains(&format!("if-range: \"v{version}\""));
    let from = if is_same && way != Way::BreaksWithoutParts {
        from
    } else {
        0
    };
    let rest = &file[from..];
    match way {
        Way::Missing => return write!(to, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        Way::Chunked => {
            write!(to, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            for part in rest.chunks(1000) {
                write!(to, "{:x}\r\n", part.len())?;
                to.write_all(part)?;
                write!(to, "\r\n")?;
            }
            return write!(to, "0\r\n\r\n");
        }
        Way::Endless => write!(to, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?,
        _ if from > 0 => write!(
            to,
            "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {from}-{}/{}\r\n{tag}\r\n",
            rest.len(),
            file.len() - 1,
            file.len()
        )?,
        _ => write!(
            to,
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{tag}\r\n",
            file.len()
        )?,
    }
    let most = match way {
        Way::Breaks(bytes) => bytes,
        Way::Changes | Way::BreaksWithoutParts | Way::Stalls => file.len() / 2,
        _ => rest.len(),
    };
    to.write_all(&rest[..most.min(rest.len())])?;
    if way == Way::Stalls {
        std::thread::sleep(Duration::from_secs(600));
    }
    Ok(())
}

fn job(folder: &Folder, url: &str) -> Job {
    Job {
        create: Some(Create::default()),
        ..folder.job(Path::new(url))
    }
}

/// Loads from a server. Returns the number of rows and their sum, or the error.
fn loaded(server: &Server, path: &str) -> Result<(i64, i64), String> {
    let folder = Folder::new("");
    folder.run(&job(&folder, &server.url(path)))?;
    let sum = "SELECT count(*), sum(n) FROM t";
    let found = folder
        .open()
        .query_row(sum, [], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(found.expect("numbers"))
}

/// Rows with a number each.
fn csv(rows: i64) -> String {
    let rows: String = (1..=rows)
        .map(|n| format!("{n},some text of row {n}\n"))
        .collect();
    format!("n,text\n{rows}")
}

const ROWS: i64 = 30_000;
const SUM: i64 = ROWS * (ROWS + 1) / 2;

#[test]
fn files_with_a_marked_end_are_whole() {
    for way in [Way::Whole, Way::Chunked] {
        let server = Server::start(csv(ROWS), way);
        assert_eq!(loaded(&server, "rows.csv?token=hidden"), Ok((ROWS, SUM)));
        let requests = server.requests();
        // bWU6c2VjcmV0 is me:secret in base64.
        let authorization = "authorization: basic bwu6c2vjcmv0";
        assert!(requests[0].contains(authorization), "{requests:?}");
        assert_eq!(requests.len(), 1);
    }
}

#[test]
fn a_broken_connection_is_made_again() {
    let text = csv(ROWS);
    let server = Server::start(text.clone(), Way::Breaks(text.len() / 3));
    assert_eq!(loaded(&server, "rows.csv"), Ok((ROWS, SUM)));
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_file_that_may_not_be_whole_is_refused() {
    for (way, what) in [
        (Way::Endless, "does not say where the file ends"),
        (Way::Changes, "the file has changed since"),
        (
            Way::BreaksWithoutParts,
            "the server sends no parts of files",
        ),
        (Way::Missing, "the server answers 404 Not Found"),
    ] {
        let server = Server::start(csv(ROWS), way);
        let error = loaded(&server, "rows.csv?token=hidden").expect_err("refused");
        assert!(error.contains(what), "{error}");
        assert!(
            error.contains(&format!("http://127.0.0.1:{}/rows.csv", server.port)),
            "{error}"
        );
        assert!(
            !error.contains("secret") && !error.contains("hidden"),
            "{error}"
        );
    }
    let error = Folder::new("");
    let error = error.run(&job(&error, "http://127.0.0.1:1/x.csv"));
    assert!(
        error
            .expect_err("refused")
            .contains("http://127.0.0.1:1/x.csv")
    );
}

#[test]
fn the_second_reading_takes_no_second_download() {
    // The last row has another type than the first 10,000.
    let server = Server::start(csv(ROWS) + "x,y\n", Way::Whole);
    let folder = Folder::new("");
    let summary = folder
        .run(&job(&folder, &server.url("rows.csv")))
        .expect("a load");
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.text.contains("all rows were read")),
        "{:?}",
        summary.notes
    );
    assert_eq!((summary.rows_written, server.requests().len()), (30_001, 1));
}

#[test]
fn compressed_files_and_databases_are_read() {
    let packed = zstd::encode_all(csv(ROWS).as_bytes(), 1).expect("packed");
    assert_eq!(
        loaded(&Server::start(packed, Way::Chunked), "rows.csv.zst"),
        Ok((ROWS, SUM))
    );
    let other = Folder::new("CREATE TABLE s(n, text); INSERT INTO s VALUES (1, 'a'), (2, 'b')");
    let database = std::fs::read(other.database()).expect("a file");
    let folder = Folder::new("");
    let server = Server::start(database, Way::Whole);
    folder
        .run(&job(&folder, &server.url("some.db")))
        .expect("a load");
    assert_eq!(
        rows(&folder.open(), "t"),
        ["integer1,text'a'", "integer2,text'b'"]
    );
}

/// The thread that downloads may still hold the file when the load has ended.
#[test]
fn no_downloaded_file_is_left() {
    let server = Server::start(csv(10), Way::Whole);
    for _ in 0..100 {
        let folder = Folder::new("");
        let downloaded = folder.path("downloaded");
        std::fs::create_dir(&downloaded).expect("a folder");
        let mut job = job(&folder, &server.url("rows.csv"));
        job.read_options.downloads = Downloads::in_folder(downloaded.clone());
        folder.run(&job).expect("loaded");
        drop(job);
        let left = std::fs::read_dir(&downloaded).expect("a folder").count();
        assert_eq!(left, 0);
    }
}

#[test]
fn a_load_that_waits_for_a_server_can_be_stopped() {
    let server = Server::start(csv(ROWS), Way::Stalls);
    let folder = Folder::new("");
    let (progress, job) = (Progress::default(), job(&folder, &server.url("rows.csv")));
    let loading = {
        let progress = progress.clone();
        std::thread::spawn(move || {
            run(&job, &progress)
                .map(|_| ())
                .map_err(|error| error.to_string())
        })
    };
    while progress.bytes_read() == 0 {
        assert!(!loading.is_finished(), "the load ended");
        std::thread::yield_now();
    }
    progress.stop();
    let stopped = loading.join().expect("no panic").expect_err("stopped");
    assert_eq!(stopped, inorder_load::Error::Stopped.to_string());
    assert!(!folder.database().exists());
}
