//! Documents that are not replicated: their revisions are only counted.

/// A local document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalDocument {
    /// Its id, with `_local/`.
    pub id: String,
    /// How often it was written: `_rev` is `0-` and this.
    pub writes: u64,
    /// The body: a JSON object without members that begin with an underscore.
    pub body: String,
}

impl LocalDocument {
    /// The document as CouchDB writes it.
    pub fn to_json(&self) -> String {
        todo!()
    }
}
