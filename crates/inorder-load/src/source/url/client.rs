//! Downloads by HTTP, and goes on where a connection broke.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ureq::http::{Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::download::Download;
use super::s3;

/// The longest wait for a connection, and for the next bytes.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Pauses before connections that are made because one broke. After bytes came, they begin anew.
const PAUSES: &[Duration] = &[
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(10),
];

const BUFFER_BYTES: usize = 1 << 17;

/// Begins to download a URL into a temporary file in this folder.
///
/// # Errors
/// If the server can't be reached or refuses.
pub(super) fn fetch(url: &str, folder: &Path) -> io::Result<Arc<Download>> {
    let request = Request {
        agent: agent(),
        url: url.to_owned(),
    };
    let response = request.send(None)?;
    if response.status() != StatusCode::OK {
        return Err(refused(&response));
    }
    let bytes = length(&response)?;
    let version = version(&response);
    let file = tempfile::Builder::new()
        .prefix("inorder-download-")
        .tempfile_in(folder)?;
    let download = Arc::new(Download::new(file, bytes));
    let weak = Arc::downgrade(&download);
    std::thread::spawn(move || {
        let ended = transfer(&request, response, bytes, version.as_deref(), &weak);
        if let Some(download) = weak.upgrade() {
            download.end(ended.map_err(|error| error.to_string()));
        }
    });
    Ok(download)
}

struct Request {
    agent: Agent,
    url: String,
}

/// Where a request goes on: at this byte, if the file still has this version.
struct Resumption<'a> {
    from: u64,
    version: &'a str,
}

impl Request {
    fn send(&self, resumption: Option<&Resumption<'_>>) -> io::Result<Response<Body>> {
        let signed = match self.url.starts_with("s3://") {
            // Anew for each request, because signatures expire.
            true => {
                s3::signed(&self.url, &|name| std::env::var(name).ok()).map_err(io::Error::other)?
            }
            false => self.url.clone(),
        };
        let mut request = self.agent.get(signed);
        if let Some(resumption) = resumption {
            request = request
                .header(header::RANGE, format!("bytes={}-", resumption.from))
                .header(header::IF_RANGE, resumption.version);
        }
        request.call().map_err(ureq::Error::into_io)
    }
}

fn agent() -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier);
    let config = Agent::config_builder()
        .http_status_as_error(false)
        // The length of what is sent is that of the file.
        .accept_encoding("identity")
        .user_agent(concat!("inorder/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(SILENCE_MAX))
        .timeout_recv_response(Some(SILENCE_MAX))
        .timeout_per_read(Some(SILENCE_MAX))
        .tls_config(tls.build());
    config.build().new_agent()
}

fn refused(response: &Response<Body>) -> io::Error {
    let status = response.status();
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "; the URL takes a user and a password (https://user:password@host/…), s3:// takes AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY"
        }
        _ => "",
    };
    io::Error::other(format!("the server answers {status}{hint}"))
}

/// The length of the file, `None` if it is sent in chunks, whose end is marked.
fn length(response: &Response<Body>) -> io::Result<Option<u64>> {
    let text = |name| {
        response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let is_chunked = text(header::TRANSFER_ENCODING)
        .is_some_and(|encoding| encoding.to_ascii_lowercase().contains("chunked"));
    match text(header::CONTENT_LENGTH).and_then(|length| length.parse().ok()) {
        _ if is_chunked => Ok(None),
        Some(length) => Ok(Some(length)),
        None => Err(io::Error::other(
            "the server does not say where the file ends, so a broken connection would not be noticed; download the file \
             and name it",
        )),
    }
}

/// The strong entity tag or the date of a file (RFC 9110, section 13.1.5).
fn version(response: &Response<Body>) -> Option<String> {
    let text = |name| {
        response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let tag = text(header::ETAG).filter(|tag| !tag.starts_with("W/"));
    tag.or(text(header::LAST_MODIFIED)).map(str::to_owned)
}

/// Downloads all of a file, over as many connections as it takes. Ends early if nobody wants it any more.
fn transfer(
    request: &Request,
    mut response: Response<Body>,
    bytes_total: Option<u64>,
    version: Option<&str>,
    download: &Weak<Download>,
) -> io::Result<()> {
    let (mut received, mut pauses) = (0, PAUSES.iter());
    loop {
        let before = received;
        let broken = match receive(&mut response, &mut received, download) {
            Ok(()) if bytes_total.is_none_or(|total| total == received) => return Ok(()),
            Ok(()) => io::Error::from(io::ErrorKind::UnexpectedEof),
            Err(Broken::Here(error)) => return Err(error),
            Err(Broken::There(error)) => error,
        };
        if received > before {
            pauses = PAUSES.iter();
        }
        response = loop {
            let failed = |what: &str| {
                io::Error::other(format!(
                    "the connection broke after {received} bytes ({broken}); {what}"
                ))
            };
            let Some(version) = version else {
                return Err(failed(
                    "the server names no version of the file, so the rest can't be asked for",
                ));
            };
            let Some(pause) = pauses.next() else {
                return Err(failed("further connections failed, too"));
            };
            std::thread::sleep(*pause);
            let from = received;
            match request.send(Some(&Resumption { from, version })) {
                Ok(response) if is_rest(&response, from, bytes_total) => break response,
                Ok(response) if response.status().is_success() => {
                    return Err(failed(
                        "the file has changed since, or the server sends no parts of files",
                    ));
                }
                Ok(response) if response.status().is_client_error() => {
                    return Err(failed(&refused(&response).to_string()));
                }
                Ok(_) | Err(_) => {}
            }
        };
    }
}

/// Why a transfer ended early.
enum Broken {
    /// The file can't be written.
    Here(io::Error),
    /// The connection failed.
    There(io::Error),
}

/// Appends what a response has. Counts the bytes.
fn receive(
    response: &mut Response<Body>,
    received: &mut u64,
    download: &Weak<Download>,
) -> Result<(), Broken> {
    let mut body = response.body_mut().as_reader();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = body.read(&mut buffer).map_err(Broken::There)?;
        let Some(download) = download.upgrade() else {
            return Ok(());
        };
        if read == 0 {
            return Ok(());
        }
        download.append(&buffer[..read]).map_err(Broken::Here)?;
        *received += read as u64;
    }
}

/// Whether a response has the file from this byte on.
fn is_rest(response: &Response<Body>, from: u64, bytes_total: Option<u64>) -> bool {
    if from == 0 && response.status() == StatusCode::OK {
        return length(response).is_ok_and(|length| length == bytes_total);
    }
    let range = response.headers().get(header::CONTENT_RANGE);
    let range = range.and_then(|range| range.to_str().ok());
    let is_from_there = range.is_some_and(|range| range.starts_with(&format!("bytes {from}-")));
    response.status() == StatusCode::PARTIAL_CONTENT && is_from_there
}
