//! Reads pages of a file, several at once where they come one after another.

use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::mapped::Mapped;
use crate::o_direct::{ALIGNMENT_BYTES, Aligned, DirectIo};

/// Bytes of a window, and how many there are. A walk through a tree goes back and forth between its leaf pages and the
/// interior pages above them.
const WINDOW_BYTES: usize = 1 << 18;
const WINDOWS: usize = 3;

/// The same where the page cache is bypassed. In a file that was built in one go, an interior page lies behind its
/// leaf pages.
const DIRECT_WINDOW_BYTES: usize = 1 << 21;
const DIRECT_WINDOWS: usize = 4;

/// Pages of other trees, or of overflow, may lie between.
const NEAR_PAGES: u32 = 8;

/// Some places of a file of which pages are in memory.
#[derive(Debug)]
pub(crate) struct Windows {
    file: Arc<File>,
    io: DirectIo,
    is_direct: bool,
    page_bytes: usize,
    /// The file's.
    pages: u32,
    windows: Vec<Window>,
    /// All pages, where they are mapped.
    mapped: Option<Arc<Mapped>>,
    /// The window that was used last.
    current: usize,
    clock: u64,
}

/// Pages that were read at once.
#[derive(Debug)]
struct Window {
    bytes: Aligned,
    first: u32,
    pages: u32,
    /// How often the pages after these were wanted next.
    run: u32,
    /// When it was filled.
    filled: u64,
}

/// Where a page is, until the next one is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    window: usize,
    offset: usize,
}

impl Windows {
    pub(crate) fn new(file: Arc<File>, page_bytes: usize, pages: u32, is_direct: bool) -> Self {
        let (bytes, count) = match is_direct {
            true => (DIRECT_WINDOW_BYTES, DIRECT_WINDOWS),
            false => (WINDOW_BYTES, WINDOWS),
        };
        let window = || Window {
            bytes: Aligned::new(bytes),
            first: 0,
            pages: 0,
            run: 0,
            filled: 0,
        };
        Windows {
            io: DirectIo::begin(&file, is_direct),
            file,
            is_direct,
            page_bytes,
            pages,
            windows: std::iter::repeat_with(window).take(count).collect(),
            mapped: None,
            current: 0,
            clock: 0,
        }
    }

    /// Maps the file's pages. Where the system can't, they are read as before.
    pub(crate) fn map(&mut self) {
        let bytes = u64::from(self.pages) * self.page_bytes as u64;
        self.mapped = Mapped::new(&self.file, bytes).ok().map(Arc::new);
    }

    pub(crate) fn mapped(&self) -> Option<&Arc<Mapped>> {
        self.mapped.as_ref()
    }

    /// Returns the file, which uses the page cache again.
    pub(crate) fn into_file(self) -> Arc<File> {
        // A file system that took the flag gives it back.
        _ = self.io.end(&self.file);
        self.file
    }

    /// Finds a page of the file, and reads it if it is in no window.
    #[inline]
    pub(crate) fn find(&mut self, number: u32) -> io::Result<Place> {
        if self.mapped.is_some() {
            let offset = (number - 1) as usize * self.page_bytes;
            return Ok(Place { window: 0, offset });
        }
        if !self.windows[self.current].has(number) {
            self.current = match self.windows.iter().position(|window| window.has(number)) {
                Some(window) => window,
                None => self.read(number)?,
            };
        }
        let offset = (number - self.windows[self.current].first) as usize * self.page_bytes;
        Ok(Place {
            window: self.current,
            offset,
        })
    }

    /// The page at a place.
    #[inline]
    pub(crate) fn page(&self, place: Place) -> &[u8] {
        let bytes = match &self.mapped {
            Some(mapped) => mapped.bytes(),
            None => &self.windows[place.window].bytes,
        };
        &bytes[place.offset..][..self.page_bytes]
    }

    /// Reads a page, and more where the pages before it were read. Returns the window.
    fn read(&mut self, number: u32) -> io::Result<usize> {
        self.clock += 1;
        let before = self
            .windows
            .iter()
            .position(|window| window.is_before(number));
        let oldest = (0..self.windows.len()).min_by_key(|at| self.windows[*at].filled);
        let (at, run) = match before {
            Some(at) => (at, self.windows[at].run + 1),
            None => (oldest.unwrap_or(0), 0),
        };
        let window = &mut self.windows[at];
        let most = (window.bytes.len() / self.page_bytes) as u32;
        let wanted = match self.is_direct {
            true => most,
            false => 1u32.checked_shl(run).unwrap_or(most).min(most),
        };
        // Direct reads begin and end at multiples of the alignment.
        let aligned = match self.is_direct {
            true => most,
            false => (ALIGNMENT_BYTES / self.page_bytes).max(1) as u32,
        };
        let first = (number - 1) / aligned * aligned + 1;
        let pages = wanted.next_multiple_of(aligned).min(self.pages - first + 1);
        let bytes = pages as usize * self.page_bytes;
        let offset = u64::from(first - 1) * self.page_bytes as u64;
        if !bytes.is_multiple_of(ALIGNMENT_BYTES) {
            self.io.end(&self.file)?;
        }
        // What is in it is nothing before it is read.
        window.pages = 0;
        self.io
            .read_exact_at(&self.file, &mut window.bytes[..bytes], offset)?;
        (window.first, window.pages) = (first, pages);
        (window.run, window.filled) = (run, self.clock);
        Ok(at)
    }
}

impl Window {
    #[inline]
    fn has(&self, number: u32) -> bool {
        number.wrapping_sub(self.first) < self.pages
    }

    /// Whether a page comes shortly after these.
    fn is_before(&self, number: u32) -> bool {
        let end = self.first + self.pages;
        self.pages > 0 && (end..end.saturating_add(NEAR_PAGES)).contains(&number)
    }
}
