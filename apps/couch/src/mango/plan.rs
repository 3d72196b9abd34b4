//! Which index answers a query, and from where to where.
//!
//! Sources: `mango_idx:get_usable_indexes`, `mango_cursor:create` and `mango_cursor_view:choose_best_index`. An index is usable
//! if every match has all its fields and it gives the order asked for. Of these the one is chosen with the most first fields
//! that the selector narrows, then the fewest fields, then by its place in the alphabet.

use super::collate::{self, MAX};
use super::functions::partition_key;
use super::index::Index;
use super::selector::Range;
use super::{Error, FindQuery, Selector};
use serde_json::{Value, json};

/// The plan of a query.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The index that is read; none if no index serves, which only an explanation accepts.
    pub chosen: Option<Chosen>,
    /// All indexes of the database, and what was found about them.
    pub considered: Vec<Considered>,
    /// Why an explanation is refused, although a query is told that no index serves.
    pub refused: Option<Error>,
}

/// The index that is read.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub index: Index,
    /// The ranges of its first columns; none if nothing can match.
    pub ranges: Option<Vec<Range>>,
    /// Whether it has all fields of the query.
    pub is_covering: bool,
}

/// An index, and how far it came.
#[derive(Clone, Debug)]
pub struct Considered {
    pub index: Index,
    /// Whether it holds all documents.
    pub is_global: bool,
    /// Whether it is of the partition asked for, or of the whole database where none is.
    pub is_in_scope: bool,
    /// Why it can't be used.
    pub unusable: Vec<&'static str>,
    /// Whether `use_index` left it in the choice.
    pub is_filtered: bool,
    /// Whether it is of the kind that is preferred.
    pub is_of_kind: bool,
    /// Its place among those of its kind, and how many fields of the selector it leaves out.
    pub place: Option<(usize, usize)>,
}

impl Considered {
    /// Whether it is usable and in the choice.
    pub fn is_usable(&self) -> bool {
        self.is_in_scope && self.unusable.is_empty()
    }
}

impl Plan {
    /// Chooses among the indexes of a database.
    pub fn new(query: &FindQuery, indexes: Vec<Index>) -> Result<Plan, Error> {
        let mut considered: Vec<Considered> = indexes
            .into_iter()
            .map(|index| consider(index, query))
            .collect();
        let refused = filter(&mut considered, query)?;
        let is_json = |it: &Considered| it.index.place.is_some();
        let has_json = considered.iter().any(|it| it.is_filtered && is_json(it));
        for one in &mut considered {
            one.is_of_kind = one.is_filtered && is_json(one) == has_json;
        }
        let mut ranges = query.selector.ranges();
        if !has_json {
            // All documents are the last resort.
            let any = Range {
                low: Some((Value::Null, true)),
                high: None,
            };
            ranges.push(("_id", Some(any)));
        }
        let chosen = rank(&mut considered, &ranges).map(|at| {
            let index = considered[at].index.clone();
            let fields = query.field_names().chain(query.selector.fields());
            Chosen {
                is_covering: !query.fields.is_empty() && index.covers(fields),
                ranges: chosen_ranges(&query.selector, &index, &ranges),
                index,
            }
        });
        Ok(Plan {
            chosen,
            considered,
            refused,
        })
    }

    /// The index that is read.
    ///
    /// # Errors
    /// If no index serves.
    pub fn into_chosen(self, query: &FindQuery, is_partitioned: bool) -> Result<Chosen, Error> {
        self.chosen.ok_or_else(|| {
            let kind = match (is_partitioned, &query.partition) {
                (false, _) => "index",
                (true, Some(_)) => "partitioned index",
                (true, None) => "global index",
            };
            let message =
                format!("No {kind} exists for this sort, try indexing by the sort fields.");
            Error::new("no_usable_index", message)
        })
    }
}

fn consider(index: Index, query: &FindQuery) -> Considered {
    let is_global = index.definition.partial.is_none();
    let is_special = index.place.is_none();
    let is_of_partition = index.definition.is_partitioned == query.partition.is_some();
    // A partial index holds not all documents: only whoever names it gets it.
    let is_named = index.is_meant(&query.use_index);
    Considered {
        is_global,
        is_in_scope: (is_global || is_named) && (is_special || is_of_partition),
        unusable: unusable(&index, query),
        is_filtered: false,
        is_of_kind: false,
        place: None,
        index,
    }
}

/// Leaves those in the choice that `use_index` names, or all if it may be disregarded. Where no index is usable at all, the
/// refusal is returned: a query has another error then.
fn filter(considered: &mut [Considered], query: &FindQuery) -> Result<Option<Error>, Error> {
    let usable = considered.iter().filter(|it| it.is_usable());
    let usable_count = usable.clone().count();
    let is_named = usable.clone().any(|it| it.index.is_meant(&query.use_index));
    let has_alternatives = query.use_index.is_empty() && usable_count > 1;
    let may_fall_back = query.allow_fallback || has_alternatives;
    if !is_named && !may_fall_back {
        let refused = refused(query);
        return match usable_count {
            0 => Ok(Some(refused)),
            _ => Err(refused),
        };
    }
    for one in considered {
        let is_left = !is_named || one.index.is_meant(&query.use_index);
        one.is_filtered = one.is_usable() && is_left;
    }
    Ok(None)
}

