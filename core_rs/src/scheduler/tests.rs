use super::*;

const WEIGHT: Limits = Limits {
    weight: 1,
    slot_ceiling: 0,
    cost_ceiling: 0,
};

fn pool(quantum: i64, capacity: i64, tenants: &[Limits]) -> Scheduler {
    let mut scheduler = Scheduler::new(quantum, capacity, 0).unwrap();
    for (tenant, &limits) in (0..).zip(tenants) {
        scheduler.put_tenant(tenant, limits).unwrap();
    }
    scheduler
}

fn placed(scheduler: &mut Scheduler, limit: usize) -> Vec<u64> {
    let batch = scheduler.dispatch(limit, limit);
    batch.placed.iter().map(|place| place.task).collect()
}

fn deficit(scheduler: &Scheduler, tenant: u32) -> f64 {
    scheduler.tenant_state(tenant).unwrap().deficit
}

/// Dispatches one task after the other, each of which costs what it was charged.
fn run(scheduler: &mut Scheduler, count: usize) -> Vec<u64> {
    let mut done = Vec::new();
    for _ in 0..count {
        let place = scheduler.dispatch(1, 1).placed[0];
        scheduler.settle(place.task, Some(place.charge)).unwrap();
        done.push(place.task);
    }
    done
}

fn owed(scheduler: &Scheduler, tenant: u32) -> i64 {
    scheduler.tenant_state(tenant).unwrap().owed
}

#[track_caller]
fn equal(a: f64, b: f64) {
    assert_eq!(a.to_bits(), b.to_bits(), "{a} is not {b}");
}

#[test]
fn service_follows_weights() {
    let double = Limits {
        weight: 2,
        ..WEIGHT
    };
    let mut scheduler = pool(10, 100, &[WEIGHT, double]);
    for task in 0..8 {
        scheduler
            .submit((task % 2).try_into().unwrap(), task, 10, 0)
            .unwrap();
    }
    let mut waiting = scheduler.clone();
    assert_eq!(placed(&mut waiting, 6), [0, 1, 3, 2, 5, 7]);
    equal(waiting.pool_state().virtual_time, 0.0);
    assert_eq!(run(&mut scheduler, 6), [0, 1, 3, 2, 5, 7]);
    let state = scheduler.pool_state();
    equal(state.virtual_time, 15.0);
    assert_eq!(state.round, 1);
}

#[test]
fn equal_tenants_are_served_in_the_order_of_their_arrival() {
    let mut scheduler = pool(10, 100, &[WEIGHT; 3]);
    for (task, tenant) in [(0, 2), (1, 0), (2, 1), (3, 2), (4, 1), (5, 0)] {
        scheduler.submit(tenant, task, 10, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 9), [0, 1, 2, 3, 5, 4]);
}

#[test]
fn weights_of_a_hundred_are_weights_of_one() {
    let heavy = Limits {
        weight: 100,
        ..WEIGHT
    };
    let mut scheduler = pool(100, 1, &[heavy; 2]);
    let mut next = 0;
    let mut served = [0; 2];
    for _ in 0..100 {
        for (tenant, wanted) in [(0, 1), (1, 2)] {
            let flying = scheduler.tenant_state(tenant).unwrap();
            let outstanding = flying.pending + usize::try_from(flying.slots).unwrap();
            for _ in outstanding..wanted {
                scheduler.submit(tenant, next, 100, 0).unwrap();
                next += 1;
            }
        }
        for task in placed(&mut scheduler, 1) {
            let tenant = scheduler.task(task).unwrap().tenant;
            served[usize::try_from(tenant).unwrap()] += 1;
            scheduler.settle(task, Some(100)).unwrap();
        }
    }
    assert_eq!(served, [50, 50]);
}

#[test]
fn a_lower_priority_number_goes_first_and_a_returned_task_keeps_its_place() {
    let mut scheduler = pool(10, 100, &[WEIGHT]);
    for (task, priority) in [(1, 5), (2, 0), (3, 5)] {
        scheduler.submit(0, task, 1, priority).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 2), [2, 1]);
    scheduler.fail_retry(1).unwrap();
    assert_eq!(scheduler.pending(0).unwrap(), [1, 3]);
}

