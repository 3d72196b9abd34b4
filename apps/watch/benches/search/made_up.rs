//! Made-up films: words, names and years as unevenly frequent as those of real catalogues, the same each time.

use inorder_key::bulk::SplitMix64;
use inorder_watch::{
    Result,
    db::films::{Facts, Kind},
};

/// Different words of titles. IMDb's films have about as many.
const WORDS: usize = 250_000;

/// Different first names, and family names.
const NAMES: (usize, usize) = (3_000, 150_000);

/// The most frequent words.
const SHORT: [&str; 24] = [
    "the", "of", "a", "in", "and", "to", "la", "de", "my", "love", "for", "with", "man", "der",
    "el", "on", "night", "le", "life", "i", "day", "is", "at", "no",
];

const SYLLABLES: [&str; 64] = [
    "ba", "ber", "bo", "can", "ce", "co", "da", "den", "di", "do", "el", "en", "fa", "fi", "for",
    "ga", "ge", "go", "han", "he", "ho", "in", "ja", "jo", "ka", "ke", "kin", "la", "le", "li",
    "lo", "ma", "mar", "me", "mi", "mo", "na", "ne", "ni", "no", "or", "pa", "pe", "po", "ra",
    "re", "ri", "ro", "sa", "se", "sha", "si", "so", "sta", "ta", "te", "ti", "to", "tra", "u",
    "va", "ve", "vi", "wi",
];

const GENRES: [&str; 8] = [
    "Drama", "Comedy", "Western", "Romance", "Crime", "Action", "Horror", "Musical",
];

/// A number below `end`; the first ones are the most frequent (Zipf's law).
fn uneven(source: &mut SplitMix64, end: usize) -> usize {
    let share = source.below(1 << 32) as f64 / (1u64 << 32) as f64;
    (((end as f64 + 1.0).powf(share) - 1.0) as usize).min(end - 1)
}

/// The word of this rank. Frequent words are shorter.
fn word(rank: usize) -> String {
    if let Some(word) = SHORT.get(rank) {
        return (*word).to_owned();
    }
    let mut rest = rank;
    let mut word = String::new();
    for _ in 0..if rank < 4096 { 2 } else { 3 } {
        // The first syllable changes the fastest.
        word += SYLLABLES[(rest + word.len()) % SYLLABLES.len()];
        rest /= SYLLABLES.len();
    }
    word
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

fn title(source: &mut SplitMix64) -> String {
    let words = 1 + source.below(3) + source.below(3);
    let words = (0..words).map(|_| capital(&word(uneven(source, WORDS))));
    words.collect::<Vec<_>>().join(" ")
}

fn name(source: &mut SplitMix64) -> String {
    let first = word(SHORT.len() + uneven(source, NAMES.0));
    let family = word(4096 + uneven(source, NAMES.1));
    format!("{} {}", capital(&first), capital(&family))
}

/// So many films; each third one is a series.
pub fn films(count: usize) -> impl Iterator<Item = Result<Facts>> {
    let mut source = SplitMix64::new(1);
    (0..count).map(move |at| {
        let people = (0..4).map(|_| name(&mut source)).collect();
        let kind = Kind::of(at % 3 == 2);
        Ok(Facts {
            kind,
            seasons: match kind {
                Kind::Film => Vec::new(),
                Kind::Series => vec![10; at % 7],
            },
            title: title(&mut source),
            year: Some(2025 - uneven(&mut source, 110) as i64),
            people,
            genres: vec![GENRES[uneven(&mut source, GENRES.len())].to_owned()],
            ..Facts::default()
        })
    })
}
