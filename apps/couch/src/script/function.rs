//! Functions by their text.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The text of a function and of the design document it is from. Cheap to clone.
#[derive(Clone)]
pub struct Function(Arc<Text>);

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One function.
    Single,
    /// JSON: `maps` and `reduces`, the functions of the views of a design document.
    Views,
}

struct Text {
    kind: Kind,
    source: String,
    design: String,
    digest: [u8; 32],
}

impl Function {
    /// The function `source` of the design document `design` (JSON).
    pub fn new(source: String, design: String) -> Self {
        Function::of(Kind::Single, source, design)
    }

    /// The functions of views (JSON: `maps` and `reduces`, arrays of sources), and what they may require.
    pub fn views(source: String, design: String) -> Self {
        Function::of(Kind::Views, source, design)
    }

    fn of(kind: Kind, source: String, design: String) -> Self {
        let mut digest = Sha256::new();
        digest.update([kind as u8]);
        digest.update(source.len().to_le_bytes());
        digest.update(&source);
        digest.update(&design);
        Function(Arc::new(Text {
            digest: digest.finalize().into(),
            kind,
            source,
            design,
        }))
    }

    /// What the source is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The function expression.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Bytes of the function and of the design document.
    pub fn bytes(&self) -> usize {
        self.source().len() + self.design().len()
    }

    /// The design document, JSON.
    pub fn design(&self) -> &str {
        &self.0.design
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}

impl Eq for Function {}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Function")
    }
}