#[test]
fn a_split_batch_decides_the_same() {
    let mut whole = pool(30, 100, &[WEIGHT, WEIGHT]);
    for task in 0..6 {
        whole.submit(u32::from(task >= 4), task, 10, 0).unwrap();
    }
    let mut split = whole.clone();
    let mut one_by_one = Vec::new();
    for _ in 0..6 {
        one_by_one.extend(placed(&mut split, 1));
    }
    assert_eq!(one_by_one, [0, 4, 1, 5, 2, 3]);
    assert_eq!(placed(&mut whole, 6), one_by_one);
}

#[test]
fn a_debt_fades_as_others_are_served_and_silence_is_no_credit() {
    let mut scheduler = pool(10, 100, &[WEIGHT, WEIGHT]);
    scheduler.submit(0, 0, 10, 0).unwrap();
    for (task, cost) in [(1, 10), (2, 10), (3, 10), (4, 30), (5, 10)] {
        scheduler.submit(1, task, cost, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 1), [0]);
    scheduler.settle(0, Some(35)).unwrap();
    equal(deficit(&scheduler, 0), -35.0);
    assert_eq!(run(&mut scheduler, 3), [1, 2, 3]);
    equal(deficit(&scheduler, 0), -15.0);
    assert_eq!(run(&mut scheduler, 1), [4]);
    assert_eq!(placed(&mut scheduler, 1), [5]);
    equal(deficit(&scheduler, 0), 0.0);
    scheduler.submit(0, 6, 10, 0).unwrap();
    equal(deficit(&scheduler, 0), 0.0);
    assert!(scheduler.tenant_state(0).unwrap().virtual_time > 35.0);
}

#[test]
fn a_newcomer_is_not_behind_charges_that_are_given_back() {
    let mut scheduler = pool(10, 4, &[WEIGHT, WEIGHT]);
    for task in 0..8 {
        scheduler.submit(0, task, 1_000_000, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 4), [0, 1, 2, 3]);
    for task in 10..18 {
        scheduler.submit(1, task, 100, 0).unwrap();
    }
    for task in 0..4 {
        scheduler.settle(task, Some(100)).unwrap();
    }
    equal(scheduler.tenant_state(0).unwrap().virtual_time, 400.0);
    assert_eq!(placed(&mut scheduler, 4), [10, 11, 12, 13]);
}

#[test]
fn a_parked_tenant_is_skipped_and_returns_when_its_head_fits() {
    let one = Limits {
        slot_ceiling: 1,
        ..WEIGHT
    };
    let mut scheduler = pool(10, 100, &[one, WEIGHT]);
    for task in 0..4 {
        scheduler.submit(u32::from(task >= 2), task, 5, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 9), [0, 2, 3]);
    let place = scheduler.tenant_state(0).unwrap().place;
    assert_eq!(place, Place::Parked(Reason::Slots));
    scheduler.settle(0, Some(5)).unwrap();
    assert_eq!(placed(&mut scheduler, 9), [1]);
}

#[test]
fn nothing_overtakes_a_head_that_the_pool_has_no_room_for() {
    let mut scheduler = Scheduler::new(100, 10, 100).unwrap();
    scheduler.put_tenant(0, WEIGHT).unwrap();
    scheduler.put_tenant(1, WEIGHT).unwrap();
    for (task, tenant, cost) in [(0, 0, 60), (1, 0, 1), (2, 1, 70), (3, 1, 1)] {
        scheduler.submit(tenant, task, cost, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 9), [0]);
    assert_eq!(placed(&mut scheduler, 9), [0_u64; 0]);
    scheduler.settle(0, Some(60)).unwrap();
    assert_eq!(placed(&mut scheduler, 9), [2, 1, 3]);
}

#[test]
fn a_task_that_can_no_longer_fit_is_rejected_and_never_stops_the_loop() {
    let mut scheduler = pool(100, 10, &[WEIGHT]);
    scheduler.submit(0, 0, 60, 0).unwrap();
    scheduler.submit(0, 1, 10, 0).unwrap();
    let cost_ceiling = 50;
    let lowered = Limits {
        cost_ceiling,
        ..WEIGHT
    };
    scheduler.put_tenant(0, lowered).unwrap();
    let batch = scheduler.dispatch(9, 9);
    assert_eq!(batch.rejected, [0]);
    assert_eq!(batch.placed.len(), 1);
    assert_eq!(scheduler.task(0), None);
}

