//! The posts that published the claims.

use std::fmt;

/// A post that published claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    /// Its short name, which is that of the experiment that answers most of its claims.
    pub name: &'static str,
    /// The prefix of its claims' ids.
    pub letter: &'static str,
    /// The author.
    pub author: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The day it was published, where it says so: `2022-10-05`.
    pub published: Option<&'static str>,
    /// Its address.
    pub url: &'static str,
}

/// Author, title and day: `nebkor, "One-part serialized mystery, part 2"`.
impl fmt::Display for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, \"{}\"", self.author, self.title)?;
        match self.published {
            Some(day) => write!(f, ", {day}"),
            None => Ok(()),
        }
    }
}
