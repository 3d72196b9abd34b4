//! Rules for keys in distributed engines that nothing here has measured.

/// Requirements of an engine's documentation for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The engine.
    pub engine: &'static str,
    /// The requirement.
    pub rule: &'static str,
    /// The source.
    pub source: &'static str,
}

/// Every rule, each from its engine's documentation, not measured.
pub const RULES: &[Rule] = &[
    Rule {
        engine: "CockroachDB",
        rule: "UUIDv4 is the default to take; a sequence only under a hash-sharded index (a user's five nodes took 14,000 rows per second with random keys, 1,300 with an auto-increment)",
        source: "https://www.cockroachlabs.com/docs/stable/hash-sharded-indexes",
    },
    Rule {
        engine: "TiDB",
        rule: "AUTO_RANDOM in place of AUTO_INCREMENT; SHARD_ROW_ID_BITS where there is no key; split regions before the load; UUIDs as BINARY(16), without swapping their time to the front",
        source: "https://docs.pingcap.com/tidb/stable/auto-random",
    },
    Rule {
        engine: "YugabyteDB",
        rule: "no sequence, timestamp or UUIDv7 as the leading column of a range key; a bucket before the ascending column; a cached sequence under a hash key scales like a UUID",
        source: "https://docs.yugabyte.com/stable/develop/data-modeling/bucket-based-index-ysql/",
    },
    Rule {
        engine: "Spanner",
        rule: "UUIDv4 or a bit-reversed sequence; never a monotonic column first",
        source: "https://cloud.google.com/spanner/docs/primary-key-default-value",
    },
    Rule {
        engine: "Aurora DSQL",
        rule: "a UUID by default; a sequence has CACHE 1, or 65536 and more",
        source: "https://docs.aws.amazon.com/aurora-dsql/latest/userguide/create-sequence-syntax-support.html",
    },
    Rule {
        engine: "Citus",
        rule: "the key contains the distribution column, which has many different values",
        source: "https://docs.citusdata.com/en/stable/faq/faq.html",
    },
    Rule {
        engine: "Vitess",
        rule: "no AUTO_INCREMENT in a sharded keyspace; a sequence table with a cache of about 1,000, or a UUID",
        source: "https://vitess.io/docs/reference/features/vitess-sequences/",
    },
    Rule {
        engine: "YDB",
        rule: "a monotonic first key column sends every row to the last partition",
        source: "https://ydb.tech/docs/en/dev/primary-key/row-oriented",
    },
    Rule {
        engine: "Kudu",
        rule: "range partitions of a sequence send every row to one tablet; hash buckets before it spread them",
        source: "https://kudu.apache.org/docs/schema_design.html",
    },
    Rule {
        engine: "Galera",
        rule: "sequences with INCREMENT BY 0, so that each node counts its own; AUTO_INCREMENT is interleaved by node by itself",
        source: "https://mariadb.com/kb/en/managing-sequences-in-galera-cluster/",
    },
];