fn refused(query: &FindQuery) -> Error {
    let message = match demand(query) {
        None => "You must specify an index with the `use_index` parameter.".to_owned(),
        Some(named) => {
            format!("{named} specified by `use_index` could not be found or it is not suitable.")
        }
    };
    Error::new("invalid_index", message)
}

/// What `use_index` names.
fn demand(query: &FindQuery) -> Option<String> {
    let design = query.use_index.first()?;
    let design = design.strip_prefix("_design/").unwrap_or(design);
    Some(match query.use_index.get(1) {
        Some(name) => format!("_design/{design}, {name}"),
        None => format!("_design/{design}"),
    })
}

/// The warnings about an index that was chosen.
pub fn warnings(index: &Index, query: &FindQuery) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(named) = demand(query).filter(|_| !index.is_meant(&query.use_index)) {
        let why = match query.use_index.len() {
            1 => "it does not contain a valid index for this query",
            _ => "it is not a valid index for this query",
        };
        warnings.push(format!("{named} was not used because {why}."));
    }
    if index.place.is_none() {
        let advice = "No matching index found, create an index to optimize query time.";
        warnings.push(advice.to_owned());
    }
    warnings
}

/// Why an index can't be used, in CouchDB's words; empty if it can.
fn unusable(index: &Index, query: &FindQuery) -> Vec<&'static str> {
    let sort = query.sort.names();
    let columns = index.columns();
    let mut reasons = Vec::new();
    if index.place.is_none() {
        if !sort.is_empty() && !query.selector.indexable_fields().contains("_id") {
            reasons.push("field_mismatch");
        }
        if !columns.starts_with(&sort) {
            reasons.push("sort_order_mismatch");
        }
        return reasons;
    }
    let needed: Vec<&str> = columns
        .iter()
        .filter(|column| !sort.contains(column) && !["_id", "_rev"].contains(column))
        .copied()
        .collect();
    if query.selector.is_text_search() {
        reasons.push("needs_text_search");
    }
    if !query.selector.requires(&needed) {
        reasons.push("field_mismatch");
    }
    if !gives_order(&columns, &sort, &query.selector) {
        reasons.push("sort_order_mismatch");
    }
    reasons
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

/// The ranges of fields; none for a field without any value.
type Ranges<'a> = [(&'a str, Option<Range>)];

/// Puts those of the preferred kind in order; the first of them.
fn rank(considered: &mut [Considered], ranges: &Ranges<'_>) -> Option<usize> {
    let distance = |index: &Index| ranges.len() - prefix(index, ranges).len();
    let mut order: Vec<usize> = (0..considered.len())
        .filter(|at| considered[*at].is_of_kind)
        .collect();
    order.sort_by_key(|at| {
        let index = &considered[*at].index;
        (distance(index), index.columns().len(), index.place.clone())
    });
    for (place, at) in order.iter().enumerate() {
        let distance = distance(&considered[*at].index);
        considered[*at].place = Some((place, distance));
    }
    order.first().copied()
}

/// The ranges of the first columns, as far as the selector has any.
fn prefix<'a>(index: &Index, ranges: &'a Ranges<'_>) -> Vec<&'a Option<Range>> {
    let columns = index.columns().into_iter();
    let range = |column: &str| ranges.iter().find(|(field, _)| *field == column);
    columns.map_while(range).map(|(_, range)| range).collect()
}

fn chosen_ranges(selector: &Selector, index: &Index, ranges: &Ranges<'_>) -> Option<Vec<Range>> {
    match selector.is_empty_list() {
        true => None,
        false => prefix(index, ranges).into_iter().cloned().collect(),
    }
}

/// What `_explain` shows for the end of all keys.
const MAX_SHOWN: &str = "<MAX>";

impl Chosen {
    /// The first and the last key in the format of `_explain`, ascending.
    pub fn keys_to_json(&self) -> (Value, Value) {
        let Some(ranges) = &self.ranges else {
            return (Value::Null, Value::Null);
        };
        let low = |range: &Range| range.low.as_ref().map(|(low, _)| low.clone());
        let high = |range: &Range| range.high.as_ref().map(|(high, _)| high.clone());
        if self.index.place.is_none() {
            let range = ranges.first();
            let start = range.and_then(low).unwrap_or_else(|| json!(""));
            let end = range.and_then(high).unwrap_or_else(|| json!(MAX_SHOWN));
            return (start, end);
        }
        let start = ranges.iter().map_while(low).collect();
        let end = ranges.iter().map_while(high).chain([json!(MAX_SHOWN)]);
        (start, end.collect())
    }

    /// The bytes between which the keys are: the first is in, the last is not.
    pub fn key_bytes(&self, partition: Option<&str>) -> (Vec<u8>, Vec<u8>) {
        let partition = partition.map(partition_key).unwrap_or_default();
        let (mut start, mut end) = (partition.clone(), partition);
        let mut is_end_in = true;
        let ranges = self.ranges.iter().flatten().zip(self.index.columns());
        // Ids and revisions are compared by their bytes, which is another order.
        for (range, _) in ranges.take_while(|(_, column)| !column.starts_with('_')) {
            if let Some((low, is_open)) = &range.low {
                collate::write_key(&mut start, low);
                if *is_open {
                    start.push(MAX);
                }
            }
            if let Some((high, is_open)) = &range.high {
                collate::write_key(&mut end, high);
                is_end_in = !is_open;
            }
            if !range.is_one_value() {
                break;
            }
        }
        if is_end_in {
            end.push(MAX);
        }
        (start, end)
    }
}
