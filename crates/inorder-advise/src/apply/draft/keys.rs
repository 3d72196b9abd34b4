//! Changes of a table's key and layout.

use super::{ConditionKind, Draft, Refusal};
use crate::apply::schema::Object;
use crate::apply::uses::{handled_null, ignored_default, user_of_last_rowid, uses_last_rowid};
use crate::ddl::{self, Catalog, Statements};

/// A unique key that becomes the primary key.
struct UniqueKey {
    index: ddl::Index,
    columns: Vec<String>,
    /// Its object, where CREATE INDEX made it.
    made: Option<Object>,
}

impl UniqueKey {
    /// The table's statement with the primary key.
    fn keyed(&self, sql: &str) -> Option<String> {
        match &self.made {
            None => ddl::unique_as_key(sql, &self.columns),
            Some(made) => ddl::index_as_key(sql, made.sql.as_deref()?),
        }
    }
}

impl Draft {
    pub(super) fn without_rowid(&mut self, table: &str) -> Refusal {
        let catalog = self.catalog(table)?;
        let key = catalog.key();
        if catalog.is_without_rowid || key.is_empty() || catalog.alias().is_some() {
            return Err(format!("{table} has no primary key beside its rowid"));
        }
        for column in &key {
            self.demand(ConditionKind::NotNull {
                table: table.to_owned(),
                column: column.name.clone(),
            });
        }
        self.refuse_use_of_rowid(&catalog)?;
        let edited = ddl::without_rowid(&self.statements(table)?.table);
        self.rekeyed.insert(catalog.name.clone());
        self.edit(table, edited, |catalog| {
            catalog.is_without_rowid = true;
            for column in &mut catalog.columns {
                column.is_not_null |= column.key > 0;
            }
        })
    }

    pub(super) fn with_rowid(&mut self, table: &str) -> Refusal {
        let catalog = self.catalog(table)?;
        if !catalog.is_without_rowid {
            return Err(format!("{table} is a rowid table already"));
        }
        let key: Vec<String> = catalog
            .key()
            .iter()
            .map(|column| column.name.clone())
            .collect();
        let statements = self.statements(table)?;
        let edited = ddl::with_rowid(&statements.table, &key);
        let new = edited.clone().map(|table| Statements {
            table,
            ..statements
        });
        let new = new.map(|new| new.catalog().map_err(|error| error.to_string()));
        let alias = new
            .transpose()?
            .and_then(|new| new.alias().map(|alias| alias.name.clone()));
        if let Some(alias) = &alias {
            let own = catalog.column(alias);
            if own.is_some_and(|own| own.default.is_some()) {
                return Err(ignored_default(alias));
            }
            self.demand(ConditionKind::Integers {
                table: table.to_owned(),
                column: alias.clone(),
            });
        }
        if let Some(object) = user_of_last_rowid(&self.new, table) {
            return Err(uses_last_rowid(object, table));
        }
        self.rekeyed.insert(catalog.name.clone());
        self.edit(table, edited, |catalog| {
            catalog.is_without_rowid = false;
            if alias.is_some() {
                catalog.indexes.retain(|index| index.origin != "pk");
            }
        })
    }

    pub(super) fn integer_primary_key(&mut self, table: &str, column: &str) -> Refusal {
        let catalog = self.catalog(table)?;
        let columns = [column.to_owned()];
        let unique = match &catalog.key()[..] {
            [key] if key.name.eq_ignore_ascii_case(column) => None,
            [] => Some(self.unique_key(&catalog, &columns)?),
            _ => return Err(format!("{column} is not the primary key of {table}")),
        };
        let key = catalog
            .column(column)
            .cloned()
            .ok_or_else(|| format!("{table} has no column {column}"))?;
        if catalog.is_without_rowid || catalog.alias().is_some() {
            return Err(format!("{table} has no rowid beside {column}"));
        }
        let is_integer = key.kind.to_ascii_uppercase().contains("INT");
        if !is_integer || key.default.is_some() {
            return Err(format!(
                "{column} has another type, or a DEFAULT that would be ignored"
            ));
        }
        let sql = self.statements(table)?.table;
        if unique.is_some() && ddl::null_is_handled(&sql, column) {
            return Err(handled_null(column));
        }
        self.demand(ConditionKind::Integers {
            table: table.to_owned(),
            column: column.to_owned(),
        });
        self.refuse_use_of_rowid(&catalog)?;
        let keyed = match &unique {
            None => Some(sql),
            Some(unique) => unique.keyed(&sql),
        };
        let edited = keyed.and_then(|sql| ddl::retyped(&sql, column, "INTEGER", true));
        self.rekeyed.insert(catalog.name.clone());
        self.edit_key(table, edited, unique.as_ref(), |catalog| {
            catalog.indexes.retain(|index| index.origin != "pk");
            for own in &mut catalog.columns {
                if own.name == key.name {
                    (own.kind, own.key) = ("INTEGER".to_owned(), 1);
                }
            }
        })?;
        match self.catalog(table)?.alias() {
            Some(_) => Ok(()),
            None => Err(format!("{column} does not become the rowid's alias")),
        }
    }

