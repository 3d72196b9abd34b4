//! What happens to values that the destination can't have.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;

use crate::value::{FAULTS, Fault};

/// What happens to a value.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It ends the copy.
    #[default]
    Refuse,
    /// It is NULL.
    Null,
    /// It loses what the destination can't have.
    Strip,
    /// Its row is left out.
    LeaveOut,
}

impl Action {
    /// Its name in a plan.
    pub fn name(self) -> &'static str {
        match self {
            Action::Refuse => "refuse",
            Action::Null => "null",
            Action::Strip => "strip",
            Action::LeaveOut => "leave-out",
        }
    }
}

/// The rules of a column, and how many values each one touched.
#[derive(Debug)]
pub struct Rules {
    actions: [Action; FAULTS.len()],
    /// Whether a value is of the column's type, if that is not the source's.
    valid: Option<fn(&[u8]) -> bool>,
    touched: [AtomicU64; FAULTS.len()],
}

impl Rules {
    pub fn new(actions: [Action; FAULTS.len()], valid: Option<fn(&[u8]) -> bool>) -> Self {
        Rules {
            actions,
            valid,
            touched: Default::default(),
        }
    }

    /// Whether a value is not of the column's type.
    pub fn is_invalid(&self, value: &[u8]) -> bool {
        self.valid.is_some_and(|valid| !valid(value))
    }

    /// What happens to a value, which is counted.
    pub fn touch(&self, fault: Fault) -> Action {
        let action = self.actions[fault as usize];
        if action != Action::Refuse {
            self.touched[fault as usize].fetch_add(1, Ordering::Relaxed);
        }
        action
    }

    /// The rules that touched values: the fault, the action and the number of values.
    pub fn touched(&self) -> Vec<(Fault, Action, u64)> {
        let rules = FAULTS.iter().zip(&self.actions).zip(&self.touched);
        let rules = rules
            .map(|((fault, action), touched)| (*fault, *action, touched.load(Ordering::Relaxed)));
        rules.filter(|(.., values)| *values > 0).collect()
    }

    /// Forgets the values that were touched.
    pub fn begin(&self) {
        for touched in &self.touched {
            touched.store(0, Ordering::Relaxed);
        }
    }
}
