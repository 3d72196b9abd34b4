//! What a file says of an entry, merged into what the list says.

use super::{note, row::Said};
use crate::db::{
    entries::{DAYS_MAX, State, tags::TAGS_MAX},
    films::Facts,
};

/// A value of an entry that the file has otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The value, as a key of the message `preview-what`.
    pub what: &'static str,
    /// The value of the list.
    pub here: String,
    /// The value of the file.
    pub there: String,
}

/// Merges what a file says into an entry. A watched film stays watched, and nothing that the list says is lost: where both
/// have a different value, the list's stays unless the file is preferred.
pub fn merge(
    before: &State,
    said: &Said,
    facts: &Facts,
    prefer_file: bool,
) -> (State, Vec<Difference>) {
    let mut differences = Vec::new();
    let mut after = before.clone();
    let (is_watched, seasons) = said.how_far(facts);
    after.watched |= is_watched;
    after.seasons_watched = after.seasons_watched.max(seasons);
    let mut take = |what, here: Option<String>, there: Option<String>| match (here, there) {
        (None, Some(_)) => true,
        (Some(here), Some(there)) if here != there => {
            differences.push(Difference { what, here, there });
            prefer_file
        }
        _ => false,
    };
    let shown = |number: Option<i64>| number.map(|number| number.to_string());
    if take("rating", shown(before.rating), shown(said.rating)) {
        after.rating = said.rating;
    }
    join_days(&mut after, said, is_watched);
    // An earlier export had some of the notes.
    let has_all = match (&before.note, &said.note) {
        (Some(here), Some(there)) => note::has(there, here),
        _ => false,
    };
    if has_all || take("note", before.note.clone(), said.note.clone()) {
        after.note.clone_from(&said.note);
    }
    if take(
        "priority",
        shown(Some(before.priority)),
        shown(said.priority),
    ) {
        after.priority = said.priority.unwrap_or(before.priority);
    }
    let seen = |is_public: bool| if is_public { "friends" } else { "you" }.to_owned();
    if take("public", Some(seen(before.public)), said.public.map(seen)) {
        after.public = said.public.unwrap_or(before.public);
    }
    for tag in &said.tags {
        if !after.tags.contains(tag) && after.tags.len() < TAGS_MAX {
            after.tags.push(tag.clone());
        }
    }
    after.tags.sort();
    (after, differences)
}

