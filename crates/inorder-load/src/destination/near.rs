//! Texts that people take for numbers, and what keeps the loader from doing so.

/// What keeps a text from being stored as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    LeadingZero,
    Plus,
    Exponent,
    /// More than 15 digits, or than a number of any type has.
    Long,
    /// SQLite writes the number with other digits.
    Unwritten,
    /// `1.`, `2.` and so on.
    BarePoint,
    /// A comma where a number has its point, or points between groups of digits.
    Comma,
    Group,
    Space,
    /// A currency, a percent sign, or parentheses.
    Sign,
    /// `NaN`, `inf`.
    NotFinite,
    NoNumber,
}

/// The longest word that `--null` is suggested for.
pub(super) const WORD_BYTES_MAX: usize = 12;

impl Fault {
    pub(super) fn words(self) -> &'static str {
        match self {
            Fault::LeadingZero => "has a leading zero",
            Fault::Plus => "has a plus sign",
            Fault::Exponent => "has an exponent",
            Fault::Long => "has more digits than a number keeps",
            Fault::Unwritten => "is written with other digits by SQLite",
            Fault::BarePoint => "ends with a point, like all values",
            Fault::Comma => "has a comma",
            Fault::Group => "has separators between digits",
            Fault::Space => "has a space",
            Fault::Sign => "has a sign that numbers don't have",
            Fault::NotFinite => "is no finite number",
            Fault::NoNumber => "is no number",
        }
    }
}

/// What keeps a text that is nearly a number from being one; `None` for other texts.
pub(super) fn fault(text: &[u8]) -> Option<Fault> {
    let text = std::str::from_utf8(text).ok()?;
    let inner = text.trim();
    let is_spaced = inner.len() < text.len();
    if ["nan", "inf", "infinity", "-inf", "-infinity"]
        .iter()
        .any(|word| inner.eq_ignore_ascii_case(word))
    {
        return Some(Fault::NotFinite);
    }
    // Most texts have a letter that no number has.
    if inner
        .bytes()
        .any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E'))
    {
        return None;
    }
    let is_sign = |c: char| matches!(c, '$' | '€' | '£' | '¥' | '%' | '(' | ')') || c == ' ';
    let bare = inner.trim_matches(is_sign);
    let bare = bare.strip_prefix(['+', '-']).unwrap_or(bare);
    let bare = bare.trim_start_matches(is_sign);
    let has_sign =
        bare.trim_start_matches(['+', '-']).len() < inner.trim_start_matches(['+', '-']).len();
    let number = number_fault(bare)?;
    Some(match number {
        _ if has_sign => Fault::Sign,
        Fault::NoNumber if is_spaced => Fault::Space,
        Fault::NoNumber if inner.starts_with('+') => Fault::Plus,
        Fault::NoNumber => Fault::Long,
        fault => fault,
    })
}

/// What is wrong with an unsigned number; [`Fault::NoNumber`] if nothing is. `None` if it is nearly none.
fn number_fault(text: &str) -> Option<Fault> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = mantissa.chars().filter(char::is_ascii_digit).count();
    let is_separator = |c: char| {
        matches!(
            c,
            '.' | ',' | '\'' | '_' | ' ' | '\u{a0}' | '\u{202f}' | '’'
        )
    };
    if digits == 0
        || !mantissa
            .chars()
            .all(|c| c.is_ascii_digit() || is_separator(c))
    {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        return (is_number && mantissa.matches(['.', ',']).count() < 2).then_some(Fault::Exponent);
    }
    let separators: Vec<(usize, char)> = mantissa
        .char_indices()
        .filter(|(_, c)| is_separator(*c))
        .collect();
    match separators[..] {
        [] | [(_, '.')]
            if mantissa.len() > 1 && mantissa.starts_with('0') && !mantissa.starts_with("0.") =>
        {
            Some(Fault::LeadingZero)
        }
        [] | [(_, '.')] => Some(Fault::NoNumber),
        [(at, ',')] if mantissa.len() - at != 4 || at > 3 => Some(Fault::Comma),
        _ => are_groups(mantissa).then(|| match separators.last() {
            Some((at, ',')) if mantissa.len() - at != 4 => Fault::Comma,
            _ => Fault::Group,
        }),
    }
}

/// Whether a number is written in groups of three digits, with a fraction or without.
fn are_groups(text: &str) -> bool {
    let mut parts: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).collect();
    let separators: Vec<char> = text.chars().filter(|c| !c.is_ascii_digit()).collect();
    let (Some(first), Some(last)) = (separators.first(), separators.last()) else {
        return false;
    };
    if first != last {
        parts.pop();
    }
    let between = &separators[..parts.len() - 1];
    (1..=3).contains(&parts[0].len())
        && parts[1..].iter().all(|part| part.len() == 3)
        && between.iter().all(|c| c == first)
        && parts.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_people_are_near() {
        for (text, expected) in [
            ("007", Some(Fault::LeadingZero)),
            ("00.5", Some(Fault::LeadingZero)),
            ("+49", Some(Fault::Plus)),
            ("1e-05", Some(Fault::Exponent)),
            ("0.30000000000000004", Some(Fault::Long)),
            ("12345678901234567890", Some(Fault::Long)),
            ("1,5", Some(Fault::Comma)),
            ("1.234,50", Some(Fault::Comma)),
            ("1,234", Some(Fault::Group)),
            ("1,234.50", Some(Fault::Group)),
            ("1'234.50", Some(Fault::Group)),
            ("1 234 567", Some(Fault::Group)),
            (" 7", Some(Fault::Space)),
            ("$1,234.50", Some(Fault::Sign)),
            ("-$5.00", Some(Fault::Sign)),
            ("12.5%", Some(Fault::Sign)),
            ("10.50 €", Some(Fault::Sign)),
            ("(3.50)", Some(Fault::Sign)),
            ("NaN", Some(Fault::NotFinite)),
            ("1.2.3", None),
            ("192.168.1.1", None),
            ("2024-01-02", None),
            ("10:30", None),
            ("0x10", None),
            ("12a", None),
            ("e5", None),
            ("N/A", None),
            ("", None),
            ("-", None),
            ("1,2,3", None),
        ] {
            assert_eq!(fault(text.as_bytes()), expected, "{text}");
        }
    }
}
