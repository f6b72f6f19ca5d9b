//! What the measures refuse.

use std::error::Error;
use std::fmt;

/// An input without meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureError {
    /// Name of the argument, with the index of the element if it is an array.
    pub argument: String,
    /// The value given, as text.
    pub value: String,
    /// What it has to be.
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
        write!(f, "{argument} is {value}, {needed} is needed")
    }
}

impl Error for MeasureError {}

/// Checks every element of an array.
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

/// A finite number, for [`all`].
pub(crate) const FINITE: &str = "a finite number";
/// A finite number not below zero, for [`all`].
pub(crate) const NOT_NEGATIVE: &str = "a finite number not below 0";

/// Whether a value is [`NOT_NEGATIVE`].
pub(crate) fn not_negative(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// A count or an exact sum as a float, rounded to nearest above 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "measures are floats; every count in practice is below 2^53"
)]
pub(crate) const fn float(value: i128) -> f64 {
    value as f64
}

/// The number of elements as a float.
#[expect(clippy::cast_precision_loss, reason = "no array holds 2^53 elements")]
pub(crate) const fn count(elements: usize) -> f64 {
    elements as f64
}

/// The nearest rank of a percentile among `elements > 0` ordered ones, from 1: ⌈q · elements / 100⌉,
/// and 1 for q = 0.
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
