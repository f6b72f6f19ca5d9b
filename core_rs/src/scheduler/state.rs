//! Reading the state of a scheduler.

use super::{Limits, Place, Pool, Scheduler, SchedulerError, Task};
use crate::measure::float;

/// A tenant's state, in the current epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TenantState {
    /// Weight and ceilings.
    pub limits: Limits,
    /// Service per weight, comparable with the pool's virtual time.
    pub virtual_time: f64,
    /// weight · (the pool's virtual time − its own): credit, or debt if negative. Outside the calendar a
    /// tenant has no credit.
    pub deficit: f64,
    /// The part of its refunds that later charges pay back.
    pub owed: i64,
    /// Sum of the charges in flight.
    pub charged: i64,
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolState {
    /// The virtual time of one round, and a part of the largest credit that a refund gives at once.
    pub quantum: i64,
    /// Number of tasks that may be in flight.
    pub capacity: i64,
    /// Sum of estimated costs that may be in flight; 0 = no ceiling.
    pub cost_ceiling: i64,
    /// Tasks in flight.
    pub slots: i64,
    /// Sum of the estimated costs in flight.
    pub cost: i64,
    /// The largest virtual time, without what was in flight, of a tenant that was served.
    pub virtual_time: f64,
    /// Rounds that have passed in this epoch: its virtual time in quanta.
    pub round: i64,
    /// Number of times the last live task ended.
    pub epoch: u64,
    /// Number of tasks that have not ended: pending, in flight or waiting.
    pub live: i64,
}

impl Pool {
    fn round(&self) -> i64 {
        let rounds = (self.rebased + self.virtual_time) / float(self.quantum.into());
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let rounds = rounds.floor() as i64;
        rounds
    }
}

impl Scheduler {
    /// The pool's state.
    #[must_use]
    pub fn pool_state(&self) -> PoolState {
        let pool = &self.pool;
        PoolState {
            quantum: pool.quantum,
            capacity: pool.capacity,
            cost_ceiling: pool.cost_ceiling,
            slots: pool.slots,
            cost: pool.cost,
            virtual_time: pool.virtual_time,
            round: pool.round(),
            epoch: pool.epoch,
            live: pool.live,
        }
    }

    /// A tenant's state, as the next operation would find it.
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTenant`].
    pub fn tenant_state(&self, tenant: u32) -> Result<TenantState, SchedulerError> {
        let mut tenant = self.tenant(tenant)?.clone();
        tenant.adopt(&self.pool);
        Ok(TenantState {
            limits: tenant.limits,
            virtual_time: tenant.virtual_time(),
            deficit: match tenant.place {
                Place::Calendar => tenant.deficit(&self.pool),
                Place::Idle | Place::Parked(_) => tenant.deficit(&self.pool).min(0.0),
            },
            owed: tenant.owed,
            charged: tenant.charged,
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

    /// Virtual time and tenant of every calendar entry, next first.
    pub fn calendar(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        let entries = self.calendar.iter();
        entries.map(|&(at, _, tenant)| (at.0, tenant))
    }
}
