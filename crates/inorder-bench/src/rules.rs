//! Rules for keys in distributed engines that `inorder bench` does not start.

/// Requirements of an engine's documentation for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The engine.
    pub engine: &'static str,
    /// The requirement.
    pub rule: &'static str,
    /// The documentation that it is from.
    pub source: &'static str,
    /// The folder of `record/` with a measurement of it; `None` where the rule is from the documentation alone.
    pub record: Option<&'static str>,
}

impl Rule {
    /// What the rule is based on, in words.
    pub fn basis(&self) -> String {
        match self.record {
            Some(record) => format!("measured: record/{record}"),
            None => "from documentation".to_owned(),
        }
    }
}

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule {
        engine: "CockroachDB",
        rule: "UUIDv4 is the default to take; a sequence only under a hash-sharded index (a user's five nodes took 14,000 rows per second with random keys, 1,300 with an auto-increment)",
        source: "https://www.cockroachlabs.com/docs/stable/hash-sharded-indexes",
        record: None,
    },
    Rule {
        engine: "TiDB",
        rule: "AUTO_RANDOM in place of AUTO_INCREMENT; SHARD_ROW_ID_BITS where there is no key; split regions before the load; UUIDs as BINARY(16), without swapping their time to the front",
        source: "https://docs.pingcap.com/tidb/stable/auto-random",
        record: None,
    },
    Rule {
        engine: "YugabyteDB",
        rule: "no sequence, timestamp or UUIDv7 as the leading column of a range key; a bucket before the ascending column; a cached sequence under a hash key scales like a UUID",
        source: "https://docs.yugabyte.com/stable/develop/data-modeling/bucket-based-index-ysql/",
        record: None,
    },
    Rule {
        engine: "Spanner",
        rule: "UUIDv4 or a bit-reversed sequence; never a monotonic column first",
        source: "https://cloud.google.com/spanner/docs/primary-key-default-value",
        record: None,
    },
    Rule {
        engine: "Aurora DSQL",
        rule: "a UUID by default; a sequence has CACHE 1, or 65536 and more",
        source: "https://docs.aws.amazon.com/aurora-dsql/latest/userguide/create-sequence-syntax-support.html",
        record: None,
    },
    Rule {
        engine: "Citus",
        rule: "the key contains the distribution column, which has many different values",
        source: "https://docs.citusdata.com/en/stable/faq/faq.html",
        record: None,
    },
    Rule {
        engine: "Vitess",
        rule: "no AUTO_INCREMENT in a sharded keyspace; a sequence table with a cache of about 1,000, or a UUID",
        source: "https://vitess.io/docs/reference/features/vitess-sequences/",
        record: None,
    },
    Rule {
        engine: "YDB",
        rule: "a monotonic first key column sends every row to the last partition",
        source: "https://ydb.tech/docs/en/dev/primary-key/row-oriented",
        record: None,
    },
    Rule {
        engine: "Kudu",
        rule: "range partitions of a sequence send every row to one tablet; hash buckets before it spread them",
        source: "https://kudu.apache.org/docs/schema_design.html",
        record: Some("2026-11-23-kudu-tablets"),
    },
    Rule {
        engine: "Galera",
        rule: "sequences with INCREMENT BY 0, so that each node counts its own; AUTO_INCREMENT is interleaved by node by itself",
        source: "https://mariadb.com/kb/en/managing-sequences-in-galera-cluster/",
        record: None,
    },
];
