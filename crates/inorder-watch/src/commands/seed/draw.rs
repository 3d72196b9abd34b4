//! Made-up people, lists and films, the same each time.

use crate::{Result, db::films::Facts};

/// What lists are drawn from.
pub struct Draw {
    films: Vec<i64>,
    list_films: usize,
}

/// Somebody, and the films on their list with their priorities, in the order of the films.
pub struct User {
    pub name: String,
    pub list: Vec<(i64, i64)>,
}

/// A generator of numbers that look random: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

impl Draw {
    /// Lists of about `list_films` of these films.
    pub fn new(films: Vec<i64>, list_films: usize) -> Self {
        Draw { films, list_films }
    }

    /// The user of this number.
    pub fn user(&self, number: usize) -> User {
        let mut numbers = Numbers(number as u64);
        let spread = (self.list_films / 10).max(1);
        let count = self.list_films - spread / 2 + numbers.below(spread);
        let mut list: Vec<(i64, i64)> = (0..count)
            .filter_map(|_| {
                let film = *self.films.get(numbers.below(self.films.len()))?;
                Some((film, 1 + numbers.below(5) as i64))
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
    let mut numbers = Numbers(!(number as u64));
    format!("{}-{}-{number}", numbers.of(&FIRST), numbers.of(&SECOND))
}

/// So many made-up films.
pub fn films(count: usize) -> impl Iterator<Item = Result<Facts>> {
    const GENRES: [&str; 8] = [
        "Drama", "Comedy", "Western", "Romance", "Crime", "Action", "Horror", "Musical",
    ];
    (0..count).map(|number| {
        let mut numbers = Numbers((number as u64).rotate_left(32));
        Ok(Facts {
            title: format!(
                "The {} {} {number}",
                numbers.of(&FIRST),
                numbers.of(&SECOND)
            ),
            year: Some(1965 + numbers.below(59) as i64),
            people: (0..3)
                .map(|_| format!("{} {}", numbers.of(&FIRST), numbers.of(&SECOND)))
                .collect(),
            genres: vec![numbers.of(&GENRES).to_owned()],
            imdb: None,
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
}
