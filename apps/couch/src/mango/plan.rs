//! Which index answers a query, and from where to where.
//!
//! Source: `mango_idx:get_usable_indexes` and `mango_cursor_view:choose_best_index`. An index is usable if every match has all
//! its fields and it gives the order asked for; of these the one is chosen with the fewest fields that no condition
//! narrows, then the fewest fields, then by its place in the alphabet.

use super::collate::{self, MAX};
use super::index::Index;
use super::selector::Comparison;
use super::{Error, FindQuery, Selector};
use serde_json::{Value, json};

/// The plan of a query.
#[derive(Clone, Debug)]
pub struct Plan {
    pub index: Index,
    pub range: Range,
    /// A warning for the client.
    pub warning: Option<String>,
}

/// The range of an index scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// Nothing can match.
    pub is_empty: bool,
    /// The values of the first fields at the start of the range.
    pub start: Vec<Value>,
    /// The values of the first fields at the end of the range.
    pub end: Vec<Value>,
    /// Whether a key that begins with `start` comes after the beginning.
    pub start_is_open: bool,
    pub end_is_open: bool,
}

impl Plan {
    /// Chooses among the indexes of a database.
    pub fn new(query: &FindQuery, indexes: Vec<Index>) -> Result<Plan, Error> {
        let is_demanded = |index: &Index| match &query.use_index {
            Some((design, name)) => index.is_meant(design, name.as_deref()),
            None => false,
        };
        // A partial index holds not all documents: only whoever names it gets it.
        let considered = indexes
            .into_iter()
            .filter(|index| index.definition.partial.is_none() || is_demanded(index));
        let usable: Vec<Index> = considered.filter(|it| is_usable(it, query)).collect();
        let demanded: Vec<Index> = usable
            .iter()
            .filter(|it| is_demanded(it))
            .cloned()
            .collect();
        let is_refused = query.use_index.is_some() && demanded.is_empty();
        if is_refused && !query.allow_fallback {
            let message = format!(
                "{} was not used because it is not a valid index for this query.",
                demand(query)
            );
            return Err(Error::new("no_usable_index", message));
        }
        let from = if demanded.is_empty() {
            usable
        } else {
            demanded
        };
        let best = choose(&query.selector, from).ok_or_else(|| {
            Error::new(
                "no_usable_index",
                "No index exists for this sort, try indexing by the sort fields.",
            )
        })?;
        let mut warnings = Vec::new();
        if is_refused {
            warnings.push(format!(
                "{} was not used because it does not contain a valid index for this query.",
                demand(query)
            ));
        }
        if best.place.is_none() {
            warnings.push(
                "No matching index found, create an index to optimize query time.".to_owned(),
            );
        }
        Ok(Plan {
            range: range(&query.selector, &best),
            index: best,
            warning: (!warnings.is_empty()).then(|| warnings.join("\n")),
        })
    }
}

/// Whether an index that was not chosen is usable, and why it was not, in CouchDB's words.
pub fn why_not(index: &Index, chosen: &Index, query: &FindQuery) -> (bool, &'static str) {
    let columns = index.definition.fields.names();
    if index.definition.partial.is_some() {
        return (false, "is_partial");
    }
    if !is_usable(index, query) {
        let sort = query.sort.names();
        let is_order = index.place.is_none() || !gives_order(&columns, &sort, &query.selector);
        let reason = if is_order {
            "sort_order_mismatch"
        } else {
            "field_mismatch"
        };
        return (false, reason);
    }
    let reason = if let Some((design, name)) = &query.use_index
        && !index.is_meant(design, name.as_deref())
    {
        "excluded_by_user"
    } else if index.place.is_none() {
        "unfavored_type"
    } else if not_narrowed(&query.selector, index) > not_narrowed(&query.selector, chosen) {
        "less_overlap"
    } else if columns.len() > chosen.definition.fields.fields.len() {
        "too_many_fields"
    } else {
        "alphabetically_comes_after"
    };
    (true, reason)
}

fn demand(query: &FindQuery) -> String {
    match &query.use_index {
        Some((design, Some(name))) => format!("_design/{design}, {name}"),
        Some((design, None)) => format!("_design/{design}"),
        None => String::new(),
    }
}

fn is_usable(index: &Index, query: &FindQuery) -> bool {
    let sort = query.sort.names();
    if index.place.is_none() {
        return sort.is_empty() || sort == ["_id"];
    }
    let columns = index.definition.fields.names();
    let needed: Vec<&str> = columns
        .iter()
        .filter(|column| !sort.contains(column) && **column != "_id" && **column != "_rev")
        .copied()
        .collect();
    query.selector.requires(&needed) && gives_order(&columns, &sort, &query.selector)
}

