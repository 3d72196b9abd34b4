//! Which texts are ids of documents.

use super::Limits;

/// The prefix of local documents, which are not replicated.
pub const LOCAL: &str = "_local/";

/// The prefix of design documents.
pub const DESIGN: &str = "_design/";

/// Follows after every id that begins with [`DESIGN`].
pub const DESIGN_END: &str = "_design0";

/// Whether it is the id of a design document.
pub fn is_design(id: &str) -> bool {
    id.starts_with(DESIGN)
}

/// Whether a text may be a document's id; the error is CouchDB's.
///
/// # Errors
/// The fault of the id.
pub fn check(id: &str, limits: &Limits, is_partitioned: bool) -> Result<(), &'static str> {
    check_any(id, limits)?;
    if !is_partitioned || id.starts_with('_') {
        return Ok(());
    }
    match id.split_once(':') {
        None => Err("Doc id must be of form partition:id"),
        Some(("", _)) => Err("Partition must not be empty"),
        Some((_, rest)) => check_any(rest, limits),
    }
}

fn check_any(id: &str, limits: &Limits) -> Result<(), &'static str> {
    match id {
        "" => Err("Document id must not be empty"),
        "_design/" => Err("Illegal document id `_design/`"),
        "_local/" => Err("Illegal document id `_local/`"),
        id if id.len() > limits.id_bytes_max => Err("Document id is too long"),
        id if id.starts_with('_') && !id.starts_with(DESIGN) && !id.starts_with(LOCAL) => {
            Err("Only reserved document ids may start with underscore.")
        }
        _ => Ok(()),
    }
}

/// A new id: 32 hexadecimal digits in the order they are made (a UUIDv7), so that new documents are written side by side.
pub fn make() -> String {
    inorder_key::Uuid::now_v7().to_string().replace('-', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_couchdb() {
        let limits = Limits::default();
        for good in ["a", "Ä b/ü?#", "_design/a", "_local/a", "0", " "] {
            assert_eq!(check(good, &limits, false), Ok(()), "{good}");
        }
        for bad in ["", "_a", "_design", "_design/", "_local/", "_"] {
            assert!(check(bad, &limits, false).is_err(), "{bad}");
        }
        let long = "a".repeat(3000);
        assert_eq!(check(&long, &limits, false), Ok(()));
        let limits = Limits {
            id_bytes_max: 2999,
            ..limits
        };
        assert_eq!(check(&long, &limits, false), Err("Document id is too long"));
    }

    #[test]
    fn ids_of_a_partitioned_database_name_their_partition() {
        let limits = Limits::default();
        for good in ["a:b", "a:b:c", "_design/a", "_local/a"] {
            assert_eq!(check(good, &limits, true), Ok(()), "{good}");
        }
        for bad in ["a", ":a", "a:", "a:_b", "_a:b"] {
            assert!(check(bad, &limits, true).is_err(), "{bad}");
        }
    }
}
