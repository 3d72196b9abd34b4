//! Made-up film titles and user names, from word lists made for this project.

use inorder_key::bulk::SplitMix64;

const QUALITIES: &str = "\
amber ancient autumn bitter blind blue bold borrowed brave bright broken burning calm careless clever cold copper \
crimson crooked curious dark daring dear deep distant divided double dusty eager early electric empty endless eternal \
faded faithful fallen false famous fearless final first flying foolish forgotten fragile free frozen gentle giant \
gilded glass golden grand green grey happy hidden hollow honest hungry idle infinite inner iron ivory jolly lasting \
last late lazy little living lonely long lost loud loyal lucky magnetic marble merry midnight modern narrow nervous \
new noble northern odd old open painted pale paper patient perfect plain polar proud quick quiet rainy rapid restless \
rising royal rusty sacred salty scarlet second secret seventh shallow sharp silent silver simple sleepless slow small \
solemn southern spare stolen strange stubborn sudden summer sunken sweet tall tender thirsty timid tiny tired trusted \
twisted unlikely upper vacant velvet violet wandering warm weary western whispering wicked wild winter wise wooden \
yellow young";

const THINGS: &str = "\
acrobat admiral alley anchor apple archive arrow ashes atlas attic avenue balcony ballad bakery balloon bargain basket \
beacon bell bicycle blanket blossom boat border bottle bridge brother button cabin candle canyon captain caravan \
carousel castle cellar chapel charm cherry chimney circle city clock cloud coast comet compass corner corridor country \
courier crossing crown curtain dance daughter dawn desert detective diary dinner doctor door dragon dream driver drum \
echo edge eclipse elephant ember emperor engine escape evening fable factory falcon farewell feast feather ferry \
festival field fiddle fire flame flight flood flower forest fortune fountain fox frontier garden gate ghost glacier \
glove guest guitar harbour harvest hat heart hill holiday horizon horse hotel hour house hunter hurricane inspector \
invitation island jacket journey judge jungle keeper kettle key king kingdom kitchen kite knight ladder lagoon lake \
lamp lantern legend letter library lighthouse lion machine map market mask meadow melody memory message mill miner \
mirror model moon morning motel mother mountain museum neighbour nest night notebook oak oasis ocean office opera \
orchard orchestra outlaw owl palace parade park passage passenger path pearl pepper piano picnic pilot pirate planet \
platform player pocket poet pond portrait postcard prince prisoner promise puzzle queen question quarry railway rain \
rebel recipe reef refuge rehearsal reunion rider river road robot rocket roof room rope rose ruin sailor saint \
satellite school sea season secret shadow shepherd ship shore signal sister sky smile smuggler snow soldier song \
sparrow spring square stable stadium stage station stone storm stranger street suitcase summit sunset swimmer table \
tailor tale teacher telegram temple theatre thief thread thunder ticket tide tiger timetable tower traveller treasure \
tree tunnel twin umbrella uncle valley verdict village violin visitor voice voyage waiter wall waltz watch wave \
weather wedding well whale wheel whistle widow wind window wing witness wolf word workshop writer yard";

/// Beginnings of a title before a thing that has its article.
const BEGINNINGS: &[&str] = &[
    "A Letter to",
    "After",
    "All About",
    "Beyond",
    "Farewell to",
    "Goodbye to",
    "In Search of",
    "Journey to",
    "Looking for",
    "Return of",
    "The Road to",
    "Waiting for",
];

/// Made-up film titles, such as "The Crooked Lighthouse" or "Lantern of the Quiet Harbour".
///
/// The same seed gives the same titles. There are some fourteen million of them, few words long like
/// most titles; a long list repeats the shorter ones, as lists of films do.
#[derive(Clone, Debug)]
pub struct Titles(Vocabulary);

impl Titles {
    /// The titles of this seed.
    pub fn new(seed: u64) -> Self {
        Titles(Vocabulary::new(seed))
    }

    /// The next title.
    pub fn title(&mut self) -> String {
        let mut title = String::new();
        self.write(&mut title);
        title
    }

