//! Made-up people, lists and films, the same each time.

use inorder_key::bulk::SplitMix64;

use crate::{
    Result,
    db::{entries::ENTRIES_MAX, films::Facts},
};

/// The source of random lists.
pub struct Draw {
    films: Vec<i64>,
    list_films: usize,
}

/// The maximum of films per list that [`Draw::new`] takes: some lists have a twentieth more.
pub const LIST_FILMS_MAX: usize = ENTRIES_MAX / 21 * 20;

/// A user, and the films on their list with their priorities, in the order of the films.
pub struct User {
    pub name: String,
    pub list: Vec<(i64, i64)>,
}

/// Makes choices that a number determines.
struct Choices(SplitMix64);

impl Choices {
    fn new(seed: u64) -> Self {
        Choices(SplitMix64::new(seed))
    }

    /// One below `end`; 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        self.0.below(end.max(1) as u64) as usize
    }

    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

impl Draw {
    /// Lists of about `list_films` of these films, or of all if there are no more.
    pub fn new(films: Vec<i64>, list_films: usize) -> Self {
        Draw { films, list_films }
    }

    /// The user of this number.
    pub fn user(&self, number: usize) -> User {
        let mut choices = Choices::new(number as u64);
        let spread = (self.list_films / 10).max(1);
        let count = self.list_films - spread / 2 + choices.below(spread);
        let has_all = count >= self.films.len();
        let mut list: Vec<(i64, i64)> = (0..count.min(self.films.len()))
            .map(|at| {
                let drawn = choices.below(self.films.len());
                let film = self.films[if has_all { at } else { drawn }];
                (film, 1 + choices.below(5) as i64)
            })
            .collect();
        list.sort_unstable();
        list.dedup_by_key(|(film, _)| *film);
        User {
            name: name(number),
            list,
        }
    }
}

const FIRST: [&str; 16] = [
    "amber", "brisk", "calm", "dusky", "early", "fair", "gentle", "hazel", "idle", "jolly", "keen",
    "lucky", "mild", "noble", "quiet", "rapid",
];

const SECOND: [&str; 16] = [
    "otter", "badger", "curlew", "dormouse", "egret", "falcon", "gannet", "heron", "ibis",
    "jackdaw", "kestrel", "lapwing", "marten", "newt", "plover", "raven",
];

fn name(number: usize) -> String {
    let mut choices = Choices::new(!(number as u64));
    format!("{}-{}-{number}", choices.of(&FIRST), choices.of(&SECOND))
}

/// So many made-up films.
pub fn films(count: usize) -> impl Iterator<Item = Result<Facts>> {
    const GENRES: [&str; 8] = [
        "Drama", "Comedy", "Western", "Romance", "Crime", "Action", "Horror", "Musical",
    ];
    (0..count).map(|number| {
        let mut choices = Choices::new((number as u64).rotate_left(32));
        Ok(Facts {
            title: format!(
                "The {} {} {number}",
                choices.of(&FIRST),
                choices.of(&SECOND)
            ),
            year: Some(1965 + choices.below(59) as i64),
            people: (0..3)
                .map(|_| format!("{} {}", choices.of(&FIRST), choices.of(&SECOND)))
                .collect(),
            genres: vec![choices.of(&GENRES).to_owned()],
            ..Facts::default()
        })
    })
}

#[test]
fn lists_are_the_same_each_time_and_name_no_film_twice() {
    let draw = Draw::new((1..=1000).collect(), 100);
    let mut films = 0;
    for number in 0..50 {
        let (user, again) = (draw.user(number), draw.user(number));
        assert_eq!((&user.name, &user.list), (&again.name, &again.list));
        assert!(user.list.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(
            user.list
                .iter()
                .all(|(_, priority)| (1..=5).contains(priority))
        );
        films += user.list.len();
    }
    assert!((4300..5300).contains(&films), "{films}");
    assert!(Draw::new(Vec::new(), 100).user(1).list.is_empty());
    assert_eq!(Draw::new(vec![7, 9], 100).user(1).list.len(), 2);
    let longest = Draw::new((0..30_000).collect(), LIST_FILMS_MAX);
    assert!((0..50).all(|number| longest.user(number).list.len() <= ENTRIES_MAX));
}
