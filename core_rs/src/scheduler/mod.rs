//! Weighted deficit round robin without a ring: the reference for every decision of Fairlane.
//!
//! In classic deficit round robin (Shreedhar and Varghese, 1995) each round adds
//! weight · quantum to a backlogged tenant's deficit, and the tenant is served while the deficit
//! covers its head task. This module does not walk the rounds. The calendar holds, per tenant, the
//! round in which its head task becomes affordable, so that a decision costs O(log tenants) whatever
//! the costs and the quantum are.
//!
//! Within a round tenants are served in the order of their index. All numbers are integers, and equal
//! operations give equal states.

mod dispatch;
mod error;
mod limits;
mod operations;
mod state;
mod task;
mod tenant;

use std::collections::BTreeMap;

pub use dispatch::{Batch, Placement};
pub use error::SchedulerError;
pub use limits::{
    MAX_CEILING, MAX_COST, MAX_PRIORITY, MAX_QUANTA_PER_TASK, MAX_QUANTUM, MAX_SLOTS, MAX_VISITS,
    MAX_WEIGHT,
};
pub use state::{PoolState, TenantState};
pub use task::{Phase, PhaseName, Task};

use error::within;
use tenant::{Calendar, Tenant};

/// A tenant's weight and ceilings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Share of service relative to other tenants, 1..=[`MAX_WEIGHT`].
    pub weight: i64,
    /// Number of tasks it may have in flight; 0 = no ceiling.
    pub slot_ceiling: i64,
    /// Sum of estimated costs it may have in flight; 0 = no ceiling.
    pub cost_ceiling: i64,
}

/// Where a tenant stands: without tasks, in the calendar, or parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It has no pending tasks.
    Idle,
    /// It waits in the calendar.
    Calendar {
        /// The round in which it is visited next.
        round: i64,
    },
    /// A ceiling of its own stops it. It is not in the calendar and earns no credit.
    Parked(Reason),
}

/// The ceiling that parked a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its number of tasks in flight.
    Slots,
    /// Its cost in flight.
    Cost,
}

#[derive(Debug, Clone)]
struct Pool {
    quantum: i64,
    capacity: i64,
    cost_ceiling: i64,
    slots: i64,
    cost: i64,
    round: i64,
    epoch: u64,
    live: i64,
    sequence: i64,
    fence: u64,
}

impl Pool {
    /// The largest cost of a task for which all arithmetic is exact.
    fn max_cost(&self) -> i64 {
        MAX_COST.min(self.quantum * MAX_QUANTA_PER_TASK)
    }
}

/// The dispatch decisions of a pool as a state machine.
///
/// The caller chooses an index for each tenant and a handle for each task. It may reuse a handle after
/// the task ended. A refused operation changes nothing.
#[derive(Debug, Clone)]
pub struct Scheduler {
    pool: Pool,
    tenants: BTreeMap<u32, Tenant>,
    tasks: BTreeMap<u64, Task>,
    calendar: Calendar,
}

impl Scheduler {
    /// Makes a pool without tenants. `cost_ceiling` 0 means no ceiling.
    ///
    /// # Errors
    /// [`SchedulerError::OutOfRange`] unless `quantum` is in 1..=[`MAX_QUANTUM`], `capacity` in
    /// 0..=[`MAX_SLOTS`] and `cost_ceiling` in 0..=[`MAX_CEILING`].
    pub fn new(quantum: i64, capacity: i64, cost_ceiling: i64) -> Result<Self, SchedulerError> {
        Ok(Self {
            pool: Pool {
                quantum: within("quantum", quantum, 1, MAX_QUANTUM)?,
                capacity: within("capacity", capacity, 0, MAX_SLOTS)?,
                cost_ceiling: within("cost_ceiling", cost_ceiling, 0, MAX_CEILING)?,
                slots: 0,
                cost: 0,
                round: 0,
                epoch: 0,
                live: 0,
                sequence: 0,
                fence: 0,
            },
            tenants: BTreeMap::new(),
            tasks: BTreeMap::new(),
            calendar: Calendar::new(),
        })
    }

    /// Brings a tenant to the current epoch and round, applies `change` and updates its calendar entry.
    fn change<T>(&mut self, tenant: u32, change: impl FnOnce(&mut Tenant, &mut Pool) -> T) -> T {
        let tenant = self
            .tenants
            .get_mut(&tenant)
            .expect("a task's tenant is never removed");
        tenant.adopt(&self.pool);
        tenant.credit(&self.pool);
        let result = change(tenant, &mut self.pool);
        tenant.touch(&self.pool, &mut self.calendar);
        result
    }

    /// Begins a new epoch when no task is live, so that rounds do not grow without bound.
    fn idle_check(&mut self) {
        if self.pool.live == 0 && self.pool.round > 0 {
            self.pool.round = 0;
            self.pool.epoch += 1;
        }
    }
}

#[cfg(test)]
mod tests;
