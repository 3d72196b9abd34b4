//! What a column of a file becomes.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What a column becomes. A value of a column that is [unread](Meaning::Unread) is nowhere stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Meaning {
    /// Nothing.
    Unread,
    /// The title.
    Title,
    /// The title in the language of the film.
    Original,
    /// The year in which it came out.
    Year,
    /// The day on which it came out, of which the year is read.
    Released,
    /// Whether it is a film or a series.
    Kind,
    /// IMDb's number.
    Imdb,
    /// TMDB's number.
    Tmdb,
    /// A number of the site from which the file comes.
    Number,
    /// The site that gave that number.
    NumberOf,
    /// The address of the film, which tells it from others of its title.
    Link,
    /// The address of one viewing of the film.
    Log,
    /// The last year of a series.
    LastYear,
    /// The number of seasons.
    Seasons,
    /// How many seasons were watched, the first ones.
    SeasonsWatched,
    /// The last episode that was watched.
    LastEpisode,
    /// The season on which the row is.
    Season,
    /// The episode on which the row is.
    Episode,
    /// The genres.
    Genres,
    /// The directors.
    Directors,
    /// The running time.
    Minutes,
    /// Whether it was watched: yes or no.
    Watched,
    /// Whether it was watched, in the words of the site.
    Status,
    /// The day on which it was watched.
    WatchedOn,
    /// Earlier such days.
    WatchedBefore,
    /// The user's rating, of five.
    Rating5,
    /// The user's rating, of ten.
    Rating10,
    /// The user's rating, of a hundred.
    Rating100,
    /// The user's rating, of nobody knows how many: it is asked, and not read before.
    Rating,
    /// The day of the rating, which is taken for the day on which it was watched.
    RatedOn,
    /// The priority.
    Priority,
    /// Whether friends see it.
    Public,
    /// The note.
    Note,
    /// The names of lists.
    Tags,
    /// Whose row it is, of several people with one account.
    Profile,
    /// What stands in rows that are left out.
    Aside,
}

/// All meanings with their names.
const NAMES: [(Meaning, &str); 36] = [
    (Meaning::Unread, "unread"),
    (Meaning::Title, "title"),
    (Meaning::Original, "original_title"),
    (Meaning::Year, "year"),
    (Meaning::Released, "release_date"),
    (Meaning::Kind, "kind"),
    (Meaning::Imdb, "imdb"),
    (Meaning::Tmdb, "tmdb"),
    (Meaning::Number, "number"),
    (Meaning::NumberOf, "number_of"),
    (Meaning::Link, "link"),
    (Meaning::Log, "log"),
    (Meaning::LastYear, "last_year"),
    (Meaning::Seasons, "seasons"),
    (Meaning::SeasonsWatched, "seasons_watched"),
    (Meaning::LastEpisode, "last_episode"),
    (Meaning::Season, "season"),
    (Meaning::Episode, "episode"),
    (Meaning::Genres, "genres"),
    (Meaning::Directors, "directors"),
    (Meaning::Minutes, "minutes"),
    (Meaning::Watched, "watched"),
    (Meaning::Status, "status"),
    (Meaning::WatchedOn, "watched_on"),
    (Meaning::WatchedBefore, "watched_before"),
    (Meaning::Rating5, "rating_5"),
    (Meaning::Rating10, "rating_10"),
    (Meaning::Rating100, "rating_100"),
    (Meaning::Rating, "rating"),
    (Meaning::RatedOn, "rated_on"),
    (Meaning::Priority, "priority"),
    (Meaning::Public, "public"),
    (Meaning::Note, "note"),
    (Meaning::Tags, "tags"),
    (Meaning::Profile, "profile"),
    (Meaning::Aside, "aside"),
];

impl Meaning {
    /// The meanings of ratings, with the highest one.
    pub const RATINGS: [(Meaning, f64); 3] = [
        (Meaning::Rating5, 5.0),
        (Meaning::Rating10, 10.0),
        (Meaning::Rating100, 100.0),
    ];

    /// All meanings.
    pub fn all() -> impl Iterator<Item = Meaning> {
        NAMES.iter().map(|(meaning, _)| *meaning)
    }

    /// The name, in forms and in the API.
    pub fn name(self) -> &'static str {
        let own = NAMES.iter().find(|(meaning, _)| *meaning == self);
        own.map_or("unread", |(_, name)| name)
    }

    /// The highest rating, of a rating whose scale is known.
    pub fn rating_max(self) -> Option<f64> {
        let own = Meaning::RATINGS
            .iter()
            .find(|(meaning, _)| *meaning == self);
        own.map(|(_, max)| *max)
    }

    /// Whether it is a rating of any scale.
    pub fn is_rating(self) -> bool {
        self == Meaning::Rating || self.rating_max().is_some()
    }

    /// Whether it is a day.
    pub fn is_day(self) -> bool {
        matches!(
            self,
            Meaning::WatchedOn | Meaning::WatchedBefore | Meaning::RatedOn
        )
    }
}

impl From<Meaning> for &'static str {
    fn from(meaning: Meaning) -> Self {
        meaning.name()
    }
}

impl FromStr for Meaning {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let own = NAMES.iter().find(|(_, own)| *own == name);
        own.map(|(meaning, _)| *meaning)
            .ok_or_else(|| format!("no column becomes {name:?}"))
    }
}

impl TryFrom<String> for Meaning {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

#[test]
fn names_come_back() {
    for meaning in Meaning::all() {
        assert_eq!(meaning.name().parse(), Ok(meaning));
    }
}
