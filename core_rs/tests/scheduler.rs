//! Properties of the scheduler under random operations.

mod world;

use _core::fairness::service_gap;
use proptest::prelude::*;
use world::{World, history};

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
        if let Some(report) = service_gap(&world.changes, quantum).unwrap() {
            prop_assert!(report.closest.holds, "{:?}", report.closest);
        }
    }
}
