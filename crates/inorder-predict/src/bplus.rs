//! A B+ tree whose pages split in two: which pages an insert changes and adds. Entries have a position and no content.

/// No node.
pub const NONE: u32 = u32::MAX;

/// A page of the tree.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The page's number.
    pub page: u32,
    /// A leaf page: positions of its entries. Above: the positions that divide its children, one less than children.
    pub keys: Vec<u64>,
    /// Nodes below; none of a leaf page.
    pub children: Vec<u32>,
    /// The next page of the level, or `NONE`.
    pub next: u32,
    /// The key of the entry that was inserted last, if the page was not split since.
    pub last: Option<u64>,
}

impl Node {
    fn new(page: u32) -> Self {
        Node {
            page,
            next: NONE,
            ..Node::default()
        }
    }

    /// Whether it is a leaf page.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// The place of a key among its keys.
    fn place(&self, key: u64) -> usize {
        match self.keys.last() {
            Some(&last) if last < key => self.keys.len(),
            _ => self.keys.partition_point(|&other| other < key),
        }
    }

    /// The page with a new entry at a place.
    fn full(&self, place: usize, is_last: bool) -> Full<'_> {
        Full {
            keys: &self.keys,
            entries: self.len(),
            place,
            is_leaf: self.is_leaf(),
            is_last,
            last: self.last,
        }
    }

    /// Entries of the page.
    pub fn len(&self) -> usize {
        match self.is_leaf() {
            true => self.keys.len(),
            false => self.children.len(),
        }
    }
}

/// A page that has no room for an entry.
pub struct Full<'a> {
    /// Positions of its entries with the new one.
    pub keys: &'a [u64],
    /// Entries with the new one.
    pub entries: usize,
    /// The place of the new one.
    pub place: usize,
    /// Whether it is a leaf page.
    pub is_leaf: bool,
    /// Whether it is the last page of its level.
    pub is_last: bool,
    /// The key of the entry that was inserted before the new one, if the page was not split since.
    pub last: Option<u64>,
}

impl Full<'_> {
    /// The key of an entry. The first one of an interior page has none.
    pub fn key(&self, entry: usize) -> Option<u64> {
        let place = match self.is_leaf {
            true => entry,
            false => entry.checked_sub(1)?,
        };
        self.keys.get(place).copied()
    }
}

/// The rules of an engine.
pub trait Rules {
    /// Whether a page of so many entries has room for another one.
    fn has_room(&self, full: &Full<'_>) -> bool;
    /// The number of entries that stay on the page.
    fn split(&self, full: &Full<'_>) -> usize;
    /// Whether an entry at the end of a full leaf page goes to the next page if that has room.
    fn uses_next_page(&self) -> bool {
        false
    }
}

/// What an insert did to a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// An entry was added.
    Insert {
        /// The page.
        page: u32,
        /// Whether it is a leaf page.
        is_leaf: bool,
        /// The page below whose split this ends.
        child: Option<u32>,
        /// Its entries.
        entries: usize,
        /// Whether it is the last page of its level.
        is_last: bool,
    },
    /// A page was split, and the new entry put on one of both.
    Split {
        /// The page.
        page: u32,
        /// The new page.
        right: u32,
        /// The page after both, and its entries.
        next: Option<(u32, usize)>,
        /// The page below whose split this ends.
        child: Option<u32>,
        /// Entries that stayed.
        stayed: usize,
        /// Entries on the new page.
        moved: usize,
        /// Whether the new entry is among those that stayed.
        is_new_left: bool,
        /// Whether it is a leaf page.
        is_leaf: bool,
        /// Whether the new page is the last one of its level.
        is_last: bool,
    },
    /// An entry was added in front of the page after the one it belongs to, which was full. Their parents were changed.
    Shift {
        /// The page.
        page: u32,
        /// The page whose entry divides both.
        parent: u32,
    },
    /// A new root page was put above the old one.
    Root {
        /// The new page.
        page: u32,
        /// The old root page.
        child: u32,
    },
}

/// The tree.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Its pages. Some are in no tree.
    pub nodes: Vec<Node>,
    root: u32,
    free: Vec<u32>,
    path: Vec<(u32, usize)>,
    leaves: u64,
}

impl Tree {
    /// A tree of an empty page.
    pub fn new(next_page: &mut u32) -> Self {
        *next_page += 1;
        Tree {
            nodes: vec![Node::new(*next_page - 1)],
            root: 0,
            free: Vec::new(),
            path: Vec::new(),
            leaves: 1,
        }
    }

