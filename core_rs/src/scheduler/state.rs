//! Reading the state of a scheduler.

use super::{Limits, Place, Scheduler, SchedulerError, Task};

/// A tenant's state, in the current epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TenantState {
    /// Weight and ceilings.
    pub limits: Limits,
    /// Unused credit, or debt if negative, as of round `credited`.
    pub deficit: i64,
    /// Round up to which the deficit has been credited.
    pub credited: i64,
    /// Learned actual / estimate in permille, 1..=1000. A charge is the estimate times this ratio.
    pub ratio: i64,
    /// Idle, in the calendar, or parked.
    pub place: Place,
    /// Tasks in flight.
    pub slots: i64,
    /// Sum of the estimated costs in flight.
    pub cost: i64,
    /// Tasks in its queue.
    pub pending: usize,
}

/// A pool's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    /// Deficit that one round gives to a tenant of weight 1.
    pub quantum: i64,
    /// Number of tasks that may be in flight.
    pub capacity: i64,
    /// Sum of estimated costs that may be in flight; 0 = no ceiling.
    pub cost_ceiling: i64,
    /// Tasks in flight.
    pub slots: i64,
    /// Sum of the estimated costs in flight.
    pub cost: i64,
    /// Current round.
    pub round: i64,
    /// Number of times the pool became idle after at least one round.
    pub epoch: u64,
    /// Number of tasks that have not ended: pending, in flight or waiting.
    pub live: i64,
}

impl Scheduler {
    /// The pool's state.
    #[must_use]
    pub const fn pool_state(&self) -> PoolState {
        let pool = &self.pool;
        PoolState {
            quantum: pool.quantum,
            capacity: pool.capacity,
            cost_ceiling: pool.cost_ceiling,
            slots: pool.slots,
            cost: pool.cost,
            round: pool.round,
            epoch: pool.epoch,
            live: pool.live,
        }
    }

    /// A tenant's state. If the tenant was last updated in another epoch, its deficit reads as 0.
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTenant`].
    pub fn tenant_state(&self, tenant: u32) -> Result<TenantState, SchedulerError> {
        let tenant = self.tenant(tenant)?;
        let current = tenant.epoch == self.pool.epoch;
        Ok(TenantState {
            limits: tenant.limits,
            deficit: if current { tenant.deficit } else { 0 },
            credited: if current { tenant.credited } else { 0 },
            ratio: tenant.ratio,
            place: tenant.place,
            slots: tenant.slots,
            cost: tenant.cost,
            pending: tenant.pending.len(),
        })
    }

    /// Handles of a tenant's queued tasks, next first.
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTenant`].
    pub fn pending(&self, tenant: u32) -> Result<Vec<u64>, SchedulerError> {
        let queue = &self.tenant(tenant)?.pending;
        Ok(queue.values().map(|queued| queued.task).collect())
    }

    /// Charge of a tenant's head task at its present ratio; `None` if its queue is empty.
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTenant`].
    pub fn head_charge(&self, tenant: u32) -> Result<Option<i64>, SchedulerError> {
        let tenant = self.tenant(tenant)?;
        Ok(tenant.head().map(|head| tenant.charge(head.cost)))
    }

    /// A live task; `None` if the task does not exist or has ended.
    #[must_use]
    pub fn task(&self, task: u64) -> Option<Task> {
        self.tasks.get(&task).copied()
    }

    /// Indices of the tenants, ascending.
    pub fn tenants(&self) -> impl Iterator<Item = u32> + '_ {
        self.tenants.keys().copied()
    }

    /// Round and tenant of every calendar entry, next first.
    pub fn calendar(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        self.calendar.iter().copied()
    }
}
