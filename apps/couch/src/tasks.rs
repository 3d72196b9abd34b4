//! Work under way, as `_active_tasks` shows it.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of this node. CouchDB names the nodes of a cluster so.
pub const NODE: &str = "nonode@nohost";

/// The tasks, by number.
#[derive(Debug, Default)]
pub struct Tasks(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    last_number: u64,
    tasks: BTreeMap<u64, Map<String, Value>>,
}

/// A task that is shown while this lives.
#[derive(Debug)]
pub struct Task {
    tasks: Arc<Tasks>,
    number: u64,
}

impl Tasks {
    /// Shows a task; `fields` say what it does.
    pub fn begin(self: &Arc<Self>, kind: &str, fields: Map<String, Value>) -> Task {
        let mut list = self.0.lock().expect("no panic while held");
        list.last_number += 1;
        let number = list.last_number;
        let mut task = Map::new();
        task.insert("type".into(), kind.into());
        task.insert("node".into(), NODE.into());
        task.insert("pid".into(), pid(number).into());
        task.insert("process_status".into(), "waiting".into());
        task.insert("started_on".into(), now().into());
        task.insert("updated_on".into(), now().into());
        task.extend(fields);
        list.tasks.insert(number, task);
        Task {
            tasks: Arc::clone(self),
            number,
        }
    }

    /// All that are under way.
    pub fn list(&self) -> Vec<Map<String, Value>> {
        let list = self.0.lock().expect("no panic while held");
        list.tasks.values().cloned().collect()
    }
}

impl Task {
    /// The number, as `_active_tasks` shows it.
    pub fn pid(&self) -> String {
        pid(self.number)
    }

    /// Shows other values of all given fields.
    pub fn set(&self, fields: Map<String, Value>) {
        let mut list = self.tasks.0.lock().expect("no panic while held");
        if let Some(task) = list.tasks.get_mut(&self.number) {
            task.extend(fields);
            task.insert("updated_on".into(), now().into());
        }
    }

    /// Shows other values of some fields.
    pub fn update(&self, fields: impl IntoIterator<Item = (&'static str, Value)>) {
        let mut list = self.tasks.0.lock().expect("no panic while held");
        if let Some(task) = list.tasks.get_mut(&self.number) {
            task.extend(
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value)),
            );
            task.insert("updated_on".into(), now().into());
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let mut list = self.tasks.0.lock().expect("no panic while held");
        list.tasks.remove(&self.number);
    }
}

fn pid(number: u64) -> String {
    format!("<0.{number}.0>")
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_shown_while_it_lives() {
        let tasks = Arc::new(Tasks::default());
        let task = tasks.begin("replication", Map::new());
        task.update([("docs_written", 3.into())]);
        let list = tasks.list();
        assert_eq!(list.len(), 1);
        assert_eq!(
            (&list[0]["type"], &list[0]["docs_written"]),
            (&"replication".into(), &3.into())
        );
        drop(task);
        assert!(tasks.list().is_empty());
    }
}
