//! The scale of an experiment.

use serde::{Deserialize, Serialize};

/// The scale of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Smaller than the question was asked, with caches to match: a trial takes tenths of a second.
    Quick,
    /// The published sizes.
    Full,
}

impl Scale {
    /// Every scale.
    pub const ALL: &[Scale] = &[Scale::Quick, Scale::Full];

    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Scale::Quick => "quick",
            Scale::Full => "full",
        }
    }

    /// The scale with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scale| scale.name() == name)
    }
}
