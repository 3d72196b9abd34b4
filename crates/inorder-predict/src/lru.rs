//! Pages in memory, in the order of their last use.

/// No page.
const NONE: u32 = u32::MAX;

/// Links of a page in its list.
#[derive(Clone, Copy, Debug)]
struct Link {
    newer: u32,
    older: u32,
    /// The page's list, if it is in one.
    list: Option<u8>,
    weight: u32,
}

const UNLINKED: Link = Link {
    newer: NONE,
    older: NONE,
    list: None,
    weight: 0,
};

/// Lists of pages, each ordered by last use. A page is in at most one list. A page of a sampled tree stands for several
/// pages: that is its weight.
#[derive(Clone, Debug)]
pub struct Lists<const N: usize> {
    links: Vec<Link>,
    newest: [u32; N],
    oldest: [u32; N],
    weights: [u64; N],
}

impl<const N: usize> Lists<N> {
    /// Empty lists.
    pub fn new() -> Self {
        Lists {
            links: Vec::new(),
            newest: [NONE; N],
            oldest: [NONE; N],
            weights: [0; N],
        }
    }

    /// The list of a page.
    pub fn list(&self, page: u32) -> Option<usize> {
        self.links.get(page as usize)?.list.map(usize::from)
    }

    /// Sum of the weights of a list's pages.
    pub fn weight(&self, list: usize) -> u64 {
        self.weights[list]
    }

    /// The page of a list that was not used for the longest time.
    pub fn oldest(&self, list: usize) -> Option<u32> {
        Some(self.oldest[list]).filter(|&page| page != NONE)
    }

    /// The page of a list that was used last.
    pub fn newest(&self, list: usize) -> Option<u32> {
        Some(self.newest[list]).filter(|&page| page != NONE)
    }

    /// The page of the same list that was used next after this one.
    pub fn newer(&self, page: u32) -> Option<u32> {
        let newer = self.links.get(page as usize)?.newer;
        Some(newer).filter(|&page| page != NONE)
    }

    /// The weight of a page, 0 if it is in no list.
    pub fn weight_of(&self, page: u32) -> u32 {
        self.links.get(page as usize).map_or(0, |link| link.weight)
    }

    /// Changes the weight of a page that is in a list.
    pub fn set_weight(&mut self, page: u32, weight: u32) {
        if let Some(list) = self.list(page) {
            let link = &mut self.links[page as usize];
            self.weights[list] -= u64::from(link.weight);
            self.weights[list] += u64::from(weight);
            link.weight = weight;
        }
    }

    /// Takes a page out of its list.
    pub fn remove(&mut self, page: u32) {
        let Some(link) = self.links.get(page as usize).copied() else {
            return;
        };
        let Some(list) = link.list.map(usize::from) else {
            return;
        };
        match link.newer {
            NONE => self.newest[list] = link.older,
            newer => self.links[newer as usize].older = link.older,
        }
        match link.older {
            NONE => self.oldest[list] = link.newer,
            older => self.links[older as usize].newer = link.newer,
        }
        self.weights[list] -= u64::from(link.weight);
        self.links[page as usize] = UNLINKED;
    }

    /// Moves a page to the front of a list, from whichever list it is in.
    pub fn push(&mut self, list: usize, page: u32, weight: u32) {
        if self.newest[list] == page {
            return;
        }
        self.remove(page);
        if self.links.len() <= page as usize {
            self.links.resize(page as usize + 1, UNLINKED);
        }
        let older = self.newest[list];
        self.links[page as usize] = Link {
            newer: NONE,
            older,
            list: Some(list as u8),
            weight,
        };
        match older {
            NONE => self.oldest[list] = page,
            older => self.links[older as usize].newer = page,
        }
        self.newest[list] = page;
        self.weights[list] += u64::from(weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_page_is_the_one_not_used_longest() {
        let mut lists = Lists::<2>::new();
        for page in [3, 1, 2, 3] {
            lists.push(0, page, 5);
        }
        assert_eq!((lists.oldest(0), lists.newest(0)), (Some(1), Some(3)));
        assert_eq!(lists.weight(0), 15);
        lists.push(1, 1, 2);
        assert_eq!((lists.oldest(0), lists.oldest(1)), (Some(2), Some(1)));
        assert_eq!((lists.weight(0), lists.weight(1)), (10, 2));
        lists.remove(2);
        lists.remove(3);
        assert_eq!((lists.oldest(0), lists.list(3)), (None, None));
    }
}
