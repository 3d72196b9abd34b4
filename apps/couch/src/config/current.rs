//! The configuration of a running server.

use super::values::Values;
use super::{ConfigError, ini, keys};
use inorder_serve::private;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// How long a change lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// It is written to the file.
    Kept,
    /// Until the next start or [`Config::reload`]; `X-Couch-Persist: false` in CouchDB.
    Run,
}

/// The configuration of a running server. [`Config::default`] has no file.
#[derive(Debug)]
pub struct Config {
    current: RwLock<Arc<Values>>,
    layers: Mutex<Layers>,
    listeners: Mutex<Vec<Listener>>,
    guard: OnceLock<Guard>,
}

/// Called after each change.
struct Listener(Box<dyn Fn(&Values) + Send + Sync>);

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// Called before each change with the values after it. Its error is the reason for refusing the change.
struct Guard(Box<Check>);

type Check = dyn Fn(&Values) -> Result<(), String> + Send + Sync;

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guard")
    }
}

/// What the current values come from.
#[derive(Clone, Debug, Default)]
struct Layers {
    file: Option<PathBuf>,
    /// The text of the file.
    text: String,
    /// From the command line: over the file.
    fixed: Values,
}

impl Layers {
    fn values(&self) -> Values {
        let mut values = keys::shown();
        values.merge(&ini::parse(&self.text));
        values.merge(&self.fixed);
        values
    }

    fn read(&mut self) -> Result<(), ConfigError> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        self.text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                let path = path.clone();
                return Err(ConfigError::Read { path, error });
            }
        };
        Ok(())
    }

    /// Sets or removes a value of the file. [`Layers::save`] writes it.
    fn edit(&mut self, section: &str, key: &str, value: Option<&str>) {
        self.text = ini::edit(&self.text, section, key, value);
        self.fixed.remove(section, key);
    }

    fn save(&self) -> Result<(), ConfigError> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        private::replace(path, self.text.as_bytes()).map_err(|error| {
            let path = path.clone();
            ConfigError::Write { path, error }
        })
    }
}

impl Default for Config {
    fn default() -> Self {
        Config::of(Layers::default())
    }
}

impl Config {
    fn of(layers: Layers) -> Self {
        Config {
            current: RwLock::new(Arc::new(layers.values())),
            layers: Mutex::new(layers),
            listeners: Mutex::default(),
            guard: OnceLock::new(),
        }
    }

    /// Reads the configuration from a file, which is created with the first change.
    ///
    /// # Errors
    /// If the file exists and can't be read.
    pub fn open(file: &Path) -> Result<Self, ConfigError> {
        let failed = |error| ConfigError::Read {
            path: file.to_owned(),
            error,
        };
        if private::close_to(0o007, file).map_err(failed)? {
            tracing::warn!(
                "{} was readable for everyone, and has secrets: its mode is 600 now",
                file.display()
            );
        }
        let mut layers = Layers {
            file: Some(file.to_owned()),
            ..Layers::default()
        };
        layers.read()?;
        Ok(Config::of(layers))
    }

    /// Returns the values as they are now.
    pub fn values(&self) -> Arc<Values> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns a value as text, if it is set.
    pub fn get(&self, section: &str, key: &str) -> Option<String> {
        self.values().get(section, key).map(str::to_owned)
    }

    /// Sets a value. Returns the old one.
    ///
    /// # Errors
    /// If a name or the value can't be stored, the guard refuses the change, or the file can't be written. Then nothing is changed.
    pub fn set(
        &self,
        section: &str,
        key: &str,
        value: &str,
        lifetime: Lifetime,
    ) -> Result<Option<String>, ConfigError> {
        check(section, key, value)?;
        let mut layers = self.lock();
        let mut values = (*self.values()).clone();
        let old = values.get(section, key).map(str::to_owned);
        values.set(section, key, value);
        self.permit(&values)?;
        if lifetime == Lifetime::Kept {
            let mut changed = layers.clone();
            // Without a value: the file can't say that a value is empty.
            changed.edit(section, key, Some(value).filter(|value| !value.is_empty()));
            changed.save()?;
            *layers = changed;
        }
        self.publish(values);
        if !keys::has_effect(section, key) {
            tracing::info!(
                "configuration: [{section}] {key} is stored, and has no effect on this server"
            );
        } else if !keys::is_valid(section, key, value) {
            tracing::warn!(
                "configuration: [{section}] {key} has a value that is not valid: the default is used"
            );
        }
        Ok(old)
    }

