//! Values that are computed from the configuration.

use super::{Config, Values};
use std::sync::{Arc, PoisonError, RwLock};

/// A value computed from the configuration, again after each change.
#[derive(Debug)]
pub struct Derived<T> {
    make: fn(&Values) -> T,
    made: RwLock<Option<(Arc<Values>, Arc<T>)>>,
}

impl<T> Derived<T> {
    /// Describes a value. It is computed when it is first asked for.
    pub const fn new(make: fn(&Values) -> T) -> Self {
        Derived {
            make,
            made: RwLock::new(None),
        }
    }

    /// Returns the value for the configuration as it is now.
    pub fn get(&self, config: &Config) -> Arc<T> {
        let values = config.values();
        if let Some((of, made)) = &*self.made.read().unwrap_or_else(PoisonError::into_inner)
            && Arc::ptr_eq(of, &values)
        {
            return Arc::clone(made);
        }
        let made = Arc::new((self.make)(&values));
        let kept = Some((values, Arc::clone(&made)));
        *self.made.write().unwrap_or_else(PoisonError::into_inner) = kept;
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Lifetime;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_value_is_computed_once_per_change() {
        static COMPUTED: AtomicUsize = AtomicUsize::new(0);
        let derived = Derived::new(|values| {
            COMPUTED.fetch_add(1, Ordering::Relaxed);
            values.get("s", "k").map(str::to_owned)
        });
        let config = Config::default();
        assert_eq!((*derived.get(&config)).as_deref(), None);
        config.set("s", "k", "v", Lifetime::Kept).unwrap();
        for _ in 0..3 {
            assert_eq!((*derived.get(&config)).as_deref(), Some("v"));
        }
        assert_eq!(COMPUTED.load(Ordering::Relaxed), 2);
    }
}
