//! The operations that change a pool, except dispatch.

use super::error::within;
use super::limits::{MAX_CEILING, MAX_COST, MAX_PRIORITY, MAX_SLOTS, MAX_WEIGHT};
use super::tenant::{Queued, Tenant, score};
use super::{Limits, Phase, PhaseName, Pool, Scheduler, SchedulerError, Task};

impl Scheduler {
    /// Adds a tenant or changes its limits. A new weight counts for service from now on.
    ///
    /// # Errors
    /// [`SchedulerError::OutOfRange`] unless the weight is in 1..=[`MAX_WEIGHT`], the slot ceiling
    /// in 0..=[`MAX_SLOTS`] and the cost ceiling in 0..=[`MAX_CEILING`].
    pub fn put_tenant(&mut self, tenant: u32, limits: Limits) -> Result<(), SchedulerError> {
        within("weight", limits.weight, 1, MAX_WEIGHT)?;
        within("slot_ceiling", limits.slot_ceiling, 0, MAX_SLOTS)?;
        within("cost_ceiling", limits.cost_ceiling, 0, MAX_CEILING)?;
        self.tenants
            .entry(tenant)
            .or_insert_with(|| Tenant::new(tenant, limits, &self.pool));
        self.change(tenant, |tenant, pool| {
            if tenant.limits.weight != limits.weight {
                tenant.restart_at(tenant.virtual_time());
            }
            tenant.limits = limits;
            pool.heaviest = pool.heaviest.max(limits.weight);
        });
        Ok(())
    }

    /// Sets the number of tasks that may be in flight. Tasks in flight are not affected.
    ///
    /// # Errors
    /// [`SchedulerError::OutOfRange`] unless it is in 0..=[`MAX_SLOTS`].
    pub fn set_capacity(&mut self, capacity: i64) -> Result<(), SchedulerError> {
        self.pool.capacity = within("capacity", capacity, 0, MAX_SLOTS)?;
        Ok(())
    }

    /// Sets the sum of estimated costs that may be in flight; 0 = no ceiling.
    ///
    /// # Errors
    /// [`SchedulerError::OutOfRange`] unless it is in 0..=[`MAX_CEILING`].
    pub fn set_pool_cost_ceiling(&mut self, cost_ceiling: i64) -> Result<(), SchedulerError> {
        self.pool.cost_ceiling = within("cost_ceiling", cost_ceiling, 0, MAX_CEILING)?;
        Ok(())
    }

    /// Queues a task.
    ///
    /// # Errors
    /// In this order: [`SchedulerError::UnknownTenant`], [`SchedulerError::DuplicateTask`] if a live
    /// task has the handle, [`SchedulerError::OutOfRange`] unless the cost is in 1..=[`MAX_COST`]
    /// and the priority in 0..=[`MAX_PRIORITY`], [`SchedulerError::AboveTenantCeiling`],
    /// [`SchedulerError::AbovePoolCeiling`].
    pub fn submit(
        &mut self,
        tenant: u32,
        task: u64,
        cost: i64,
        priority: i64,
    ) -> Result<(), SchedulerError> {
        let limits = self.tenant(tenant)?.limits;
        if self.tasks.contains_key(&task) {
            return Err(SchedulerError::DuplicateTask(task));
        }
        within("cost", cost, 1, MAX_COST)?;
        within("priority", priority, 0, MAX_PRIORITY)?;
        let ceiling = limits.cost_ceiling;
        if ceiling != 0 && cost > ceiling {
            return Err(SchedulerError::AboveTenantCeiling { cost, ceiling });
        }
        let ceiling = self.pool.cost_ceiling;
        if ceiling != 0 && cost > ceiling {
            return Err(SchedulerError::AbovePoolCeiling { cost, ceiling });
        }
        let score = self.change(tenant, |tenant, pool| {
            pool.sequence += 1;
            pool.live += 1;
            let score = score(priority, pool.sequence);
            tenant.pending.insert(score, Queued { task, cost });
            score
        });
        let phase = Phase::Pending;
        self.tasks.insert(
            task,
            Task {
                tenant,
                cost,
                score,
                phase,
            },
        );
        Ok(())
    }

