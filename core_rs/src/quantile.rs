//! Running quantiles in bounded memory.

use std::collections::BTreeMap;

use crate::MeasureError;
use crate::measure::nearest_rank;

/// Values below this count as 0.
pub const SMALLEST: f64 = 1e-9;
/// Largest value accepted.
pub const LARGEST: f64 = 1e18;

/// Percentiles of a stream of values, each within a fixed relative error α.
///
/// Values are counted in buckets whose bounds grow by the factor γ = (1 + α) / (1 − α). A bucket stands
/// for the value that is within α of both its bounds, as in `DDSketch` (Masson, Rim and Lee, 2019). An
/// answer is within α of the nearest-rank percentile, apart from rounding in the last digits; values
/// below [`SMALLEST`] are reported as 0. There are at most ln([`LARGEST`] / [`SMALLEST`]) / ln γ
/// buckets (3,110 for α = 1 %), for any number of values.
#[derive(Debug, Clone)]
pub struct RunningQuantile {
    relative_error: f64,
    ln_gamma: f64,
    zeros: u64,
    buckets: BTreeMap<i32, u64>,
    count: u64,
    least: f64,
    most: f64,
}

impl RunningQuantile {
    /// Makes an estimator without values. `relative_error` is α: 0.01 is one percent.
    ///
    /// # Errors
    /// If `relative_error` is outside 0.0001..=0.5.
    pub fn new(relative_error: f64) -> Result<Self, MeasureError> {
        if !(0.0001..=0.5).contains(&relative_error) {
            let needed = "a fraction from 0.0001 to 0.5";
            return Err(MeasureError::new("relative_error", relative_error, needed));
        }
        Ok(Self {
            relative_error,
            ln_gamma: ((1.0 + relative_error) / (1.0 - relative_error)).ln(),
            zeros: 0,
            buckets: BTreeMap::new(),
            count: 0,
            least: f64::INFINITY,
            most: 0.0,
        })
    }

    /// Adds a value.
    ///
    /// # Errors
    /// If the value is NaN or outside 0..=[`LARGEST`].
    pub fn add(&mut self, value: f64) -> Result<(), MeasureError> {
        if !(0.0..=LARGEST).contains(&value) {
            return Err(MeasureError::new("value", value, "a number from 0 to 1e18"));
        }
        if value < SMALLEST {
            self.zeros += 1;
        } else {
            *self.buckets.entry(self.bucket(value)).or_insert(0) += 1;
        }
        self.count += 1;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        Ok(())
    }

    /// Number of values added.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The relative error α of every answer.
    #[must_use]
    pub const fn relative_error(&self) -> f64 {
        self.relative_error
    }

    /// The nearest-rank percentile within the relative error. Returns `None` without values.
    ///
    /// # Errors
    /// If `q` is outside 0..=100.
    pub fn percentile(&self, q: f64) -> Result<Option<f64>, MeasureError> {
        let rank = nearest_rank(q, self.count.max(1))?;
        if self.count == 0 {
            return Ok(None);
        }
        let mut passed = self.zeros;
        if passed >= rank {
            return Ok(Some(0.0));
        }
        for (&bucket, &values) in &self.buckets {
            passed += values;
            if passed >= rank {
                return Ok(Some(self.middle(bucket).clamp(self.least, self.most)));
            }
        }
        Ok(Some(self.most))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most ln(1e18) / ln γ < 210,000"
    )]
    fn bucket(&self, value: f64) -> i32 {
        (value.ln() / self.ln_gamma).ceil() as i32
    }

    fn middle(&self, bucket: i32) -> f64 {
        (f64::from(bucket) * self.ln_gamma).exp() * (1.0 - self.relative_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_none_without_values() {
        let quantile = RunningQuantile::new(0.01).unwrap();
        assert_eq!(quantile.percentile(50.0), Ok(None));
        assert!(quantile.percentile(-0.1).is_err());
    }

    #[test]
    fn a_single_value_is_exact() {
        let mut quantile = RunningQuantile::new(0.5).unwrap();
        quantile.add(123.456).unwrap();
        assert_eq!(quantile.percentile(99.0), Ok(Some(123.456)));
    }

    #[test]
    fn zeros_and_extremes_are_counted() {
        let mut quantile = RunningQuantile::new(0.01).unwrap();
        for value in [0.0, 1e-12, LARGEST] {
            quantile.add(value).unwrap();
        }
        assert_eq!(quantile.percentile(50.0), Ok(Some(0.0)));
        let top = quantile.percentile(100.0).unwrap().unwrap();
        assert!((top / LARGEST - 1.0).abs() <= 0.01);
        assert_eq!(quantile.count(), 3);
    }

    #[test]
    fn meaningless_input_is_refused() {
        let mut quantile = RunningQuantile::new(0.01).unwrap();
        for value in [-1.0, f64::NAN, f64::INFINITY, 2e18] {
            assert!(quantile.add(value).is_err());
        }
        assert_eq!(quantile.count(), 0);
        assert!(RunningQuantile::new(0.0).is_err());
        assert!(RunningQuantile::new(f64::NAN).is_err());
    }
}
