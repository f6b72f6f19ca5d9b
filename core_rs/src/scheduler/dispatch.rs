//! The decision: which tasks run next.

use super::limits::MAX_VISITS;
use super::{Phase, Place, Pool, Scheduler};

/// A task that [`Scheduler::dispatch`] handed to a worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Index of its tenant.
    pub tenant: u32,
    /// Handle of the task.
    pub task: u64,
    /// Number of this dispatch, unique and increasing within a pool.
    pub fence: u64,
    /// What fairness counts for the attempt until it is settled.
    pub charge: i64,
    /// The tenant's deficit after the charge.
    pub deficit: f64,
    /// What the tenant is owed after the charge.
    pub owed: i64,
}

/// The decisions of one [`Scheduler::dispatch`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Tasks handed to workers, in order.
    pub placed: Vec<Placement>,
    /// Tasks that ended because no settlement can ever make room for them.
    pub rejected: Vec<u64>,
    /// The call stopped at its limit of visits that serve nothing; another call can continue.
    pub more: bool,
    /// Tenants parked plus tasks rejected. It bounds the work of one call.
    visits: u32,
}

impl Batch {
    /// Counts a visit that served nothing. Returns false if the call has reached its limit of them.
    fn may_continue(&mut self) -> bool {
        self.visits += 1;
        self.more = self.visits >= MAX_VISITS;
        !self.more
    }
}

impl Pool {
    fn is_full(&self) -> bool {
        self.slots >= self.capacity
    }

    fn blocks(&self, cost: i64) -> bool {
        self.cost_ceiling != 0 && self.cost + cost > self.cost_ceiling
    }
}

impl Scheduler {
    /// Hands at most `limit` tasks to at most `places` free worker slots, within the ceilings.
    ///
    /// Each step visits the first tenant of the calendar. A tenant that a ceiling of its own stops is
    /// parked. The pool's ceilings stop the whole call, so that nothing overtakes a large head task.
    pub fn dispatch(&mut self, limit: usize, places: usize) -> Batch {
        let most = limit.min(places);
        let mut batch = Batch::default();
        while batch.placed.len() < most && !self.pool.is_full() {
            let Some(&(_, _, tenant)) = self.calendar.first() else {
                break;
            };
            if !self.visit(tenant, &mut batch) {
                break;
            }
        }
        if !batch.rejected.is_empty() {
            self.idle_check();
        }
        self.rebase_check();
        batch
    }

    /// Serves, rejects or parks the first task of a tenant. Returns true if the call may go on.
    fn visit(&mut self, tenant: u32, batch: &mut Batch) -> bool {
        let Self {
            pool,
            tenants,
            tasks,
            calendar,
        } = self;
        let tenant = tenants
            .get_mut(&tenant)
            .expect("a tenant in the calendar exists");
        let head = tenant.head().expect("a tenant in the calendar has a task");
        if tenant.never_fits(head.cost, pool) {
            tenant.pending.pop_first();
            tasks.remove(&head.task);
            pool.live -= 1;
            batch.rejected.push(head.task);
            tenant.touch(pool, calendar);
            return batch.may_continue();
        }
        if let Some(reason) = tenant.blocked(head.cost) {
            tenant.move_to(Place::Parked(reason), calendar);
            return batch.may_continue();
        }
        if pool.blocks(head.cost) {
            return false;
        }
        let charge = tenant.charge(head.cost);
        tenant.pending.pop_first();
        tenant.serve(charge, pool);
        tenant.slots += 1;
        tenant.cost += head.cost;
        pool.slots += 1;
        pool.cost += head.cost;
        pool.fence += 1;
        let fence = pool.fence;
        if let Some(task) = tasks.get_mut(&head.task) {
            task.phase = Phase::InFlight { fence, charge };
        }
        batch.placed.push(Placement {
            tenant: tenant.id,
            task: head.task,
            fence,
            charge,
            deficit: tenant.deficit(pool),
            owed: tenant.owed,
        });
        tenant.touch(pool, calendar);
        true
    }
}
