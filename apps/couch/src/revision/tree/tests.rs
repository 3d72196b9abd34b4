//! Compares trees with a simple model: a set of paths.

use super::*;
use crate::revision::RevisionHash;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn hash(name: &str) -> RevisionHash {
    name.parse().unwrap()
}

fn revision(text: &str) -> Revision {
    text.parse().unwrap()
}

/// Parses `"3:c b a"`: generation 3, newest first; `!` marks a deletion.
fn way(text: &str) -> (History, bool) {
    let (start, hashes) = text.trim_end_matches('!').split_once(':').unwrap();
    let hashes = hashes.split(' ').map(hash).collect();
    let history = History::new(start.parse().unwrap(), hashes).unwrap();
    (history, text.ends_with('!'))
}

fn tree(ways: &[&str]) -> Tree {
    let mut tree = Tree::default();
    for text in ways {
        let (history, deleted) = way(text);
        tree.merge(&history, deleted, 0);
    }
    tree
}

fn leaves(tree: &Tree) -> Vec<String> {
    let leaf = |leaf: Leaf<'_>| {
        let deleted = if leaf.deleted { "!" } else { "" };
        format!("{}{deleted}", leaf.revision)
    };
    tree.leaves().into_iter().map(leaf).collect()
}

#[test]
fn the_winner_is_not_deleted_then_long_then_high() {
    assert_eq!(leaves(&tree(&["2:b a", "2:c a"])), ["2-c", "2-b"]);
    assert_eq!(leaves(&tree(&["2:b a", "3:a c a"])), ["3-a", "2-b"]);
    assert_eq!(leaves(&tree(&["2:b a", "3:a c a!"])), ["2-b", "3-a!"]);
    assert_eq!(leaves(&tree(&["2:b a!", "3:a c a!"])), ["3-a!", "2-b!"]);
    assert_eq!(
        tree(&["2:b a", "2:c a"]).winner().unwrap().revision,
        revision("2-c")
    );
    assert_eq!(
        tree(&["2:b a!"]).winner().unwrap().revision,
        revision("2-b")
    );
    assert!(Tree::default().winner().is_none());
}

#[test]
fn a_way_that_was_cut_off_joins_where_it_fits() {
    let mut cut = tree(&["4:d c"]);
    let (whole, _) = way("3:c b a");
    assert_eq!(cut.merge(&whole, false, 0), Merge::Known);
    assert_eq!(cut, tree(&["4:d c b a"]));
    let apart = tree(&["2:b a", "4:d c"]);
    assert_eq!(leaves(&apart), ["4-d", "2-b"]);
    let (bridge, _) = way("3:c b");
    let mut joined = apart;
    joined.merge(&bridge, false, 0);
    assert_eq!(leaves(&joined), ["4-d"]);
    let history = joined.history(&revision("4-d")).unwrap();
    assert_eq!(history.hashes().len(), 4);
}

