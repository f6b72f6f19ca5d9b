use super::*;

#[test]
fn shares_follow_weights_up_to_demand() {
    let shares = ideal_shares(&[1.0, 1.0, 2.0], &[1.0, 10.0, 100.0], 13.0).unwrap();
    assert_eq!(shares.unwrap(), [1.0, 4.0, 8.0]);
}

#[test]
fn all_demands_are_met_when_they_fit() {
    let shares = ideal_shares(&[5.0, 1.0], &[2.0, 3.0], 100.0).unwrap();
    assert_eq!(shares.unwrap(), [2.0, 3.0]);
    let shares = ideal_shares(&[5.0, 1.0], &[2.0, 3.0], 0.0).unwrap();
    assert_eq!(shares.unwrap(), [0.0, 0.0]);
    assert_eq!(ideal_shares(&[], &[], 1.0), Ok(None));
}

#[test]
fn meaningless_shares_are_refused() {
    assert!(ideal_shares(&[0.0], &[1.0], 1.0).is_err());
    assert!(ideal_shares(&[1.0], &[-1.0], 1.0).is_err());
    assert!(ideal_shares(&[1.0], &[f64::INFINITY], 1.0).is_err());
    assert!(ideal_shares(&[1.0], &[1.0], f64::NAN).is_err());
    assert!(ideal_shares(&[1.0], &[], 1.0).is_err());
}

fn two_backlogged() -> Vec<Change> {
    let mut changes = Vec::new();
    for (tenant, weight) in [(0, 1), (1, 2)] {
        changes.push(Change::Weight { tenant, weight });
        let deficit = 0.0;
        changes.push(Change::Backlogged { tenant, deficit });
    }
    changes
}

fn dispatched(tenant: u32, fence: u64) -> Change {
    let charge = 6;
    let owed = 0;
    Change::Dispatched {
        tenant,
        fence,
        charge,
        owed,
    }
}

fn settled(tenant: u32, fence: u64, actual: i64, owed: i64) -> Change {
    Change::Settled {
        tenant,
        fence,
        actual,
        owed,
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn the_largest_gap_has_its_witness() {
    let mut changes = two_backlogged();
    changes.extend([
        dispatched(1, 1),
        dispatched(0, 2),
        dispatched(0, 3),
        dispatched(1, 4),
    ]);
    let largest = service_gap(&changes).unwrap().unwrap().largest;
    assert_eq!(largest.pair, (0, 1));
    assert_eq!((largest.from_index, largest.to_index), (4, 6));
    assert!(close(largest.gap, 12.0));
    assert!(close(largest.bound, 7.0 + 3.5));
    assert!(!largest.holds && largest.ratio() > 1.0);
}

#[test]
fn corrections_count_when_they_happen() {
    let mut changes = two_backlogged();
    changes.extend([dispatched(0, 1), settled(0, 1, 20, 0)]);
    let largest = service_gap(&changes).unwrap().unwrap().largest;
    assert!(close(largest.gap, 20.0));
    assert!(close(largest.bound, (6.0 + 14.0 + 1.0) + 0.5));
    assert!(largest.holds);
}

#[test]
fn what_a_tenant_enters_with_and_is_owed_widens_its_bound() {
    let weight = 1;
    for (deficit, dispatching) in [(-2.5, 6.0), (2.5, 6.0 + 3.0)] {
        let changes = [
            Change::Weight { tenant: 0, weight },
            Change::Weight { tenant: 1, weight },
            Change::Backlogged { tenant: 0, deficit },
            dispatched(0, 1),
            settled(0, 1, 1, 5),
            Change::Parked { tenant: 0 },
            Change::Backlogged { tenant: 0, deficit },
            Change::Backlogged { tenant: 1, deficit },
            dispatched(1, 2),
        ];
        let largest = service_gap(&changes).unwrap().unwrap().largest;
        assert!(close(largest.gap, 6.0));
        let waiting = 3.0 + 5.0;
        assert!(close(largest.bound, (waiting + 1.0) + (dispatching + 1.0)));
    }
}

#[test]
fn service_outside_a_common_backlog_is_no_gap() {
    let mut changes = two_backlogged();
    changes.push(Change::Idle { tenant: 1 });
    changes.extend((1..=5).map(|fence| dispatched(0, fence)));
    let largest = service_gap(&changes).unwrap().unwrap().largest;
    assert!(close(largest.gap, 0.0));
    assert_eq!(service_gap(&changes[..3]), Ok(None));
    assert_eq!(service_gap(&[]), Ok(None));
}

#[test]
fn changes_that_do_not_fit_are_named() {
    let weight = Change::Weight {
        tenant: 0,
        weight: 1,
    };
    let kept = Change::Kept {
        tenant: 0,
        fence: 9,
    };
    let error = service_gap(&[weight, kept]).unwrap_err();
    assert_eq!(error.argument, "changes[1]");
    assert!(service_gap(&[kept]).is_err());
    let parked = Change::Parked { tenant: 0 };
    assert!(service_gap(&[weight, parked]).is_err());
    let nowhere = Change::Backlogged {
        tenant: 0,
        deficit: f64::NAN,
    };
    assert!(service_gap(&[weight, nowhere]).is_err());
    let twice = [weight, dispatched(0, 1), dispatched(0, 1)];
    assert!(service_gap(&twice).is_err());
    let invented = [weight, dispatched(0, 1), settled(0, 1, 1, 6)];
    assert!(service_gap(&invented).is_err());
    let earned = [weight, dispatched(0, 1), settled(0, 1, 1, 5)];
    assert_eq!(service_gap(&earned), Ok(None));
}
