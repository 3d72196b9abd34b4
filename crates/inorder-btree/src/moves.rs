//! Moves the last pages of a file into its free ones, so that the file can end before them.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::cells::{Cells, Payload};
use crate::error::{Error, Result};
use crate::geometry::{Geometry, PageKind};
use crate::header::HEADER_BYTES;
use crate::numbers::lock_page;
use crate::o_direct::{ALIGNMENT_BYTES, Aligned, DirectIo};
use crate::page_map::{PageMap, Use, number_at};
use crate::reader::Reader;

/// Bytes read and written at once: a multiple of every page size.
const BLOCK_BYTES: usize = 1 << 22;

/// Shorter runs of pages are written through the page cache: each direct write is a request of its own.
const DIRECT_BYTES_MIN: usize = 1 << 16;

/// Which pages go where.
#[derive(Debug)]
pub struct Moves {
    /// The new number of each page; 0 where it stays.
    to: Vec<u32>,
    /// Pages of the file afterwards.
    pages: u32,
    /// Pages that stay free.
    free: Vec<u32>,
}

impl Moves {
    /// Plans the moves that make a file as short as its free pages allow. Root pages stay where they are.
    #[must_use]
    pub fn new(map: &PageMap, page_bytes: u32) -> Self {
        let pending = lock_page(page_bytes);
        let is_free = |used: Use| matches!(used, Use::Free | Use::Trunk);
        let is_used = |used: Use| !is_free(used) && !matches!(used, Use::Lock | Use::Unknown);
        let used = map.iter().filter(|(_, page)| is_used(page.used)).count() as u32;
        let wanted = used + u32::from(used >= pending);
        let is_root = |used: Use, referrer: u32| is_used(used) && referrer == 0;
        let roots = map
            .iter()
            .filter(|(_, page)| is_root(page.used, page.referrer));
        let pages = roots.map(|(root, _)| root).fold(wanted, u32::max);
        let mut free = map
            .iter()
            .take(pages as usize)
            .filter(|(_, page)| is_free(page.used));
        let mut to = vec![0; map.pages() as usize];
        for (number, page) in map.iter().skip(pages as usize) {
            if is_used(page.used)
                && let Some((target, _)) = free.next()
            {
                to[number as usize - 1] = target;
            }
        }
        Moves {
            free: free.map(|(number, _)| number).collect(),
            to,
            pages,
        }
    }

    /// Pages of the file afterwards.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Pages that stay free.
    #[must_use]
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    #[inline]
    fn target(&self, number: u32) -> Option<u32> {
        let to = self.to.get((number as usize).checked_sub(1)?)?;
        (*to != 0).then_some(*to)
    }

    /// Copies the pages to their places where nobody reads what is there: the file has the same content afterwards. Returns
    /// the other pages of the file as they must become, by their numbers: those that stay and refer to moved ones, and those
    /// that take the place of trunk pages. `direct` and `cached` are the file, opened twice; `look` is called now and then,
    /// and its error ends the work.
    ///
    /// # Errors
    /// [`Error::Malformed`], and what reading, writing and `look` bring.
    pub fn make(
        &self,
        reader: &mut Reader,
        map: &PageMap,
        direct: &File,
        cached: &File,
        mut look: impl FnMut() -> std::io::Result<()>,
    ) -> Result<Vec<(u32, Vec<u8>)>> {
        let geometry = reader.geometry();
        let mut refers = vec![false; map.pages() as usize];
        for (number, page) in map.iter() {
            if page.referrer > 0 && self.target(number).is_some() {
                refers[page.referrer as usize - 1] = true;
            }
        }
        let mut copy = Copy {
            io: DirectIo::begin(direct, true),
            direct,
            cached,
            page_bytes: geometry.page,
            block: Aligned::new(BLOCK_BYTES),
            targets: Vec::new(),
        };
        let mut others = Vec::new();
        let per_block = (BLOCK_BYTES / geometry.page) as u32;
        let mut first = self.pages + 1;
        while first <= map.pages() {
            look()?;
            let count = per_block.min(map.pages() - first + 1);
            let numbers = first..first + count;
            first += count;
            if numbers.clone().all(|number| self.target(number).is_none()) {
                continue;
            }
            copy.read(numbers.start, count)?;
            for (at, number) in numbers.enumerate() {
                let Some(target) = self.target(number) else {
                    continue;
                };
                let page = copy.page(at);
                if refers[number as usize - 1] {
                    self.redirect(page, number, map.page(number).used, &geometry)?;
                }
                // A trunk page has content until the freelist is another one.
                match map.page(target).used {
                    Use::Trunk => others.push((target, page.to_vec())),
                    _ => copy.gather(at, target),
                }
            }
            copy.write()?;
        }
        copy.io.end(direct)?;
        let stays = |number: &u32| refers[*number as usize - 1] && self.target(*number).is_none();
        let staying: Vec<u32> = (1..=map.pages()).filter(stays).collect();
        for number in staying {
            let mut page = reader.page(number)?.to_vec();
            self.redirect(&mut page, number, map.page(number).used, &geometry)?;
            others.push((number, page));
        }
        Ok(others)
    }

