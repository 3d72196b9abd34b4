//! Ids as the specifications have them: RFC 9562, its appendix, and the ULID specification.

use inorder_key::{
    Clock, Error, Factory, Generator, Method, Overflow, Reading, TimeId, Token, Ulid, UnixTime,
    Uuid,
};
use proptest::prelude::*;

/// A clock that stands still.
struct Frozen(u64);

impl Clock for Frozen {
    fn read(&mut self, wanted: usize) -> Reading {
        Reading {
            time: UnixTime::from_ms(self.0),
            ids: wanted,
        }
    }
}

#[test]
fn rfc_9562_appendix_a_and_b_vectors() {
    for (text, bits, version) in [
        (
            "c232ab00-9414-11ec-b3c8-9f6bdeced846",
            0xC232AB00_9414_11EC_B3C8_9F6BDECED846_u128,
            1,
        ),
        (
            "5df41881-3aed-3515-88a7-2f4a814cf09e",
            0x5DF41881_3AED_3515_88A7_2F4A814CF09E,
            3,
        ),
        (
            "919108f7-52d1-4320-9bac-f847db4148a8",
            0x919108F7_52D1_4320_9BAC_F847DB4148A8,
            4,
        ),
        (
            "2ed6657d-e927-568b-95e1-2665a8aea6a2",
            0x2ED6657D_E927_568B_95E1_2665A8AEA6A2,
            5,
        ),
        (
            "1ec9414c-232a-6b00-b3c8-9f6bdeced846",
            0x1EC9414C_232A_6B00_B3C8_9F6BDECED846,
            6,
        ),
        (
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
            0x017F22E2_79B0_7CC3_98C4_DC0C0C07398F,
            7,
        ),
        (
            "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0",
            0x2489E9AD_2EE2_8E00_8EC9_32D5F69181C0,
            8,
        ),
    ] {
        let id = Uuid::parse(text).unwrap();
        assert_eq!(id, Uuid::parse(text.to_uppercase()).unwrap());
        assert_eq!((id.to_u128(), id.version()), (bits, Some(version)));
        assert_eq!(id.to_string(), text);
        assert_eq!(Uuid::from_slice(&id.to_bytes()), Ok(id));
    }
    // Appendix A.6: rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F, 2022-02-22T19:22:22Z.
    let id = Uuid::from_parts(0x017F22E279B0, 0xCC3 << 62 | 0x18C4DC0C0C07398F).unwrap();
    assert_eq!(id.to_string(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    assert_eq!(id.ms(), Some(1_645_557_742_000));
}

#[test]
fn examples_of_the_ulid_specification() {
    let next = |text: &str| Ulid::parse(text).unwrap().successor();
    for (id, after) in [
        ("01BX5ZZKBKACTAV9WEVGEMMVRZ", "01BX5ZZKBKACTAV9WEVGEMMVS0"),
        ("01BX5ZZKBKZZZZZZZZZZZZZZZX", "01BX5ZZKBKZZZZZZZZZZZZZZZY"),
        ("01BX5ZZKBKZZZZZZZZZZZZZZZY", "01BX5ZZKBKZZZZZZZZZZZZZZZZ"),
    ] {
        assert_eq!(next(id).unwrap().to_string(), after);
    }
    assert_eq!(next("01BX5ZZKBKZZZZZZZZZZZZZZZZ"), Err(Error::Exhausted));

    let max = Ulid::parse("7ZZZZZZZZZZZZZZZZZZZZZZZZZ").unwrap();
    assert_eq!(max, Ulid::MAX);
    assert_eq!(max.ms(), 281_474_976_710_655);
    assert_eq!(
        Ulid::parse("80000000000000000000000000"),
        Err(Error::TooLarge {
            what: "a ULID",
            bits: 128,
            found: b'8'
        })
    );
    assert_eq!(
        Ulid::parse("01arz3ndektsv4rrffq69g5fav"),
        Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    );
}

#[test]
fn the_strict_generator_counts_as_the_specification_says() {
    let mut ids =
        Generator::<Ulid, _>::with_clock(Method::ULID_SPEC, Overflow::Refuse, Frozen(5)).unwrap();
    let mut last: Ulid = ids.next().unwrap();
    for _ in 0..1000 {
        let next = ids.next().unwrap();
        assert_eq!(Ok(next), last.successor());
        last = next;
    }
    assert!(Generator::<Ulid>::strict().is_ok());
}

#[test]
fn the_unguessable_generator_steps_at_random() {
    let mut ids =
        Generator::<Ulid, _>::with_clock(Method::default(), Overflow::Refuse, Frozen(5)).unwrap();
    let mut made = [Ulid::NIL; 1000];
    ids.fill(&mut made).unwrap();
    let steps: std::collections::HashSet<_> = made
        .windows(2)
        .map(|pair| pair[1].to_u128() - pair[0].to_u128())
        .collect();
    assert!(steps.len() > 990 && steps.iter().all(|step| (1..=1 << 32).contains(step)));
}

#[test]
fn generators_put_their_clock_and_version_into_ids() {
    for method in [
        Method::Counter { bits: 12 },
        Method::Counter { bits: 42 },
        Method::RandomStep { bits: 60 },
        Method::Fraction { bits: 12 },
    ] {
        let mut ids =
            Generator::<Uuid, _>::with_clock(method, Overflow::RunAhead, Frozen(77)).unwrap();
        let mut made = [Uuid::NIL; 500];
        ids.fill(&mut made).unwrap();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(
            made.iter()
                .all(|id| id.version() == Some(7) && id.ms() == Some(77))
        );
    }
    assert_eq!(
        Generator::<Uuid>::new(Method::Counter { bits: 50 }, Overflow::RunAhead)
            .err()
            .unwrap()
            .to_string(),
        "the method takes 12 to 42 bits, not 50"
    );
}

#[test]
fn a_ulid_may_be_a_uuid_as_well() {
    let id = Ulid::now_v7();
    let uuid = Uuid::from(id);
    assert_eq!((uuid.version(), uuid.ms()), (Some(7), Some(id.ms())));
    assert_eq!(Ulid::from(uuid), id);
    assert!(Ulid::now_v7() > id && Uuid::now_v7() > uuid);
}

#[test]
fn bounds_enclose_the_ids_of_a_millisecond() {
    let ms = 1_700_000_000_000;
    for _ in 0..1000 {
        let id = Ulid::random_at(ms).unwrap();
        assert_eq!(id.ms(), ms);
        assert!((Ulid::first_at(ms).unwrap()..=Ulid::last_at(ms).unwrap()).contains(&id));
        let id = Uuid::random_at(ms).unwrap();
        assert_eq!((id.version(), id.ms()), (Some(7), Some(ms)));
        assert!((Uuid::first_at(ms).unwrap()..=Uuid::last_at(ms).unwrap()).contains(&id));
        assert!(Uuid::last_at(ms - 1).unwrap() < id && id < Uuid::first_at(ms + 1).unwrap());
    }
    let ms = UnixTime::MS_MAX + 1;
    assert_eq!(Ulid::first_at(ms), Err(Error::Time { ms: ms.into() }));
}

#[test]
fn a_factory_takes_any_time_and_keeps_its_order() {
    let factory = Factory::new();
    let at = |ms| factory.next_at::<Ulid>(UnixTime::from_ms(ms));
    let ids = [
        at(0),
        at(0),
        at(5),
        at(5),
        at(3),
        at(0),
        at(6),
        at(u64::MAX),
        at(9),
    ];
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert_eq!(ids.map(Ulid::ms)[..7], [0, 0, 5, 5, 5, 5, 6]);
    assert_eq!(ids[7].ms(), ids[8].ms());
}

#[test]
fn batches_continue_the_order_of_the_process() {
    let mut last = Ulid::now();
    for n in [0, 1, 255, 256, 257, 5000] {
        let mut batch = vec![Ulid::NIL; n];
        Factory::process().fill(&mut batch);
        assert!(batch.iter().all(|&id| id > last) && batch.is_sorted_by(|a, b| a < b));
        last = Ulid::now();
        assert!(batch.iter().all(|&id| id < last));
    }
    let mut batch = [Uuid::NIL; 1000];
    Factory::process().fill(&mut batch);
    assert!(batch.iter().all(|id| id.version() == Some(7)));
    Uuid::fill_v4(&mut batch);
    assert!(batch.iter().all(|id| id.version() == Some(4)));
    assert_eq!(Uuid::new_v4().version(), Some(4));
}

#[test]
fn tokens_are_hex_and_keep_silent() {
    let token = Token::<20>::new();
    assert_ne!(token, Token::new());
    assert_eq!(format!("{token:?}"), "Token(20 bytes)");
    let mut text = [0; 40];
    token.write_text(&mut text);
    assert_eq!(Token::parse(text), Ok(token));
    assert_eq!(text, token.to_string().as_bytes());
    assert_eq!(
        Token::<4>::parse("0102030x").unwrap_err().to_string(),
        "a token cannot have 'x' at position 8"
    );
    assert!(Token::<4>::parse("010203").is_err());
}

proptest! {
    #[test]
    fn every_form_comes_back(bits: u128) {
        let (ulid, uuid) = (Ulid::from_u128(bits), Uuid::from_u128(bits));
        prop_assert_eq!(Ulid::parse(ulid.to_string()), Ok(ulid));
        prop_assert_eq!(Ulid::parse(ulid.to_string().to_lowercase()), Ok(ulid));
        prop_assert_eq!(uuid.to_string().parse(), Ok(uuid));
        let digits = uuid.to_string().replace('-', "");
        prop_assert_eq!(Uuid::parse(&digits), Ok(uuid));
        prop_assert_eq!(Ulid::parse(digits.to_uppercase()), Ok(ulid));
        prop_assert_eq!(Uuid::parse(format!("{{{uuid}}}")), Ok(uuid));
        prop_assert_eq!(Uuid::parse(format!("URN:UUID:{uuid}")), Ok(uuid));
        prop_assert_eq!(Ulid::from_bytes(ulid.to_bytes()), ulid);
        prop_assert_eq!(Uuid::from(ulid), uuid);
    }

    #[test]
    fn bytes_and_texts_sort_as_ids_do(a: u128, b: u128) {
        let (a, b) = (Ulid::from_u128(a), Ulid::from_u128(b));
        prop_assert_eq!(a.cmp(&b), a.to_bytes().cmp(&b.to_bytes()));
        prop_assert_eq!(a.cmp(&b), a.to_text().cmp(&b.to_text()));
        let (a, b) = (Uuid::from(a), Uuid::from(b));
        prop_assert_eq!(a.cmp(&b), a.to_text().cmp(&b.to_text()));
    }

    #[test]
    fn no_text_is_read_that_is_not_written(
        text in "[0-9A-Za-z-]{26}|[0-9a-fA-F]{32}|[0-9a-f-]{36}|\\{[0-9a-f-]{36}\\}|(?i:urn:uuid:)[0-9a-f-]{36}|.{0,50}"
    ) {
        if let Ok(id) = Ulid::parse(&text) {
            let digits = Uuid::from(id).to_string().replace('-', "");
            prop_assert!([id.to_string(), digits.to_uppercase()].contains(&text.to_uppercase()));
        }
        if let Ok(id) = Uuid::parse(&text) {
            let id = id.to_string();
            let forms = [format!("{{{id}}}"), format!("urn:uuid:{id}"), id.replace('-', ""), id];
            prop_assert!(forms.contains(&text.to_lowercase()));
        }
    }

    #[test]
    fn ids_agree_with_the_uuid_and_ulid_crates(bits: u128) {
        let theirs = uuid::Uuid::from_u128(bits);
        prop_assert_eq!(Uuid::from_u128(bits).to_string(), theirs.to_string());
        let theirs = ulid::Ulid::from(bits).to_string();
        prop_assert_eq!(Ulid::from_u128(bits).to_string(), theirs);
    }
}

#[cfg(feature = "uuid")]
#[test]
fn the_uuid_crate_takes_and_gives_ids() {
    let id = Uuid::now_v7();
    let theirs = uuid::Uuid::from(id);
    assert_eq!(theirs.get_version_num(), 7);
    assert_eq!(Uuid::from(theirs), id);
    assert_eq!(Ulid::from(theirs), Ulid::from(id));
}

#[cfg(feature = "serde")]
#[test]
fn serde_writes_text_for_people() {
    let id = Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap();
    let json = serde_json::to_string(&id).unwrap();
    assert_eq!(json, "\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"");
    assert_eq!(serde_json::from_str::<Ulid>(&json).unwrap(), id);
    let error = serde_json::from_str::<Uuid>("\"x\"").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("a UUID has 36 characters or 32 hex digits, not 1")
    );
}