#[test]
fn what_came_after_a_revision_is_found() {
    let tree = tree(&["3:c b a", "3:d b a", "2:e a"]);
    let after = |text: &str| {
        let leaves = tree.leaves_after(&revision(text));
        leaves
            .iter()
            .map(|leaf| leaf.revision.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(after("2-b"), ["3-d", "3-c"]);
    assert_eq!(after("1-a"), ["3-d", "3-c", "2-e"]);
    assert_eq!(after("3-c"), ["3-c"]);
    assert!(after("9-x").is_empty());
    assert_eq!(
        tree.missing(&[revision("2-b"), revision("2-x")]),
        [revision("2-x")]
    );
    assert_eq!(
        tree.possible_ancestors(&[revision("3-x")]),
        [revision("2-e")]
    );
}

#[test]
fn stemming_keeps_the_nearest_of_each_leaf() {
    let mut stemmed = tree(&["5:e d c b a", "3:x b a"]);
    stemmed.stem(2);
    assert_eq!(stemmed, tree(&["5:e d", "3:x b"]));
    stemmed.stem(1);
    assert_eq!(stemmed, tree(&["5:e", "3:x"]));
}

#[test]
fn removed_leaves_take_what_led_only_to_them() {
    let mut tree_of_two = tree(&["3:c b a", "2:x a"]);
    let removed = tree_of_two.remove_leaves(&[revision("3-c"), revision("2-b"), revision("9-z")]);
    assert_eq!(removed, [revision("3-c")]);
    assert_eq!(tree_of_two, tree(&["2:x a"]));
    tree_of_two.remove_leaves(&[revision("2-x")]);
    assert_eq!(tree_of_two, Tree::default());
}

/// Paths through a few revisions. The hash of a revision does not depend on its parent, so paths may contradict each
/// other.
fn any_ways() -> impl Strategy<Value = Vec<(History, bool)>> {
    let hashes = proptest::collection::vec("[abc]|[0-9a-f]{32}", 1..5);
    let way = (hashes, 0..4u64, any::<bool>()).prop_map(|(hashes, skipped, deleted)| {
        let start = hashes.len() as u64 + skipped;
        let hashes = hashes.iter().map(|text| hash(text)).collect();
        (History::new(start, hashes).unwrap(), deleted)
    });
    proptest::collection::vec(way, 1..8)
}

/// Paths in which the deletion flag of a revision follows from its name, as with real hashes.
fn consistent(ways: Vec<(History, bool)>) -> Vec<(History, bool)> {
    let by_name = |history: &History| history.hashes()[0].as_bytes()[0].is_multiple_of(3);
    ways.into_iter()
        .map(|(history, _)| (history.clone(), by_name(&history)))
        .collect()
}

fn merged(ways: &[(History, bool)]) -> Tree {
    let mut tree = Tree::default();
    for (history, deleted) in ways {
        tree.merge(history, *deleted, 0);
    }
    tree
}

/// The model: each revision with its parents, and the revisions that ended a path.
#[derive(Default)]
struct Model {
    parents: BTreeMap<Revision, BTreeSet<Revision>>,
    deletions: BTreeSet<Revision>,
}

impl Model {
    fn new(ways: &[(History, bool)]) -> Self {
        let mut model = Model::default();
        for (history, deleted) in ways {
            let revisions: Vec<_> = history.revisions().collect();
            for pair in revisions.windows(2) {
                let parents = model.parents.entry(pair[0].clone()).or_default();
                parents.insert(pair[1].clone());
            }
            for revision in revisions {
                model.parents.entry(revision).or_default();
            }
            if *deleted {
                model.deletions.insert(history.revision());
            }
        }
        model
    }

    fn leaves(&self) -> BTreeSet<Revision> {
        let parents: BTreeSet<_> = self.parents.values().flatten().collect();
        let is_leaf = |revision: &&Revision| !parents.contains(revision);
        self.parents.keys().filter(is_leaf).cloned().collect()
    }

    /// Returns the revisions up to a number of steps before a leaf.
    fn near(&self, limit: u64) -> BTreeSet<Revision> {
        let mut near = BTreeSet::new();
        let mut step = self.leaves();
        for _ in 0..limit {
            near.extend(step.iter().cloned());
            step = step
                .iter()
                .flat_map(|revision| self.parents[revision].clone())
                .collect();
        }
        near
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn ways_in_any_order_grow_the_same_tree(
        (ways, shuffled) in any_ways().prop_map(consistent).prop_flat_map(|ways| {
            let shuffled = Just(ways.clone()).prop_shuffle();
            (Just(ways), shuffled)
        })
    ) {
        let (tree, other) = (merged(&ways), merged(&shuffled));
        // Without the rule above, an inner node may be merged before the path that marks it deleted. Names that are
        // hashes exclude this.
        let names = |tree: &Tree| tree.nodes().iter().map(|node| node.revision.clone()).collect::<Vec<_>>();
        prop_assert_eq!(names(&tree), names(&other));
        prop_assert_eq!(&tree.edges, &other.edges);
        let again = { let mut tree = tree.clone(); for (history, deleted) in &shuffled { tree.merge(history, *deleted, 0); } tree };
        prop_assert_eq!(&again, &tree);
    }

    #[test]
    fn a_tree_knows_what_the_model_knows(ways in any_ways().prop_map(consistent)) {
        let (tree, model) = (merged(&ways), Model::new(&ways));
        let leaves: BTreeSet<_> = tree.leaves().iter().map(|leaf| leaf.revision.clone()).collect();
        prop_assert_eq!(&leaves, &model.leaves());
        for (history, _) in &ways {
            let revision = history.revision();
            prop_assert_eq!(tree.is_leaf(&revision), leaves.contains(&revision));
            let history = tree.history(&revision).unwrap();
            prop_assert_eq!(history.revision(), revision.clone());
            prop_assert!(tree.missing(std::slice::from_ref(&revision)).is_empty());
        }
        let winner = tree.winner().unwrap();
        let best = tree.leaves().into_iter().max_by_key(|leaf| (!leaf.deleted, leaf.revision.clone()));
        prop_assert_eq!(Some(winner), best);
    }

    #[test]
    fn stemming_forgets_what_is_far_from_every_leaf(ways in any_ways(), limit in 1..4u64) {
        let (mut tree, model) = (merged(&ways), Model::new(&ways));
        let before = leaves(&tree);
        tree.stem(limit);
        let kept: BTreeSet<_> = tree.nodes().iter().map(|node| node.revision.clone()).collect();
        prop_assert_eq!(kept, model.near(limit));
        prop_assert_eq!(leaves(&tree), before);
    }

    #[test]
    fn a_purge_leaves_the_other_leaves(ways in any_ways(), choice in any::<u64>()) {
        let mut tree = merged(&ways);
        let all: Vec<_> = tree.leaves().iter().map(|leaf| leaf.revision.clone()).collect();
        let (gone, kept): (Vec<_>, Vec<_>) = all.iter().cloned().enumerate().partition(|(index, _)| choice >> index & 1 == 1);
        let strip = |list: Vec<(usize, Revision)>| list.into_iter().map(|(_, revision)| revision).collect::<Vec<_>>();
        let (gone, kept) = (strip(gone), strip(kept));
        prop_assert_eq!(tree.remove_leaves(&gone), gone);
        let left: Vec<_> = tree.leaves().iter().map(|leaf| leaf.revision.clone()).collect();
        prop_assert_eq!(left, kept);
        prop_assert_eq!(Tree::decode(&tree.encode()).unwrap(), tree);
    }

    #[test]
    fn a_tree_is_read_as_it_was_written(ways in any_ways(), bodies in proptest::collection::vec(any::<u64>(), 20)) {
        let mut tree = merged(&ways);
        for (node, body) in tree.nodes.iter_mut().zip(bodies) {
            node.body = body;
        }
        let encoded = tree.encode();
        prop_assert_eq!(&Tree::decode(&encoded).unwrap(), &tree);
        for end in 0..encoded.len() {
            // Truncated bytes are invalid, or the encoding of a smaller tree.
            if let Ok(smaller) = Tree::decode(&encoded[..end]) {
                prop_assert_eq!(smaller.encode(), &encoded[..end]);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_tree_that_is_written_like_this_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(tree) = Tree::decode(&bytes) {
            prop_assert_eq!(tree.encode(), bytes);
        }
    }
}

#[test]
fn a_long_history_takes_17_bytes_a_revision() {
    let mut tree = Tree::default();
    let hashes: Vec<RevisionHash> = (0..1000u32)
        .map(|number| {
            let mut digest = [0; 16];
            digest[..4].copy_from_slice(&number.to_le_bytes());
            digest.into()
        })
        .collect();
    tree.merge(&History::new(1000, hashes).unwrap(), false, 0);
    assert_eq!(tree.encode().len(), 17_000);
}

#[test]
fn a_stored_revision_before_the_first_is_damage() {
    let root_of_generation = |generation: u8| [&[1 << 5, generation][..], &[7; 16]].concat();
    assert!(Tree::decode(&root_of_generation(2)).is_ok());
    assert!(Tree::decode(&root_of_generation(0)).is_err());
}