    /// Gives the references of a page the new numbers.
    fn redirect(&self, page: &mut [u8], number: u32, used: Use, geometry: &Geometry) -> Result<()> {
        if used == Use::Overflow {
            self.redirect_at(page, 0);
            return Ok(());
        }
        let malformed = || Error::Malformed { page: number };
        let mut places = Vec::new();
        let cells = Cells::new(page, number, geometry.usable).ok_or_else(malformed)?;
        for at in 0..cells.count {
            let mut cell = cells.cell(at).ok_or_else(malformed)?;
            if cells.kind.is_interior() {
                places.push(offset(page, cell));
                cell = cell.get(4..).ok_or_else(malformed)?;
            }
            if cells.kind != PageKind::TableInterior {
                let (_, payload) = geometry.payload(cells.kind, cell).ok_or_else(malformed)?;
                if let Payload::Split { local, .. } = payload {
                    places.push(offset(page, local) + local.len());
                }
            }
        }
        if cells.kind.is_interior() {
            places.push(if number == 1 { HEADER_BYTES } else { 0 } + 8);
        }
        places.into_iter().for_each(|at| self.redirect_at(page, at));
        Ok(())
    }

    fn redirect_at(&self, page: &mut [u8], at: usize) {
        if let Some(target) = self.target(number_at(page, at)) {
            page[at..at + 4].copy_from_slice(&target.to_be_bytes());
        }
    }
}

/// Where a part of a page is.
fn offset(page: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr() - page.as_ptr().addr()
}

/// Pages that are read together and written where they belong.
struct Copy<'a> {
    direct: &'a File,
    io: DirectIo,
    cached: &'a File,
    page_bytes: usize,
    block: Aligned,
    /// Where the first pages of the block go.
    targets: Vec<u32>,
}

impl Copy<'_> {
    fn offset(&self, number: u32) -> u64 {
        u64::from(number - 1) * self.page_bytes as u64
    }

    fn read(&mut self, first: u32, count: u32) -> Result<()> {
        let (offset, bytes) = (self.offset(first), count as usize * self.page_bytes);
        self.targets.clear();
        let block = &mut self.block[..bytes];
        let is_aligned =
            bytes.is_multiple_of(ALIGNMENT_BYTES) && offset.is_multiple_of(ALIGNMENT_BYTES as u64);
        match is_aligned {
            true => self.io.read_exact_at(self.direct, block, offset),
            false => self.cached.read_exact_at(block, offset),
        }
        .map_err(Error::Read)
    }

    /// A page that was read, by its place in the block.
    fn page(&mut self, at: usize) -> &mut [u8] {
        &mut self.block[at * self.page_bytes..][..self.page_bytes]
    }

    /// Puts a page behind those that were gathered before, which pages that stay or are gone lay between.
    fn gather(&mut self, at: usize, target: u32) {
        let (from, to) = (at * self.page_bytes, self.targets.len() * self.page_bytes);
        if from > to {
            self.block.copy_within(from..from + self.page_bytes, to);
        }
        self.targets.push(target);
    }

    /// Writes the pages that were gathered, those at once whose places come one after another.
    fn write(&self) -> Result<()> {
        let mut at = 0;
        while let Some(&first) = self.targets.get(at) {
            let rest = self.targets[at..].iter().zip(first..);
            let run = rest.take_while(|(target, next)| *target == next).count();
            let bytes = &self.block[at * self.page_bytes..][..run * self.page_bytes];
            let offset = self.offset(first);
            let is_direct = bytes.len() >= DIRECT_BYTES_MIN
                && (at * self.page_bytes).is_multiple_of(ALIGNMENT_BYTES)
                && bytes.len().is_multiple_of(ALIGNMENT_BYTES)
                && offset.is_multiple_of(ALIGNMENT_BYTES as u64);
            match is_direct {
                true => self.io.write_all_at(self.direct, bytes, offset)?,
                false => self.cached.write_all_at(bytes, offset)?,
            }
            at += run;
        }
        Ok(())
    }
}
