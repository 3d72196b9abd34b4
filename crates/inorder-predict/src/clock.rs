//! A buffer cache with clock sweep: which pages leave it, and which of them have to be written first.

/// No slot.
const NONE: u32 = u32::MAX;
/// The count of uses above which a further use changes nothing.
const USES_MAX: u8 = 5;

/// A page in the cache. A page of a sampled tree stands for `weight` pages.
#[derive(Clone, Copy, Debug)]
struct Slot {
    page: u32,
    weight: u32,
    uses: u8,
    is_changed: bool,
    /// The running checkpoint has to write it.
    is_due: bool,
    /// Its next write was counted already.
    is_counted: bool,
}

impl Slot {
    /// The number of pages whose write is to be counted.
    fn write(&mut self) -> u32 {
        match std::mem::take(&mut self.is_counted) {
            true => 0,
            false => self.weight,
        }
    }
}

const FREE: Slot = Slot {
    page: NONE,
    weight: 0,
    uses: 0,
    is_changed: false,
    is_due: false,
    is_counted: false,
};

/// The cache. A hand goes around the pages and takes one use from each; it removes the first page without uses.
#[derive(Clone, Debug)]
pub struct Clock {
    pages_max: u64,
    pages: u64,
    slots: Vec<Slot>,
    free: Vec<u32>,
    hand: usize,
    /// The slot of each page.
    places: Vec<u32>,
}

impl Clock {
    /// An empty cache of so many pages.
    pub fn new(pages_max: u64) -> Self {
        Clock {
            pages_max,
            pages: 0,
            slots: Vec::new(),
            free: Vec::new(),
            hand: 0,
            places: Vec::new(),
        }
    }

    /// Its size in pages.
    pub fn pages_max(&self) -> u64 {
        self.pages_max
    }

    fn slot(&mut self, page: u32) -> Option<&mut Slot> {
        let place = *self.places.get(page as usize)?;
        self.slots.get_mut(place as usize)
    }

    /// Uses a page that stands for `weight` pages. Returns whether the cache had it. `written` receives the weight of each
    /// changed page that had to leave.
    pub fn touch(&mut self, page: u32, weight: u32, written: &mut dyn FnMut(u32)) -> bool {
        if let Some(slot) = self.slot(page) {
            slot.uses = (slot.uses + 1).min(USES_MAX);
            return true;
        }
        while self.pages + u64::from(weight) > self.pages_max && self.pages > 0 {
            self.evict(written);
        }
        let slot = Slot {
            page,
            weight,
            uses: 1,
            ..FREE
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = slot;
                place
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        if self.places.len() <= page as usize {
            self.places.resize(page as usize + 1, NONE);
        }
        self.places[page as usize] = place;
        self.pages += u64::from(weight);
        false
    }

    fn evict(&mut self, written: &mut dyn FnMut(u32)) {
        loop {
            let hand = self.hand;
            self.hand = (hand + 1) % self.slots.len();
            let slot = &mut self.slots[hand];
            if slot.page == NONE {
                continue;
            }
            if slot.uses > 0 {
                slot.uses -= 1;
                continue;
            }
            let page = slot.page;
            if slot.is_changed {
                written(slot.write());
            }
            self.forget(page);
            return;
        }
    }

    /// Marks a page in the cache as changed.
    pub fn change(&mut self, page: u32) {
        if let Some(slot) = self.slot(page) {
            slot.is_changed = true;
        }
    }

    /// Notes that the next write of a page was counted.
    pub fn count_write(&mut self, page: u32) {
        if let Some(slot) = self.slot(page) {
            slot.is_counted = true;
        }
    }

    /// Begins a checkpoint. Returns the changed pages.
    pub fn begin_checkpoint(&mut self) -> Vec<u32> {
        let mut due = Vec::new();
        for slot in &mut self.slots {
            slot.is_due = slot.is_changed;
            if slot.is_due {
                due.push(slot.page);
            }
        }
        due
    }

    /// Writes a page for the checkpoint. Returns the number of pages that it stands for; 0 if it was written before.
    pub fn write_due(&mut self, page: u32) -> u32 {
        match self.slot(page) {
            Some(slot) if slot.is_due && slot.is_changed => {
                slot.is_due = false;
                slot.is_changed = false;
                slot.write()
            }
            _ => 0,
        }
    }

    /// Takes a page out without writing it.
    pub fn forget(&mut self, page: u32) {
        let Some(place) = self.places.get(page as usize).copied() else {
            return;
        };
        let Some(slot) = self.slots.get_mut(place as usize) else {
            return;
        };
        self.pages -= u64::from(slot.weight);
        *slot = FREE;
        self.places[page as usize] = NONE;
        self.free.push(place);
    }

    /// Changes the number of pages that a page stands for.
    pub fn set_weight(&mut self, page: u32, weight: u32) {
        let Some(slot) = self.slot(page) else {
            return;
        };
        let before = std::mem::replace(&mut slot.weight, weight);
        self.pages = self.pages - u64::from(before) + u64::from(weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_used_often_outlives_one_used_once() {
        let mut clock = Clock::new(3);
        let mut written = 0;
        let mut touch = |clock: &mut Clock, page| clock.touch(page, 1, &mut |w| written += w);
        for page in [7, 7, 7, 8, 9] {
            touch(&mut clock, page);
        }
        clock.change(8);
        // The hand takes a use from each, then 8 has none left.
        assert!(!touch(&mut clock, 10));
        assert!(touch(&mut clock, 7));
        assert!(!touch(&mut clock, 8));
        assert_eq!(written, 1);
    }

    #[test]
    fn a_checkpoint_writes_a_page_once() {
        let mut clock = Clock::new(10);
        for page in 0..4 {
            clock.touch(page, 2, &mut |_| {});
        }
        clock.change(1);
        clock.change(3);
        assert_eq!(clock.begin_checkpoint(), [1, 3]);
        clock.change(0);
        assert_eq!((clock.write_due(1), clock.write_due(1)), (2, 0));
        assert_eq!(clock.write_due(0), 0);
    }
}
