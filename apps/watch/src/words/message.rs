//! A message with its arguments, and its text in a language.

use super::{
    bundle,
    language::{self, Language},
};
use crate::text;
use fluent_bundle::{
    FluentArgs, FluentValue,
    types::{FluentNumber, FluentNumberOptions},
};
use maud::{Markup, PreEscaped, Render};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// What stands before the place of an argument that is put in later. No catalogue has it.
const MARK: char = '\u{1}';

/// The first of the characters that stand for places.
const FIRST: char = 'a';

/// A message of the catalogues with its arguments. Its text is in the language of the request that shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    id: Cow<'static, str>,
    values: Vec<(Cow<'static, str>, Arg)>,
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

/// A part of a message's text.
pub(super) enum Piece<'a> {
    /// Text of the catalogue.
    Own(&'a str),
    /// An argument.
    Arg(&'a Arg),
}

impl Message {
    pub(super) fn new(id: &'static str, values: Vec<(&'static str, Arg)>) -> Self {
        let values = values.into_iter();
        Message {
            id: id.into(),
            values: values.map(|(name, value)| (name.into(), value)).collect(),
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

    /// Calls `take` with the parts of the text in a language.
    fn each(&self, language: Language, mut take: impl FnMut(Piece<'_>)) {
        let arguments = || {
            let mut arguments = FluentArgs::with_capacity(self.values.len());
            for (at, (name, value)) in self.values.iter().enumerate() {
                arguments.set(name.clone().into_owned(), argument(at, value));
            }
            arguments
        };
        let is_later =
            |value: &Arg| matches!(value, Arg::Text(_) | Arg::Message(_) | Arg::Markup(_));
        let text = match self.values.iter().all(|(_, value)| is_later(value)) {
            true => bundle::fixed(language, &self.id, arguments),
            false => bundle::format(language, &self.id, &arguments()),
        };
        let mut parts = text.split(MARK);
        if let Some(first) = parts.next() {
            take(Piece::Own(first));
        }
        for part in parts {
            let mut letters = part.chars();
            let at = letters.next().and_then(place);
            if let Some((_, value)) = at.and_then(|at| self.values.get(at)) {
                take(Piece::Arg(value));
            }
            take(Piece::Own(letters.as_str()));
        }
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

/// The text of a catalogue. In the language for tests it has brackets, and arguments stand outside of them.
fn marked(language: Language, text: &str) -> Cow<'_, str> {
    match language {
        Language::Pseudo if !text.trim().is_empty() => format!("⟦{text}⟧").into(),
        _ => text.into(),
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let language = language::current();
        let mut written = Ok(());
        self.each(language, |piece| {
            let write = |f: &mut fmt::Formatter<'_>| match piece {
                Piece::Own(own) => f.write_str(&marked(language, own)),
                Piece::Arg(Arg::Text(text)) => f.write_str(&text::isolated(text)),
                Piece::Arg(Arg::Message(message)) => message.fmt(f),
                Piece::Arg(Arg::Markup(markup)) => f.write_str(markup),
                Piece::Arg(Arg::Key(_) | Arg::Number(_) | Arg::Tenths(_)) => Ok(()),
            };
            written = written.and_then(|()| write(f));
        });
        written
    }
}

impl Render for Message {
    fn render_to(&self, buffer: &mut String) {
        let language = language::current();
        self.each(language, |piece| match piece {
            Piece::Own(own) => marked(language, own).as_ref().render_to(buffer),
            Piece::Arg(Arg::Text(text)) => {
                buffer.push_str("<bdi>");
                text.render_to(buffer);
                buffer.push_str("</bdi>");
            }
            Piece::Arg(Arg::Message(message)) => message.render_to(buffer),
            Piece::Arg(Arg::Markup(markup)) => buffer.push_str(markup),
            Piece::Arg(Arg::Key(_) | Arg::Number(_) | Arg::Tenths(_)) => {}
        });
    }
}

impl Arg {
    /// A word that selects a variant of the message.
    pub fn key(key: impl Into<Cow<'static, str>>) -> Self {
        Arg::Key(key.into())
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
