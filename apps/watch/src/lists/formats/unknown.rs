//! What the columns of an unknown file may be, by their names. The user decides.

use super::Meaning;

/// Names of columns whose content is plain from the name. Not among them: ratings without a scale, which have to be asked, and days
/// of which the name doesn't say what happened on them.
const NAMES: [(Meaning, &[&str]); 20] = [
    (
        Meaning::Title,
        &[
            "title",
            "name",
            "film",
            "movie",
            "movietitle",
            "filmtitle",
            "moviename",
            "filmname",
            "primarytitle",
            "titel",
        ],
    ),
    (Meaning::Original, &["originaltitle"]),
    (
        Meaning::Year,
        &["year", "releaseyear", "yearofrelease", "startyear", "jahr"],
    ),
    (Meaning::Released, &["releasedate", "released"]),
    (
        Meaning::Kind,
        &["kind", "type", "titletype", "mediatype", "contenttype"],
    ),
    (Meaning::Imdb, &["imdb", "imdbid", "const", "tconst"]),
    (Meaning::Tmdb, &["tmdb", "tmdbid"]),
    (Meaning::Season, &["season", "seasonnumber"]),
    (Meaning::Episode, &["episode", "episodenumber"]),
    (Meaning::SeasonsWatched, &["seasonswatched"]),
    (Meaning::Directors, &["director", "directors"]),
    (Meaning::Genres, &["genres", "genre"]),
    (Meaning::Watched, &["watched", "seen"]),
    (Meaning::Status, &["status", "watchstatus", "state"]),
    (
        Meaning::WatchedOn,
        &[
            "watcheddate",
            "watchedon",
            "watchedat",
            "datewatched",
            "dateseen",
            "lastwatched",
            "lastwatchedat",
            "seenon",
            "watchdate",
        ],
    ),
    (Meaning::WatchedBefore, &["watchedbefore"]),
    (
        Meaning::Rating,
        &[
            "rating",
            "score",
            "stars",
            "yourrating",
            "myrating",
            "userrating",
            "yourscore",
            "myscore",
            "youvoted",
            "yourvote",
        ],
    ),
    (Meaning::Rating10, &["rating10"]),
    (
        Meaning::Note,
        &[
            "note",
            "notes",
            "mynotes",
            "yournotes",
            "review",
            "myreview",
            "yourreview",
            "comment",
        ],
    ),
    (Meaning::Tags, &["tags"]),
];

/// Words in the name of the user's own column, where another one is of all users.
const OWN: [&str; 4] = ["your", "my", "user", "you"];

fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// What each column may be. Of several columns with one meaning none is taken, but for a rating of which the name says whose it is: what
/// else is called so may be the average of all users.
pub fn suggested(header: &[String]) -> Vec<Meaning> {
    let of_name = |name: &String| {
        let name = letters(name);
        let own = NAMES
            .iter()
            .find(|(_, names)| names.contains(&name.as_str()));
        own.map_or(Meaning::Unread, |(meaning, _)| *meaning)
    };
    let mut meanings: Vec<Meaning> = header.iter().map(of_name).collect();
    let all = meanings.clone();
    let count =
        |wanted: fn(Meaning) -> bool| all.iter().filter(|meaning| wanted(**meaning)).count();
    let ratings = count(Meaning::is_rating);
    let own_ratings = header
        .iter()
        .zip(&all)
        .filter(|(name, meaning)| meaning.is_rating() && is_own(name));
    let own_ratings = own_ratings.count();
    // Beside a rating of a site, one without an owner may be of anybody.
    let is_of_others = |name: &String| letters(name).ends_with("rating") && !is_own(name);
    let has_others = header.iter().filter(|name| is_of_others(name)).count() > 1;
    for ((at, name), meaning) in header.iter().enumerate().zip(&all) {
        let is_alone = match meaning.is_rating() {
            true if own_ratings == 1 => is_own(name),
            true => ratings == 1 && !has_others,
            false => all.iter().filter(|other| *other == meaning).count() == 1,
        };
        if !is_alone {
            meanings[at] = Meaning::Unread;
        }
    }
    meanings
}

fn is_own(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| OWN.contains(&word))
        || OWN[..3].iter().any(|own| letters(&name).starts_with(own))
}

#[test]
fn columns_are_suggested_by_their_names_and_averages_never() {
    for (header, expected) in [
        ("Name,Year", "title,year"),
        (
            "Film,Release Year,My Rating,Rating",
            "title,year,rating,unread",
        ),
        ("Title,Rating,Your Rating", "title,unread,rating"),
        ("Title,userRating,rating", "title,rating,unread"),
        ("Title,IMDb Rating,Rating", "title,unread,unread"),
        ("Title,Rating", "title,rating"),
        ("Title,Rating,Score", "title,unread,unread"),
        ("Title,Average Rating,Vote Average", "title,unread,unread"),
        ("Title,Name", "unread,unread"),
        ("Title,Date,Date Rated,Added", "title,unread,unread,unread"),
        ("Rating10,Rating", "unread,unread"),
        ("Title,Watched Date,Watched", "title,watched_on,watched"),
    ] {
        let header: Vec<String> = header.split(',').map(str::to_owned).collect();
        let names: Vec<&str> = suggested(&header).into_iter().map(Meaning::name).collect();
        assert_eq!(names.join(","), expected, "{header:?}");
    }
}
