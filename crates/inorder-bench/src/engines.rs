//! The engines of a run: those installed on this machine, and running servers by URL.

pub use inorder_engine::remote::remove_own;

use crate::error::Error;
use inorder_engine::{
    ENGINES, Engine, Found,
    remote::{Remote, ServerUrl},
};
use std::fmt;

/// The installed versions of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Its name.
    pub engine: &'static str,
    /// All installed versions, the one that is used first.
    pub found: Vec<Found>,
    /// The command that installs one, if none is installed.
    pub install: Option<String>,
}

/// Finds the installed versions of every engine.
///
/// # Errors
/// If a search for one fails.
pub fn presences() -> Result<Vec<Presence>, Error> {
    ENGINES
        .iter()
        .map(|engine| {
            let (found, install) = match engine.found() {
                Ok(found) => (found, None),
                Err(inorder_engine::Error::NotInstalled { install, .. }) => {
                    (Vec::new(), Some(install))
                }
                Err(error) => return Err(error.into()),
            };
            Ok(Presence {
                engine: engine.name(),
                found,
                install,
            })
        })
        .collect()
}

/// The engines of a run: servers that run already, each in place of the private one of its name.
#[derive(Clone, Default)]
pub struct Engines(Vec<Remote>);

impl Engines {
    /// Connects to the servers at these URLs, and asks what they are.
    ///
    /// # Errors
    /// If one doesn't answer, refuses, or isn't known, or two are of one engine.
    pub fn at(urls: &[String]) -> Result<Self, Error> {
        let mut remotes: Vec<Remote> = Vec::new();
        for text in urls {
            let url = ServerUrl::parse(text).map_err(|error| Error::Usage(error.to_string()))?;
            let remote = Remote::at(&url)?;
            if let Some(other) = remotes.iter().find(|other| other.name() == remote.name()) {
                return Err(Error::Usage(format!(
                    "{} and {} are both of the engine {}: give one of them a run",
                    other.url,
                    remote.url,
                    remote.name()
                )));
            }
            remotes.push(remote);
        }
        Ok(Engines(remotes))
    }

    /// The engine of this name.
    pub fn get(&self, name: &str) -> Option<&dyn Engine> {
        let remote = self.0.iter().find(|remote| remote.name() == name);
        match remote {
            Some(remote) => Some(remote),
            None => inorder_engine::engine(name),
        }
    }

    /// The servers that run already.
    pub fn remotes(&self) -> &[Remote] {
        &self.0
    }

    /// Their engines' names and URLs, without passwords.
    pub fn shown(&self) -> Vec<(String, String)> {
        let shown = |remote: &Remote| (remote.name().to_owned(), remote.url.to_string());
        self.0.iter().map(shown).collect()
    }

    /// Their URLs, with passwords: for a process that runs a trial.
    pub fn secret_urls(&self) -> Vec<String> {
        let reveal = |remote: &Remote| remote.url.reveal().to_owned();
        self.0.iter().map(reveal).collect()
    }

    /// Removes what trials that were killed left on the servers.
    ///
    /// # Errors
    /// If one doesn't answer.
    pub fn clean_up(&self) -> Result<(), Error> {
        for remote in &self.0 {
            remote.clean_up()?;
        }
        Ok(())
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engines").field(&self.shown()).finish()
    }
}

/// A command line with its URLs' passwords left out.
pub fn without_passwords(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    let shown = |argument: String| {
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
            _ => (String::new(), argument.as_str()),
        };
        let urls: Option<Vec<String>> = value
            .split(' ')
            .map(|text| Some(ServerUrl::parse(text).ok()?.to_string()))
            .collect();
        match urls {
            Some(urls) => format!("{option}{}", urls.join(" ")),
            None => argument,
        }
    };
    arguments.into_iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_kept_without_passwords() {
        let line =
            "bench --url postgres://me:pw@host/db --url=mysql://me:pw@host/ --set key=ulid a://b";
        let kept = without_passwords(line.split(' ').map(str::to_owned)).join(" ");
        assert_eq!(
            kept,
            "bench --url postgres://me@host/db --url=mysql://me@host/ --set key=ulid a://b"
        );
    }

    #[test]
    fn an_engine_without_a_url_is_the_lists_own() {
        let engines = Engines::default();
        assert_eq!(engines.get("sqlite").map(Engine::name), Some("sqlite"));
        assert!(engines.get("nosuch").is_none());
    }
}
