//! Compiled functions, kept while they are used: many feeds share one filter.

use super::{Limits, Script, ScriptError};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Each holds a runtime of some hundred kilobytes.
const SCRIPTS_MAX: usize = 16;

struct Entry {
    source: String,
    design: String,
    script: Arc<Mutex<Script>>,
}

/// The functions used last.
#[derive(Default)]
pub struct ScriptCache {
    limits: Limits,
    /// The one used last is at the end.
    entries: std::sync::Mutex<Vec<Entry>>,
}

impl std::fmt::Debug for ScriptCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScriptCache")
    }
}

impl ScriptCache {
    /// An empty one, whose functions have these limits.
    pub fn new(limits: Limits) -> Self {
        ScriptCache {
            limits,
            entries: std::sync::Mutex::default(),
        }
    }

    /// The function `source` of the design document `design` (JSON), compiled when it isn't already.
    ///
    /// # Errors
    /// When it can't be compiled.
    pub async fn get(&self, source: &str, design: &str) -> Result<Arc<Mutex<Script>>, ScriptError> {
        if let Some(script) = self.find(source, design) {
            return Ok(script);
        }
        let (limits, owned) = (self.limits, (source.to_owned(), design.to_owned()));
        let compile = move || Script::new(&owned.0, &owned.1, limits);
        let script = blocking(compile).await?;
        let script = Arc::new(Mutex::new(script));
        let mut entries = self.entries.lock().expect("no panic while held");
        if entries.len() == SCRIPTS_MAX {
            entries.remove(0);
        }
        entries.push(Entry {
            source: source.to_owned(),
            design: design.to_owned(),
            script: Arc::clone(&script),
        });
        Ok(script)
    }

    fn find(&self, source: &str, design: &str) -> Option<Arc<Mutex<Script>>> {
        let mut entries = self.entries.lock().expect("no panic while held");
        let at = entries
            .iter()
            .position(|entry| entry.source == source && entry.design == design)?;
        let entry = entries.remove(at);
        let script = Arc::clone(&entry.script);
        entries.push(entry);
        Some(script)
    }

    /// Runs calls of a function where they keep no other request waiting.
    ///
    /// # Errors
    /// What `call` returns.
    pub async fn run<T: Send + 'static>(
        script: Arc<Mutex<Script>>,
        call: impl FnOnce(&Script) -> Result<T, ScriptError> + Send + 'static,
    ) -> Result<T, ScriptError> {
        let script = script.lock_owned().await;
        blocking(move || call(&script)).await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ScriptError> + Send + 'static,
) -> Result<T, ScriptError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or_else(|error| Err(ScriptError::Failed(error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_functions_used_last_stay() {
        let cache = ScriptCache::default();
        let first = cache.get("() => true", "{}").await.unwrap();
        for at in 0..SCRIPTS_MAX {
            cache.get(&format!("() => {at} < 5"), "{}").await.unwrap();
            let again = cache.get("() => true", "{}").await.unwrap();
            assert!(Arc::ptr_eq(&first, &again));
        }
        assert_eq!(cache.entries.lock().unwrap().len(), SCRIPTS_MAX);
        assert!(cache.find("() => 0 < 5", "{}").is_none());
        let passes = ScriptCache::run(first, |script| script.filter("{}", "{}")).await;
        assert_eq!(passes, Ok(true));
    }

    #[tokio::test]
    async fn what_does_not_compile_is_not_kept() {
        let cache = ScriptCache::default();
        assert!(cache.get("function (", "{}").await.is_err());
        assert!(cache.entries.lock().unwrap().is_empty());
    }
}
