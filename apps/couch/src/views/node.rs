//! Nodes of a view's B-tree, as they are stored.
//!
//! A leaf has entries in the order of their keys and document ids. An entry has all rows that a document emitted with one
//! key. An inner node has, for each child, the child's last key, the number of rows below it, and their reductions.

/// A stored node that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a node of a view's index is damaged")]
pub struct Corrupt;

/// The position of an entry: the key's bytes and the document's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position<'a> {
    pub key: &'a [u8],
    pub id: &'a [u8],
}

/// An entry of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub position: Position<'a>,
    pub count: u64,
    rows: &'a [u8],
    /// The whole entry as it is stored.
    pub stored: &'a [u8],
}

/// A row that a map function emitted; key and value are JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emitted<'a> {
    pub key: &'a str,
    pub value: &'a str,
}

/// A child of an inner node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The position of the last entry below it.
    pub key: Vec<u8>,
    pub id: Vec<u8>,
    pub node: i64,
    /// Rows below it.
    pub count: u64,
    /// Bytes of the node.
    pub bytes: u64,
    /// One per reduce function; none while they are to be computed.
    pub reductions: Option<Vec<Vec<u8>>>,
}

impl Child {
    pub fn last(&self) -> Position<'_> {
        Position {
            key: &self.key,
            id: &self.id,
        }
    }

    /// Bytes that it takes in its parent, about.
    pub fn size(&self) -> usize {
        let reductions = self.reductions.iter().flatten();
        self.key.len() + self.id.len() + 16 + reductions.map(|one| one.len() + 2).sum::<usize>()
    }
}

/// A child of an inner node without its reductions.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    /// The position of the last entry below it.
    pub last: Position<'a>,
    pub node: i64,
    /// Rows below it.
    pub count: u64,
}

impl<'a> Entry<'a> {
    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = Result<Emitted<'a>, Corrupt>> + use<'a> {
        let mut reader = Bytes(self.rows);
        (0..self.count).map(move |_| {
            Ok(Emitted {
                key: reader.text()?,
                value: reader.text()?,
            })
        })
    }

    /// The document's id.
    pub fn id(&self) -> Result<&'a str, Corrupt> {
        std::str::from_utf8(self.position.id).map_err(|_| Corrupt)
    }
}

/// Appends an entry to a leaf.
pub fn write_entry<'a>(
    out: &mut Vec<u8>,
    position: Position<'_>,
    rows: impl ExactSizeIterator<Item = Emitted<'a>> + Clone,
) {
    write_bytes(out, position.key);
    write_bytes(out, position.id);
    write_number(out, rows.len() as u64);
    // The length goes before the rows, so that a reader can skip them.
    let size = |text: &str| number_size(text.len() as u64) + text.len();
    let sizes = rows.clone().map(|row| size(row.key) + size(row.value));
    write_number(out, sizes.sum::<usize>() as u64);
    for row in rows {
        write_bytes(out, row.key.as_bytes());
        write_bytes(out, row.value.as_bytes());
    }
}

/// Reads the entries of a leaf.
pub fn entries(node: &[u8]) -> Result<Vec<Entry<'_>>, Corrupt> {
    each_entry(node).collect()
}

/// Reads the entries of a leaf one by one, up to the first error.
pub fn each_entry(node: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, Corrupt>> {
    let mut reader = Bytes(node);
    std::iter::from_fn(move || (!reader.0.is_empty()).then(|| reader.entry()))
}

/// Reads the first entry of some.
pub fn first_entry(entries: &[u8]) -> Result<Entry<'_>, Corrupt> {
    Bytes(entries).entry()
}

/// Writes an inner node. All reductions must be there.
pub fn write_children(children: &[Child]) -> Vec<u8> {
    let mut out = Vec::with_capacity(children.iter().map(Child::size).sum());
    for child in children {
        write_bytes(&mut out, &child.key);
        write_bytes(&mut out, &child.id);
        write_number(&mut out, child.node as u64);
        write_number(&mut out, child.count);
        write_number(&mut out, child.bytes);
        write_reductions(&mut out, child.reductions.as_deref().unwrap_or_default());
    }
    out
}

/// Reads the children of an inner node.
pub fn children(node: &[u8]) -> Result<Vec<Child>, Corrupt> {
    let mut children = Vec::new();
    let mut reader = Bytes(node);
    while !reader.0.is_empty() {
        children.push(Child {
            key: reader.bytes()?.to_vec(),
            id: reader.bytes()?.to_vec(),
            node: reader.number()? as i64,
            count: reader.number()?,
            bytes: reader.number()?,
            reductions: Some(reader.reductions()?),
        });
    }
    Ok(children)
}

/// Reads the children of an inner node one by one, up to the first error, without their reductions.
pub fn branches(node: &[u8]) -> impl Iterator<Item = Result<Branch<'_>, Corrupt>> {
    let mut reader = Bytes(node);
    std::iter::from_fn(move || (!reader.0.is_empty()).then(|| reader.branch()))
}