    /// Appends the next title.
    pub(crate) fn write(&mut self, to: &mut String) {
        let words = &mut self.0;
        match words.rng.below(16) {
            0..6 => {
                to.push_str("The ");
                words.described_thing(to);
            }
            6..9 => words.described_thing(to),
            9..11 => {
                words.thing(to);
                to.push_str(" of the ");
                words.described_thing(to);
            }
            11..13 => {
                words.thing(to);
                to.push_str(" and ");
                words.thing(to);
            }
            13..15 => {
                to.push_str(BEGINNINGS[words.rng.below(BEGINNINGS.len() as u64) as usize]);
                to.push_str(" the ");
                words.described_thing(to);
            }
            _ => {
                to.push_str("The ");
                words.thing(to);
            }
        }
    }
}

/// Made-up user names, such as "Amber_lantern84".
///
/// The same seed gives the same names. There are nearly five million: a long list repeats some.
#[derive(Clone, Debug)]
pub struct Names(Vocabulary);

impl Names {
    /// The names of this seed.
    pub fn new(seed: u64) -> Self {
        Names(Vocabulary::new(seed))
    }

    /// The next name.
    pub fn name(&mut self) -> String {
        let mut name = String::new();
        self.write(&mut name);
        name
    }

    /// Appends the next name.
    pub(crate) fn write(&mut self, to: &mut String) {
        let words = &mut self.0;
        let (quality, thing, number) = (words.quality(), words.any_thing(), words.rng.below(100));
        push_capital(to, quality);
        to.push('_');
        to.push_str(thing);
        if number >= 10 {
            to.push((b'0' + (number / 10) as u8) as char);
        }
        to.push((b'0' + (number % 10) as u8) as char);
    }
}

/// The words and the dice that choose among them.
#[derive(Clone, Debug)]
struct Vocabulary {
    rng: SplitMix64,
    qualities: Vec<&'static str>,
    things: Vec<&'static str>,
}

impl Vocabulary {
    fn new(seed: u64) -> Self {
        Vocabulary {
            rng: SplitMix64::new(seed),
            qualities: QUALITIES.split(' ').collect(),
            things: THINGS.split(' ').collect(),
        }
    }

    fn quality(&mut self) -> &'static str {
        self.qualities[self.rng.below(self.qualities.len() as u64) as usize]
    }

    fn any_thing(&mut self) -> &'static str {
        self.things[self.rng.below(self.things.len() as u64) as usize]
    }

    fn thing(&mut self, to: &mut String) {
        push_capital(to, self.any_thing());
    }

    fn described_thing(&mut self, to: &mut String) {
        push_capital(to, self.quality());
        to.push(' ');
        self.thing(to);
    }
}

fn push_capital(to: &mut String, word: &str) {
    let (first, rest) = word.split_at(1);
    to.push(first.as_bytes()[0].to_ascii_uppercase() as char);
    to.push_str(rest);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn lists_hold_each_word_once_in_lower_case() {
        for list in [QUALITIES, THINGS] {
            let words: Vec<&str> = list.split(' ').collect();
            let distinct: HashSet<&str> = words.iter().copied().collect();
            assert_eq!(distinct.len(), words.len());
            let is_word = |w: &&str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase());
            assert!(words.iter().all(is_word));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_words() {
        let (mut a, mut b) = (Titles::new(4), Titles::new(4));
        assert!((0..100).all(|_| a.title() == b.title()));
        let (mut a, mut b) = (Names::new(4), Names::new(4));
        assert!((0..100).all(|_| a.name() == b.name()));
        assert_ne!(Titles::new(4).title(), Titles::new(5).title());
    }

    #[test]
    fn titles_are_short_and_mostly_different() {
        let mut titles = Titles::new(1);
        let made: Vec<String> = (0..10_000).map(|_| titles.title()).collect();
        let distinct: HashSet<&String> = made.iter().collect();
        assert!(distinct.len() > 8_000, "{}", distinct.len());
        let mean = made.iter().map(String::len).sum::<usize>() / made.len();
        assert!((12..30).contains(&mean), "{mean}");
    }

    #[test]
    fn names_are_a_quality_a_thing_and_a_number() {
        let mut names = Names::new(1);
        for _ in 0..1000 {
            let name = names.name();
            let (quality, rest) = name.split_once('_').expect("an underscore");
            assert!(quality.starts_with(|c: char| c.is_ascii_uppercase()));
            assert!(rest.ends_with(|c: char| c.is_ascii_digit()), "{name}");
        }
    }
}