/// Whether the columns are in the requested order, ignoring leading ones with a single value.
fn gives_order(columns: &[&str], sort: &[&str], selector: &Selector) -> bool {
    let Some(first) = sort.first() else {
        return true;
    };
    match columns.split_first() {
        Some((column, _)) if column == first => columns.starts_with(sort),
        Some((column, rest)) => selector.is_constant(column) && gives_order(rest, sort, selector),
        None => false,
    }
}

fn choose(selector: &Selector, indexes: Vec<Index>) -> Option<Index> {
    indexes.into_iter().min_by_key(|index| {
        let is_special = index.place.is_none();
        let columns = index.definition.fields.fields.len();
        let place = index.place.clone();
        (is_special, not_narrowed(selector, index), columns, place)
    })
}

/// Fields of an index from the first that no comparison narrows.
fn not_narrowed(selector: &Selector, index: &Index) -> usize {
    let columns = index.definition.fields.names();
    let is_narrowed = |column: &&&str| !selector.comparisons(column).is_empty();
    columns.len() - columns.iter().take_while(is_narrowed).count()
}

/// The bounds of one field.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds<'a> {
    low: Option<(&'a Value, bool)>,
    high: Option<(&'a Value, bool)>,
}

impl<'a> Bounds<'a> {
    fn new(comparisons: &[(Comparison, &'a Value)], is_id: bool) -> Self {
        let is_higher = |one: &Value, other: &Value| compare(one, other, is_id).is_gt();
        let mut bounds = Bounds::default();
        for (comparison, value) in comparisons {
            let is_open = matches!(comparison, Comparison::Lt | Comparison::Gt);
            if !matches!(comparison, Comparison::Lt | Comparison::Lte)
                && bounds.low.is_none_or(|(low, was_open)| {
                    is_higher(value, low) || (is_open && !was_open && !is_higher(low, value))
                })
            {
                bounds.low = Some((value, is_open));
            }
            if !matches!(comparison, Comparison::Gt | Comparison::Gte)
                && bounds.high.is_none_or(|(high, was_open)| {
                    is_higher(high, value) || (is_open && !was_open && !is_higher(value, high))
                })
            {
                bounds.high = Some((value, is_open));
            }
        }
        bounds
    }

    fn is_empty(&self, is_id: bool) -> bool {
        let (Some((low, low_open)), Some((high, high_open))) = (self.low, self.high) else {
            return false;
        };
        let order = compare(low, high, is_id);
        order.is_gt() || (order.is_eq() && (low_open || high_open))
    }

    fn is_one_value(&self, is_id: bool) -> bool {
        match (self.low, self.high) {
            (Some((low, false)), Some((high, false))) => compare(low, high, is_id).is_eq(),
            _ => false,
        }
    }
}

fn compare(one: &Value, other: &Value, is_id: bool) -> std::cmp::Ordering {
    match (one, other) {
        (Value::String(one), Value::String(other)) if is_id => one.cmp(other),
        _ => collate::compare(one, other),
    }
}

fn range(selector: &Selector, index: &Index) -> Range {
    let mut range = Range::default();
    for column in index.definition.fields.names() {
        // In an index over fields the id is in the order of strings, in that of all documents in that of bytes.
        let is_id = index.place.is_none();
        let comparisons = selector.comparisons(column);
        if column == "_id" && !is_id {
            break;
        }
        let bounds = Bounds::new(&comparisons, is_id);
        if bounds.is_empty(is_id) {
            range.is_empty = true;
        }
        if let Some((low, is_open)) = bounds.low {
            range.start.push(low.clone());
            range.start_is_open = is_open;
        }
        if let Some((high, is_open)) = bounds.high {
            range.end.push(high.clone());
            range.end_is_open = is_open;
        }
        if !bounds.is_one_value(is_id) {
            break;
        }
    }
    range
}

impl Range {
    /// The bytes the keys begin at: that one itself is in.
    pub fn start_key(&self) -> Vec<u8> {
        let mut key = keys(&self.start);
        if self.start_is_open {
            key.push(MAX);
        }
        key
    }

    /// The bytes the keys end before.
    pub fn end_key(&self) -> Vec<u8> {
        let mut key = keys(&self.end);
        if !self.end_is_open {
            key.push(MAX);
        }
        key
    }

    /// The plan in the format of `_explain`.
    pub fn to_json(&self) -> (Value, Value) {
        let mut end = self.end.clone();
        if !self.end_is_open {
            end.push(json!("<MAX>"));
        }
        (self.start.clone().into(), end.into())
    }
}

fn keys(values: &[Value]) -> Vec<u8> {
    let mut key = Vec::new();
    values
        .iter()
        .for_each(|value| collate::write_key(&mut key, value));
    key
}
