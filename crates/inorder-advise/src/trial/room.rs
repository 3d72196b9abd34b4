//! Room on the disk for copies that are made side by side.

use std::sync::{Condvar, Mutex, PoisonError};

/// Room for some bytes. What needs more than there is gets all of it, and is alone.
pub(super) struct Room {
    bytes: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

/// Room that is taken until this is dropped.
pub(super) struct Stay<'r> {
    room: &'r Room,
    bytes: u64,
}

impl Room {
    pub(super) fn new(bytes: u64) -> Self {
        Room {
            bytes,
            used: Mutex::new(0),
            freed: Condvar::new(),
        }
    }

    /// Waits until there is room. A thread may have one stay at a time.
    pub(super) fn enter(&self, bytes: u64) -> Stay<'_> {
        let bytes = bytes.min(self.bytes);
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |used: &mut u64| *used + bytes > self.bytes;
        let used = self.freed.wait_while(used, is_full);
        *used.unwrap_or_else(PoisonError::into_inner) += bytes;
        Stay { room: self, bytes }
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        *self
            .room
            .used
            .lock()
            .unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.room.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::atomic::*, thread, time::Duration};

    #[test]
    fn no_more_is_used_than_there_is() {
        let (room, used, most) = (Room::new(10), AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for bytes in [3, 4, 10, 25, 6, 0, 7] {
                let (room, used, most) = (&room, &used, &most);
                scope.spawn(move || {
                    let _stay = room.enter(bytes);
                    let bytes = bytes.min(10);
                    let now = used.fetch_add(bytes, Ordering::SeqCst) + bytes;
                    most.fetch_max(now, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(5));
                    used.fetch_sub(bytes, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 10);
    }
}
