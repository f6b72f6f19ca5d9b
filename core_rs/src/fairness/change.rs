//! The history of a pool, limited to the changes that affect service.

/// One change in the history of a pool. A history lists its changes in the order in which they happened.
///
/// A tenant is "backlogged" while it is in the calendar: it has pending tasks, and no ceiling of its
/// own stops it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// The tenant has a new weight. This must be the tenant's first change. A later one ends its backlog.
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
        /// Its deficit at this moment.
        deficit: f64,
    },
    /// A ceiling of its own stops a tenant of the calendar.
    Parked {
        /// Index of the tenant.
        tenant: u32,
    },
    /// The tenant has no pending task left, and is owed nothing from now on.
    Idle {
        /// Index of the tenant.
        tenant: u32,
    },
    /// A task was handed to a worker: service of `charge`.
    Dispatched {
        /// Index of the tenant.
        tenant: u32,
        /// Identifies the attempt.
        fence: u64,
        /// What fairness counts until the attempt is settled.
        charge: i64,
        /// What the tenant is owed afterwards.
        owed: i64,
    },
    /// The attempt completed: service is corrected from its charge to its actual cost.
    Settled {
        /// Index of the tenant.
        tenant: u32,
        /// Identifies the attempt.
        fence: u64,
        /// Actual cost of the attempt.
        actual: i64,
        /// What the tenant is owed afterwards.
        owed: i64,
    },
    /// The attempt failed or was lost, and keeps its charge.
    Kept {
        /// Index of the tenant.
        tenant: u32,
        /// Identifies the attempt.
        fence: u64,
    },
    /// The attempt never started, and its charge was given back.
    Reversed {
        /// Index of the tenant.
        tenant: u32,
        /// Identifies the attempt.
        fence: u64,
        /// What the tenant is owed afterwards.
        owed: i64,
    },
}

impl Change {
    pub(super) const fn tenant(self) -> u32 {
        match self {
            Self::Weight { tenant, .. }
            | Self::Backlogged { tenant, .. }
            | Self::Parked { tenant }
            | Self::Idle { tenant }
            | Self::Dispatched { tenant, .. }
            | Self::Settled { tenant, .. }
            | Self::Kept { tenant, .. }
            | Self::Reversed { tenant, .. } => tenant,
        }
    }
}