/// Joins the days of the list and of the file. The last of them is that of a film that was watched. If they are too many, those
/// of the list stay, and the latest of the file.
fn join_days(after: &mut State, said: &Said, is_watched: bool) {
    // The day on which a part of a series was watched isn't one on which it was watched.
    let last = said.watched_on.iter().filter(|_| is_watched);
    let mut more: Vec<&String> = said.earlier.iter().chain(last).collect();
    more.sort();
    let mut days = std::mem::take(&mut after.earlier);
    days.extend(after.watched_on.take());
    for day in more.into_iter().rev() {
        if !days.contains(day) && days.len() < DAYS_MAX {
            days.push(day.clone());
        }
    }
    days.sort();
    after.watched_on = if after.watched { days.pop() } else { None };
    after.earlier = days;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{date, db::films::Kind, lists::progress::Progress};
    use proptest::prelude::*;

    fn day() -> impl Strategy<Value = Option<String>> {
        proptest::option::of("2024-01-0[12]")
    }

    fn said() -> impl Strategy<Value = Said> {
        let rating = proptest::option::of(1i64..=2);
        let note = proptest::option::of(proptest::sample::select(vec!["a", "b", "a\n\nb"]));
        let public = proptest::option::of(any::<bool>());
        let priority = proptest::option::of(1i64..=2);
        let tags = proptest::sample::subsequence(vec!["a".to_owned(), "b".to_owned()], 0..=2);
        let progress = proptest::option::of(0u32..4).prop_map(|seasons| match seasons {
            Some(seasons) => Progress::of_seasons(seasons),
            None => Progress::default(),
        });
        let of_film = (any::<bool>(), day(), rating, note, public, priority, tags);
        (of_film, progress).prop_map(
            |((watched, day, rating, note, public, priority, tags), progress)| Said {
                watched: watched || day.is_some() || rating.is_some(),
                // A day before any of those above.
                earlier: day.iter().map(|day| day.replace("2024", "2023")).collect(),
                watched_on: day,
                progress,
                rating,
                note: note.map(str::to_owned),
                public,
                priority,
                tags,
                ..Said::default()
            },
        )
    }

    /// A film, or a series of so many seasons.
    fn facts() -> impl Strategy<Value = Facts> {
        proptest::option::of(0usize..4).prop_map(|seasons| Facts {
            kind: Kind::of(seasons.is_some()),
            seasons: vec![0; seasons.unwrap_or_default()],
            ..Facts::default()
        })
    }

    #[test]
    fn days_of_the_file_join_those_of_the_list() {
        let watched = |last: &str, earlier: &[&str]| Said {
            watched: true,
            watched_on: Some(last.to_owned()),
            earlier: earlier.iter().map(|day| (*day).to_owned()).collect(),
            ..Said::default()
        };
        let film = Facts::default();
        for (last, earlier, file) in [
            (
                "2024-05-05",
                &[][..],
                watched("2023-01-01", &["2022-01-01"]),
            ),
            ("2022-01-01", &[], watched("2024-05-05", &["2023-01-01"])),
            ("2023-01-01", &["2022-01-01"], watched("2024-05-05", &[])),
        ] {
            let before = watched(last, earlier).state(&film).unwrap();
            let (after, differences) = merge(&before, &file, &film, false);
            assert_eq!(after.watched_on.as_deref(), Some("2024-05-05"));
            assert_eq!(after.earlier, ["2022-01-01", "2023-01-01"]);
            assert_eq!(differences, []);
        }
        let many: Vec<String> = (0..DAYS_MAX - 1)
            .map(|n| date::day(n as u64 * 86_400_000))
            .collect();
        let earlier: Vec<&str> = many.iter().map(String::as_str).collect();
        let before = watched("2024-05-05", &earlier).state(&film).unwrap();
        let (after, _) = merge(&before, &watched("2025-01-01", &[]), &film, false);
        assert_eq!(after, before);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_a_second_import_changes_nothing(
            one in said(),
            other in said(),
            facts in facts(),
        ) {
            let before = one.state(&facts).unwrap();
            let (after, differences) = merge(&before, &other, &facts, false);
            prop_assert_eq!(&merge(&after, &other, &facts, false), &(after.clone(), differences.clone()));
            let (is_watched, seasons) = other.how_far(&facts);
            prop_assert!(after.watched >= before.watched && after.watched >= is_watched);
            prop_assert!(after.seasons_watched >= before.seasons_watched.max(seasons));
            prop_assert!(before.rating.is_none() || after.rating == before.rating);
            let days = |state: &State| -> Vec<String> { state.earlier.iter().chain(&state.watched_on).cloned().collect() };
            prop_assert!(days(&before).iter().all(|day| days(&after).contains(day)));
            prop_assert!(days(&after).is_sorted_by(|one, other| one < other));
            let has_note = |part: &String| after.note.as_ref().is_some_and(|note| note::has(note, part));
            prop_assert!(before.note.iter().all(has_note));
            let mut tags = before.tags.iter().chain(&other.tags);
            prop_assert!(tags.all(|tag| after.tags.contains(tag)));
            prop_assert_eq!((after.priority, after.public), (before.priority, before.public));
            // What the list lacked is filled in, and what remains different is named.
            let is_named = |what| differences.iter().any(|difference| difference.what == what);
            prop_assert!(other.rating.is_none() || after.rating == other.rating || is_named("rating"));
            prop_assert!(other.note.is_none() || after.note == other.note || is_named("note"));
            prop_assert!(!is_watched || other.watched_on.iter().chain(&other.earlier).all(|day| days(&after).contains(day)));
            let (preferred, _) = merge(&before, &other, &facts, true);
            prop_assert_eq!(merge(&preferred, &other, &facts, false), (preferred.clone(), Vec::new()));
        }
    }
}
