//! Pages of an index that InnoDB builds from sorted entries, and what its segments allocate for them.

use inorder_predict::{allocated_pages, extent_pages};

/// Standard errors to each side in which a step is looked for: 95% of samples are within.
const ERRORS: f64 = 2.0;
/// A step of at most this share of a size is predicted in its middle.
const STEP_SHARE_MAX: f64 = 0.1;

/// A page of an index: its number, entries and their bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Page {
    pub number: u64,
    pub entries: u64,
    pub bytes: u64,
}

/// What the pages of an index say about a larger one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Density {
    /// Entries per full leaf page.
    pub per_leaf: f64,
    /// Entries per full interior page.
    pub per_interior: f64,
    /// Relative standard error of the entries per leaf page.
    pub error: f64,
}

impl Density {
    /// Reads it from the pages of an index with so many entries. `room` is the bytes of a page for entries, `error_bytes` the
    /// standard error of the mean entry.
    pub fn of(pages: &[Page], entries: u64, room: f64, error_bytes: f64) -> Option<Self> {
        let root = pages.iter().min_by_key(|page| page.number)?;
        if entries == 0 {
            return None;
        }
        // A slot of the page directory takes 2 bytes per 4 entries.
        let fits = |bytes: f64| (room / (bytes + 0.5)).floor().max(1.0);
        let density = |per_leaf: f64, per_interior: f64, entry_bytes: f64| Density {
            per_leaf,
            per_interior,
            error: error_bytes / entry_bytes.max(1.0),
        };
        let root_bytes = root.bytes as f64 / root.entries.max(1) as f64;
        if pages.len() == 1 {
            return Some(density(
                fits(root_bytes),
                fits(root_bytes + 4.0),
                root_bytes,
            ));
        }
        let all = pages.len() as u64;
        if root.entries < all - 1 {
            // The root's children are interior pages.
            let leaves = (all - 1 - root.entries) as f64 - 0.5;
            let per_leaf = entries as f64 / leaves;
            return Some(density(per_leaf, fits(root_bytes), room / per_leaf));
        }
        let leaves = pages.iter().filter(|page| page.number != root.number);
        let mut bytes: Vec<u64> = leaves.map(|page| page.bytes).collect();
        bytes.sort_unstable();
        let entry_bytes = bytes.iter().sum::<u64>() as f64 / entries as f64;
        let per_leaf = match &bytes[..] {
            // The last leaf page is not full. Entries differ between pages where they are sorted by what makes them long.
            [_, full @ ..] if !full.is_empty() => {
                full.iter().sum::<u64>() as f64 / full.len() as f64 / entry_bytes.max(1.0)
            }
            _ => entries as f64,
        };
        Some(density(per_leaf, fits(root_bytes), entry_bytes))
    }

    /// Pages that an index with so many entries, and other pages in its leaf segment, has allocated.
    pub fn allocated(&self, entries: f64, others: f64, page_bytes: u64) -> u64 {
        let at = |per_leaf: f64| self.allocated_with(per_leaf, entries, others, page_bytes);
        let likely = at(self.per_leaf);
        let [least, most] =
            [1.0, -1.0].map(|sign| at(self.per_leaf * (1.0 + sign * ERRORS * self.error)));
        let is_step = most - least < 2 * extent_pages(page_bytes);
        match is_step && (most - least) as f64 <= STEP_SHARE_MAX * likely as f64 {
            true => (least + most) / 2,
            false => likely,
        }
    }

    fn allocated_with(&self, per_leaf: f64, entries: f64, others: f64, page_bytes: u64) -> u64 {
        let leaves = (entries / per_leaf).ceil().max(1.0);
        if leaves <= 1.0 && others < 1.0 {
            return 1;
        }
        let mut interior = 0.0;
        let mut below = leaves;
        while below > 1.0 {
            below = (below / self.per_interior.max(2.0)).ceil();
            interior += below;
        }
        let extent = extent_pages(page_bytes);
        allocated_pages(leaves as u64, others as u64, extent)
            + allocated_pages(interior as u64, 0, extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_per_page_are_counted_without_the_last_page() {
        let page = |number, entries| Page {
            number,
            entries,
            bytes: entries * 45,
        };
        let pages = [page(5, 3), page(9, 357), page(10, 357), page(11, 20)];
        let density = Density::of(&pages, 734, 16_252.0, 0.09).unwrap();
        assert_eq!(density.per_leaf, 357.0);
        assert_eq!(density.per_interior, 357.0);
        // 561 leaf pages below 2 interior ones and the root.
        assert_eq!(density.allocated(200_000.0, 0.0, 16_384), 675);
        assert_eq!(density.error, 0.002);
        assert_eq!(Density::of(&[], 0, 16_252.0, 0.0), None);
    }

    #[test]
    fn entries_sorted_by_their_length_count_by_their_bytes() {
        let page = |number, entries, bytes| Page {
            number,
            entries,
            bytes,
        };
        // 500 entries of 20 bytes fill a page, and 250 of 40 bytes; the last page has 100 long ones.
        let pages = [
            page(5, 4, 60),
            page(9, 500, 10_000),
            page(10, 500, 10_000),
            page(11, 250, 10_000),
            page(12, 100, 4_000),
        ];
        let density = Density::of(&pages, 1_350, 10_000.0, 0.0).unwrap();
        let mean_bytes = 34_000.0 / 1_350.0;
        assert!((density.per_leaf - 10_000.0 / mean_bytes).abs() < 1e-9);
    }

    #[test]
    fn a_step_within_the_error_of_the_sample_is_predicted_in_its_middle() {
        let density = |error| Density {
            per_leaf: 100.0,
            per_interior: 800.0,
            error,
        };
        let sizes = |leaves: f64, error| density(error).allocated(leaves * 100.0, 0.0, 16_384);
        // Segments grow at 366 and 926 leaf pages.
        assert_eq!((sizes(925.0, 0.0), sizes(926.0, 0.0)), (1059, 1123));
        assert_eq!((sizes(925.0, 0.001), sizes(926.0, 0.001)), (1091, 1091));
        assert_eq!((sizes(365.0, 0.005), sizes(366.0, 0.005)), (417, 481));
    }
}
