//! Sums the parts of a table or index on several servers.

use crate::Tree;

/// Sums trees of the same name, in the order of the first server.
pub fn joined(servers: Vec<Vec<Tree>>) -> Vec<Tree> {
    let mut all: Vec<Vec<Tree>> = Vec::new();
    for tree in servers.into_iter().flatten() {
        match all.iter_mut().find(|parts| parts[0].name == tree.name) {
            Some(parts) => parts.push(tree),
            None => all.push(vec![tree]),
        }
    }
    all.iter().map(|parts| join(parts)).collect()
}

fn join(parts: &[Tree]) -> Tree {
    let sum = |of: fn(&Tree) -> Option<u64>| parts.iter().map(of).sum::<Option<u64>>();
    let pages = parts.iter().map(|tree| tree.pages).sum();
    let filled = parts.iter().filter(|tree| tree.pages > 0);
    let filled: Option<f64> = filled.map(|t| Some(t.fill? * t.pages as f64)).sum();
    let interior = parts.iter().filter(|tree| tree.fanout.is_some());
    let interior: Option<u64> = interior.map(|tree| tree.interior_pages).sum();
    let children = parts
        .iter()
        .filter_map(|t| Some(t.fanout? * t.interior_pages? as f64));
    let children: f64 = children.sum();
    Tree {
        name: parts[0].name.clone(),
        table: parts[0].table.clone(),
        is_index: parts[0].is_index,
        pages,
        leaf_pages: sum(|tree| tree.leaf_pages),
        interior_pages: sum(|tree| tree.interior_pages),
        overflow_pages: sum(|tree| tree.overflow_pages),
        depth: parts.iter().filter_map(|tree| tree.depth).max(),
        fanout: interior
            .filter(|pages| *pages > 0)
            .map(|pages| children / pages as f64),
        fill: filled.filter(|_| pages > 0).map(|sum| sum / pages as f64),
        size_bytes: parts.iter().map(|tree| tree.size_bytes).sum(),
        payload_bytes: sum(|tree| tree.payload_bytes),
        entries: sum(|tree| tree.entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(leaves: u64, interior: u64, fill: f64) -> Tree {
        Tree {
            name: "i".to_owned(),
            is_index: true,
            pages: leaves + interior,
            leaf_pages: Some(leaves),
            interior_pages: Some(interior),
            depth: Some(if interior > 0 { 2 } else { 1 }),
            fanout: (interior > 0).then(|| (leaves + interior - 1) as f64 / interior as f64),
            fill: Some(fill),
            size_bytes: 8192 * (leaves + interior),
            ..Tree::default()
        }
    }

    #[test]
    fn parts_add_up_and_shares_are_weighed() {
        let all = joined(vec![
            vec![index(99, 1, 0.5)],
            vec![index(299, 1, 0.9)],
            vec![index(1, 0, 0.1)],
        ]);
        assert_eq!(all.len(), 1);
        let tree = &all[0];
        assert_eq!((tree.pages, tree.depth), (401, Some(2)));
        assert_eq!(tree.size_bytes, 401 * 8192);
        let fill = (0.5 * 100.0 + 0.9 * 300.0 + 0.1) / 401.0;
        assert!((tree.fill.unwrap() - fill).abs() < 1e-9);
        // The tree with one page has no interior page.
        assert_eq!(tree.fanout, Some(199.0));
        assert_eq!(tree.overflow_pages, None);
    }
}
