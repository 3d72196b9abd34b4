//! A list that grows, and is read without a lock: pages look up hundreds of texts.

use std::sync::OnceLock;

/// The maximum number of values. A search reads them one after the other.
const VALUES_MAX: usize = 64;

/// Values that are kept until the program ends.
pub struct Kept<T>(OnceLock<Box<Link<T>>>);

struct Link<T> {
    value: T,
    next: Kept<T>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(OnceLock::new())
    }
}

impl<T> Kept<T> {
    /// The first value that is the wanted one.
    pub fn find(&self, is_wanted: impl Fn(&T) -> bool) -> Option<&T> {
        let mut at = self;
        while let Some(link) = at.0.get() {
            if is_wanted(&link.value) {
                return Some(&link.value);
            }
            at = &link.next;
        }
        None
    }

    /// Adds a value, which another thread may have added meanwhile. A full list stays as it is.
    pub fn add(&self, value: T) {
        let next = Kept::default();
        let (mut at, mut link) = (self, Box::new(Link { value, next }));
        for _ in 0..VALUES_MAX {
            let Err(refused) = at.0.set(link) else { return };
            let Some(taken) = at.0.get() else { return };
            (at, link) = (&taken.next, refused);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_and_a_full_list_takes_no_more() {
        let kept = Kept::default();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let kept = &kept;
                scope.spawn(move || (0..20).for_each(|n| kept.add(thread * 20 + n)));
            }
        });
        let found = (0..80).filter(|n| kept.find(|value| value == n).is_some());
        assert_eq!(found.count(), VALUES_MAX);
        assert_eq!(kept.find(|value| *value == 80), None);
    }
}
