//! The history of a pool, as far as service is concerned.

/// One change in the history of a pool, in the order in which they happened.
///
/// "Backlogged" means in the calendar: something is pending and no ceiling of its own holds the
/// tenant back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The tenant's weight is now this. Its first change; a later one also ends its backlog.
    Weight {
        /// Index of the tenant.
        tenant: u32,
        /// The new weight, above 0.
        weight: i64,
    },
    /// The tenant enters the calendar.
    Backlogged {
        /// Index of the tenant.
        tenant: u32,
        /// Its deficit at this moment, credited to the current round.
        deficit: i64,
    },
    /// The tenant leaves the calendar: nothing is pending, or a ceiling holds it back.
    Unbacklogged {
        /// Index of the tenant.
        tenant: u32,
    },
    /// The tenant's head task, or its charge, is another one.
    Head {
        /// Index of the tenant.
        tenant: u32,
        /// Charge of the head task.
        charge: i64,
    },
    /// A task was handed out: service of `charge`.
    Dispatched {
        /// Index of the tenant.
        tenant: u32,
        /// Identifies the attempt.
        fence: u64,
        /// What was taken from the deficit.
        charge: i64,
    },
    /// The attempt completed: service is corrected from its charge to its actual cost.
    Settled {
        /// Index of the tenant.
        tenant: u32,
        /// Identifies the attempt.
        fence: u64,
        /// What it really cost.
        actual: i64,
        /// What was cut off the refund.
        forfeited: i64,
    },
    /// The attempt ended and its charge stands: it failed or was lost.
    Kept {
        /// Index of the tenant.
        tenant: u32,
        /// Identifies the attempt.
        fence: u64,
    },
    /// The attempt never started: its charge was returned.
    Reversed {
        /// Index of the tenant.
        tenant: u32,
        /// Identifies the attempt.
        fence: u64,
    },
}

impl Change {
    pub(super) const fn tenant(self) -> u32 {
        match self {
            Self::Weight { tenant, .. }
            | Self::Backlogged { tenant, .. }
            | Self::Unbacklogged { tenant }
            | Self::Head { tenant, .. }
            | Self::Dispatched { tenant, .. }
            | Self::Settled { tenant, .. }
            | Self::Kept { tenant, .. }
            | Self::Reversed { tenant, .. } => tenant,
        }
    }
}
