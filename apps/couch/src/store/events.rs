//! What happens to databases.

/// What happened to a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It was created.
    Created,
    /// A document changed.
    Updated,
    /// It was deleted.
    Deleted,
}

/// What happened to which database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseEvent {
    /// Its name.
    pub name: String,
    /// What happened.
    pub event: Event,
}
