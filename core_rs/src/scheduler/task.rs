//! Live tasks.

use std::fmt;

/// Where a live task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// In its tenant's queue.
    Pending,
    /// Handed to a worker: this attempt's fence and what it was charged.
    InFlight {
        /// Number of this dispatch, unique and increasing within a pool.
        fence: u64,
        /// Amount taken from the tenant's deficit.
        charge: i64,
    },
    /// Sitting out its own pause, outside the queue.
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

/// A live task: not ended, whether queued, in flight or waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Index of its tenant.
    pub tenant: u32,
    /// Estimated cost.
    pub cost: i64,
    /// Place in the queue, kept through every return: priority · 2^44 + arrival number.
    pub score: i64,
    /// Where it is.
    pub phase: Phase,
}