#[test]
fn the_charge_follows_what_tasks_really_cost() {
    let mut scheduler = pool(1000, 10, &[WEIGHT]);
    for task in 0..3 {
        scheduler.submit(0, task, 1000, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 1), [0]);
    scheduler.settle(0, Some(200)).unwrap();
    assert_eq!(scheduler.tenant_state(0).unwrap().ratio, 900);
    assert_eq!(scheduler.head_charge(0), Ok(Some(900)));
    equal(deficit(&scheduler, 0), -200.0);
}

#[test]
fn what_a_refund_does_not_give_at_once_pays_later_charges() {
    let mut scheduler = pool(10, 10, &[WEIGHT, WEIGHT]);
    for (task, tenant, cost) in [(0, 0, 1000), (1, 0, 8), (2, 0, 8), (3, 1, 900), (4, 1, 900)] {
        scheduler.submit(tenant, task, cost, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 1), [0]);
    assert_eq!(run(&mut scheduler, 1), [3]);
    assert_eq!(placed(&mut scheduler, 1), [4]);
    equal(deficit(&scheduler, 0), -100.0);
    scheduler.settle(0, Some(2)).unwrap();
    equal(deficit(&scheduler, 0), 18.0);
    assert_eq!(owed(&scheduler, 0), 998 - 118);
    assert_eq!(scheduler.head_charge(0), Ok(Some(7)));
    let batch = scheduler.dispatch(1, 1);
    assert_eq!((batch.placed[0].task, batch.placed[0].charge), (1, 7));
    assert_eq!(batch.placed[0].owed, 998 - 118 - 6);
    equal(batch.placed[0].deficit, 17.0);
    assert_eq!(placed(&mut scheduler, 1), [2]);
    assert_eq!(owed(&scheduler, 0), 0, "nothing waits");
}

#[test]
fn a_refund_of_a_parked_tenant_only_reduces_its_debt() {
    let one = Limits {
        slot_ceiling: 1,
        ..WEIGHT
    };
    let mut scheduler = pool(10, 10, &[one, WEIGHT]);
    for (task, tenant) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1)] {
        scheduler.submit(tenant, task, 100, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 2), [0, 2]);
    equal(deficit(&scheduler, 0), -100.0);
    assert_eq!(placed(&mut scheduler, 9), [3, 4]);
    scheduler.settle(0, Some(0)).unwrap();
    equal(deficit(&scheduler, 0), 0.0);
    assert_eq!(owed(&scheduler, 0), 0);
}

#[test]
fn only_work_that_never_started_gets_its_charge_back() {
    let mut scheduler = pool(10, 10, &[WEIGHT]);
    for task in 0..2 {
        scheduler.submit(0, task, 10, 0).unwrap();
    }
    assert_eq!(placed(&mut scheduler, 2), [0, 1]);
    equal(deficit(&scheduler, 0), -20.0);
    scheduler.give_back(0, false).unwrap();
    equal(deficit(&scheduler, 0), -10.0);
    assert_eq!(placed(&mut scheduler, 1), [0]);
    scheduler.fail_retry(0).unwrap();
    equal(deficit(&scheduler, 0), -20.0);
    scheduler.give_back(1, true).unwrap();
    equal(deficit(&scheduler, 0), -10.0);
    assert_eq!(scheduler.pending(0).unwrap(), [0]);
    scheduler.resume(1).unwrap();
    assert_eq!(scheduler.pending(0).unwrap(), [0, 1]);
}

#[test]
fn an_idle_pool_begins_a_new_epoch() {
    let mut scheduler = pool(10, 10, &[WEIGHT]);
    for task in 0..2 {
        scheduler.submit(0, task, 100, 0).unwrap();
    }
    assert_eq!(run(&mut scheduler, 1), [0]);
    assert_eq!(placed(&mut scheduler, 1), [1]);
    assert_eq!(scheduler.pool_state().round, 10);
    scheduler.settle(1, Some(500)).unwrap();
    let state = scheduler.pool_state();
    assert_eq!((state.round, state.epoch, state.live), (0, 1, 0));
    equal(deficit(&scheduler, 0), 0.0);
}

