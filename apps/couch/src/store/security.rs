//! The security object of a database.

use super::{Database, Pending, Result};
use crate::auth::Security;
use std::sync::Arc;

/// The property that keeps the security object.
const PROPERTY: &str = "security";

impl Database {
    /// The security object.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn security(&self) -> Result<Arc<Security>> {
        self.shared().security.get(|| self.property(PROPERTY))
    }

    /// Replaces the security object. The new one applies when the answer is there.
    pub fn set_security(&self, security: &Security) -> Pending<()> {
        let slot = self.shared().security.clone();
        self.set_property_then(PROPERTY, security.to_string(), move || slot.clear())
    }
}