    fn add(&mut self, next_page: &mut u32) -> u32 {
        let node = Node::new(*next_page);
        *next_page += 1;
        match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// Number of leaf pages.
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// The leaf page that a key belongs to. `read` receives the pages from the root to it.
    fn descend(&mut self, key: u64, read: &mut Vec<u32>) -> u32 {
        self.path.clear();
        let mut at = self.root;
        loop {
            let node = &self.nodes[at as usize];
            read.push(node.page);
            if node.is_leaf() {
                return at;
            }
            let child = node.place(key);
            self.path.push((at, child));
            at = node.children[child];
        }
    }

    /// Whether a node is the last one of its level; the path leads to it.
    fn is_last(&self) -> bool {
        let is_end =
            |&(node, child): &(u32, usize)| child + 1 == self.nodes[node as usize].children.len();
        self.path.iter().all(is_end)
    }

    /// Inserts an entry. `read` receives the pages that were read, and `changes` what happened to pages.
    pub fn insert(
        &mut self,
        key: u64,
        rules: &dyn Rules,
        next_page: &mut u32,
        read: &mut Vec<u32>,
        changes: &mut Vec<Change>,
    ) {
        let mut at = self.descend(key, read);
        let (mut key, mut new_child, mut split_page) = (key, NONE, None);
        loop {
            let is_last = self.is_last();
            let node = &mut self.nodes[at as usize];
            let is_leaf = node.is_leaf();
            let place = node.place(key);
            node.keys.insert(place, key);
            if !is_leaf {
                node.children.insert(place + 1, new_child);
            }
            let entries = node.len();
            let full = node.full(place + usize::from(!is_leaf), is_last);
            if rules.has_room(&full) {
                node.last = Some(key);
                changes.push(Change::Insert {
                    page: node.page,
                    is_leaf,
                    child: split_page,
                    entries,
                    is_last,
                });
                return;
            }
            let new_place = full.place;
            let is_end = is_leaf && new_place + 1 == entries;
            let stayed = rules.split(&full);
            if is_end
                && rules.uses_next_page()
                && let Some(change) = self.shift(at, rules)
            {
                changes.push(change);
                return;
            }
            let right = self.add(next_page);
            self.leaves += u64::from(is_leaf);
            let divider = self.divide(at, right, stayed);
            let is_new_left = new_place < stayed;
            self.note_last(at, right, is_new_left, key);
            let node = &self.nodes[at as usize];
            let right_node = &self.nodes[right as usize];
            let next = self.nodes.get(right_node.next as usize);
            changes.push(Change::Split {
                page: node.page,
                right: right_node.page,
                next: next.map(|next| (next.page, next.len())),
                child: split_page,
                stayed,
                moved: entries - stayed,
                is_new_left,
                is_leaf,
                is_last,
            });
            split_page = Some(node.page);
            (key, new_child) = (divider, right);
            let Some((parent, _)) = self.path.pop() else {
                changes.push(self.deepen(key, right, next_page));
                return;
            };
            at = parent;
        }
    }

    /// Notes that a key was inserted last on one of the pages of a split, and on the other one none.
    fn note_last(&mut self, left: u32, right: u32, is_left: bool, key: u64) {
        self.nodes[left as usize].last = is_left.then_some(key);
        self.nodes[right as usize].last = (!is_left).then_some(key);
    }

    /// Moves the last entry of a full leaf page to the next page, if that has room. The path leads to the page.
    fn shift(&mut self, at: u32, rules: &dyn Rules) -> Option<Change> {
        let is_inner =
            |&&(node, child): &&(u32, usize)| child + 1 < self.nodes[node as usize].children.len();
        let &(parent, child) = self.path.iter().rev().find(is_inner)?;
        let next = self.nodes[at as usize].next;
        let key = *self.nodes[at as usize].keys.last()?;
        let page = self.nodes.get_mut(next as usize)?;
        page.keys.insert(0, key);
        let is_last = page.next == NONE;
        let last = page.last.take();
        if !rules.has_room(&page.full(0, is_last)) {
            page.keys.remove(0);
            page.last = last;
            return None;
        }
        page.last = Some(key);
        let page = page.page;
        self.nodes[at as usize].keys.pop();
        let parent = &mut self.nodes[parent as usize];
        parent.keys[child] = key.saturating_sub(1);
        Some(Change::Shift {
            page,
            parent: parent.page,
        })
    }

    /// Puts a new root page above the old one and the page that was split off it.
    fn deepen(&mut self, key: u64, right: u32, next_page: &mut u32) -> Change {
        let old = std::mem::replace(&mut self.root, NONE);
        let root = self.add(next_page);
        self.root = root;
        let child = self.nodes[old as usize].page;
        let node = &mut self.nodes[root as usize];
        node.keys.push(key);
        node.children = vec![old, right];
        Change::Root {
            page: node.page,
            child,
        }
    }

    /// Moves the entries from a place on to a new page. Returns what divides both.
    fn divide(&mut self, at: u32, right: u32, stayed: usize) -> u64 {
        let node = &mut self.nodes[at as usize];
        let next = std::mem::replace(&mut node.next, right);
        let (keys, children, divider);
        if node.is_leaf() {
            keys = node.keys.split_off(stayed);
            children = Vec::new();
            divider = keys[0].saturating_sub(1);
        } else {
            keys = node.keys.split_off(stayed);
            children = node.children.split_off(stayed);
            divider = node.keys.pop().unwrap_or_default();
        }
        let added = &mut self.nodes[right as usize];
        added.keys = keys;
        added.children = children;
        added.next = next;
        divider
    }

    /// Fills an empty tree from ascending keys, with so many entries on a leaf page and above.
    pub fn pack(
        &mut self,
        keys: impl Iterator<Item = u64>,
        leaf_entries: usize,
        entries: usize,
        next_page: &mut u32,
    ) {
        let mut level = vec![self.root];
        let mut firsts = vec![0];
        for key in keys {
            let mut at = level[level.len() - 1];
            if self.nodes[at as usize].keys.len() >= leaf_entries {
                let new = self.add(next_page);
                self.nodes[at as usize].next = new;
                level.push(new);
                firsts.push(key);
                at = new;
            }
            self.nodes[at as usize].keys.push(key);
        }
        self.leaves = level.len() as u64;
        while level.len() > 1 {
            let (mut above, mut firsts_above) = (Vec::new(), Vec::new());
            for (children, firsts) in level.chunks(entries).zip(firsts.chunks(entries)) {
                let index = self.add(next_page);
                let node = &mut self.nodes[index as usize];
                node.children = children.to_vec();
                node.keys = firsts[1..]
                    .iter()
                    .map(|first| first.saturating_sub(1))
                    .collect();
                above.push(index);
                firsts_above.push(firsts[0]);
            }
            (level, firsts) = (above, firsts_above);
        }
        self.root = level[0];
    }

    /// Number of pages per level, the root's first.
    pub fn levels(&self) -> Vec<u64> {
        let (mut levels, mut level) = (Vec::new(), vec![self.root]);
        while !level.is_empty() {
            levels.push(level.len() as u64);
            let below = level
                .iter()
                .flat_map(|&node| self.nodes[node as usize].children.iter().copied());
            level = below.collect();
        }
        levels
    }

    /// Frees the entries of leaf pages that ascending keys do not reach again.
    pub fn forget_contents(&mut self) {
        /// More pages than a split reads.
        const KEPT: usize = 4;
        let mut at = self.root;
        loop {
            let children = self.nodes[at as usize].children.clone();
            let Some(&last) = children.last() else {
                return;
            };
            for &child in &children[..children.len().saturating_sub(KEPT)] {
                if self.nodes[child as usize].is_leaf() {
                    self.nodes[child as usize].keys = Vec::new();
                }
            }
            at = last;
        }
    }

    /// Removes the pages that have no entry below a bound. Calls `gone` with each page removed.
    pub fn cut(&mut self, bound: u64, gone: &mut dyn FnMut(u32)) {
        let mut at = self.root;
        loop {
            let node = &mut self.nodes[at as usize];
            node.next = NONE;
            if node.is_leaf() {
                break;
            }
            let keep = node.keys.partition_point(|&key| key < bound);
            let removed: Vec<u32> = node.children.split_off(keep + 1);
            node.keys.truncate(keep);
            at = node.children[keep];
            self.remove(removed, gone);
        }
        self.leaves = self.levels().last().copied().unwrap_or(1);
    }

    fn remove(&mut self, mut nodes: Vec<u32>, gone: &mut dyn FnMut(u32)) {
        while let Some(index) = nodes.pop() {
            let node = std::mem::take(&mut self.nodes[index as usize]);
            gone(node.page);
            nodes.extend(node.children);
            self.free.push(index);
        }
    }
}
