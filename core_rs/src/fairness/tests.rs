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
        changes.push(Change::Head { tenant, charge: 6 });
        let deficit = 0;
        changes.push(Change::Backlogged { tenant, deficit });
    }
    changes
}

fn dispatched(tenant: u32, fence: u64) -> Change {
    let charge = 6;
    Change::Dispatched {
        tenant,
        fence,
        charge,
    }
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
    let largest = service_gap(&changes, 2).unwrap().unwrap().largest;
    assert_eq!(largest.pair, (0, 1));
    assert_eq!((largest.from_index, largest.to_index), (6, 8));
    assert!((largest.gap - 12.0).abs() < 1e-12);
    assert!((largest.bound - (4.0 + 6.0 + 3.0)).abs() < 1e-12);
    assert!(largest.holds);
}

#[test]
fn a_gap_above_the_bound_is_found() {
    let mut changes = two_backlogged();
    changes.extend((1..=5).map(|fence| dispatched(0, fence)));
    let closest = service_gap(&changes, 2).unwrap().unwrap().closest;
    assert!(!closest.holds && closest.ratio() > 1.0);
}

#[test]
fn corrections_count_when_they_happen() {
    let mut changes = two_backlogged();
    let (tenant, fence) = (0, 1);
    changes.push(dispatched(tenant, fence));
    changes.push(Change::Settled {
        tenant,
        fence,
        actual: 20,
        forfeited: 0,
    });
    let largest = service_gap(&changes, 2).unwrap().unwrap().largest;
    assert!((largest.gap - 20.0).abs() < 1e-12);
    assert!((largest.bound - (4.0 + 6.0 + 14.0 + 3.0)).abs() < 1e-12);
}

#[test]
fn service_outside_a_common_backlog_is_no_gap() {
    let mut changes = two_backlogged();
    changes.push(Change::Unbacklogged { tenant: 1 });
    changes.extend((1..=5).map(|fence| dispatched(0, fence)));
    let largest = service_gap(&changes, 2).unwrap().unwrap().largest;
    assert!(largest.gap.abs() < 1e-12);
    assert_eq!(service_gap(&changes[..3], 2), Ok(None));
    assert_eq!(service_gap(&[], 2), Ok(None));
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
    let error = service_gap(&[weight, kept], 1).unwrap_err();
    assert_eq!(error.argument, "changes[1]");
    assert!(service_gap(&[kept], 1).is_err());
    assert!(service_gap(&[weight], 0).is_err());
    let idle = Change::Unbacklogged { tenant: 0 };
    assert!(service_gap(&[weight, idle], 1).is_err());
    let twice = [weight, dispatched(0, 1), dispatched(0, 1)];
    assert!(service_gap(&twice, 1).is_err());
}
