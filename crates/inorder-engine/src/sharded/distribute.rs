//! Distributes a table of the coordinator over the shards. Each shard gets the table with its keys and indexes. The
//! coordinator gets a parent table with one foreign partition per shard
//! (<https://www.postgresql.org/docs/15/ddl-partitioning.html>,
//! <https://www.postgresql.org/docs/15/postgres-fdw.html>).
//!
//! The rules are those of Citus: a unique key must contain the distribution column, and a foreign key must refer from
//! that column to the distribution column of the other table.

use super::{
    NAME,
    cluster::{Cluster, server_name},
    ddl::SCHEMA,
    route::{self, KeyType, Rule},
};
use crate::{Database as _, Error, Partition, Settings, server::Connection as _};
use postgres::Client;
use std::collections::BTreeMap;

/// A constraint of a table.
#[derive(Debug)]
struct Constraint {
    name: String,
    /// Kind as in `pg_constraint.contype`.
    kind: String,
    definition: String,
    columns: Vec<String>,
    /// The other table of a foreign key, and its columns.
    other: Option<(String, Vec<String>)>,
}

/// A table that is not distributed yet.
#[derive(Debug)]
struct Plain {
    oid: u32,
    name: String,
    /// Name, type, and definition of each column.
    columns: Vec<(String, String, String)>,
    constraints: Vec<Constraint>,
    /// Definitions of indexes without a constraint.
    indexes: Vec<String>,
}

/// Distributes every table of the coordinator that is not distributed yet. `rules` are those of the distributed
/// tables.
///
/// # Errors
/// If a table cannot be distributed. All new tables are dropped then.
pub fn new_tables(
    cluster: &Cluster,
    settings: &Settings,
    rules: &BTreeMap<String, Rule>,
) -> Result<Vec<(String, Rule)>, Error> {
    let control = &cluster.coordinator;
    let (tables, wanted) = control.control("looking for new tables", |client| {
        Ok((plain_tables(client)?, take_wanted(client)?))
    })?;
    let done = distribute(cluster, settings, rules, &tables, &wanted);
    if done.is_err() {
        for table in &tables {
            let drop = format!("DROP TABLE IF EXISTS {} CASCADE", quoted(&table.name));
            let servers = cluster.shards.iter().map(|shard| &**shard);
            for server in servers.chain([&*cluster.coordinator]) {
                server.administer(&drop)?;
            }
        }
    }
    done
}

fn distribute(
    cluster: &Cluster,
    settings: &Settings,
    rules: &BTreeMap<String, Rule>,
    tables: &[Plain],
    wanted: &BTreeMap<u32, Wanted>,
) -> Result<Vec<(String, Rule)>, Error> {
    let cannot = |what: String| Error::Unsupported { engine: NAME, what };
    let mut new = Vec::new();
    for table in tables {
        let rule = table
            .rule(wanted.get(&table.oid), settings)
            .map_err(cannot)?;
        new.push((table.name.clone(), rule));
    }
    let rule_of = |name: &str| {
        let new = new.iter().find(|(other, _)| other == name);
        new.map(|(_, rule)| rule).or_else(|| rules.get(name))
    };
    let mut on_shards = String::new();
    let mut after = String::new();
    for (table, (_, rule)) in tables.iter().zip(&new) {
        table.check(rule, settings, &rule_of).map_err(cannot)?;
        on_shards += &table.on_shards();
        if settings.foreign_keys {
            after += &table.foreign_keys();
        }
    }
    on_shards += &after;
    for shard in &cluster.shards {
        shard.execute(&on_shards)?;
    }
    let drops: String = tables.iter().map(Plain::without_foreign_keys).collect();
    let parents: Vec<String> = tables
        .iter()
        .zip(&new)
        .map(|(table, (_, rule))| table.on_coordinator(rule))
        .collect();
    cluster
        .coordinator
        .administer(&(drops + &parents.concat()))?;
    Ok(new)
}

/// A requested distribution: column, `hash` or `range`, domain.
type Wanted = (String, Option<String>, Option<Vec<i64>>);

fn take_wanted(client: &mut Client) -> Result<BTreeMap<u32, Wanted>, postgres::Error> {
    let rows = client.query("DELETE FROM inorder_shards.wanted RETURNING *", &[])?;
    let wanted = |row: &postgres::Row| {
        let wanted = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        Ok((row.try_get(0)?, wanted))
    };
    rows.iter().map(wanted).collect()
}

