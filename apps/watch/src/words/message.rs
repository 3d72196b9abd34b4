//! A message with its arguments, and its text in a language.

use super::{
    bundle,
    kept::Kept,
    language::{self, Language},
    say,
};
use crate::text;
use fluent_bundle::{
    FluentArgs, FluentValue,
    types::{FluentNumber, FluentNumberOptions},
};
use maud::{Markup, PreEscaped, Render};
use serde::{Deserialize, Serialize};
use std::{array, borrow::Cow, fmt, iter, sync::LazyLock};

/// What stands before the place of an argument that is put in later. No catalogue has it.
const MARK: char = '\u{1}';

/// The first of the characters that stand for places.
const FIRST: char = 'a';

/// A message of the catalogues with its arguments. Its text is in the language of the request that shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    id: Id,
    values: Vec<(Cow<'static, str>, Arg)>,
}

/// Which message of the catalogues it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
enum Id {
    /// One that has a function in `say`: its place in [`say::IDS`].
    Known(usize),
    /// One of a script, or of an earlier version of this program.
    Other(String),
}

impl From<String> for Id {
    fn from(id: String) -> Self {
        let number = say::IDS.iter().position(|known| *known == id);
        number.map_or(Id::Other(id), Id::Known)
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.as_str().to_owned()
    }
}

impl Id {
    fn as_str(&self) -> &str {
        match self {
            Id::Known(number) => say::IDS[*number],
            Id::Other(id) => id,
        }
    }
}

/// An argument of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arg {
    /// A number, written as in the language. It selects a plural.
    Number(i64),
    /// Tenths, written with one digit after the decimal separator.
    Tenths(i64),
    /// A word that selects a variant, or is of no language, such as a year.
    Key(Cow<'static, str>),
    /// What a user or a file says. It is isolated from the text around it.
    Text(String),
    /// Another message.
    Message(Box<Message>),
    /// Markup, such as a link. Only pages have such a message.
    Markup(String),
}

