//! Runs random operations on a scheduler and records the changes.

mod check;
mod operation;

use std::collections::BTreeMap;

use _core::fairness::Change;
use _core::scheduler::{Limits, Phase, PhaseName, Place, Scheduler};

pub use operation::{Operation, history};

pub const TENANTS: u32 = 5;

pub struct World {
    pub scheduler: Scheduler,
    pub changes: Vec<Change>,
    tasks: Vec<u64>,
    submitted: u64,
    fences: BTreeMap<u64, u64>,
    seen: Vec<(bool, Option<i64>)>,
}

impl World {
    pub fn new(quantum: i64, tenants: &[Limits]) -> Self {
        let mut world = Self {
            scheduler: Scheduler::new(quantum, 4, 0).unwrap(),
            changes: Vec::new(),
            tasks: Vec::new(),
            submitted: 0,
            fences: BTreeMap::new(),
            seen: vec![(false, None); tenants.len()],
        };
        for (tenant, &limits) in (0..).zip(tenants) {
            world.put(tenant, limits);
        }
        world
    }

    pub fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Submit {
                tenant,
                cost,
                priority,
                copies,
            } => {
                for _ in 0..copies {
                    self.submitted += 1;
                    if self
                        .scheduler
                        .submit(tenant, self.submitted, cost, priority)
                        .is_ok()
                    {
                        self.tasks.push(self.submitted);
                    }
                }
            }
            Operation::Dispatch(limit) => self.dispatch(limit),
            Operation::Settle(pick, permille) => self.settle(pick, permille),
            Operation::FailRetry(pick) => {
                if let Some((task, tenant, fence)) = self.in_flight(pick) {
                    self.scheduler.fail_retry(task).unwrap();
                    self.changes.push(Change::Kept { tenant, fence });
                }
            }
            Operation::GiveBack(pick, wait) => {
                if let Some((task, tenant, fence)) = self.in_flight(pick) {
                    self.scheduler.give_back(task, wait).unwrap();
                    self.changes.push(Change::Reversed { tenant, fence });
                }
            }
            Operation::Resume(pick) => {
                if let Some(task) = self.pick(pick, Some(PhaseName::Waiting)) {
                    self.scheduler.resume(task).unwrap();
                }
            }
            Operation::Cancel(pick) => {
                if let Some(task) = self.pick(pick, None) {
                    let tenant = self.scheduler.task(task).unwrap().tenant;
                    let phase = self.scheduler.task(task).unwrap().phase;
                    self.scheduler.cancel(task).unwrap();
                    if let Phase::InFlight { fence, .. } = phase {
                        self.changes.push(Change::Reversed { tenant, fence });
                    }
                }
            }
            Operation::PutTenant(tenant, limits) => self.put(tenant, limits),
            Operation::Capacity(capacity) => self.scheduler.set_capacity(capacity).unwrap(),
            Operation::CostCeiling(ceiling) => {
                self.scheduler.set_pool_cost_ceiling(ceiling).unwrap();
            }
        }
        self.tasks
            .retain(|&task| self.scheduler.task(task).is_some());
        for tenant in self.scheduler.tenants().collect::<Vec<_>>() {
            self.record(tenant);
        }
    }

    fn put(&mut self, tenant: u32, limits: Limits) {
        self.scheduler.put_tenant(tenant, limits).unwrap();
        let weight = limits.weight;
        self.changes.push(Change::Weight { tenant, weight });
        self.seen[tenant as usize] = (false, None);
        self.record(tenant);
    }

    /// Dispatches one task at a time, so that tenants parked before a task leave the calendar before it.
    fn dispatch(&mut self, limit: usize) {
        let comparable = !self.tasks.iter().any(|&task| self.never_fits(task));
        let mut whole = self.scheduler.clone();
        let batch = whole.dispatch(limit, limit);
        let mut placed = Vec::new();
        let mut rejected = Vec::new();
        for _ in 0..limit {
            let one = self.scheduler.dispatch(1, limit);
            rejected.extend(one.rejected);
            assert!(one.placed.len() <= 1);
            let Some(&place) = one.placed.first() else {
                break;
            };
            placed.push(place);
            for other in (0..TENANTS).filter(|&other| other != place.tenant) {
                self.record(other);
            }
            let (tenant, fence, charge) = (place.tenant, place.fence, place.charge);
            self.changes.push(Change::Dispatched {
                tenant,
                fence,
                charge,
            });
            self.record(tenant);
            self.within_ceilings(tenant);
        }
        // A call that ends at a head task that can never fit gives it a round instead of rejecting it.
        if comparable {
            assert_eq!((&batch.placed, &batch.rejected), (&placed, &rejected));
            assert_eq!(whole.pool_state(), self.scheduler.pool_state());
            for tenant in 0..TENANTS {
                assert_eq!(
                    whole.tenant_state(tenant),
                    self.scheduler.tenant_state(tenant)
                );
            }
        }
        if placed.len() < limit {
            self.nothing_more_fits();
        }
    }

    fn never_fits(&self, task: u64) -> bool {
        let task = self.scheduler.task(task).unwrap();
        let own = self
            .scheduler
            .tenant_state(task.tenant)
            .unwrap()
            .limits
            .cost_ceiling;
        let pool = self.scheduler.pool_state().cost_ceiling;
        [own, pool]
            .iter()
            .any(|&ceiling| ceiling > 0 && task.cost > ceiling)
    }

    fn settle(&mut self, pick: usize, permille: Option<i64>) {
        let Some((task, tenant, fence)) = self.in_flight(pick) else {
            return;
        };
        let cost = self.scheduler.task(task).unwrap().cost;
        let actual = permille.map(|permille| cost * permille / 1000);
        let forfeited = self.scheduler.settle(task, actual).unwrap();
        self.changes.push(match actual {
            None => Change::Kept { tenant, fence },
            Some(actual) => Change::Settled {
                tenant,
                fence,
                actual,
                forfeited,
            },
        });
    }

    /// Records whether a tenant entered or left the calendar, and its head task.
    fn record(&mut self, tenant: u32) {
        let state = self.scheduler.tenant_state(tenant).unwrap();
        let backlogged = matches!(state.place, Place::Calendar { .. });
        let head = self.scheduler.head_charge(tenant).unwrap();
        let (was_backlogged, old_head) = self.seen[tenant as usize];
        if let (true, Some(charge)) = (backlogged, head)
            && (old_head != head || !was_backlogged)
        {
            self.changes.push(Change::Head { tenant, charge });
        }
        let deficit = state.deficit;
        match (was_backlogged, backlogged) {
            (false, true) => self.changes.push(Change::Backlogged { tenant, deficit }),
            (true, false) => self.changes.push(Change::Unbacklogged { tenant }),
            _ => {}
        }
        self.seen[tenant as usize] = (backlogged, head);
    }

    fn pick(&self, pick: usize, phase: Option<PhaseName>) -> Option<u64> {
        let fitting: Vec<u64> = self
            .tasks
            .iter()
            .copied()
            .filter(|&task| {
                let found = self.scheduler.task(task).unwrap().phase.name();
                phase.is_none_or(|phase| phase == found)
            })
            .collect();
        let index = pick.checked_rem(fitting.len())?;
        Some(fitting[index])
    }

    fn in_flight(&mut self, pick: usize) -> Option<(u64, u32, u64)> {
        let task = self.pick(pick, Some(PhaseName::InFlight))?;
        let found = self.scheduler.task(task)?;
        match found.phase {
            Phase::InFlight { fence, .. } => {
                assert_ne!(self.fences.insert(task, fence), Some(fence));
                Some((task, found.tenant, fence))
            }
            _ => None,
        }
    }
}