/// Appends reductions.
pub fn write_reductions(out: &mut Vec<u8>, reductions: &[Vec<u8>]) {
    write_number(out, reductions.len() as u64);
    for reduction in reductions {
        write_bytes(out, reduction);
    }
}

/// Reads what [`write_reductions`] wrote.
pub fn reductions(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Corrupt> {
    Bytes(bytes).reductions()
}

/// Appends the keys that a document has in the views.
pub fn write_keys(out: &mut Vec<u8>, view: usize, key: &[u8]) {
    write_number(out, view as u64);
    write_bytes(out, key);
}

/// Reads what [`write_keys`] wrote.
pub fn keys(bytes: &[u8]) -> Result<Vec<(usize, &[u8])>, Corrupt> {
    let mut reader = Bytes(bytes);
    let mut keys = Vec::new();
    while !reader.0.is_empty() {
        keys.push((reader.number()? as usize, reader.bytes()?));
    }
    Ok(keys)
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Bytes that [`write_number`] writes.
fn number_size(number: u64) -> usize {
    (u64::BITS - (number | 1).leading_zeros()).div_ceil(7) as usize
}

fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn number(&mut self) -> Result<u64, Corrupt> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(Corrupt)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Corrupt)
    }

    fn bytes(&mut self) -> Result<&'a [u8], Corrupt> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Corrupt)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'a str, Corrupt> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Corrupt)
    }

    fn entry(&mut self) -> Result<Entry<'a>, Corrupt> {
        let before = self.0;
        let position = Position {
            key: self.bytes()?,
            id: self.bytes()?,
        };
        let (count, rows) = (self.number()?, self.bytes()?);
        let stored = &before[..before.len() - self.0.len()];
        Ok(Entry {
            position,
            count,
            rows,
            stored,
        })
    }

    fn branch(&mut self) -> Result<Branch<'a>, Corrupt> {
        let last = Position {
            key: self.bytes()?,
            id: self.bytes()?,
        };
        let (node, count, _bytes) = (self.number()?, self.number()?, self.number()?);
        for _ in 0..self.number()? {
            self.bytes()?;
        }
        Ok(Branch {
            last,
            node: node as i64,
            count,
        })
    }

    fn reductions(&mut self) -> Result<Vec<Vec<u8>>, Corrupt> {
        let count = self.number()?;
        (0..count).map(|_| Ok(self.bytes()?.to_vec())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_read_as_it_was_written() {
        let long = "x".repeat(300);
        let rows = [
            Emitted {
                key: "[1]",
                value: "null",
            },
            Emitted {
                key: "[1]",
                value: &long,
            },
        ];
        let mut leaf = Vec::new();
        let position = |id: &'static str| Position {
            key: b"k",
            id: id.as_bytes(),
        };
        write_entry(&mut leaf, position("a"), rows.into_iter());
        write_entry(&mut leaf, position("b"), rows[..1].iter().copied());
        let read = entries(&leaf).unwrap();
        assert_eq!((read[0].count, read[1].count), (2, 1));
        let emitted: Result<Vec<_>, _> = read[0].rows().collect();
        assert_eq!(emitted.unwrap(), rows);
        assert_eq!(first_entry(&leaf).unwrap().stored, read[0].stored);
        assert_eq!((read[0].id().unwrap(), read[1].id().unwrap()), ("a", "b"));
        let again: Vec<u8> = read
            .iter()
            .flat_map(|entry| entry.stored)
            .copied()
            .collect();
        assert_eq!(again, leaf);
        for cut in 1..leaf.len() {
            if let Ok(read) = entries(&leaf[..cut]) {
                assert_eq!(read.len(), 1, "only a whole entry is read");
            }
        }
    }

    #[test]
    fn the_size_of_a_number_is_that_of_its_bytes() {
        for shift in 0..64 {
            for number in [(1_u64 << shift) - 1, 1 << shift, (1 << shift) + 1] {
                let mut out = Vec::new();
                write_number(&mut out, number);
                assert_eq!(number_size(number), out.len(), "{number}");
            }
        }
    }

    #[test]
    fn an_inner_node_is_read_as_it_was_written() {
        let child = Child {
            key: vec![1, 2],
            id: b"id".to_vec(),
            node: 300,
            count: 1 << 40,
            bytes: 7000,
            reductions: Some(vec![b"12".to_vec(), Vec::new()]),
        };
        let node = write_children(&[child.clone(), child.clone()]);
        let read = |node| branches(node).collect::<Result<Vec<_>, _>>();
        for branch in read(&node).unwrap() {
            assert_eq!(
                (branch.last, branch.node, branch.count),
                (child.last(), 300, 1 << 40)
            );
        }
        assert_eq!(read(&node).unwrap().len(), 2);
        assert!(read(&node[..node.len() - 1]).is_err());
        assert_eq!(children(&node).unwrap(), [child.clone(), child]);
    }
}
