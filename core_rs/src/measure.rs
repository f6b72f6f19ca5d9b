//! The error of the measures, and checks of their arguments.

use std::error::Error;
use std::fmt;

/// An invalid argument.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureError {
    /// Name of the argument, with the index of the element if it is an array.
    pub argument: String,
    /// The value given, as text.
    pub value: String,
    /// The condition that the argument must meet, such as "a finite number".
    pub needed: &'static str,
}

impl MeasureError {
    pub(crate) fn new(
        argument: impl Into<String>,
        value: impl fmt::Display,
        needed: &'static str,
    ) -> Self {
        Self {
            argument: argument.into(),
            value: value.to_string(),
            needed,
        }
    }
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            argument,
            value,
            needed,
        } = self;
        write!(f, "{argument} is {value}; it must be {needed}")
    }
}

impl Error for MeasureError {}

/// Checks every element of an array and names the first that does not fit.
pub(crate) fn all(
    argument: &str,
    values: &[f64],
    needed: &'static str,
    fits: impl Fn(f64) -> bool,
) -> Result<(), MeasureError> {
    match values.iter().position(|&value| !fits(value)) {
        None => Ok(()),
        Some(index) => Err(MeasureError::new(
            format!("{argument}[{index}]"),
            values[index],
            needed,
        )),
    }
}

/// A condition for [`all`]: neither NaN nor infinite.
pub(crate) const FINITE: &str = "a finite number";
/// A condition for [`all`]: finite, and 0 or more.
pub(crate) const NOT_NEGATIVE: &str = "a finite number, 0 or more";

/// True if the value meets [`NOT_NEGATIVE`].
pub(crate) fn not_negative(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// Converts a count or an exact sum to a float, rounded to the nearest above 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "measures are floats; every count in practice is below 2^53"
)]
pub(crate) const fn float(value: i128) -> f64 {
    value as f64
}

/// Converts a number of elements to a float.
#[expect(clippy::cast_precision_loss, reason = "no array holds 2^53 elements")]
pub(crate) const fn count(elements: usize) -> f64 {
    elements as f64
}

/// The nearest rank of percentile `q` among `elements` sorted elements, `elements > 0`. Ranks begin at
/// 1: ⌈q · elements / 100⌉, and 1 for q = 0.
pub(crate) fn nearest_rank(q: f64, elements: u64) -> Result<u64, MeasureError> {
    if !(0.0..=100.0).contains(&q) {
        return Err(MeasureError::new("q", q, "a percentage from 0 to 100"));
    }
    let rank = (q * float(i128::from(elements)) / 100.0).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "q is within 0 to 100"
    )]
    let rank = rank as u64;
    Ok(rank.clamp(1, elements))
}
