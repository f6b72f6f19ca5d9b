//! Weighted deficits in virtual time: the reference for every decision of Fairlane.
//!
//! In classic deficit round robin (Shreedhar and Varghese, 1995) each round adds weight · quantum to a
//! backlogged tenant's deficit, and the tenant is served while the deficit covers its head task. Here a
//! round is infinitely short, which is start-time fair queueing (Goyal, Vin and Cheng, 1996): each tenant
//! has a virtual time v, its service per weight; the pool's virtual time V is the largest that was settled
//! for a tenant when it was served; and the tenant with the smallest v is served next. A tenant's
//! deficit, what it is owed in relation to the others, is weight · (V - v). A decision costs O(log tenants).
//!
//! Equal tenants are served in the order in which they entered the calendar. Virtual times are doubles,
//! everything else is an integer, and equal operations give equal states, here and in Lua.

mod dispatch;
mod error;
mod limits;
mod operations;
mod state;
mod task;
mod tenant;
mod virtual_time;

use std::collections::BTreeMap;

pub use dispatch::{Batch, Placement};
pub use error::SchedulerError;
pub use limits::{
    MAX_CEILING, MAX_COST, MAX_PRIORITY, MAX_QUANTUM, MAX_SLOTS, MAX_VISITS, MAX_WEIGHT,
};
pub use state::{PoolState, TenantState};
pub use task::{Phase, PhaseName, Task};

use error::within;
use limits::MAX_VIRTUAL_SERVICE;
use tenant::{Calendar, Tenant};

use crate::measure::float;

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
    Calendar,
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
    /// The largest virtual time, without what was in flight, of a tenant that was served; since `rebased`.
    virtual_time: f64,
    /// How much virtual time of this epoch was taken off `virtual_time`.
    rebased: f64,
    /// The largest weight that any tenant ever had.
    heaviest: i64,
    epoch: u64,
    live: i64,
    sequence: i64,
    fence: u64,
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
                virtual_time: 0.0,
                rebased: 0.0,
                heaviest: 1,
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

    /// Brings a tenant to the current epoch, applies `change` and updates its calendar entry.
    fn change<T>(&mut self, tenant: u32, change: impl FnOnce(&mut Tenant, &mut Pool) -> T) -> T {
        let tenant = self
            .tenants
            .get_mut(&tenant)
            .expect("a task's tenant is never removed");
        tenant.adopt(&self.pool);
        let result = change(tenant, &mut self.pool);
        tenant.touch(&mut self.pool, &mut self.calendar);
        result
    }

    /// Begins a new epoch when the last live task has ended: every virtual time is 0.
    fn idle_check(&mut self) {
        if self.pool.live == 0 {
            self.pool.virtual_time = 0.0;
            self.pool.rebased = 0.0;
            self.pool.epoch += 1;
        }
    }

    /// Takes the pool's virtual time off every virtual time before doubles become too coarse for it.
    fn rebase_check(&mut self) {
        let pool = &mut self.pool;
        let now = pool.virtual_time;
        if now * float(pool.heaviest.into()) <= MAX_VIRTUAL_SERVICE {
            return;
        }
        pool.virtual_time = 0.0;
        pool.rebased += now;
        for (_, _, tenant) in std::mem::take(&mut self.calendar) {
            let tenant = self.tenants.get_mut(&tenant).expect("it exists");
            tenant.rebase(now, pool.rebased);
            tenant.entry = None;
            tenant.enter_calendar(&mut self.calendar);
        }
    }
}

#[cfg(test)]
mod tests;
