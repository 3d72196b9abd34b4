//! Numbers with a decimal comma.

/// The number with a decimal point, and without points between groups of three digits: `1.234,50` is `1234.50`. `None` for
/// text that is no such number, or has neither.
pub(crate) fn with_point(text: &[u8]) -> Option<Vec<u8>> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, fraction) = match memchr::memchr(b',', unsigned) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let are_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let mut groups = whole.split(|byte| *byte == b'.');
    let first = groups.next()?;
    let is_grouped = first.len() < whole.len();
    let are_groups = groups.all(|group| group.len() == 3 && are_digits(group));
    if !are_digits(first) || (is_grouped && first.len() > 3) || !are_groups {
        return None;
    }
    if fraction.is_some_and(|fraction| !are_digits(fraction)) || !(is_grouped || fraction.is_some())
    {
        return None;
    }
    let with_points = text.iter().filter(|byte| **byte != b'.');
    let with_point = |byte: &u8| if *byte == b',' { b'.' } else { *byte };
    Some(with_points.map(with_point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_becomes_a_point_in_numbers_alone() {
        let read = |text: &str| {
            let read = with_point(text.as_bytes())?;
            Some(String::from_utf8(read).expect("digits"))
        };
        for (text, number) in [
            ("1,5", "1.5"),
            ("-0,25", "-0.25"),
            ("1.234,50", "1234.50"),
            ("1.234.567", "1234567"),
            ("1.234", "1234"),
            ("12345,6", "12345.6"),
        ] {
            assert_eq!(read(text).as_deref(), Some(number));
        }
        for text in [
            "",
            "7",
            "-",
            "1,",
            ",5",
            "1,2,3",
            "1.23",
            "1.2345",
            "1234.567",
            "a,5",
            "31.12.2024",
            "1,5 kg",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
