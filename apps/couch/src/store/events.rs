//! Events of databases.

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It was created.
    Created,
    /// A document changed.
    Updated,
    /// It was deleted.
    Deleted,
}

/// An event of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseEvent {
    /// Its name.
    pub name: String,
    /// The kind.
    pub event: Event,
}
