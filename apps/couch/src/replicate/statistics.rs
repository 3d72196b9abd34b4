//! Statistics of a replication.

use serde_json::{Map, Value};

/// Counts since the start of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of compared revisions.
    pub missing_checked: u64,
    /// The number of compared revisions that the target lacked.
    pub missing_found: u64,
    /// The number of documents read from the source.
    pub docs_read: u64,
    /// The number of documents written to the target.
    pub docs_written: u64,
    /// The number of documents that the target refused.
    pub doc_write_failures: u64,
    /// The number of documents read with `_bulk_get`.
    pub bulk_get_docs: u64,
    /// The number of documents requested with `_bulk_get`.
    pub bulk_get_attempts: u64,
}

/// The names of the statistics in checkpoints and in tasks.
const NAMES: [(&str, &str); 7] = [
    ("missing_checked", "revisions_checked"),
    ("missing_found", "missing_revisions_found"),
    ("docs_read", "docs_read"),
    ("docs_written", "docs_written"),
    ("doc_write_failures", "doc_write_failures"),
    ("bulk_get_docs", "bulk_get_docs"),
    ("bulk_get_attempts", "bulk_get_attempts"),
];

impl Statistics {
    fn counts(&mut self) -> [&mut u64; 7] {
        [
            &mut self.missing_checked,
            &mut self.missing_found,
            &mut self.docs_read,
            &mut self.docs_written,
            &mut self.doc_write_failures,
            &mut self.bulk_get_docs,
            &mut self.bulk_get_attempts,
        ]
    }

    fn named(&self, name: impl Fn(usize) -> &'static str) -> Map<String, Value> {
        let mut copy = self.clone();
        let counts = copy.counts().into_iter().enumerate();
        counts
            .map(|(at, count)| (name(at).to_owned(), Value::from(*count)))
            .collect()
    }

    /// The statistics with the names that checkpoints use.
    pub fn fields(&self) -> Map<String, Value> {
        self.named(|at| NAMES[at].0)
    }

    /// The statistics with the names that tasks and jobs use.
    pub fn task_fields(&self) -> Map<String, Value> {
        self.named(|at| NAMES[at].1)
    }

    /// Raises each count to the one recorded in a checkpoint or a task.
    pub fn raise(&mut self, recorded: &Map<String, Value>) {
        for (count, (checkpoint, task)) in self.counts().into_iter().zip(NAMES) {
            let value = recorded.get(checkpoint).or_else(|| recorded.get(task));
            *count = (*count).max(value.and_then(Value::as_u64).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_never_go_back() {
        let mut statistics = Statistics {
            docs_read: 5,
            ..Statistics::default()
        };
        let recorded = json!({ "docs_read": 3, "revisions_checked": 7, "missing_found": 2 });
        statistics.raise(recorded.as_object().unwrap());
        let fields = Value::Object(statistics.fields());
        assert_eq!(
            (&fields["docs_read"], &fields["missing_checked"]),
            (&json!(5), &json!(7))
        );
        assert_eq!(statistics.task_fields()["missing_revisions_found"], 2);
    }
}
