//! The protocol between the server and a script host, over the host's stdin and stdout.
//!
//! A message is a list of texts, each with its length before it. A request is a [`Head`], the function's source and design
//! document when the host does not have them, and the arguments of the calls. The host answers with one message per call,
//! and one before them when it compiled the function: an [`Answer`]. It sends another one when it is ready.

use super::function::Kind;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::{self, Read, Write};

/// The calling convention of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// `(doc, req)`: whether the document passes.
    Filter,
    /// `(doc)`: whether it emits anything.
    Map,
    /// `([doc, …])`: the rows that each map function of a design document emits for each document.
    Index,
    /// `(function, "reduce" or "rereduce", values)`: the reduction.
    Reduce,
    /// `(newDoc, oldDoc, userCtx, secObj)`: whether it may be written.
    Validate,
    /// `(doc, req)` and the like: the answer to a request, by the kind of the function.
    Render,
}

impl Method {
    /// The member of the prelude's object that makes the call.
    pub fn name(self) -> &'static str {
        match self {
            Method::Filter => "filter",
            Method::Map => "map",
            Method::Index => "index",
            Method::Reduce => "reduce",
            Method::Validate => "validate",
            Method::Render => "render",
        }
    }

    /// The maximum size of an answer to a call without large documents.
    pub fn answer_bytes_max(self) -> u32 {
        match self {
            Method::Index | Method::Reduce => 64 << 20,
            Method::Render => 16 << 20,
            Method::Filter | Method::Map | Method::Validate => 1 << 20,
        }
    }

    /// Whether calls after one that fails are not made. Each update is refused by itself.
    pub fn stops(self) -> bool {
        self != Method::Validate
    }

    /// Arguments that are the same in all calls of a request, and those of each call.
    pub fn arguments(self) -> (usize, usize) {
        match self {
            Method::Filter => (1, 1),
            Method::Map | Method::Index => (0, 1),
            Method::Reduce => (0, 3),
            Method::Validate => (2, 2),
            Method::Render => (2, 1),
        }
    }
}

/// The first text of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The function's number in this host.
    pub function: u32,
    /// What the source is.
    pub kind: Kind,
    /// Whether source and design document follow.
    pub loads: bool,
    /// A function that is not called any more.
    pub forgets: Option<u32>,
    /// The calling convention.
    pub method: Method,
    /// Whether the calls after one that fails are not made.
    pub stops: bool,
    /// Bytes of heap of each call.
    pub heap_bytes_max: usize,
    /// Bytes of an answer.
    pub answer_bytes_max: u32,
}

/// Why a call has no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Failure {
    /// The source is no function.
    Compile(String),
    /// The function could not be called.
    Failed(String),
    /// The function threw, or ran out of stack.
    Thrown(Thrown),
    /// The function ran out of memory.
    Memory,
    /// The function's answer has more bytes than it may.
    LargeAnswer,
}

/// What a function threw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thrown {
    /// The name of the error, such as `TypeError`.
    pub name: String,
    /// Its message.
    pub reason: String,
}

/// The only text of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The function's result.
    Value(Box<RawValue>),
    /// Why it did not.
    Failure(Failure),
}

/// Appends a message to a buffer.
///
/// # Errors
/// If a text has 4 GiB or more.
pub fn push(out: &mut Vec<u8>, texts: &[&str]) -> io::Result<()> {
    out.extend_from_slice(&length(texts.len())?);
    for text in texts {
        out.extend_from_slice(&length(text.len())?);
        out.extend_from_slice(text.as_bytes());
    }
    Ok(())
}

/// Writes a message.
///
/// # Errors
/// If it can't be written.
pub fn write(mut to: impl Write, texts: &[&str]) -> io::Result<()> {
    let mut out = Vec::new();
    push(&mut out, texts)?;
    to.write_all(&out)?;
    to.flush()
}

/// Reads a message; none at the end.
///
/// # Errors
/// If it is cut off, or no message.
pub fn read(mut from: impl Read) -> io::Result<Option<Vec<String>>> {
    let mut number = [0; 4];
    match from.read_exact(&mut number) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut texts = Vec::new();
    for _ in 0..u32::from_le_bytes(number) {
        from.read_exact(&mut number)?;
        let mut text = vec![0; u32::from_le_bytes(number) as usize];
        from.read_exact(&mut text)?;
        texts.push(String::from_utf8(text).map_err(io::Error::other)?);
    }
    Ok(Some(texts))
}

fn length(length: usize) -> io::Result<[u8; 4]> {
    let length = u32::try_from(length).map_err(io::Error::other)?;
    Ok(length.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_as_they_were_sent() {
        let mut sent = Vec::new();
        write(&mut sent, &["a\nb", "", "ü"]).unwrap();
        write(&mut sent, &[]).unwrap();
        let mut from = &sent[..];
        assert_eq!(read(&mut from).unwrap().unwrap(), ["a\nb", "", "ü"]);
        assert!(read(&mut from).unwrap().unwrap().is_empty());
        assert_eq!(read(&mut from).unwrap(), None);
        assert!(read(&sent[..10]).is_err());
    }
}
