//! Names that look alike.

use unicode_normalization::UnicodeNormalization;

/// Letters of other alphabets that look like a Latin one.
const LOOK: &[(&str, char)] = &[
    ("АаΑαɑ", 'a'),
    ("ВвΒβ", 'b'),
    ("СсϹϲ", 'c'),
    ("Ԁԁ", 'd'),
    ("ЕеΕε", 'e'),
    ("НнΗһҺ", 'h'),
    ("ІіΙιıӀӏ1lIi|", 'i'),
    ("Јј", 'j'),
    ("КкΚκ", 'k'),
    ("МмΜ", 'm'),
    ("Νη", 'n'),
    ("ОоΟο0Օօ", 'o'),
    ("РрΡρ", 'p'),
    ("Ԛԛ", 'q'),
    ("ЅѕՏ", 's'),
    ("ТтΤτ", 't'),
    ("υՍս", 'u'),
    ("ν", 'v'),
    ("Ԝԝ", 'w'),
    ("ХхΧχ", 'x'),
    ("УуΥүҮ", 'y'),
    ("Ζζ", 'z'),
];

/// How a name looks: equal for names that are taken for one another.
pub fn of(name: &str) -> String {
    let letter = |c: char| {
        let found = LOOK.iter().find(|(letters, _)| letters.contains(c));
        found.map_or(c, |(_, latin)| *latin)
    };
    // A capital may look like another letter than the small one: it is looked up before its case is ignored.
    let looks = name.nfkc().map(letter).collect::<String>();
    looks.to_lowercase()
}

/// The alphabets with letters that look alike.
fn alphabet(c: char) -> Option<u8> {
    match c {
        'a'..='z'
        | 'A'..='Z'
        | '\u{aa}'..='\u{24f}'
        | '\u{250}'..='\u{2af}'
        | '\u{1e00}'..='\u{1eff}' => Some(0),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(1),
        '\u{400}'..='\u{52f}' => Some(2),
        '\u{530}'..='\u{58f}' => Some(3),
        '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Some(4),
        _ => None,
    }
}

/// Whether a name has letters of one alphabet only, and none in another form, such as full width.
pub fn is_plain(name: &str) -> bool {
    let mut alphabets = name.chars().filter_map(alphabet);
    let first = alphabets.next();
    alphabets.all(|other| Some(other) == first) && name.nfc().eq(name.nfkc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_several_alphabets_and_forms_are_not_plain() {
        for name in [
            "Anna",
            "Zoë",
            "Анна-2",
            "Ёж",
            "山田たろう",
            "カナabc",
            "김철수",
            "Ελένη",
            "محمد",
        ] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "Аnna",
            "Annа",
            "Αnna",
            "Ａｎｎａ",
            "𝐀nna",
            "Ⅰvan",
            "ﬁnn",
            "Օscar",
        ] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn names_that_look_alike_look_the_same() {
        for (one, other) in [
            ("Сосо", "Coco"),
            ("сосо", "coco"),
            ("Alice", "AIice"),
            ("Alice", "A1ice"),
            ("Ann", "ANN"),
            ("НАННА", "HAHHA"),
            ("Οτο", "Oto"),
            ("Bob", "B0b"),
        ] {
            assert_eq!(of(one), of(other), "{one}");
        }
        for (one, other) in [
            ("Анна", "Anna"),
            ("Ben", "Bob"),
            ("Zoë", "Zoe"),
            ("Lia", "Iia"),
            ("Ива", "Eva"),
        ] {
            assert_ne!(of(one), of(other), "{one}");
        }
    }
}
