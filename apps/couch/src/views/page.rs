//! Pages of an answer.

/// Some rows of an answer. All texts are in one buffer, because a page has up to a thousand rows.
#[derive(Clone, Debug, Default)]
pub struct Page {
    text: String,
    places: Vec<Place>,
    /// The number of all rows and of those before the first; none for groups.
    pub counts: Option<(u64, u64)>,
    /// The sequence of the index, if requested.
    pub update_seq: Option<u64>,
}

/// A row of an answer; all but the id are JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewRow<'a> {
    /// The document's id; none for a group.
    pub id: Option<&'a str>,
    /// The key.
    pub key: &'a str,
    /// The value.
    pub value: &'a str,
    /// The document, if requested.
    pub doc: Option<&'a str>,
}

/// The place of a row in the text: key, value and id follow each other.
#[derive(Clone, Debug)]
struct Place {
    start: usize,
    key_end: usize,
    value_end: usize,
    id_end: Option<usize>,
    doc: Option<String>,
}

impl Page {
    /// Creates a page without rows.
    pub(super) fn new(counts: Option<(u64, u64)>, update_seq: Option<u64>) -> Self {
        Page {
            counts,
            update_seq,
            ..Page::default()
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the size of the rows in bytes, without the documents.
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the rows.
    pub fn rows(&self) -> impl Iterator<Item = ViewRow<'_>> {
        self.places.iter().map(|place| self.row(place))
    }

    fn row<'a>(&'a self, place: &'a Place) -> ViewRow<'a> {
        ViewRow {
            id: place.id_end.map(|end| &self.text[place.value_end..end]),
            key: &self.text[place.start..place.key_end],
            value: &self.text[place.key_end..place.value_end],
            doc: place.doc.as_deref(),
        }
    }

    /// Appends a row.
    pub(super) fn push(&mut self, id: Option<&str>, key: &str, value: &str) {
        let start = self.text.len();
        self.text.push_str(key);
        let key_end = self.text.len();
        self.text.push_str(value);
        let value_end = self.text.len();
        let id_end = id.map(|id| {
            self.text.push_str(id);
            self.text.len()
        });
        self.places.push(Place {
            start,
            key_end,
            value_end,
            id_end,
            doc: None,
        });
    }

    /// Adds its document to each row.
    pub(super) fn add_documents<E>(
        &mut self,
        document: impl Fn(ViewRow<'_>) -> Result<String, E>,
    ) -> Result<(), E> {
        let docs: Result<Vec<String>, E> = self.rows().map(document).collect();
        for (place, doc) in self.places.iter_mut().zip(docs?) {
            place.doc = Some(doc);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_added() {
        let mut page = Page::default();
        assert!(page.is_empty());
        page.push(Some("ü"), "[1,\"é\"]", "null");
        page.push(None, "1", "");
        page.push(Some(""), "null", "2");
        let document = |row: ViewRow<'_>| Ok::<_, ()>(format!("{:?}", row.id));
        page.add_documents(document).unwrap();
        let rows: Vec<_> = page.rows().collect();
        let row = |id, key, value, doc| ViewRow {
            id,
            key,
            value,
            doc: Some(doc),
        };
        let expected = [
            row(Some("ü"), "[1,\"é\"]", "null", "Some(\"ü\")"),
            row(None, "1", "", "None"),
            row(Some(""), "null", "2", "Some(\"\")"),
        ];
        assert_eq!(rows, expected);
        assert_eq!((page.len(), page.text_bytes()), (3, 20));
    }
}
