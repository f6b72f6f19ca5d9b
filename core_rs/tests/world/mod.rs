//! Runs random operations on a scheduler and records the changes.

mod check;
mod operation;

use std::collections::BTreeMap;

use _core::fairness::Change;
use _core::scheduler::{Limits, Phase, PhaseName, Place, Scheduler};

pub use operation::{Operation, history};

pub const TENANTS: u32 = 5;

#[derive(Clone)]
pub struct World {
    pub scheduler: Scheduler,
    pub changes: Vec<Change>,
    /// Tenant and task of everything dispatched, in order.
    pub placed: Vec<(u32, u64)>,
    tasks: Vec<u64>,
    submitted: u64,
    fences: BTreeMap<u64, u64>,
    backlogged: Vec<bool>,
}

impl World {
    pub fn new(quantum: i64, tenants: &[Limits]) -> Self {
        let mut world = Self {
            scheduler: Scheduler::new(quantum, 4, 0).unwrap(),
            changes: Vec::new(),
            placed: Vec::new(),
            tasks: Vec::new(),
            submitted: 0,
            fences: BTreeMap::new(),
            backlogged: vec![false; tenants.len()],
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
                    self.reverse(tenant, fence);
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
                        self.reverse(tenant, fence);
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
        self.backlogged[tenant as usize] = false;
        self.record(tenant);
    }

    /// Dispatches one task at a time, so that tenants parked before a task leave the calendar before it.
    fn dispatch(&mut self, limit: usize) {
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
            let (tenant, fence) = (place.tenant, place.fence);
            self.placed.push((tenant, place.task));
            self.changes.push(Change::Dispatched {
                tenant,
                fence,
                charge: place.charge,
                owed: place.owed,
            });
            self.record(tenant);
            self.within_ceilings(tenant);
        }
        assert_eq!((&batch.placed, &batch.rejected), (&placed, &rejected));
        assert_eq!(whole.pool_state(), self.scheduler.pool_state());
        for tenant in 0..TENANTS {
            assert_eq!(
                whole.tenant_state(tenant),
                self.scheduler.tenant_state(tenant)
            );
        }
        if placed.len() < limit {
            self.nothing_more_fits();
        }
    }

    fn settle(&mut self, pick: usize, permille: Option<i64>) {
        let Some((task, tenant, fence)) = self.in_flight(pick) else {
            return;
        };
        let cost = self.scheduler.task(task).unwrap().cost;
        let actual = permille.map(|permille| cost * permille / 1000);
        self.scheduler.settle(task, actual).unwrap();
        let owed = self.scheduler.tenant_state(tenant).unwrap().owed;
        self.changes.push(match actual {
            None => Change::Kept { tenant, fence },
            Some(actual) => Change::Settled {
                tenant,
                fence,
                actual,
                owed,
            },
        });
    }

    fn reverse(&mut self, tenant: u32, fence: u64) {
        let owed = self.scheduler.tenant_state(tenant).unwrap().owed;
        self.changes.push(Change::Reversed {
            tenant,
            fence,
            owed,
        });
    }

    /// Records whether a tenant entered or left the calendar.
    fn record(&mut self, tenant: u32) {
        let state = self.scheduler.tenant_state(tenant).unwrap();
        let deficit = state.deficit;
        let was_backlogged = &mut self.backlogged[tenant as usize];
        match state.place {
            Place::Idle => self.changes.push(Change::Idle { tenant }),
            Place::Calendar if !*was_backlogged => {
                self.changes.push(Change::Backlogged { tenant, deficit });
            }
            Place::Parked(_) if *was_backlogged => self.changes.push(Change::Parked { tenant }),
            _ => {}
        }
        *was_backlogged = state.place == Place::Calendar;
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
