//! Live tasks.

use std::fmt;

/// The phase of a live task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// In its tenant's queue.
    Pending,
    /// Handed to a worker, with this attempt's fence and charge.
    InFlight {
        /// Number of this dispatch, unique and increasing within a pool.
        fence: u64,
        /// Amount taken from the tenant's deficit.
        charge: i64,
    },
    /// Outside the queue until its own pause ends.
    Waiting,
}

/// A [`Phase`] without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseName {
    /// See [`Phase::Pending`].
    Pending,
    /// See [`Phase::InFlight`].
    InFlight,
    /// See [`Phase::Waiting`].
    Waiting,
}

impl Phase {
    /// This phase without its values.
    #[must_use]
    pub const fn name(self) -> PhaseName {
        match self {
            Self::Pending => PhaseName::Pending,
            Self::InFlight { .. } => PhaseName::InFlight,
            Self::Waiting => PhaseName::Waiting,
        }
    }
}

impl PhaseName {
    /// The name as one lower-case word: `pending`, `in_flight` or `waiting`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InFlight => "in_flight",
            Self::Waiting => "waiting",
        }
    }
}

impl fmt::Display for PhaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A task that has not ended: pending, in flight or waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Index of its tenant.
    pub tenant: u32,
    /// Estimated cost.
    pub cost: i64,
    /// Queue position: priority · 2^44 + arrival number. A task that returns to the queue keeps it.
    pub score: i64,
    /// Its phase.
    pub phase: Phase,
}
