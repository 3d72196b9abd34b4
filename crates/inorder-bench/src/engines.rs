//! Which engines are there.

use crate::error::Error;
use inorder_engine::{ENGINES, Found};

/// What of an engine is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Its name.
    pub engine: &'static str,
    /// Every version found, the one that is used first.
    pub found: Vec<Found>,
    /// Where there is none, the command that installs one.
    pub install: Option<String>,
}

/// Looks for every engine.
///
/// # Errors
/// When one can't be looked for.
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