    /// Ends a task whose attempt ran.
    ///
    /// `actual` is the actual cost of a completed attempt. `None` means that the attempt failed
    /// permanently or was lost. It keeps its charge: otherwise failing at no cost would hold slots for
    /// free.
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTask`]; [`SchedulerError::WrongPhase`] unless it is in flight;
    /// [`SchedulerError::OutOfRange`] unless `actual` is in 0..=[`MAX_COST`].
    pub fn settle(&mut self, task: u64, actual: Option<i64>) -> Result<(), SchedulerError> {
        let (entry, charge) = self.in_flight(task)?;
        if let Some(actual) = actual {
            within("actual", actual, 0, MAX_COST)?;
        }
        self.change(entry.tenant, |tenant, pool| {
            leave_flight(tenant, pool, entry.cost, charge);
            pool.live -= 1;
            if let Some(actual) = actual {
                tenant.learn(actual, entry.cost);
                tenant.correct(charge, actual, pool);
            }
        });
        self.tasks.remove(&task);
        self.idle_check();
        Ok(())
    }

    /// Returns a task to its queue after its attempt ran and failed. The attempt keeps its charge.
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTask`]; [`SchedulerError::WrongPhase`] unless it is in flight.
    pub fn fail_retry(&mut self, task: u64) -> Result<(), SchedulerError> {
        let (entry, charge) = self.in_flight(task)?;
        self.change(entry.tenant, |tenant, pool| {
            leave_flight(tenant, pool, entry.cost, charge);
            enqueue(tenant, task, entry);
        });
        self.set_phase(task, Phase::Pending);
        Ok(())
    }

    /// Takes back a task that was throttled, handed back or lost before its start, and refunds its
    /// charge. With `wait` the task stays out of the queue until [`Scheduler::resume`].
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTask`]; [`SchedulerError::WrongPhase`] unless it is in flight.
    pub fn give_back(&mut self, task: u64, wait: bool) -> Result<(), SchedulerError> {
        let (entry, charge) = self.in_flight(task)?;
        if wait {
            self.change(entry.tenant, |tenant, pool| {
                leave_flight(tenant, pool, entry.cost, charge);
                tenant.correct(charge, 0, pool);
            });
            self.set_phase(task, Phase::Waiting);
        } else {
            // Two steps: only a tenant in the calendar keeps all of a refund.
            self.change(entry.tenant, |tenant, pool| {
                leave_flight(tenant, pool, entry.cost, charge);
                enqueue(tenant, task, entry);
            });
            self.change(entry.tenant, |tenant, pool| tenant.correct(charge, 0, pool));
            self.set_phase(task, Phase::Pending);
        }
        Ok(())
    }

    /// Returns a waiting task to its queue.
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTask`]; [`SchedulerError::WrongPhase`] unless it is waiting.
    pub fn resume(&mut self, task: u64) -> Result<(), SchedulerError> {
        let entry = self.live(task)?;
        if entry.phase != Phase::Waiting {
            return Err(SchedulerError::WrongPhase {
                task,
                phase: entry.phase.name(),
                needed: PhaseName::Waiting,
            });
        }
        self.change(entry.tenant, |tenant, _| enqueue(tenant, task, entry));
        self.set_phase(task, Phase::Pending);
        Ok(())
    }

    /// Ends a task that has not started. If it was in flight, its charge is refunded.
    ///
    /// # Errors
    /// [`SchedulerError::UnknownTask`].
    pub fn cancel(&mut self, task: u64) -> Result<(), SchedulerError> {
        let entry = self.live(task)?;
        match entry.phase {
            Phase::Waiting => self.change(entry.tenant, |_, pool| pool.live -= 1),
            Phase::Pending => self.change(entry.tenant, |tenant, pool| {
                tenant.pending.remove(&entry.score);
                pool.live -= 1;
            }),
            Phase::InFlight { charge, .. } => self.change(entry.tenant, |tenant, pool| {
                leave_flight(tenant, pool, entry.cost, charge);
                pool.live -= 1;
                tenant.correct(charge, 0, pool);
            }),
        }
        self.tasks.remove(&task);
        self.idle_check();
        Ok(())
    }

    pub(super) fn tenant(&self, tenant: u32) -> Result<&Tenant, SchedulerError> {
        self.tenants
            .get(&tenant)
            .ok_or(SchedulerError::UnknownTenant(tenant))
    }

    fn live(&self, task: u64) -> Result<Task, SchedulerError> {
        self.tasks
            .get(&task)
            .copied()
            .ok_or(SchedulerError::UnknownTask(task))
    }

    fn in_flight(&self, task: u64) -> Result<(Task, i64), SchedulerError> {
        let entry = self.live(task)?;
        match entry.phase {
            Phase::InFlight { charge, .. } => Ok((entry, charge)),
            phase => Err(SchedulerError::WrongPhase {
                task,
                phase: phase.name(),
                needed: PhaseName::InFlight,
            }),
        }
    }

    fn set_phase(&mut self, task: u64, phase: Phase) {
        if let Some(entry) = self.tasks.get_mut(&task) {
            entry.phase = phase;
        }
    }
}

/// Frees the slot, the cost and the charge of a task in flight.
fn leave_flight(tenant: &mut Tenant, pool: &mut Pool, cost: i64, charge: i64) {
    tenant.charged -= charge;
    tenant.slots -= 1;
    tenant.cost -= cost;
    pool.slots -= 1;
    pool.cost -= cost;
}

/// Puts a task back at its old queue position.
fn enqueue(tenant: &mut Tenant, task: u64, entry: Task) {
    let cost = entry.cost;
    tenant.pending.insert(entry.score, Queued { task, cost });
}
