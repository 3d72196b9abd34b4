//! What the experiments of a run have in common: a page says it once.

/// A name and a value.
type Pair = (String, String);

/// The usual value of each name.
#[derive(Default)]
pub struct Common<'a> {
    /// In the order of the first list.
    pub pairs: Vec<&'a Pair>,
}

impl<'a> Common<'a> {
    /// The value that most of the lists have, for each name that every list has or that it is `free` to lack. One list
    /// has nothing in common with others.
    pub fn new(lists: &[&'a [Pair]], free: impl Fn(usize, &str) -> bool) -> Self {
        let [first, _, ..] = lists else {
            return Common::default();
        };
        let has = |list: &[Pair], name: &str| list.iter().any(|(known, _)| known == name);
        let is_common = |name: &str| {
            let mut all = lists.iter().enumerate();
            all.all(|(at, list)| has(list, name) || free(at, name))
        };
        let mut pairs: Vec<&Pair> = Vec::new();
        for pair in lists.iter().copied().flatten() {
            let is_known = pairs.iter().any(|known| known.0 == pair.0);
            if !is_known && is_common(&pair.0) {
                pairs.extend(usual(lists, &pair.0));
            }
        }
        let place = |pair: &&Pair| first.iter().position(|known| known.0 == pair.0);
        pairs.sort_by_key(|pair| place(pair).unwrap_or(usize::MAX));
        Common { pairs }
    }

    /// The pairs of a list that are not the usual ones.
    pub fn rest<'b>(&self, list: &'b [Pair]) -> Vec<&'b Pair> {
        let is_usual = |pair: &&Pair| self.pairs.contains(pair);
        list.iter().filter(|pair| !is_usual(pair)).collect()
    }
}

/// The pair of this name that most lists have, if several have it.
fn usual<'a>(lists: &[&'a [Pair]], name: &str) -> Option<&'a Pair> {
    let all = || lists.iter().copied().flatten();
    let count = |pair: &Pair| all().filter(|other| *other == pair).count();
    let own = all().filter(|pair| pair.0 == name);
    // The first of those that are equally many.
    let usual = own.rev().max_by_key(|pair| count(pair))?;
    (count(usual) > 1).then_some(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<Pair> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        list.iter().map(owned).collect()
    }

    #[test]
    fn what_most_lists_have_is_common() {
        let lists = [
            pairs(&[("a", "1"), ("b", "2"), ("only", "1")]),
            pairs(&[("a", "1"), ("b", "3")]),
            pairs(&[("a", "1"), ("b", "3"), ("c", "4")]),
        ];
        let lists: Vec<&[Pair]> = lists.iter().map(Vec::as_slice).collect();
        let common = Common::new(&lists, |_, _| false);
        let found: Vec<&str> = common.pairs.iter().map(|pair| pair.1.as_str()).collect();
        assert_eq!(found, ["1", "3"]);
        let rest = |at: usize| common.rest(lists[at]).len();
        assert_eq!((rest(0), rest(1), rest(2)), (2, 0, 1));
    }

    #[test]
    fn a_list_may_be_free_to_lack_a_name_and_one_list_has_nothing_in_common() {
        let lists = [pairs(&[("a", "1")]), pairs(&[("a", "1")]), pairs(&[])];
        let lists: Vec<&[Pair]> = lists.iter().map(Vec::as_slice).collect();
        assert!(Common::new(&lists, |_, _| false).pairs.is_empty());
        assert_eq!(Common::new(&lists, |at, _| at == 2).pairs.len(), 1);
        assert!(Common::new(&lists[..1], |_, _| true).pairs.is_empty());
    }
}
