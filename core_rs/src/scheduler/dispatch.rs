//! The decision: which tasks run next.

use super::limits::MAX_VISITS;
use super::{Phase, Place, Pool, Scheduler};

/// A task that [`Scheduler::dispatch`] handed to a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Index of its tenant.
    pub tenant: u32,
    /// Handle of the task.
    pub task: u64,
    /// Number of this dispatch, unique and increasing within a pool.
    pub fence: u64,
    /// Amount taken from the tenant's deficit.
    pub charge: i64,
}

/// The decisions of one [`Scheduler::dispatch`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Tasks handed to workers, in order.
    pub placed: Vec<Placement>,
    /// Tasks that ended because no settlement can ever make room for them.
    pub rejected: Vec<u64>,
    /// The call stopped at its limit of visits; another call can continue.
    pub more: bool,
    /// Tenants visited plus tasks rejected. It bounds the work of one call.
    visits: u32,
}

impl Batch {
    /// Sets `more` if the call has reached its limit of visits, and returns it.
    fn is_exhausted(&mut self) -> bool {
        self.more = self.visits >= MAX_VISITS;
        self.more
    }

    /// Counts one more visit. Returns false if the call has reached its limit of visits.
    fn begin_visit(&mut self) -> bool {
        let open = !self.is_exhausted();
        self.visits += u32::from(open);
        open
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
    /// A tenant that a ceiling of its own stops is parked, and the next tenant is visited. The pool's
    /// ceilings stop the whole call, so that nothing overtakes a large head task.
    pub fn dispatch(&mut self, limit: usize, places: usize) -> Batch {
        let most = limit.min(places);
        let mut batch = Batch::default();
        while batch.placed.len() < most && !self.pool.is_full() {
            let Some(&(round, tenant)) = self.calendar.first() else {
                break;
            };
            if !batch.begin_visit() {
                break;
            }
            if !self.visit(round, tenant, most, &mut batch) {
                break;
            }
        }
        self.idle_check();
        batch
    }

    /// Serves one tenant in its round. Returns true if the call may visit other tenants.
    fn visit(&mut self, round: i64, tenant: u32, most: usize, batch: &mut Batch) -> bool {
        let Self {
            pool,
            tenants,
            tasks,
            calendar,
        } = self;
        let tenant = tenants
            .get_mut(&tenant)
            .expect("a tenant in the calendar exists");
        pool.round = pool.round.max(round);
        tenant.adopt(pool);
        tenant.credit_to(round, pool);

        let mut open = true;
        while open && let Some(head) = tenant.head() {
            if tenant.never_fits(head.cost, pool) {
                tenant.pending.pop_first();
                tasks.remove(&head.task);
                pool.live -= 1;
                batch.rejected.push(head.task);
                batch.visits += 1;
                open = !batch.is_exhausted();
                continue;
            }
            let charge = tenant.charge(head.cost);
            if charge > tenant.deficit {
                break;
            }
            if let Some(reason) = tenant.blocked(head.cost) {
                tenant.move_to(Place::Parked(reason), calendar);
                return true;
            }
            if pool.blocks(head.cost) {
                open = false;
                continue;
            }
            tenant.pending.pop_first();
            tenant.deficit -= charge;
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
            });
            open = batch.placed.len() < most && !pool.is_full();
        }
        tenant.touch(pool, calendar);
        open
    }
}
