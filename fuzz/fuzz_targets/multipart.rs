//! Any bytes as a multipart body, fed in any pieces: no panic, what is found doesn't depend on the pieces, and nothing
//! that wasn't fed comes out.

#![no_main]

use inorder_couch::multipart::{Event, MultipartError, Parser};
use libfuzzer_sys::fuzz_target;

/// The parts' bodies, each beside its header fields as they are shown.
type Parts = Vec<(String, Vec<u8>)>;

fn parse(body: &[u8], mut piece_bytes: impl FnMut() -> usize) -> (Parts, Option<MultipartError>) {
    let mut parser = Parser::new("b");
    let (mut rest, mut parts) = (body, Parts::new());
    loop {
        match parser.next_event() {
            Ok(Event::Part(headers)) => parts.push((format!("{headers:?}"), Vec::new())),
            Ok(Event::Data(data)) => parts.last_mut().expect("a part").1.extend_from_slice(&data),
            Ok(Event::End) => return (parts, None),
            Ok(Event::NeedMore) if rest.is_empty() => return (parts, Some(MultipartError::Cut)),
            Ok(Event::NeedMore) => {
                let (piece, after) = rest.split_at(piece_bytes().clamp(1, rest.len()));
                parser.feed(piece);
                rest = after;
            }
            Err(error) => return (parts, Some(error)),
        }
    }
}

fuzz_target!(|input: (Vec<u8>, &[u8])| {
    let (pieces, body) = input;
    let mut pieces = pieces.iter().cycle();
    let (whole, whole_error) = parse(body, || body.len());
    let (cut, cut_error) = parse(body, || {
        pieces.next().map_or(1, |&bytes| usize::from(bytes))
    });
    // A limit is reached sooner or later, depending on how much was fed at once.
    let is_limit = |error: &Option<MultipartError>| {
        matches!(
            error,
            Some(MultipartError::LongHeader | MultipartError::NoStart)
        )
    };
    if !is_limit(&whole_error) && !is_limit(&cut_error) {
        assert_eq!((whole, whole_error), (cut, cut_error));
    }
});
