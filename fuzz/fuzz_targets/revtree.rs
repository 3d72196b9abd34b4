//! No bytes make a revision tree that is not written as it was read, and no ways that are merged into it break it.
#![no_main]

use inorder_couch::revision::{History, RevisionHash, Tree};
use libfuzzer_sys::fuzz_target;

fn check(tree: &Tree) {
    let encoded = tree.encode();
    assert_eq!(Tree::decode(&encoded).as_ref(), Ok(tree));
    let leaves = tree.leaves();
    assert_eq!(tree.winner(), leaves.first().copied());
    for leaf in leaves {
        assert!(tree.is_leaf(&leaf.revision));
        assert!(tree.history(&leaf.revision).is_some());
    }
}

/// A way of up to 8 revisions, two bytes each.
fn way(bytes: &[u8]) -> Option<(History, bool)> {
    let (first, rest) = bytes.split_first()?;
    let hashes: Option<Vec<_>> = rest.chunks(2).map(RevisionHash::from_bytes).collect();
    let hashes = hashes?;
    let start = hashes.len() as u64 + u64::from(first >> 4);
    Some((History::new(start, hashes).ok()?, first & 1 == 1))
}

fuzz_target!(|data: &[u8]| {
    let Some((split, data)) = data.split_first() else {
        return;
    };
    let (stored, ways) = data.split_at((*split as usize).min(data.len()));
    let mut tree = match Tree::decode(stored) {
        Ok(tree) => {
            assert_eq!(tree.encode(), stored);
            tree
        }
        Err(_) => Tree::default(),
    };
    let ways: Vec<_> = ways.chunks(17).filter_map(way).collect();
    let mut reversed = tree.clone();
    for (history, deleted) in &ways {
        tree.merge(history, *deleted, 0);
        check(&tree);
    }
    for (history, deleted) in ways.iter().rev() {
        reversed.merge(history, *deleted, 0);
    }
    let names = |tree: &Tree| {
        tree.nodes()
            .iter()
            .map(|node| node.revision.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&tree), names(&reversed));
    tree.stem(u64::from(*split % 5) + 1);
    check(&tree);
    let leaves: Vec<_> = tree
        .leaves()
        .iter()
        .map(|leaf| leaf.revision.clone())
        .collect();
    let gone = &leaves[..leaves.len() / 2];
    assert_eq!(tree.remove_leaves(gone), gone);
    check(&tree);
});
