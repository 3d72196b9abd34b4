//! Netflix: the viewing history of a profile, and the file of the data request, which has all profiles of an account.

use super::{File, Meaning::*, Rows, Table};
use std::collections::HashSet;

/// The format. Days are written as in the user's country, times in UTC. Trailers have a *Supplemental Video Type*.
pub const NETFLIX: Table = Table {
    is_utc: true,
    has_episode_titles: true,
    ..Table::new(
        "Netflix",
        &[
            ("Title", Title),
            ("Date", WatchedOn),
            ("Profile Name", Profile),
            ("Start Time", WatchedOn),
            ("Duration", Unread),
            ("Attributes", Unread),
            ("Supplemental Video Type", Aside),
            ("Device Type", Unread),
            ("Bookmark", Unread),
            ("Latest Bookmark", Unread),
            ("Country", Unread),
        ],
        &[
            File::new(Rows::Watched, &["Title", "Date"]),
            File::new(
                Rows::Watched,
                &[
                    "Profile Name",
                    "Start Time",
                    "Title",
                    "Supplemental Video Type",
                ],
            ),
        ],
    )
};

/// What stands before the number of a season, in the languages of the site.
const SEASONS: [&str; 22] = [
    "season",
    "series",
    "staffel",
    "saison",
    "temporada",
    "stagione",
    "seizoen",
    "säsong",
    "sæson",
    "sesong",
    "kausi",
    "sezon",
    "sezonul",
    "série",
    "évad",
    "сезон",
    "part",
    "teil",
    "partie",
    "parte",
    "volume",
    "book",
];

/// A name of a whole season.
const WHOLE: [&str; 6] = [
    "limited series",
    "miniserie",
    "mini-series",
    "miniseries",
    "mini-série",
    "miniserien",
];

/// What stands before the number of an episode.
const EPISODES: [&str; 8] = [
    "episode",
    "folge",
    "épisode",
    "episodio",
    "episódio",
    "aflevering",
    "avsnitt",
    "odcinek",
];

fn is_numbered(part: &str, words: &[&str]) -> bool {
    let part = part.trim().to_lowercase();
    let by_word = part.rsplit_once(' ');
    by_word.is_some_and(|(word, number)| words.contains(&word) && number.parse::<u32>().is_ok())
}

/// The series of the title of an episode, which names its season: `Dark: Season 2: Endings and Beginnings`. The season is followed by
/// the episode: `Kill Bill: Volume 2` is a film.
pub fn show_of(title: &str) -> Option<&str> {
    let mut parts = title.match_indices(": ").map(|(at, _)| at).peekable();
    while let Some(at) = parts.next() {
        let end = parts.peek().copied();
        let part = &title[at + 2..end.unwrap_or(title.len())];
        let is_whole = WHOLE.contains(&part.trim().to_lowercase().as_str());
        let is_season = is_numbered(part, &SEASONS) || is_whole;
        if (is_season && end.is_some()) || (end.is_none() && is_numbered(part, &EPISODES)) {
            return Some(title[..at].trim());
        }
    }
    None
}

/// Whether a title is that of an episode: of one of these series, which other titles name.
pub fn is_episode(title: &str, shows: &HashSet<String>) -> bool {
    let mut ends = title.match_indices(": ").map(|(at, _)| title[..at].trim());
    show_of(title).is_some() || ends.any(|show| shows.contains(show))
}

#[test]
fn titles_of_episodes_name_their_series() {
    for (title, show) in [
        ("Dark: Season 2: Endings and Beginnings", Some("Dark")),
        ("Dark: Staffel 1: Geheimnisse", Some("Dark")),
        ("White Collar: Season 2: Withdrawal", Some("White Collar")),
        (
            "Star Trek: Discovery: Season 1: The Vulcan Hello",
            Some("Star Trek: Discovery"),
        ),
        ("Chernobyl: Limited Series: 1:23:45", Some("Chernobyl")),
        (
            "La casa de papel: Parte 4: Game Over",
            Some("La casa de papel"),
        ),
        ("Ozark: Episode 7", Some("Ozark")),
        ("Kill Bill: Volume 2", None),
        ("Mission: Impossible", None),
        ("The Hunger Games: Mockingjay: Part 1", None),
        ("Infinite", None),
        ("", None),
    ] {
        assert_eq!(show_of(title), show, "{title}");
    }
    let shows = ["White Collar", "Star Trek: Discovery"].map(str::to_owned);
    let shows = shows.into_iter().collect();
    assert!(is_episode("White Collar: Book of Hours", &shows));
    assert!(!is_episode("White Noise: Book of Hours", &shows));
    assert!(!is_episode("Star Trek: Nemesis", &shows));
}