    /// Deletes a value, so that the default applies. Returns the value, or none if it is not set.
    ///
    /// # Errors
    /// If the guard refuses the change, or the file can't be written. Then nothing is changed.
    pub fn delete(
        &self,
        section: &str,
        key: &str,
        lifetime: Lifetime,
    ) -> Result<Option<String>, ConfigError> {
        let mut layers = self.lock();
        if self.get(section, key).is_none() {
            return Ok(None);
        }
        let mut changed = layers.clone();
        if lifetime == Lifetime::Kept {
            changed.edit(section, key, None);
        }
        let mut values = (*self.values()).clone();
        let old = values.remove(section, key);
        if let Some(value) = changed.values().get(section, key) {
            values.set(section, key, value);
        }
        self.permit(&values)?;
        if lifetime == Lifetime::Kept {
            changed.save()?;
            *layers = changed;
        }
        self.publish(values);
        Ok(old)
    }

    /// Sets a value for this run of the server, over the file: an option of the command line.
    pub fn fix(&self, section: &str, key: &str, value: &str) {
        let mut layers = self.lock();
        layers.fixed.set(section, key, value);
        let mut values = (*self.values()).clone();
        values.set(section, key, value);
        self.publish(values);
    }

    /// Reads the file again. Changes that were not written to it are gone.
    ///
    /// # Errors
    /// If the file can't be read, or the guard refuses what it says. Then nothing is changed.
    pub fn reload(&self) -> Result<(), ConfigError> {
        let mut layers = self.lock();
        let mut changed = layers.clone();
        changed.read()?;
        let values = changed.values();
        self.permit(&values)?;
        *layers = changed;
        self.publish(values);
        Ok(())
    }

    /// Refuses later changes after which the values do not pass a check. The error of the check is the reason. The first guard stays.
    pub fn guard(&self, guard: impl Fn(&Values) -> Result<(), String> + Send + Sync + 'static) {
        let _no_change = self.lock();
        let _first = self.guard.set(Guard(Box::new(guard)));
    }

    fn permit(&self, values: &Values) -> Result<(), ConfigError> {
        match self.guard.get() {
            Some(guard) => (guard.0)(values).map_err(ConfigError::Refused),
            None => Ok(()),
        }
    }