    pub(super) fn without_rowid_by_unique(&mut self, table: &str, columns: &[String]) -> Refusal {
        let catalog = self.catalog(table)?;
        if catalog.is_without_rowid || !catalog.key().is_empty() {
            return Err(format!("{table} has a primary key"));
        }
        let unique = self.unique_key(&catalog, columns)?;
        for column in columns {
            self.demand(ConditionKind::NotNull {
                table: table.to_owned(),
                column: column.clone(),
            });
        }
        self.refuse_use_of_rowid(&catalog)?;
        let keyed = unique.keyed(&self.statements(table)?.table);
        let edited = keyed.and_then(|sql| ddl::without_rowid(&sql));
        self.rekeyed.insert(catalog.name.clone());
        let terms = unique.index.terms.clone();
        self.edit_key(table, edited, Some(&unique), |catalog| {
            catalog.is_without_rowid = true;
            for (place, name) in columns.iter().enumerate() {
                let mut own = catalog.columns.iter_mut();
                if let Some(own) = own.find(|own| own.name.eq_ignore_ascii_case(name)) {
                    own.key = place + 1;
                }
            }
            catalog.indexes.push(ddl::Index {
                origin: "pk".to_owned(),
                name: String::new(),
                is_unique: true,
                is_partial: false,
                terms,
            });
        })
    }

    /// The unique key that can become the primary key of a table that has none.
    fn unique_key(&self, catalog: &Catalog, columns: &[String]) -> Result<UniqueKey, String> {
        let table = &catalog.name;
        let names = columns.join(", ");
        let is_wanted = |index: &&ddl::Index| {
            let own = index.key_columns().unwrap_or_default();
            let is_equal = |(own, name): (&&str, &String)| own.eq_ignore_ascii_case(name);
            index.is_unique
                && !index.is_partial
                && own.len() == columns.len()
                && own.iter().zip(columns).all(is_equal)
        };
        let mut indexes: Vec<&ddl::Index> = catalog.indexes.iter().filter(is_wanted).collect();
        // A constraint before an index that CREATE INDEX made.
        indexes.sort_by_key(|index| index.origin == "c");
        let Some(&index) = indexes.first() else {
            return Err(format!("{table} has no unique key ({names})"));
        };
        for name in columns {
            let Some(column) = catalog.column(name) else {
                continue;
            };
            if !column.is_not_null {
                return Err(format!("{name} is not declared NOT NULL"));
            }
            if column.hidden != 0 {
                return Err(format!("{name} is generated, and no part of a primary key"));
            }
        }
        let keys = catalog.indexes.iter().filter(|index| index.is_unique);
        let clauses = ddl::clauses(&self.statements(table)?.table);
        if ddl::changes_in_other_order(&clauses, keys.count()) {
            return Err(format!(
                "a key of {table} says what happens on conflict, which would change"
            ));
        }
        let made = self.new.find("index", &index.name);
        let made = made.filter(|_| index.origin == "c").cloned();
        if index.origin == "c" && made.is_none() {
            return Err(self.no_index(&index.name));
        }
        Ok(UniqueKey {
            index: index.clone(),
            columns: columns.to_vec(),
            made,
        })
    }

    /// Proves and makes an edit of a table's statement. The index of the unique key that becomes its key goes.
    fn edit_key(
        &mut self,
        table: &str,
        edited: Option<String>,
        unique: Option<&UniqueKey>,
        expect: impl FnOnce(&mut Catalog),
    ) -> Refusal {
        let Some(unique) = unique else {
            return self.edit(table, edited, expect);
        };
        let old = self.statements(table)?;
        let edited = edited.ok_or_else(|| {
            format!("the definition of {table} has another form than this change expects")
        })?;
        let gone = unique.made.as_ref().and_then(|made| made.sql.as_ref());
        let mut new = Statements {
            table: edited,
            ..old.clone()
        };
        new.indexes.retain(|sql| Some(sql) != gone);
        ddl::prove(&old, &new, |catalog| {
            catalog
                .indexes
                .retain(|index| index.name != unique.index.name);
            expect(catalog);
        })?;
        self.new
            .objects
            .retain(|object| Some(object) != unique.made.as_ref());
        self.new.replace("table", table, new.table);
        Ok(())
    }
}
