//! The examples of the documentation that need a server, run on private ones: databases for `docs/loading.md`, where a
//! missing server prints SKIPPED, and a web server for `docs/inputs.md`.

use std::fs;
use std::path::{Path, PathBuf};

use inorder_testing::PrivateServer;

/// The fence of an example that needs a server.
const FENCE: &str = "```console,ignore\n";

/// The name of an engine, and the URL of its examples.
const SERVERS: &[(&str, &str)] = &[
    ("postgres", "postgres://me:secret@localhost/shop"),
    ("mariadb", "mysql://me:secret@localhost/shop"),
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The examples of a page for the server of this URL.
fn examples<'a>(page: &'a str, url: &str) -> Vec<&'a str> {
    let blocks = page.split(FENCE).skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or(rest));
    blocks.filter(|block| block.contains(url)).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let goal = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &goal),
            false => _ = fs::copy(entry.path(), goal).expect("copied"),
        }
    }
}

#[test]
fn the_page_says_what_the_command_says_on_a_server() {
    let page = fs::read_to_string(docs().join("loading.md")).expect("the page");
    let all = examples(&page, "").len();
    let known = SERVERS.iter().map(|(_, url)| examples(&page, url).len());
    assert_eq!(known.sum::<usize>(), all, "an example without a server");
    for (name, url) in SERVERS {
        let examples = examples(&page, url);
        assert!(!examples.is_empty(), "{name} has no example");
        let Some(server) = PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR")) else {
            continue;
        };
        server.run("CREATE DATABASE shop");
        let own = server.url_of("shop");
        run(&examples, |block| block.replace(url, &own), &[]);
    }
}

/// Runs examples with the files of `docs/loading.in`, and with these variables.
fn run(examples: &[&str], changed: impl Fn(&str) -> String, variables: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().join("page.md");
    let blocks: Vec<String> = examples
        .iter()
        .map(|block| format!("```console\n{}```\n", changed(block)))
        .collect();
    fs::write(&at, blocks.join("\n")).expect("written");
    copy(&docs().join("loading.in"), &at.with_extension("in"));
    let cases = trycmd::TestCases::new();
    cases.case(&at).env("NO_COLOR", "1");
    for (name, value) in variables {
        cases.env(*name, *value);
    }
    cases.run();
}

/// The file for a request, which has a name and password if it is private, or a signature; else a status.
#[cfg(feature = "url")]
fn answer(head: &str) -> Result<Vec<u8>, &'static str> {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let films = fs::read(docs().join("loading.in/films.csv")).expect("the file");
    // Of me:password.
    let is_known = head.contains(": Basic bWU6cGFzc3dvcmQ=");
    match path.split_once('?').unwrap_or((path, "")) {
        ("/films.csv", _) => Ok(films),
        ("/private/films.csv.gz", _) if is_known => {
            let mut packed = flate2::read::GzEncoder::new(&films[..], flate2::Compression::fast());
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut packed, &mut bytes).expect("packed");
            Ok(bytes)
        }
        ("/private/films.csv.gz", _) => Err("401 Unauthorized"),
        ("/bucket/films.csv", query) if query.contains("X-Amz-Signature=") => Ok(films),
        _ => Err("403 Forbidden"),
    }
}

/// Starts a web server that ends with the process. Returns its address.
#[cfg(feature = "url")]
fn web_server() -> String {
    use std::io::{BufRead as _, BufReader, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let (status, body) = match answer(&head.join("\n")) {
                Ok(body) => ("200 OK", body),
                Err(status) => (status, Vec::new()),
            };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            // A client that has seen enough closes the connection.
            _ = stream.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    address
}

#[cfg(feature = "url")]
#[test]
fn the_page_says_what_the_command_says_of_a_url() {
    let page = fs::read_to_string(docs().join("inputs.md")).expect("the page");
    let examples = examples(&page, "");
    assert_eq!(examples.len(), 1);
    let address = web_server();
    let changed = |block: &str| {
        let here = block.replace("example.org", &address);
        let here = here.replace("https://me:", "http://me:");
        here.replace(&format!("https://{address}"), &format!("http://{address}"))
    };
    let temporary = tempfile::tempdir().expect("a folder");
    let variables = [
        ("TMPDIR", temporary.path().to_str().expect("UTF-8")),
        ("AWS_ENDPOINT_URL", &*format!("http://{address}")),
        ("AWS_ACCESS_KEY_ID", "me"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    run(&examples, changed, &variables);
    let left = fs::read_dir(temporary.path()).expect("the folder").count();
    assert_eq!(left, 0, "files of downloads");
}