/// The text of a message in a language. It is made once for all that differ in nothing but arguments that are put in later.
struct Template {
    /// The arguments. Those that are put in later are empty.
    values: Vec<(Cow<'static, str>, Arg)>,
    pieces: Vec<Piece>,
}

/// A part of a text.
enum Piece {
    /// Text of the catalogue, and the same as markup.
    Own { plain: String, markup: String },
    /// The place of this argument.
    Place(usize),
}

/// The texts that were made, for each language and message.
static TEMPLATES: LazyLock<[Vec<Kept<Template>>; Language::WITH_PSEUDO.len()]> =
    LazyLock::new(|| {
        array::from_fn(|_| {
            iter::repeat_with(Kept::default)
                .take(say::IDS.len())
                .collect()
        })
    });

impl Template {
    fn new(language: Language, id: &str, values: Vec<(Cow<'static, str>, Arg)>) -> Self {
        let mut arguments = FluentArgs::with_capacity(values.len());
        for (at, (name, value)) in values.iter().enumerate() {
            arguments.set(name.clone(), argument(at, value));
        }
        let text = bundle::format(language, id, &arguments);
        let mut pieces = Vec::new();
        for (at, part) in text.split(MARK).enumerate() {
            let mut letters = part.chars();
            if at > 0 {
                let place = letters.next().and_then(place);
                pieces.extend(place.filter(|at| *at < values.len()).map(Piece::Place));
            }
            if !letters.as_str().is_empty() {
                pieces.push(own(language, letters.as_str()));
            }
        }
        Template { values, pieces }
    }

    /// Whether it is the text of a message with these arguments.
    fn has(&self, values: &[(Cow<'static, str>, Arg)]) -> bool {
        let is_same = |(mine, other): (&(_, Arg), &(_, Arg))| {
            mine.0 == other.0 && (mine.1 == other.1 || mine.1.is_later() && other.1.is_later())
        };
        self.values.len() == values.len() && self.values.iter().zip(values).all(is_same)
    }
}

impl Message {
    pub(super) fn new(number: usize, values: Vec<(Cow<'static, str>, Arg)>) -> Self {
        Message {
            id: Id::Known(number),
            values,
        }
    }

    pub(super) fn of(id: String, values: Vec<(Cow<'static, str>, Arg)>) -> Self {
        Message {
            id: id.into(),
            values,
        }
    }

    /// The text without markup, in which what users wrote is isolated.
    pub fn plain(&self) -> String {
        self.to_string()
    }

    /// Calls `take` with its text in the language of the request.
    fn with_text<T>(&self, take: impl FnOnce(&Template) -> T) -> T {
        let language = language::current();
        let make = || {
            let values = self.values.iter();
            let values = values.map(|(name, value)| (name.clone(), value.without_later()));
            Template::new(language, self.id.as_str(), values.collect())
        };
        let Id::Known(number) = self.id else {
            return take(&make());
        };
        let kept = &TEMPLATES[language.index()][number];
        if let Some(text) = kept.find(|text| text.has(&self.values)) {
            return take(text);
        }
        let text = make();
        let taken = take(&text);
        kept.add(text);
        taken
    }
}

/// The place of an argument, by its character.
fn place(letter: char) -> Option<usize> {
    (letter as usize).checked_sub(FIRST as usize)
}

/// An argument as the library takes it. What is put in later leaves its place.
fn argument(at: usize, value: &Arg) -> FluentValue<'static> {
    match value {
        Arg::Number(number) => (*number).into(),
        Arg::Tenths(tenths) => FluentValue::Number(FluentNumber::new(
            *tenths as f64 / 10.0,
            FluentNumberOptions {
                minimum_fraction_digits: Some(1),
                ..Default::default()
            },
        )),
        Arg::Key(key) => key.to_string().into(),
        Arg::Text(_) | Arg::Message(_) | Arg::Markup(_) => {
            let letter = char::from_u32(FIRST as u32 + at as u32).unwrap_or(FIRST);
            String::from_iter([MARK, letter]).into()
        }
    }
}

/// Text of a catalogue. In the language for tests it has brackets, and arguments stand outside of them.
fn own(language: Language, text: &str) -> Piece {
    let plain = match language {
        Language::Pseudo if !text.trim().is_empty() => format!("⟦{text}⟧"),
        _ => text.to_owned(),
    };
    Piece::Own {
        markup: plain.render().into_string(),
        plain,
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = |f: &mut fmt::Formatter<'_>, piece: &Piece| match piece {
            Piece::Own { plain, .. } => f.write_str(plain),
            Piece::Place(at) => match &self.values[*at].1 {
                Arg::Text(text) => f.write_str(&text::isolated(text)),
                Arg::Message(message) => message.fmt(f),
                Arg::Markup(markup) => f.write_str(markup),
                Arg::Key(_) | Arg::Number(_) | Arg::Tenths(_) => Ok(()),
            },
        };
        self.with_text(|text| text.pieces.iter().try_for_each(|piece| write(f, piece)))
    }
}

impl Render for Message {
    fn render_to(&self, buffer: &mut String) {
        let write = |buffer: &mut String, piece: &Piece| match piece {
            Piece::Own { markup, .. } => buffer.push_str(markup),
            Piece::Place(at) => match &self.values[*at].1 {
                Arg::Text(text) => {
                    buffer.push_str("<bdi>");
                    text.render_to(buffer);
                    buffer.push_str("</bdi>");
                }
                Arg::Message(message) => message.render_to(buffer),
                Arg::Markup(markup) => buffer.push_str(markup),
                Arg::Key(_) | Arg::Number(_) | Arg::Tenths(_) => {}
            },
        };
        self.with_text(|text| text.pieces.iter().for_each(|piece| write(buffer, piece)));
    }
}

impl Arg {
    /// A word that selects a variant of the message.
    pub fn key(key: impl Into<Cow<'static, str>>) -> Self {
        Arg::Key(key.into())
    }

    /// Whether it is put into the text later.
    fn is_later(&self) -> bool {
        matches!(self, Arg::Text(_) | Arg::Message(_) | Arg::Markup(_))
    }

    /// The same, or an empty one if it is put into the text later.
    fn without_later(&self) -> Arg {
        match self.is_later() {
            true => Arg::Text(String::new()),
            false => self.clone(),
        }
    }
}

macro_rules! numbers {
    ($($kind:ty)*) => {
        $(impl From<$kind> for Arg {
            fn from(number: $kind) -> Self {
                Arg::Number(i64::try_from(number).unwrap_or(i64::MAX))
            }
        })*
    };
}

numbers!(i64 u64 u32 i32 usize);

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Arg::Text(text.to_owned())
    }
}

impl From<&String> for Arg {
    fn from(text: &String) -> Self {
        Arg::Text(text.clone())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Arg::Text(text)
    }
}

impl From<Message> for Arg {
    fn from(message: Message) -> Self {
        Arg::Message(Box::new(message))
    }
}

impl From<Markup> for Arg {
    fn from(PreEscaped(markup): Markup) -> Self {
        Arg::Markup(markup)
    }
}
