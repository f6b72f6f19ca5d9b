//! Intervals and stamps over time: peak overlap, the fullest sliding window, occupancy.
//!
//! Times and costs are floats in a unit of the caller's choice. Sums of whole numbers are exact below
//! 2^53.

use crate::MeasureError;
use crate::measure::{FINITE, NOT_NEGATIVE, all, not_negative};

/// The largest value of a quantity that changes over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// The largest value.
    pub value: f64,
    /// The earliest time at which the quantity reaches it.
    pub at: f64,
}

/// The largest sum of costs of intervals `[start, end)` that overlap at one time.
///
/// An interval that begins where another ends does not overlap it. An empty interval (`start` =
/// `end`) overlaps nothing. Without `costs` each interval counts 1. Returns `None` without intervals.
///
/// # Errors
/// If a time is NaN or infinite, an interval ends before its start, `costs` and `intervals` have
/// different lengths, or a cost is negative, NaN or infinite.
pub fn peak_overlap(
    intervals: &[(f64, f64)],
    costs: Option<&[f64]>,
) -> Result<Option<Peak>, MeasureError> {
    check_intervals(intervals)?;
    check_costs(costs, intervals.len(), "intervals")?;
    let mut edges: Vec<(f64, f64)> = intervals
        .iter()
        .enumerate()
        .filter(|(_, (start, end))| start < end)
        .flat_map(|(index, &(start, end))| {
            let cost = cost(costs, index);
            [(start, cost), (end, -cost)]
        })
        .collect();
    edges.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let first = intervals.iter().map(|interval| interval.0).reduce(f64::min);
    let mut peak = first.map(|at| Peak { value: 0.0, at });
    let mut value = 0.0;
    for (at, change) in edges {
        value += change;
        if peak.is_some_and(|peak| value > peak.value) {
            peak = Some(Peak { value, at });
        }
    }
    Ok(peak)
}

/// The largest sum of costs in any window `(t − width, t]`, over stamps in any order.
///
/// `at` is the window's end t. Without `costs` each stamp counts 1. Returns `None` without stamps.
///
/// # Errors
/// If a stamp is NaN or infinite, the width is not a finite number above 0, `costs` and `stamps` have
/// different lengths, or a cost is negative, NaN or infinite.
pub fn fullest_window(
    stamps: &[f64],
    width: f64,
    costs: Option<&[f64]>,
) -> Result<Option<Peak>, MeasureError> {
    all("stamps", stamps, FINITE, f64::is_finite)?;
    above_zero("width", width)?;
    check_costs(costs, stamps.len(), "stamps")?;
    let mut entries: Vec<(f64, f64)> = stamps
        .iter()
        .enumerate()
        .map(|(index, &stamp)| (stamp, cost(costs, index)))
        .collect();
    entries.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut peak: Option<Peak> = None;
    let mut value = 0.0;
    let mut oldest = 0;
    for &(at, cost) in &entries {
        while at - entries[oldest].0 >= width {
            value -= entries[oldest].1;
            oldest += 1;
        }
        value += cost;
        if peak.is_none_or(|peak| value > peak.value) {
            peak = Some(Peak { value, at });
        }
    }
    Ok(peak)
}

/// The used fraction of a capacity over the window `[start, end)`: Σ cost · (time in the window) /
/// (capacity · (end − start)).
///
/// Intervals are `[start, end)` and are cut to the window. Without `costs` each interval counts 1. A
/// window in which nothing ran has occupancy 0. Returns `None` if the window is empty.
///
/// # Errors
/// As [`peak_overlap`]. Also if the capacity is not a finite number above 0, or the window ends before
/// its start or has an end that is not finite.
pub fn occupancy(
    intervals: &[(f64, f64)],
    capacity: f64,
    (start, end): (f64, f64),
    costs: Option<&[f64]>,
) -> Result<Option<f64>, MeasureError> {
    check_intervals(intervals)?;
    check_costs(costs, intervals.len(), "intervals")?;
    above_zero("capacity", capacity)?;
    all("window", &[start, end], FINITE, f64::is_finite)?;
    if end < start {
        return Err(MeasureError::new(
            "end",
            end,
            "at or after the start of the window",
        ));
    }
    if start >= end {
        return Ok(None);
    }
    let used: f64 = intervals
        .iter()
        .enumerate()
        .map(|(index, &(from, to))| (to.min(end) - from.max(start)).max(0.0) * cost(costs, index))
        .sum();
    Ok(Some(used / (capacity * (end - start))))
}