    /// Calls a function with the values as they are now, and after each change. A change waits for it.
    pub fn listen(&self, listener: impl Fn(&Values) + Send + Sync + 'static) {
        let _no_change = self.lock();
        listener(&self.values());
        self.listeners().push(Listener(Box::new(listener)));
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, values: Values) {
        let values = Arc::new(values);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&values);
        for listener in self.listeners().iter() {
            (listener.0)(&values);
        }
    }

    /// Also keeps two changes from happening at the same time.
    fn lock(&self) -> MutexGuard<'_, Layers> {
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses what CouchDB refuses, and what the file would give back as something else.
fn check(section: &str, key: &str, value: &str) -> Result<(), ConfigError> {
    let is_line = |text: &str| {
        let mut others = text.chars().filter(|&c| c != '\t');
        !others.any(char::is_control) && ini::is_storable(text)
    };
    let is_name = |text: &str| is_line(text) && !text.is_empty() && !text.contains(['[', ']']);
    if !is_name(section) {
        return Err(ConfigError::Section);
    }
    if !is_name(key) || key.starts_with('=') || key.contains(" = ") {
        return Err(ConfigError::Key);
    }
    if !is_line(value) {
        return Err(ConfigError::Value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn in_folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("local.ini");
        (folder, file)
    }

    #[test]
    fn a_change_is_effective_at_once_and_after_a_restart() {
        let (_folder, file) = in_folder();
        let config = Config::open(&file).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&seen);
        config.listen(move |values| {
            let value = values.get("s", "k").map(str::to_owned);
            told.lock().unwrap().push(value);
        });
        assert_eq!(config.set("s", "k", "1", Lifetime::Kept).unwrap(), None);
        assert_eq!(
            config
                .set("s", "k", "2", Lifetime::Kept)
                .unwrap()
                .as_deref(),
            Some("1")
        );
        assert_eq!(config.set("s", "run", "3", Lifetime::Run).unwrap(), None);
        assert_eq!(config.get("s", "k").as_deref(), Some("2"));
        let seen = seen.lock().unwrap().clone();
        let expected = [None, Some("1"), Some("2"), Some("2")];
        assert_eq!(seen, expected.map(|value| value.map(str::to_owned)));
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let again = Config::open(&file).unwrap();
        assert_eq!(
            (again.get("s", "k").as_deref(), again.get("s", "run")),
            (Some("2"), None)
        );
        assert_eq!(
            again.delete("s", "k", Lifetime::Kept).unwrap().as_deref(),
            Some("2")
        );
        assert_eq!(again.delete("s", "k", Lifetime::Kept).unwrap(), None);
        assert_eq!(Config::open(&file).unwrap().get("s", "k"), None);
    }

    #[test]
    fn a_deleted_value_is_the_one_below_it() {
        let (_folder, file) = in_folder();
        std::fs::write(&file, "[s]\nk = file\n").unwrap();
        let config = Config::open(&file).unwrap();
        config.set("s", "k", "run", Lifetime::Run).unwrap();
        assert_eq!(
            config.delete("s", "k", Lifetime::Run).unwrap().as_deref(),
            Some("run")
        );
        assert_eq!(config.get("s", "k").as_deref(), Some("file"));
        let (section, key, value) = keys::SHOWN[0];
        config.set(section, key, "other", Lifetime::Kept).unwrap();
        config.delete(section, key, Lifetime::Kept).unwrap();
        assert_eq!(config.get(section, key).as_deref(), Some(value));
    }

    #[test]
    fn the_command_line_goes_before_the_file_and_a_change_before_both() {
        let (_folder, file) = in_folder();
        std::fs::write(&file, "[s]\nk = file\n").unwrap();
        let config = Config::open(&file).unwrap();
        config.fix("s", "k", "option");
        config.reload().unwrap();
        assert_eq!(config.get("s", "k").as_deref(), Some("option"));
        config.set("s", "k", "changed", Lifetime::Kept).unwrap();
        config.reload().unwrap();
        assert_eq!(config.get("s", "k").as_deref(), Some("changed"));
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "[s]\nk = changed\n"
        );
    }

    #[test]
    fn a_reload_reads_what_was_edited_by_hand() {
        let (_folder, file) = in_folder();
        let config = Config::open(&file).unwrap();
        config.set("s", "run", "1", Lifetime::Run).unwrap();
        std::fs::write(&file, "[s]\nk = 2\n").unwrap();
        config.reload().unwrap();
        assert_eq!(
            (config.get("s", "k").as_deref(), config.get("s", "run")),
            (Some("2"), None)
        );
    }

    #[test]
    fn a_change_that_can_not_be_written_is_none() {
        let (folder, _) = in_folder();
        let config = Config::open(&folder.path().join("missing/local.ini")).unwrap();
        let error = config.set("s", "k", "1", Lifetime::Kept).unwrap_err();
        assert!(matches!(error, ConfigError::Write { .. }), "{error}");
        assert_eq!(config.get("s", "k"), None);
    }

    #[test]
    fn a_change_that_the_guard_refuses_is_none() {
        let (_folder, file) = in_folder();
        std::fs::write(&file, "[s]\nk = 1\n").unwrap();
        let config = Config::open(&file).unwrap();
        config.guard(|values| match values.get("s", "k") {
            Some("0") | None => Err("k is needed".to_owned()),
            Some(_) => Ok(()),
        });
        let refused = [
            config.set("s", "k", "0", Lifetime::Run).map(drop),
            config.set("s", "k", "0", Lifetime::Kept).map(drop),
            config.delete("s", "k", Lifetime::Kept).map(drop),
        ];
        for refused in refused {
            assert_eq!(refused.unwrap_err().to_string(), "k is needed");
        }
        config.set("s", "k", "2", Lifetime::Run).unwrap();
        // The value of the file is below it.
        config.delete("s", "k", Lifetime::Run).unwrap();
        assert_eq!(config.get("s", "k").as_deref(), Some("1"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "[s]\nk = 1\n");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(config.reload(), Err(ConfigError::Refused(_))));
        assert_eq!(config.get("s", "k").as_deref(), Some("1"));
        config.set("s", "other", "3", Lifetime::Kept).unwrap();
        assert_eq!(
            Config::open(&file).unwrap().get("s", "k").as_deref(),
            Some("1")
        );
    }

    #[test]
    fn what_the_file_would_not_give_back_is_refused() {
        let config = Config::default();
        for (section, key, value, expected) in [
            ("a]b", "k", "v", "Invalid configuration section"),
            ("", "k", "v", "Invalid configuration section"),
            ("s", "k\n", "v", "Invalid configuration key"),
            ("s", "k[", "v", "Invalid configuration key"),
            ("s", ";k", "v", "Invalid configuration key"),
            ("s", "k", "a\r\nb", "Invalid configuration value"),
            ("s", "k", "a ;b", "Invalid configuration value"),
            ("s", "k", ";b", "Invalid configuration value"),
        ] {
            let error = config.set(section, key, value, Lifetime::Kept).unwrap_err();
            assert_eq!(error.to_string(), expected, "{section} {key} {value}");
        }
        config.set("s", "k", "", Lifetime::Kept).unwrap();
        assert_eq!(config.get("s", "k").as_deref(), Some(""));
    }
}
