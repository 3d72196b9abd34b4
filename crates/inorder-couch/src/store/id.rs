//! Which texts are ids of documents.