fn cost(costs: Option<&[f64]>, index: usize) -> f64 {
    costs.map_or(1.0, |costs| costs[index])
}

fn check_intervals(intervals: &[(f64, f64)]) -> Result<(), MeasureError> {
    for (index, &(start, end)) in intervals.iter().enumerate() {
        let argument = || format!("intervals[{index}]");
        let value = format!("({start}, {end})");
        if !(start.is_finite() && end.is_finite()) {
            return Err(MeasureError::new(
                argument(),
                value,
                "a pair of finite numbers",
            ));
        }
        if end < start {
            return Err(MeasureError::new(
                argument(),
                value,
                "an interval that does not end before its start",
            ));
        }
    }
    Ok(())
}

fn check_costs(costs: Option<&[f64]>, length: usize, of: &str) -> Result<(), MeasureError> {
    let Some(costs) = costs else { return Ok(()) };
    if costs.len() != length {
        let value = format!("{} for {length} {of}", costs.len());
        return Err(MeasureError::new("number of costs", value, "one for each"));
    }
    all("costs", costs, NOT_NEGATIVE, not_negative)
}

fn above_zero(argument: &str, value: f64) -> Result<(), MeasureError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(MeasureError::new(
            argument,
            value,
            "a finite number above 0",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn peak(value: f64, at: f64) -> Peak {
        Peak { value, at }
    }

    #[test]
    fn touching_intervals_do_not_overlap() {
        assert_eq!(
            peak_overlap(&[(0.0, 5.0), (5.0, 9.0)], None),
            Ok(Some(peak(1.0, 0.0)))
        );
        assert_eq!(
            peak_overlap(&[(0.0, 5.0), (4.0, 9.0)], None),
            Ok(Some(peak(2.0, 4.0)))
        );
        assert_eq!(peak_overlap(&[(3.0, 3.0)], None), Ok(Some(peak(0.0, 3.0))));
        assert_eq!(peak_overlap(&[], None), Ok(None));
    }

    #[test]
    fn overlap_can_be_weighted() {
        let intervals = [(0.0, 5.0), (5.0, 9.0), (6.0, 7.0)];
        let costs = [10.0, 3.0, 4.0];
        assert_eq!(
            peak_overlap(&intervals, Some(&costs)),
            Ok(Some(peak(10.0, 0.0)))
        );
    }

    #[test]
    fn a_window_excludes_its_start_and_includes_its_end() {
        let stamps = [10.0, 0.0, 5.0];
        assert_eq!(fullest_window(&stamps, 5.0, None), Ok(Some(peak(1.0, 0.0))));
        assert_eq!(fullest_window(&stamps, 5.1, None), Ok(Some(peak(2.0, 5.0))));
        assert_eq!(
            fullest_window(&stamps, 10.1, None),
            Ok(Some(peak(3.0, 10.0)))
        );
        let costs = [7.0, 1.0, 2.0];
        assert_eq!(
            fullest_window(&stamps, 5.1, Some(&costs)),
            Ok(Some(peak(9.0, 10.0)))
        );
        assert_eq!(fullest_window(&[], 1.0, None), Ok(None));
    }

    #[test]
    fn occupancy_is_cut_to_the_window() {
        let intervals = [(-5.0, 5.0), (8.0, 20.0)];
        assert_eq!(
            occupancy(&intervals, 2.0, (0.0, 10.0), None),
            Ok(Some(0.35))
        );
        assert_eq!(occupancy(&[], 2.0, (0.0, 10.0), None), Ok(Some(0.0)));
        assert_eq!(occupancy(&intervals, 2.0, (3.0, 3.0), None), Ok(None));
    }

    #[test]
    fn meaningless_input_is_refused() {
        assert!(peak_overlap(&[(0.0, f64::NAN)], None).is_err());
        assert!(peak_overlap(&[(1.0, 0.0)], None).is_err());
        assert!(peak_overlap(&[(0.0, 1.0)], Some(&[])).is_err());
        assert!(peak_overlap(&[(0.0, 1.0)], Some(&[-1.0])).is_err());
        assert!(fullest_window(&[0.0], 0.0, None).is_err());
        assert!(fullest_window(&[f64::INFINITY], 1.0, None).is_err());
        assert!(occupancy(&[], 0.0, (0.0, 1.0), None).is_err());
        assert!(occupancy(&[], 1.0, (1.0, 0.0), None).is_err());
    }
}
