//! Properties of the scheduler under random operations.

mod world;

use _core::fairness::service_gap;
use _core::scheduler::Limits;
use proptest::prelude::*;
use world::{Operation, TENANTS, World, history};

fn heavier(limits: Limits, factor: i64) -> Limits {
    let weight = limits.weight * factor;
    Limits { weight, ..limits }
}

fn with_heavier(operation: &Operation, factor: i64) -> Operation {
    match *operation {
        Operation::PutTenant(tenant, limits) => {
            Operation::PutTenant(tenant, heavier(limits, factor))
        }
        ref other => other.clone(),
    }
}

fn renamed(operation: &Operation, names: &[u32]) -> Operation {
    let name = |tenant: u32| names[tenant as usize];
    match *operation {
        Operation::Submit {
            tenant,
            cost,
            priority,
            copies,
        } => Operation::Submit {
            tenant: name(tenant),
            cost,
            priority,
            copies,
        },
        Operation::PutTenant(tenant, limits) => Operation::PutTenant(name(tenant), limits),
        ref other => other.clone(),
    }
}

/// Dispatches one task at a time.
fn one_by_one(operation: &Operation) -> Vec<Operation> {
    match *operation {
        Operation::Dispatch(limit) => vec![Operation::Dispatch(1); limit],
        ref other => vec![other.clone()],
    }
}

fn served_by(quantum: i64, tenants: &[Limits], operations: &[Operation]) -> Vec<(u32, u64)> {
    let mut world = World::new(quantum, tenants);
    for operation in operations {
        world.apply(operation);
    }
    world.placed
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_state_is_consistent((quantum, tenants, operations) in history(150)) {
        let mut world = World::new(quantum, &tenants);
        for operation in &operations {
            let before = world.scheduler.pool_state();
            world.apply(operation);
            world.check(before);
        }
    }

    #[test]
    fn service_stays_within_the_bound((quantum, tenants, operations) in history(400)) {
        let mut world = World::new(quantum, &tenants);
        for operation in &operations {
            world.apply(operation);
        }
        if let Some(report) = service_gap(&world.changes).unwrap() {
            prop_assert!(report.closest.holds, "{:?}", report.closest);
        }
    }

    #[test]
    fn weights_times_a_power_of_two_decide_the_same(
        (quantum, tenants, operations) in history(300),
        power in 1..=9u32,
    ) {
        let factor = 1 << power;
        let scaled: Vec<_> = tenants.iter().map(|&limits| heavier(limits, factor)).collect();
        let same: Vec<_> = operations.iter().map(|each| with_heavier(each, factor)).collect();
        prop_assert_eq!(
            served_by(quantum, &tenants, &operations),
            served_by(quantum, &scaled, &same)
        );
    }

    #[test]
    fn weights_times_any_number_decide_the_same_but_between_equals(
        (quantum, tenants, operations) in history(300),
        factor in 2..=1000i64,
    ) {
        let scaled: Vec<_> = tenants.iter().map(|&limits| heavier(limits, factor)).collect();
        let mut one = World::new(quantum, &tenants);
        let mut other = World::new(quantum, &scaled);
        for operation in operations.iter().flat_map(one_by_one) {
            let before = one.clone();
            one.apply(&operation);
            other.apply(&with_heavier(&operation, factor));
            let Some((ours, theirs)) = one.placed.last().zip(other.placed.last()) else {
                continue;
            };
            if ours != theirs {
                let at = |tenant| before.scheduler.tenant_state(tenant).unwrap().virtual_time;
                let (ours, theirs) = (at(ours.0), at(theirs.0));
                prop_assert!((ours - theirs).abs() <= 1e-12 * ours.abs(), "{} and {}", ours, theirs);
                break; // From here on the two have different histories.
            }
            // A refund is cut to whole units of service, at a deficit that may be rounded differently.
            let owed = |world: &World, tenant| world.scheduler.tenant_state(tenant).unwrap().owed;
            let apart = (0..TENANTS).map(|tenant| (owed(&one, tenant) - owed(&other, tenant)).abs());
            if let most @ 1.. = apart.max().unwrap_or(0) {
                prop_assert_eq!(most, 1);
                break;
            }
        }
    }

    #[test]
    fn names_decide_nothing(
        (quantum, tenants, operations) in history(300),
        names in Just((0..TENANTS).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut moved = tenants.clone();
        for (tenant, &limits) in tenants.iter().enumerate() {
            moved[names[tenant] as usize] = limits;
        }
        let same: Vec<_> = operations.iter().map(|each| renamed(each, &names)).collect();
        let expected: Vec<_> = served_by(quantum, &tenants, &operations)
            .into_iter()
            .map(|(tenant, task)| (names[tenant as usize], task))
            .collect();
        prop_assert_eq!(expected, served_by(quantum, &moved, &same));
    }
}
