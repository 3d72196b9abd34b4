//! Chooses a film that several friends want to watch.

use super::{
    films::{Film, Kind},
    users::User,
};
use crate::Result;
use rusqlite::{Connection, Row};

/// The maximum number of people who choose together.
pub const PEOPLE_MAX: usize = 10;

/// What is asked of a film for tonight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The genre.
    pub genre: Option<String>,
    /// The maximum running time in minutes. Films of unknown running time are left out.
    pub minutes_max: Option<i64>,
    /// Only films, or only series.
    pub kind: Option<Kind>,
}

/// The films for tonight, highest sum of priorities first.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// Films that all of the people want to watch.
    pub all: Vec<Candidate>,
    /// Films that all but one of three or more people want to watch.
    pub nearly: Vec<Candidate>,
}

/// A film that several people want to watch.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The film.
    pub film: Film,
    /// The sum of the priorities.
    pub points: i64,
    /// The probability of being picked, 0 to 1: the mean of its weights. 0 if somebody does not want to watch it.
    pub chance: f64,
    /// The priority of each person, in the order of the people; 0 for who does not have it to watch.
    pub priorities: Vec<i64>,
}

/// Returns the films that a user and these friends want to watch, all of them or all but one; without friends those of the user. Private entries of the user
/// count; those of the friends do not.
///
/// # Errors
/// SQLite's error.
pub fn candidates(
    db: &Connection,
    asking: &User,
    friends: &[User],
    wanted: &Wanted,
) -> Result<Candidates> {
    let people = std::iter::once(asking).chain(friends);
    let numbers: Vec<i64> = people.map(|user| user.number).collect();
    let sql = format!(
        "SELECT {}, json_group_array(json_array(entry.user, entry.priority))
         FROM json_each(?1) people JOIN entry ON entry.user = people.value
         JOIN film ON film.number = entry.film
         WHERE NOT entry.watched AND (entry.public OR entry.user = ?2)
           AND (?4 IS NULL OR EXISTS (SELECT 1 FROM json_each(film.genres) WHERE value = ?4))
           AND (?5 IS NULL OR film.minutes <= ?5)
           AND (?6 IS NULL OR film.is_series = ?6)
         GROUP BY entry.film HAVING count(*) >= ?3",
        Film::COLUMNS
    );
    let mut statement = db.prepare_cached(&sql)?;
    let people_min = match numbers.len() {
        1 => 1,
        people => (people - 1).max(2),
    };
    let bound = (
        serde_json::json!(numbers).to_string(),
        asking.number,
        people_min as i64,
        &wanted.genre,
        wanted.minutes_max,
        wanted.kind.map(|kind| kind == Kind::Series),
    );
    let rows = statement.query_map(bound, |row| candidate(row, &numbers))?;
    let mut candidates = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    // With equal sums, the film with the higher minimum priority comes first.
    let key = |c: &Candidate| (c.points, c.priorities.iter().copied().min());
    candidates.sort_by(|a, b| {
        let by_title = || a.film.facts.title.cmp(&b.film.facts.title);
        key(b).cmp(&key(a)).then_with(by_title)
    });
    let (mut all, nearly): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|c| !c.priorities.contains(&0));
    weigh(&mut all);
    Ok(Candidates { all, nearly })
}

fn candidate(row: &Row<'_>, numbers: &[i64]) -> rusqlite::Result<Candidate> {
    let json: String = row.get(Film::COLUMN_COUNT)?;
    let said: Vec<(i64, i64)> = serde_json::from_str(&json).unwrap_or_default();
    let of = |number: &i64| {
        said.iter()
            .find(|(user, _)| user == number)
            .map_or(0, |s| s.1)
    };
    let priorities: Vec<i64> = numbers.iter().map(of).collect();
    Ok(Candidate {
        film: Film::of(row)?,
        points: priorities.iter().sum(),
        chance: 0.0,
        priorities,
    })
}

/// Sets the probability of each candidate. All people have equal influence: the weights of one person sum to one,
/// however high or low their priorities are. The probability of a film is the mean of its weights.
fn weigh(candidates: &mut [Candidate]) {
    let people = candidates.first().map_or(0, |first| first.priorities.len());
    for person in 0..people {
        let total: i64 = candidates.iter().map(|c| c.priorities[person]).sum();
        for candidate in candidates.iter_mut() {
            let share = candidate.priorities[person] as f64 / total.max(1) as f64;
            candidate.chance += share / people as f64;
        }
    }
}

/// Picks one candidate at random by probability.
pub fn pick(candidates: &[Candidate]) -> Option<&Candidate> {
    let mut bytes = [0; 8];
    inorder_key::fill_random(&mut bytes);
    // A number between 0 and 1 holds 53 random bits.
    pick_at(
        candidates,
        (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64,
    )
}

fn pick_at(candidates: &[Candidate], point: f64) -> Option<&Candidate> {
    let total: f64 = candidates.iter().map(|c| c.chance).sum();
    let mut left = point * total;
    let hit = candidates.iter().find(|candidate| {
        left -= candidate.chance;
        left < 0.0
    });
    hit.or(candidates.last())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::films::Facts;

    fn candidates(priorities: &[[i64; 2]]) -> Vec<Candidate> {
        let candidate = |p: &[i64; 2]| Candidate {
            film: Film {
                number: 0,
                id: inorder_key::Ulid::NIL,
                facts: Facts::default(),
                poster_ms: None,
            },
            points: p.iter().sum(),
            chance: 0.0,
            priorities: p.to_vec(),
        };
        let mut candidates: Vec<_> = priorities.iter().map(candidate).collect();
        weigh(&mut candidates);
        candidates
    }

    #[test]
    fn everybody_has_the_same_say_however_high_they_vote() {
        // The first person gives both films priority 5, the second gives 1 and 3.
        let chances: Vec<f64> = candidates(&[[5, 1], [5, 3]])
            .iter()
            .map(|c| c.chance)
            .collect();
        assert_eq!(chances, [(0.5 + 0.25) / 2.0, (0.5 + 0.75) / 2.0]);
    }

    #[test]
    fn the_pick_falls_on_each_film_by_its_chance() {
        let candidates = candidates(&[[1, 1], [3, 3]]);
        let picked = |point| pick_at(&candidates, point).unwrap().points;
        assert_eq!(
            [picked(0.0), picked(0.24), picked(0.26), picked(0.999_999)],
            [2, 2, 6, 6]
        );
        assert!(pick(&[]).is_none() && pick(&candidates).is_some());
    }
}
