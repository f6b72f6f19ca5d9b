//! Compares the measures with direct implementations of their definitions.

#![expect(
    clippy::float_cmp,
    reason = "times and costs are whole numbers, whose sums are exact"
)]

use _core::fairness::ideal_shares;
use _core::intervals::{fullest_window, occupancy, peak_overlap};
use _core::quantile::RunningQuantile;
use _core::stats::{jain, percentile};
use proptest::prelude::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Times and costs are whole numbers, so that sums are exact.
fn weighted(from: i32, to: i32) -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    let entry = (from..to, 0..10i32, 0..9i32)
        .prop_map(|(start, length, cost)| (start.into(), (start + length).into(), cost.into()));
    prop::collection::vec(entry, 1..30)
}

fn smallest_not_exceeded_by_enough(values: &[f64], q: u32) -> f64 {
    let reaches = |candidate: f64| {
        let below = values.iter().filter(|&&value| value <= candidate).count();
        below * 100 >= values.len() * q as usize
    };
    let fitting = values.iter().copied().filter(|&value| reaches(value));
    fitting.reduce(f64::min).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_percentile_is_the_smallest_value_that_enough_do_not_exceed(
        values in prop::collection::vec(-1e9..1e9f64, 1..60),
        q in 0..=100u32,
    ) {
        let expected = smallest_not_exceeded_by_enough(&values, q);
        prop_assert_eq!(percentile(&values, q.into()).unwrap(), Some(expected));
    }

    #[test]
    fn a_running_quantile_is_within_its_relative_error(
        values in prop::collection::vec(prop_oneof![Just(0.0), 1e-6..1e6f64, 0.5..2.0f64], 1..200),
        q in 0..=100u32,
        error in 0.001..0.2f64,
    ) {
        let mut running = RunningQuantile::new(error).unwrap();
        for &value in &values {
            running.add(value).unwrap();
        }
        let exact = percentile(&values, q.into()).unwrap().unwrap();
        let found = running.percentile(q.into()).unwrap().unwrap();
        prop_assert!((found - exact).abs() <= exact * error * (1.0 + 1e-9), "{found} for {exact}");
    }

    #[test]
    fn jain_ignores_scale_and_stays_within_its_range(
        values in prop::collection::vec(0.0..1e6f64, 1..30),
        scale in 1e-3..1e3f64,
    ) {
        let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
        let index = jain(&values).unwrap();
        prop_assert_eq!(index.is_none(), values.iter().all(|&value| value == 0.0));
        if let (Some(index), Some(other)) = (index, jain(&scaled).unwrap()) {
            let least = 1.0 / f64::from(u32::try_from(values.len()).unwrap());
            prop_assert!(index >= least - 1e-9 && index <= 1.0 + 1e-9);
            prop_assert!(close(index, other));
        }
    }

    #[test]
    fn ideal_shares_share_one_level(
        tenants in prop::collection::vec((1..1000u32, 0.0..1e6f64), 1..30),
        part in 0.0..1.5f64,
    ) {
        let (weights, demands): (Vec<f64>, Vec<f64>) =
            tenants.iter().map(|&(weight, demand)| (f64::from(weight), demand)).unzip();
        let total: f64 = demands.iter().sum();
        let capacity = part * total;
        let shares = ideal_shares(&weights, &demands, capacity).unwrap().unwrap();
        prop_assert!(close(shares.iter().sum(), capacity.min(total)));
        let of = |tenant: usize| shares[tenant] / weights[tenant];
        let level = (0..shares.len()).map(of).fold(0.0, f64::max);
        for tenant in 0..shares.len() {
            let wanted = (weights[tenant] * level).min(demands[tenant]);
            prop_assert!(close(shares[tenant], wanted), "{shares:?}");
        }
    }

    #[test]
    fn the_peak_is_the_most_at_any_start(entries in weighted(-20, 60)) {
        let intervals: Vec<_> = entries.iter().map(|&(start, end, _)| (start, end)).collect();
        let costs: Vec<_> = entries.iter().map(|entry| entry.2).collect();
        let at = |time: f64| -> f64 {
            entries.iter().filter(|e| e.0 <= time && time < e.1).map(|e| e.2).sum()
        };
        let expected = entries.iter().map(|entry| at(entry.0)).fold(0.0, f64::max);
        let peak = peak_overlap(&intervals, Some(&costs)).unwrap().unwrap();
        prop_assert_eq!(peak.value, expected);
        prop_assert_eq!(at(peak.at), expected);
    }

    #[test]
    fn the_fullest_window_ends_at_a_stamp(entries in weighted(-20, 60), width in 1..30i32) {
        let stamps: Vec<_> = entries.iter().map(|entry| entry.0).collect();
        let costs: Vec<_> = entries.iter().map(|entry| entry.2).collect();
        let width = f64::from(width);
        let until = |end: f64| -> f64 {
            entries.iter().filter(|e| end - width < e.0 && e.0 <= end).map(|e| e.2).sum()
        };
        let expected = stamps.iter().map(|&end| until(end)).fold(0.0, f64::max);
        let peak = fullest_window(&stamps, width, Some(&costs)).unwrap().unwrap();
        prop_assert_eq!(peak.value, expected);
        prop_assert_eq!(until(peak.at), expected);
    }

    #[test]
    fn occupancy_is_the_sum_over_every_unit_of_time(
        entries in weighted(-20, 60),
        (start, length) in (-30..60i32, 1..50i32),
    ) {
        let intervals: Vec<_> = entries.iter().map(|&(from, to, _)| (from, to)).collect();
        let costs: Vec<_> = entries.iter().map(|entry| entry.2).collect();
        let used: f64 = (start..start + length)
            .map(|time| -> f64 {
                let time = f64::from(time);
                entries.iter().filter(|e| e.0 <= time && time < e.1).map(|e| e.2).sum()
            })
            .sum();
        let window = (start.into(), (start + length).into());
        let found = occupancy(&intervals, 7.0, window, Some(&costs)).unwrap().unwrap();
        prop_assert!(close(found, used / (7.0 * f64::from(length))));
    }
}
