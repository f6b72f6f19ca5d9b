//! Invariants between operations.

use _core::scheduler::{Limits, PhaseName, Place, PoolState, TenantState};

use super::World;

impl World {
    pub(super) fn within_ceilings(&self, tenant: u32) {
        let pool = self.scheduler.pool_state();
        let state = self.scheduler.tenant_state(tenant).unwrap();
        let within = |value, ceiling| ceiling == 0 || value <= ceiling;
        assert!(pool.slots <= pool.capacity);
        assert!(within(pool.cost, pool.cost_ceiling));
        assert!(within(state.slots, state.limits.slot_ceiling));
        assert!(within(state.cost, state.limits.cost_ceiling));
    }

    /// A dispatch that placed fewer tasks than its limit left no task that fits.
    pub(super) fn nothing_more_fits(&self) {
        let pool = self.scheduler.pool_state();
        let Some((_, tenant)) = self.scheduler.calendar().next() else {
            return;
        };
        let head = self.scheduler.pending(tenant).unwrap()[0];
        let cost = self.scheduler.task(head).unwrap().cost;
        let full = pool.slots >= pool.capacity;
        assert!(full || (pool.cost_ceiling > 0 && pool.cost + cost > pool.cost_ceiling));
    }

    /// Checks every invariant.
    pub fn check(&self, before: PoolState) {
        let scheduler = &self.scheduler;
        let pool = scheduler.pool_state();
        let found: Vec<_> = self
            .tasks
            .iter()
            .map(|&task| scheduler.task(task).unwrap())
            .collect();
        let in_flight = |tenant: Option<u32>| {
            let chosen = found.iter().filter(|task| {
                task.phase.name() == PhaseName::InFlight && tenant.is_none_or(|t| t == task.tenant)
            });
            chosen.fold((0, 0), |(slots, cost), task| (slots + 1, cost + task.cost))
        };
        assert_eq!((pool.slots, pool.cost), in_flight(None));
        assert_eq!(pool.live, i64::try_from(found.len()).unwrap());
        if pool.epoch == before.epoch {
            assert!(pool.round >= before.round);
        } else {
            assert_eq!((pool.epoch, pool.live), (before.epoch + 1, 0));
            assert!(pool.virtual_time <= 0.0);
        }
        let mut entries = Vec::new();
        for tenant in scheduler.tenants() {
            let state = scheduler.tenant_state(tenant).unwrap();
            let queue = scheduler.pending(tenant).unwrap();
            assert_eq!((state.slots, state.cost), in_flight(Some(tenant)));
            assert_eq!(state.pending, queue.len());
            assert!(
                queue
                    .iter()
                    .map(|&task| scheduler.task(task).unwrap().score)
                    .is_sorted()
            );
            assert!((1..=1000).contains(&state.ratio));
            let head = queue
                .first()
                .map(|&task| scheduler.task(task).unwrap().cost);
            check_place(&state, head, scheduler.head_charge(tenant).unwrap());
            if state.place == Place::Calendar {
                entries.push((tenant, state.virtual_time));
            }
        }
        let calendar: Vec<_> = scheduler.calendar().collect();
        assert!(calendar.is_sorted_by(|(a, _), (b, _)| a <= b));
        let mut found: Vec<_> = calendar.iter().map(|&(at, tenant)| (tenant, at)).collect();
        found.sort_unstable_by_key(|&(tenant, _)| tenant);
        assert_eq!(entries, found);
    }
}

fn check_place(state: &TenantState, head: Option<i64>, charge: Option<i64>) {
    let Some((head, charge)) = head.zip(charge) else {
        assert_eq!((state.place, state.owed), (Place::Idle, 0));
        return;
    };
    assert!(state.owed >= 0);
    assert_eq!(charge, ((head * state.ratio + 999) / 1000).max(1));
    match state.place {
        Place::Idle => panic!("idle with tasks pending"),
        Place::Calendar => {}
        Place::Parked(_) => {
            let Limits {
                slot_ceiling,
                cost_ceiling,
                ..
            } = state.limits;
            let slots = slot_ceiling > 0 && state.slots >= slot_ceiling;
            assert!(slots || (cost_ceiling > 0 && state.cost + head > cost_ceiling));
        }
    }
}
