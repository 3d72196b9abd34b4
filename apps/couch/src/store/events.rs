//! Events of databases.

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// It was created.
    Created,
    /// A document changed.
    Updated,
    /// It was deleted.
    Deleted,
}

impl Event {
    /// Returns its name in CouchDB's protocol.
    pub fn name(self) -> &'static str {
        match self {
            Event::Created => "created",
            Event::Updated => "updated",
            Event::Deleted => "deleted",
        }
    }
}

/// An event of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseEvent {
    /// Its name.
    pub name: String,
    /// The kind.
    pub event: Event,
}
