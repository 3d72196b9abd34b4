//! How far something was watched, in the words of other sites.

use crate::{Error, Result, words::say};

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was watched.
    Watched,
    /// It is to be watched, or was begun.
    ToWatch,
    /// Its user won't go on with it.
    Over,
}

impl Status {
    /// Whether its user won't go on with it.
    pub fn is_over(self) -> bool {
        self == Status::Over
    }
}

const WORDS: [(Status, &[&str]); 3] = [
    (
        Status::Watched,
        &[
            "completed",
            "complete",
            "watched",
            "seen",
            "finished",
            "done",
            "rewatching",
            "repeating",
        ],
    ),
    (
        Status::ToWatch,
        &[
            "planning",
            "planned",
            "plantowatch",
            "ptw",
            "towatch",
            "wanttowatch",
            "watchlist",
            "wishlist",
            "unwatched",
            "notwatched",
            "notstarted",
            "watching",
            "inprogress",
            "current",
            "currentlywatching",
            "started",
            "paused",
            "onhold",
            "hold",
        ],
    ),
    (Status::Over, &["dropped", "abandoned", "notinteresting"]),
];

/// What a word says.
///
/// # Errors
/// [`Error::Invalid`] for another word.
pub fn of(word: &str) -> Result<Status> {
    let letters = word.chars().filter(|c| c.is_alphanumeric());
    let letters: String = letters.flat_map(char::to_lowercase).collect();
    let own = WORDS
        .iter()
        .find(|(_, words)| words.contains(&letters.as_str()));
    let status = own.map(|(status, _)| *status);
    status.ok_or_else(|| Error::Invalid(say::csv_no_status(word)))
}

#[test]
fn words_of_other_sites_are_known_and_others_named() {
    for (word, status) in [
        ("Completed", Status::Watched),
        ("plan to watch", Status::ToWatch),
        ("In progress", Status::ToWatch),
        ("HOLD", Status::ToWatch),
        ("Dropped", Status::Over),
    ] {
        assert_eq!(of(word).unwrap(), status, "{word}");
    }
    assert!(of("sometimes").is_err() && of("").is_err());
}
