//! Makes the freelist of a file, and puts it into the header.
//!
//! Source: <https://www.sqlite.org/fileformat2.html#the_freelist>.

/// Where the header has the number of pages, the first trunk page, and the number of free pages.
const SIZES: usize = 28;

/// Numbers of a trunk page that versions of SQLite before 3.6.0 leave unused at its end.
const UNUSED_NUMBERS: usize = 8;

/// Pages that become free.
#[derive(Debug)]
pub struct FreeList {
    /// The trunk pages with their content.
    pub trunks: Vec<(u32, Vec<u8>)>,
    /// The first trunk page; 0 for none.
    pub first: u32,
    /// How many pages are free.
    pub pages: u32,
}

impl FreeList {
    /// Makes a freelist of pages, to which those of another list belong: its first trunk page and its length.
    #[must_use]
    pub fn new(free: &[u32], page_bytes: usize, usable_bytes: usize, after: (u32, u32)) -> Self {
        let (mut first, before) = after;
        let leaves_max = usable_bytes / 4 - UNUSED_NUMBERS;
        let mut trunks = Vec::new();
        for some in free.chunks(leaves_max + 1) {
            let [trunk, leaves @ ..] = some else { continue };
            let mut page = vec![0; page_bytes];
            let numbers = [first, leaves.len() as u32];
            let numbers = numbers.iter().chain(leaves);
            for (slot, number) in page.chunks_exact_mut(4).zip(numbers) {
                slot.copy_from_slice(&number.to_be_bytes());
            }
            trunks.push((*trunk, page));
            first = *trunk;
        }
        FreeList {
            trunks,
            first,
            pages: before + free.len() as u32,
        }
    }

    /// Puts the list, and how many pages the file has, into the file's first page.
    pub fn enter(&self, first_page: &mut [u8], pages: u32) {
        let numbers = [pages, self.first, self.pages];
        for (slot, number) in first_page[SIZES..].chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_be_bytes());
        }
    }
}

/// What the header of a file says of its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// The number of pages.
    pub pages: u32,
    /// The first trunk page of the freelist; 0 for none.
    pub free_list: u32,
    /// How many pages are free.
    pub free_pages: u32,
}

impl Sizes {
    /// Reads them from the first page; `None` where a version of SQLite before 3.7.0 has written the file last, which
    /// did not keep the number of pages.
    #[must_use]
    pub fn of(first_page: &[u8]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = first_page.get(at..at + 4)?;
            Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        let page_bytes = [*first_page.get(16)?, *first_page.get(17)?];
        let sizes = Sizes {
            // 65536 is written as 1.
            page_bytes: match u16::from_be_bytes(page_bytes) {
                1 => 65536,
                bytes => u32::from(bytes),
            },
            pages: number(SIZES)?,
            free_list: number(SIZES + 4)?,
            free_pages: number(SIZES + 8)?,
        };
        (number(24)? == number(92)? && sizes.pages > 0).then_some(sizes)
    }
}
