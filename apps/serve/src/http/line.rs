//! Request lines with characters that must be percent-encoded and often are not.
//!
//! Clients write `?key="a"` as it is shown in CouchDB's manual, and other servers accept it. The HTTP library refuses a
//! quotation mark in a query, so it is encoded here, before the library reads the line.

/// Whether a character is encoded.
fn is_encoded(byte: u8) -> bool {
    matches!(byte, b'"' | b'<' | b'>' | b'`')
}

/// Methods whose lines are read.
const METHODS: &[&[u8]] = &[
    b"GET /",
    b"HEAD /",
    b"POST /",
    b"PUT /",
    b"DELETE /",
    b"COPY /",
    b"OPTIONS /",
];

/// The beginning of an answer after which the same request goes on.
const CONTINUE: &[u8] = b"HTTP/1.1 100 ";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// The next bytes begin a request.
    #[default]
    Before,
    /// The next bytes continue the first line.
    Within,
    /// The next bytes belong to the rest of a request.
    Behind,
}

/// The place in the requests of a connection.
#[derive(Debug, Default)]
pub struct RequestLine(Place);

impl RequestLine {
    /// Whether the next bytes may belong to a request line.
    pub fn is_near(&self) -> bool {
        self.0 != Place::Behind
    }

    /// Notes that these bytes were sent to the client: what it sends then is its next request.
    pub fn sent(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() && !bytes.starts_with(CONTINUE) {
            self.0 = Place::Before;
        }
    }

    /// Notes that the request line was received by other ways.
    pub fn skip(&mut self) {
        self.0 = Place::Behind;
    }

    /// Encodes received bytes as far as they belong to a request line; none if nothing changes.
    pub fn encode(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if bytes.is_empty() {
            return None;
        }
        if self.0 == Place::Before {
            let is_request = METHODS.iter().any(|method| bytes.starts_with(method));
            self.0 = if is_request {
                Place::Within
            } else {
                Place::Behind
            };
        }
        if self.0 == Place::Behind {
            return None;
        }
        let (mut end, mut is_changed) = (bytes.len(), false);
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' {
                self.0 = Place::Behind;
                end = at;
                break;
            }
            is_changed |= is_encoded(*byte);
        }
        if !is_changed {
            return None;
        }
        let (line, rest) = bytes.split_at(end);
        let mut encoded = Vec::with_capacity(bytes.len() + 16);
        for byte in line {
            match is_encoded(*byte) {
                true => encoded.extend_from_slice(format!("%{byte:02X}").as_bytes()),
                false => encoded.push(*byte),
            }
        }
        encoded.extend_from_slice(rest);
        Some(encoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(line: &mut RequestLine, bytes: &str) -> String {
        let encoded = line.encode(bytes.as_bytes());
        encoded.map_or(bytes.to_owned(), |bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn quotation_marks_are_encoded_in_request_lines_alone() {
        let mut line = RequestLine::default();
        let request = "GET /db?key=\"a\" HTTP/1.1\r\nETag: \"x\"\r\n\r\n";
        assert_eq!(
            encoded(&mut line, request),
            "GET /db?key=%22a%22 HTTP/1.1\r\nETag: \"x\"\r\n\r\n"
        );
        assert!(!line.is_near());
        assert_eq!(encoded(&mut line, "GET /\"\n"), "GET /\"\n", "a body");
        line.sent(b"HTTP/1.1 100 Continue\r\n\r\n");
        assert_eq!(encoded(&mut line, "GET /\"\n"), "GET /\"\n", "still a body");
        line.sent(b"HTTP/1.1 200 OK\r\n");
        assert_eq!(encoded(&mut line, "PUT /\"a"), "PUT /%22a");
        assert_eq!(encoded(&mut line, "b\" HTTP/1.1\r\n"), "b%22 HTTP/1.1\r\n");
        line.sent(b"HTTP/1.1 400 Bad Request\r\n");
        assert_eq!(encoded(&mut line, "{\"a\":1}"), "{\"a\":1}");
    }
}
