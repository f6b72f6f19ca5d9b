//! Nearest-rank percentiles and Jain's fairness index.

use crate::MeasureError;
use crate::measure::{FINITE, NOT_NEGATIVE, all, count, nearest_rank, not_negative};

/// The nearest-rank percentile: the smallest value that at least `q` percent of the values do not
/// exceed. It is always one of the values; `q` = 0 gives the smallest. Returns `None` without values.
///
/// # Errors
/// If a value is NaN or infinite, or `q` is outside 0..=100.
pub fn percentile(values: &[f64], q: f64) -> Result<Option<f64>, MeasureError> {
    Ok(percentiles(values, &[q])?.map(|found| found[0]))
}

/// Several [`percentile`]s of the same values, in the order of `qs`. Sorts the values only once.
///
/// # Errors
/// As [`percentile`].
pub fn percentiles(values: &[f64], qs: &[f64]) -> Result<Option<Vec<f64>>, MeasureError> {
    all("values", values, FINITE, f64::is_finite)?;
    let ranks = qs
        .iter()
        .map(|&q| nearest_rank(q, values.len().max(1) as u64))
        .collect::<Result<Vec<_>, _>>()?;
    if values.is_empty() {
        return Ok(None);
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |rank: u64| usize::try_from(rank).map_or(f64::NAN, |rank| sorted[rank - 1]);
    Ok(Some(ranks.into_iter().map(at).collect()))
}

/// Jain's fairness index (Σx)² / (n · Σx²) (Jain, Chiu and Hawe, 1984): 1 when all values are equal,
/// 1/n when one value is all of the sum. Returns `None` without values and when all are 0.
///
/// # Errors
/// If a value is negative, NaN or infinite.
pub fn jain(values: &[f64]) -> Result<Option<f64>, MeasureError> {
    all("values", values, NOT_NEGATIVE, not_negative)?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Ok(None);
    }
    // Dividing by the largest value keeps both sums from overflowing or vanishing.
    let (sum, squares) = values
        .iter()
        .map(|value| value / largest)
        .fold((0.0, 0.0), |(sum, squares), x| {
            (sum + x, x.mul_add(x, squares))
        });
    Ok(Some(sum * sum / (count(values.len()) * squares)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values = [35.0, 20.0, 15.0, 50.0, 40.0];
        let found = percentiles(&values, &[0.0, 5.0, 30.0, 40.0, 50.0, 100.0]).unwrap();
        assert_eq!(found.unwrap(), [15.0, 15.0, 20.0, 20.0, 35.0, 50.0]);
    }

    #[test]
    fn a_whole_percentage_of_a_hundred_values_is_that_value() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        for q in &values {
            assert_eq!(percentile(&values, *q).unwrap(), Some(*q));
        }
    }

    #[test]
    fn no_values_have_no_percentile() {
        assert_eq!(percentile(&[], 50.0), Ok(None));
        assert_eq!(percentiles(&[], &[]), Ok(None));
        assert!(percentile(&[], 101.0).is_err());
    }

    #[test]
    fn bad_values_are_named() {
        let error = percentile(&[1.0, f64::NAN], 50.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "values[1] is NaN; it must be a finite number"
        );
        assert!(percentile(&[f64::INFINITY], 50.0).is_err());
        assert!(percentile(&[1.0], f64::NAN).is_err());
        assert!(percentile(&[1.0], -1.0).is_err());
        assert!(jain(&[-1.0]).is_err());
        assert!(jain(&[f64::NAN]).is_err());
    }

    #[test]
    fn jain_runs_from_one_over_n_to_one() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Ok(Some(1.0)));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Ok(Some(0.25)));
        assert_eq!(jain(&[f64::MAX, f64::MAX]), Ok(Some(1.0)));
        assert_eq!(jain(&[f64::MIN_POSITIVE]), Ok(Some(1.0)));
        assert_eq!(jain(&[0.0, 0.0]), Ok(None));
        assert_eq!(jain(&[]), Ok(None));
    }
}