fn plain_tables(client: &mut Client) -> Result<Vec<Plain>, postgres::Error> {
    let tables = client.query(
        "SELECT oid, relname::text FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY oid",
        &[],
    )?;
    let mut all = Vec::new();
    for table in &tables {
        let oid: u32 = table.try_get(0)?;
        all.push(Plain {
            oid,
            name: table.try_get(1)?,
            columns: columns(client, oid)?,
            constraints: constraints(client, oid)?,
            indexes: indexes(client, oid)?,
        });
    }
    Ok(all)
}

/// Omits defaults and identities, because the coordinator computes them.
fn columns(
    client: &mut Client,
    oid: u32,
) -> Result<Vec<(String, String, String)>, postgres::Error> {
    let rows = client.query(
        "SELECT attname::text, format_type(atttypid, atttypmod),
             quote_ident(attname) || ' ' || format_type(atttypid, atttypmod)
                 || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
         FROM pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
         ORDER BY attnum",
        &[&oid],
    )?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)))
        .collect()
}

fn constraints(client: &mut Client, oid: u32) -> Result<Vec<Constraint>, postgres::Error> {
    let rows = client.query(
        "SELECT conname::text, contype::text, pg_get_constraintdef(oid),
             coalesce((SELECT array_agg(attname::text ORDER BY place)
                 FROM unnest(conkey) WITH ORDINALITY AS key(attnum, place)
                 JOIN pg_attribute USING (attnum) WHERE attrelid = conrelid), '{}'),
             (SELECT relname::text FROM pg_class WHERE oid = confrelid),
             coalesce((SELECT array_agg(attname::text ORDER BY place)
                 FROM unnest(confkey) WITH ORDINALITY AS key(attnum, place)
                 JOIN pg_attribute USING (attnum) WHERE attrelid = confrelid), '{}')
         FROM pg_constraint WHERE conrelid = $1 ORDER BY contype <> 'p', oid",
        &[&oid],
    )?;
    rows.iter()
        .map(|row| {
            let other: Option<String> = row.try_get(4)?;
            let columns = row.try_get(5)?;
            Ok(Constraint {
                name: row.try_get(0)?,
                kind: row.try_get(1)?,
                definition: row.try_get(2)?,
                columns: row.try_get(3)?,
                other: other.map(|table| (table, columns)),
            })
        })
        .collect()
}

