//! The lists of engines and of protocols.

use crate::{
    Engine, Error,
    galera::Galera,
    mariadb::{self, MariaDb},
    postgres::{self, Postgres},
    remote::{Protocol, Remote, ServerUrl},
    sharded::{self, PostgresSharded},
    sqlite::Sqlite,
};

/// Every engine, the default first. A new engine needs a module and a line here.
pub const ENGINES: &[&dyn Engine] = &[&Sqlite, &Postgres, &MariaDb, &PostgresSharded, &Galera];

/// Returns the engine with this name, if there is one.
pub fn engine(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.iter().copied().find(|engine| engine.name() == name)
}

/// Every protocol for a running server. A new protocol needs a line here, and its schemes in
/// [`crate::remote::url::SCHEMES`].
static PROTOCOLS: &[Protocol] = &[
    // Rows of a table that is distributed over several servers are sent to them directly.
    Protocol {
        table: sharded::foreign::table,
        ..postgres::PROTOCOL
    },
    mariadb::PROTOCOL,
];

impl Remote {
    /// Connects to the server at a URL and identifies it.
    ///
    /// # Errors
    /// If no server answers, it refuses the connection, or it is none of [`crate::remote::dialect::DIALECTS`].
    pub fn at(url: &ServerUrl) -> Result<Self, Error> {
        let is_spoken = |protocol: &&Protocol| protocol.engine.name() == url.engine();
        let protocol = PROTOCOLS
            .iter()
            .find(is_spoken)
            .ok_or_else(|| url.error("no protocol has this name"))?;
        Remote::speaking(protocol, url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::url::SCHEMES;

    #[test]
    fn every_scheme_has_a_protocol_and_every_protocol_a_scheme() {
        for (scheme, engine) in SCHEMES {
            let is_spoken = |protocol: &&Protocol| protocol.engine.name() == *engine;
            assert!(PROTOCOLS.iter().find(is_spoken).is_some(), "{scheme}");
        }
        for protocol in PROTOCOLS {
            let engine = protocol.engine.name();
            assert!(SCHEMES.iter().any(|(_, of)| *of == engine), "{engine}");
        }
    }
}
