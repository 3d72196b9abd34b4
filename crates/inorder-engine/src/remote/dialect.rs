//! Products that speak the protocol of PostgreSQL or MySQL: how each is identified, and what it lacks. One line per
//! product. For products that `inorder` cannot start, the facts are from their documentation.

use Feature::{Bulk, Counters, Flush, LaterKeys, Sizes, Uuid, Vacuum};

/// Facts that a server reports about itself.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Result of `version()`.
    pub version: String,
    /// Names of relevant features: extensions, functions, and variables as `name=value`.
    pub has: Vec<String>,
}

impl Facts {
    fn has(&self, name: &str) -> bool {
        self.has.iter().any(|known| known == name)
    }

    fn says(&self, word: &str) -> bool {
        self.version.contains(word)
    }
}

/// Features that a server may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Rows by COPY or LOAD DATA LOCAL.
    Bulk,
    /// A statement that writes all dirty pages to the disk.
    Flush,
    /// Counters of the bytes that its storage wrote.
    Counters,
    /// Sizes of tables and indexes.
    Sizes,
    /// A statement that rewrites a table without free space.
    Vacuum,
    /// A UUID type.
    Uuid,
    /// A deferred index build that is cheaper than maintaining the indexes, and atomic for other sessions.
    LaterKeys,
}

impl Feature {
    /// Returns the feature's name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Bulk => "rows by COPY or LOAD DATA LOCAL",
            Flush => "writing memory to the disk on request",
            Counters => "counters of bytes written",
            Sizes => "sizes of tables and indexes",
            Vacuum => "rewriting a table without free space",
            Uuid => "a type of UUIDs",
            LaterKeys => "keys and indexes built after the load",
        }
    }
}

/// A product.
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// The engine whose protocol and SQL it speaks.
    pub engine: &'static str,
    /// Mark that identifies it.
    is_it: fn(&Facts) -> bool,
    /// Missing features.
    pub lacks: &'static [Feature],
    /// Rules for keys from its documentation; empty if `inorder` measures them.
    pub advice: &'static str,
}

/// All products. A product with its own mark precedes the product it derives from.
pub const DIALECTS: &[Dialect] = &[
    Dialect {
        name: "CockroachDB",
        engine: "postgres",
        is_it: |facts| facts.version.starts_with("CockroachDB"),
        lacks: &[Flush, Counters, Sizes, Vacuum, LaterKeys],
        advice: "random UUIDs, or sequential keys in a hash-sharded index",
    },
    Dialect {
        name: "YugabyteDB",
        engine: "postgres",
        is_it: |facts| facts.says("-YB-"),
        lacks: &[Flush, Counters, Vacuum, LaterKeys],
        advice: "no sequence, timestamp or UUIDv7 as leading range key: a bucket before it",
    },
    Dialect {
        name: "Citus",
        engine: "postgres",
        is_it: |facts| facts.has("extension citus"),
        lacks: &[LaterKeys],
        advice: "tables are local until they are distributed; a key has the distribution column",
    },
    Dialect {
        name: "Aurora PostgreSQL",
        engine: "postgres",
        is_it: |facts| facts.has("function aurora_version"),
        // Aurora's storage applies the WAL to pages.
        lacks: &[Flush, Counters],
        advice: "",
    },
    Dialect {
        name: "PostgreSQL",
        engine: "postgres",
        is_it: |facts| facts.version.starts_with("PostgreSQL"),
        lacks: &[],
        advice: "",
    },
    Dialect {
        name: "TiDB",
        engine: "mariadb",
        is_it: |facts| facts.says("-TiDB-"),
        lacks: &[Flush, Counters, Vacuum, Uuid, LaterKeys],
        advice: "AUTO_RANDOM in place of AUTO_INCREMENT; UUIDs as BINARY(16) without swapped time",
    },
    Dialect {
        name: "Vitess",
        engine: "mariadb",
        is_it: |facts| facts.says("-Vitess") || facts.says("-vitess"),
        lacks: &[Bulk, Flush, Counters, Vacuum, Uuid, LaterKeys],
        advice: "a sequence in place of AUTO_INCREMENT where a table is sharded, or UUIDs",
    },
    Dialect {
        name: "Aurora MySQL",
        engine: "mariadb",
        is_it: |facts| facts.has("function aurora_version"),
        lacks: &[Flush, Counters, Uuid],
        advice: "",
    },
    Dialect {
        name: "Galera",
        engine: "mariadb",
        is_it: |facts| facts.has("wsrep_on=ON"),
        lacks: &[LaterKeys],
        advice: "sequences INCREMENT BY 0; AUTO_INCREMENT is interleaved by node",
    },
    Dialect {
        name: "MariaDB",
        engine: "mariadb",
        is_it: |facts| facts.says("MariaDB"),
        lacks: &[],
        advice: "",
    },
    Dialect {
        name: "MySQL",
        engine: "mariadb",
        is_it: |facts| {
            facts
                .version
                .starts_with(|digit: char| digit.is_ascii_digit())
        },
        lacks: &[Uuid],
        advice: "",
    },
];

