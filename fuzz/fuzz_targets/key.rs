//! Text that is parsed as an id is formatted as it was; other text is refused without a panic.
#![no_main]

use inorder_key::{Inspection, Token, Tsid, TypeId, Ulid, UnixTime, Uuid, parse_time};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(id) = Ulid::parse(data) {
        let digits = Uuid::from(id).to_string().replace('-', "").to_uppercase();
        let forms = [id.to_string(), digits];
        assert!(
            forms
                .iter()
                .any(|form| form.as_bytes() == data.to_ascii_uppercase())
        );
    }
    if let Ok(id) = Uuid::parse(data) {
        let id = id.to_string();
        let forms = [
            format!("{{{id}}}"),
            format!("urn:uuid:{id}"),
            id.replace('-', ""),
            id,
        ];
        assert!(
            forms
                .iter()
                .any(|form| form.as_bytes() == data.to_ascii_lowercase())
        );
    }
    if let Ok(token) = Token::<20>::parse(data) {
        assert_eq!(token.to_string().as_bytes(), data.to_ascii_lowercase());
    }
    if let Ok(id) = Tsid::parse(data) {
        assert_eq!(id.to_string().as_bytes(), data.to_ascii_uppercase());
    }
    if let Ok(id) = TypeId::parse(data) {
        assert_eq!(id.to_string().as_bytes(), data);
    }
    let now = UnixTime::from_ms(1_700_000_000_000);
    Inspection::of_blob(data, now);
    if let Ok(text) = std::str::from_utf8(data) {
        Inspection::of_text(text, now);
        if let Ok(time) = parse_time(text) {
            assert_eq!(
                parse_time(&time.to_string()),
                Ok(time),
                "a time that was written"
            );
        }
    }
});