#[test]
fn virtual_time_starts_again_before_doubles_lose_units() {
    let heavy = Limits {
        weight: MAX_WEIGHT,
        ..WEIGHT
    };
    let mut scheduler = pool(1000, 100, &[WEIGHT, heavy, WEIGHT]);
    scheduler.submit(2, 100, 1 << 40, 0).unwrap();
    assert_eq!(placed(&mut scheduler, 1), [100]);
    for task in 0..4 {
        scheduler.submit(0, task, 1 << 30, 0).unwrap();
    }
    assert_eq!(run(&mut scheduler, 3), [0, 1, 2]);
    assert_eq!(placed(&mut scheduler, 1), [3]);
    let state = scheduler.pool_state();
    equal(state.virtual_time, 0.0);
    assert_eq!(state.round, 3 * (1 << 30) / 1000);
    equal(deficit(&scheduler, 0), -f64::from(1 << 30));
    equal(deficit(&scheduler, 2), -1_096_290_402_304.0);
    scheduler.submit(1, 10, 1, 0).unwrap();
    scheduler.submit(1, 11, 1, 0).unwrap();
    assert_eq!(placed(&mut scheduler, 1), [10]);
    equal(scheduler.tenant_state(1).unwrap().virtual_time, 1e-6);
}

#[test]
fn a_call_parks_a_bounded_number_of_tenants() {
    let one = Limits {
        slot_ceiling: 1,
        ..WEIGHT
    };
    let mut scheduler = pool(10, 10_000, &[one; 400]);
    for task in 0..800 {
        let tenant = u32::try_from(task % 400).unwrap();
        scheduler.submit(tenant, task, 10, 0).unwrap();
    }
    let batch = scheduler.dispatch(1000, 1000);
    assert_eq!((batch.placed.len(), batch.more), (400, true));
    assert_eq!(scheduler.calendar().count(), 144);
    let batch = scheduler.dispatch(1000, 1000);
    assert_eq!((batch.placed.len(), batch.more), (0, false));
}

#[test]
fn refusals_name_their_cause_and_change_nothing() {
    let cost_ceiling = 50;
    let limits = Limits {
        cost_ceiling,
        ..WEIGHT
    };
    let mut scheduler = pool(1, 10, &[limits, WEIGHT]);
    scheduler.set_pool_cost_ceiling(80).unwrap();
    scheduler.submit(1, 1, 10, 0).unwrap();
    let before = (scheduler.pool_state(), scheduler.tenant_state(0));
    let ceiling = 80;
    let refused = [
        (
            scheduler.submit(9, 2, 1, 0),
            SchedulerError::UnknownTenant(9),
        ),
        (
            scheduler.submit(0, 1, 1, 0),
            SchedulerError::DuplicateTask(1),
        ),
        (
            scheduler.submit(0, 2, 51, 0),
            SchedulerError::AboveTenantCeiling {
                cost: 51,
                ceiling: 50,
            },
        ),
        (
            scheduler.submit(1, 2, 81, 0),
            SchedulerError::AbovePoolCeiling { cost: 81, ceiling },
        ),
        (scheduler.cancel(7), SchedulerError::UnknownTask(7)),
    ];
    for (result, error) in refused {
        assert_eq!(result, Err(error));
    }
    for cost in [0, -1, MAX_COST + 1, i64::MAX, i64::MIN] {
        let error = scheduler.submit(1, 2, cost, 0).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("cost is {cost}; it must be from 1 to"))
        );
    }
    assert!(scheduler.submit(1, 2, 1, 256).is_err());
    assert!(scheduler.settle(1, None).is_err());
    assert!(scheduler.resume(1).is_err());
    assert!(scheduler.set_capacity(-1).is_err());
    assert!(Scheduler::new(0, 1, 0).is_err());
    assert_eq!(before, (scheduler.pool_state(), scheduler.tenant_state(0)));
}