/// Returns the product that reports these facts over the protocol of an engine.
pub fn recognise(engine: &str, facts: &Facts) -> Option<&'static Dialect> {
    let of_engine = |dialect: &&Dialect| dialect.engine == engine;
    DIALECTS
        .iter()
        .filter(of_engine)
        .find(|dialect| (dialect.is_it)(facts))
}

impl Dialect {
    /// Returns the version number and its suffix. TiDB's own version follows that of MySQL.
    pub fn number<'a>(&self, facts: &'a Facts) -> &'a str {
        let is_number =
            |word: &&str| word.starts_with(|char: char| char.is_ascii_digit() || char == 'v');
        let first = facts.version.split_whitespace().find(is_number);
        first.unwrap_or(&facts.version)
    }

    /// Returns name and version.
    pub fn version(&self, facts: &Facts) -> String {
        format!("{} {}", self.name, self.number(facts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(version: &str, has: &[&str]) -> Facts {
        Facts {
            version: version.to_owned(),
            has: has.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// Facts that each product reports, from its documentation and from reports of its users.
    const SAID: &[(&str, &str, &str, &[&str], &str)] = &[
        (
            "postgres",
            "PostgreSQL",
            "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit",
            &["extension plpgsql"],
            "15.18",
        ),
        (
            "postgres",
            "CockroachDB",
            "CockroachDB CCL v24.3.5 (x86_64-pc-linux-gnu, built 2025/02/03 17:28:15, go1.22.8)",
            &[],
            "v24.3.5",
        ),
        (
            "postgres",
            "YugabyteDB",
            "PostgreSQL 11.2-YB-2.20.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 16.0.6, 64-bit",
            &[],
            "11.2-YB-2.20.0.0-b0",
        ),
        (
            "postgres",
            "YugabyteDB",
            "PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, 64-bit",
            &[],
            "15.2-YB-2.25.0.0-b0",
        ),
        (
            "postgres",
            "Citus",
            "PostgreSQL 16.2 (Debian 16.2-1.pgdg120+2) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit",
            &["extension plpgsql", "extension citus"],
            "16.2",
        ),
        (
            "postgres",
            "Aurora PostgreSQL",
            "PostgreSQL 15.4 on aarch64-unknown-linux-gnu, compiled by aarch64-unknown-linux-gnu-gcc (GCC) 9.5.0, 64-bit",
            &["function aurora_version"],
            "15.4",
        ),
        (
            "mariadb",
            "MariaDB",
            "10.11.19-MariaDB-0+deb12u1",
            &["wsrep_on=OFF"],
            "10.11.19-MariaDB-0+deb12u1",
        ),
        (
            "mariadb",
            "MariaDB",
            "5.5.5-10.6.12-MariaDB-1:10.6.12+maria~ubu2004",
            &[],
            "5.5.5-10.6.12-MariaDB-1:10.6.12+maria~ubu2004",
        ),
        (
            "mariadb",
            "Galera",
            "10.11.19-MariaDB-0+deb12u1-log",
            &["wsrep_on=ON"],
            "10.11.19-MariaDB-0+deb12u1-log",
        ),
        (
            "mariadb",
            "MySQL",
            "8.0.36-0ubuntu0.22.04.1",
            &[],
            "8.0.36-0ubuntu0.22.04.1",
        ),
        ("mariadb", "MySQL", "9.1.0", &[], "9.1.0"),
        (
            "mariadb",
            "TiDB",
            "8.0.11-TiDB-v7.5.1",
            &[],
            "8.0.11-TiDB-v7.5.1",
        ),
        (
            "mariadb",
            "TiDB",
            "5.7.25-TiDB-v6.1.0",
            &[],
            "5.7.25-TiDB-v6.1.0",
        ),
        (
            "mariadb",
            "Aurora MySQL",
            "8.0.34",
            &["function aurora_version"],
            "8.0.34",
        ),
        ("mariadb", "Vitess", "8.0.30-Vitess", &[], "8.0.30-Vitess"),
        (
            "mariadb",
            "Vitess",
            "5.7.9-vitess-10.0.2",
            &[],
            "5.7.9-vitess-10.0.2",
        ),
    ];

    #[test]
    fn each_product_is_known_by_what_it_says() {
        for (engine, name, version, has, own) in SAID {
            let facts = facts(version, has);
            let dialect = recognise(engine, &facts).expect(version);
            assert_eq!(dialect.name, *name, "{version}");
            assert_eq!(dialect.version(&facts), format!("{name} {own}"));
        }
        let all_seen = |dialect: &Dialect| SAID.iter().any(|said| said.1 == dialect.name);
        assert!(DIALECTS.iter().all(all_seen));
    }

    #[test]
    fn what_is_no_database_is_not_taken_for_one() {
        for engine in ["postgres", "mariadb"] {
            assert!(recognise(engine, &facts("Oracle 23ai", &[])).is_none());
        }
        assert!(recognise("postgres", &facts("8.0.36", &[])).is_none());
    }

    #[test]
    fn every_dialect_is_of_an_engine() {
        for dialect in DIALECTS {
            assert!(crate::engine(dialect.engine).is_some(), "{}", dialect.name);
        }
    }
}