fn indexes(client: &mut Client, oid: u32) -> Result<Vec<String>, postgres::Error> {
    let rows = client.query(
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index
         WHERE indrelid = $1 AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
         ORDER BY indexrelid",
        &[&oid],
    )?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

impl Plain {
    /// Returns the distribution of the table: as requested, otherwise by the settings and the first column of the
    /// primary key, or the first column of a table without one.
    fn rule(&self, wanted: Option<&Wanted>, settings: &Settings) -> Result<Rule, String> {
        let primary = self.constraints.iter().find(|c| c.kind == "p");
        let first = primary.map_or_else(
            || self.columns.first().map(|(name, ..)| name.clone()),
            |key| key.columns.first().cloned(),
        );
        let nameless = || format!("distribute the table {}: it has no columns", self.name);
        let (column, kind, domain) = match wanted {
            Some(wanted) => wanted.clone(),
            None => (first.ok_or_else(nameless)?, None, None),
        };
        let partition = match kind {
            None => settings.partition,
            Some(kind) => Partition::from_name(&kind)
                .ok_or_else(|| format!("distribute a table by `{kind}`: by hash or range"))?,
        };
        let found = self.columns.iter().find(|(name, ..)| *name == column);
        let Some((_, type_name, _)) = found else {
            return Err(format!(
                "distribute the table {} by `{column}`: it has no such column",
                self.name
            ));
        };
        let Some(key) = KeyType::named(type_name) else {
            return Err(format!(
                "distribute the table {} by `{column}`: {type_name} is none of smallint, integer, \
                 bigint, uuid, bytea, text",
                self.name
            ));
        };
        let shards = settings.shards as usize;
        let bounds = match (partition, domain.as_deref()) {
            (Partition::Hash, _) => Vec::new(),
            (Partition::Range, None) => key.even_bounds(shards),
            (Partition::Range, Some(&[first, end])) if first < end => {
                route::bounds_between(first, end, shards)
            }
            (Partition::Range, Some(_)) => {
                return Err(format!(
                    "distribute the table {}: its domain is two integers, an inclusive \
                     lower and an exclusive upper bound",
                    self.name
                ));
            }
        };
        Ok(Rule {
            column,
            key,
            partition,
            bounds,
            shards,
        })
    }

    /// Checks that each shard can enforce the table's constraints by itself.
    fn check<'a>(
        &self,
        rule: &Rule,
        settings: &Settings,
        rule_of: &dyn Fn(&str) -> Option<&'a Rule>,
    ) -> Result<(), String> {
        for constraint in &self.constraints {
            let by = &rule.column;
            let keeps = match (constraint.kind.as_str(), &constraint.other) {
                ("p" | "u" | "x", _) => constraint.columns.contains(by),
                ("f", Some((other, columns))) if settings.foreign_keys => {
                    let leads = constraint.columns.iter().position(|name| name == by);
                    leads.zip(rule_of(other)).is_some_and(|(at, other)| {
                        columns[at] == other.column
                            && (other.key, other.partition) == (rule.key, rule.partition)
                            && other.bounds == rule.bounds
                    })
                }
                _ => true,
            };
            if !keeps {
                return Err(format!(
                    "enforce {} of table {} on each shard: a unique key must contain the distribution \
                     column `{by}`, and a foreign key must refer from it to the distribution column \
                     of the other table",
                    constraint.definition, self.name
                ));
            }
        }
        Ok(())
    }

    fn on_shards(&self) -> String {
        let name = quoted(&self.name);
        let columns = self.columns.iter().map(|(_, _, column)| column.clone());
        let own = self.constraints.iter().filter(|c| c.kind != "f");
        let own = own.map(|c| format!("CONSTRAINT {} {}", quoted(&c.name), c.definition));
        let items: Vec<String> = columns.chain(own).collect();
        let mut sql = format!(
            "DROP TABLE IF EXISTS {name} CASCADE; CREATE TABLE {name}({});\n",
            items.join(", ")
        );
        for index in &self.indexes {
            sql += &format!("{index};\n");
        }
        sql
    }

    fn each_foreign_key(&self, change: impl Fn(&Constraint) -> String) -> String {
        let keys = self.constraints.iter().filter(|c| c.kind == "f");
        keys.map(|key| {
            let (table, change) = (quoted(&self.name), change(key));
            format!("ALTER TABLE {table} {change};\n")
        })
        .collect()
    }

    fn foreign_keys(&self) -> String {
        self.each_foreign_key(|key| {
            format!("ADD CONSTRAINT {} {}", quoted(&key.name), key.definition)
        })
    }

    fn without_foreign_keys(&self) -> String {
        self.each_foreign_key(|key| format!("DROP CONSTRAINT {}", quoted(&key.name)))
    }

    /// Replaces the table with the parent, and moves its rows.
    fn on_coordinator(&self, rule: &Rule) -> String {
        let name = quoted(&self.name);
        let plain = format!("{SCHEMA}.{}", quoted(&format!("plain_{}", self.oid)));
        let column = quoted(&rule.column);
        let by = rule.partition.name();
        let mut sql = format!(
            "ALTER TABLE {name} RENAME TO \"plain_{0}\";
             ALTER TABLE \"plain_{0}\" SET SCHEMA {SCHEMA};
             CREATE TABLE {name}(LIKE {plain} INCLUDING DEFAULTS INCLUDING IDENTITY
                 INCLUDING GENERATED INCLUDING CONSTRAINTS) PARTITION BY {by} ({column});\n",
            self.oid
        );
        for shard in 0..rule.shards {
            sql += &format!(
                "CREATE FOREIGN TABLE {SCHEMA}.\"part_{}_{}\" PARTITION OF {name} FOR VALUES {}
                     SERVER {} OPTIONS (schema_name 'public', table_name {});\n",
                self.oid,
                shard + 1,
                values_of(rule, shard),
                server_name(shard),
                literal(&self.name)
            );
        }
        sql + &format!("INSERT INTO {name} SELECT * FROM {plain}; DROP TABLE {plain};\n")
    }
}

/// Returns the values of a shard's partition.
fn values_of(rule: &Rule, shard: usize) -> String {
    if rule.partition == Partition::Hash {
        return format!("WITH (MODULUS {}, REMAINDER {shard})", rule.shards);
    }
    let bound = |at: Option<usize>, end: &str| match at.and_then(|at| rule.bounds.get(at)) {
        Some(bound) => literal(bound),
        None => end.to_owned(),
    };
    let from = bound(shard.checked_sub(1), "MINVALUE");
    format!("FROM ({from}) TO ({})", bound(Some(shard), "MAXVALUE"))
}

fn quoted(name: &str) -> String {
    Client::quoted(name)
}

/// Quotes a text for SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
