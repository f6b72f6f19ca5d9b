//! Ideal shares by water filling.

use crate::MeasureError;
use crate::measure::{FINITE, NOT_NEGATIVE, all, not_negative};

/// Weighted max-min fair shares of a capacity, by water filling (Bertsekas and Gallager, *Data
/// Networks*, 6.5.2): each tenant gets min(weight · x, demand), with the largest level x for which the
/// shares fit into the capacity.
///
/// If all demands fit together, each is met. Element i of `weights`, `demands` and the result belongs
/// to tenant i. `demands` and `capacity` have the same unit, such as slot-seconds. Returns `None`
/// without tenants.
///
/// # Errors
/// If a weight is not a finite number above 0, a demand or the capacity is negative, NaN or infinite,
/// or the arrays have different lengths.
pub fn ideal_shares(
    weights: &[f64],
    demands: &[f64],
    capacity: f64,
) -> Result<Option<Vec<f64>>, MeasureError> {
    all("weights", weights, "a finite number above 0", |weight| {
        weight.is_finite() && weight > 0.0
    })?;
    all("demands", demands, NOT_NEGATIVE, not_negative)?;
    if !not_negative(capacity) {
        return Err(MeasureError::new("capacity", capacity, NOT_NEGATIVE));
    }
    if weights.len() != demands.len() {
        let value = format!("{} for {} weights", demands.len(), weights.len());
        return Err(MeasureError::new(
            "number of demands",
            value,
            "one for each",
        ));
    }
    if weights.is_empty() {
        return Ok(None);
    }
    let level = |tenant: usize| demands[tenant] / weights[tenant];
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_unstable_by(|&a, &b| level(a).total_cmp(&level(b)));
    // Summed from the end, so that satisfied tenants leave no rounding error behind.
    let mut unfilled_weight = vec![0.0; order.len() + 1];
    for (position, &tenant) in order.iter().enumerate().rev() {
        unfilled_weight[position] = unfilled_weight[position + 1] + weights[tenant];
    }
    all(
        "sum of weights",
        &unfilled_weight[..1],
        FINITE,
        f64::is_finite,
    )?;

    let mut shares = vec![0.0; weights.len()];
    let mut left = capacity;
    for (position, &tenant) in order.iter().enumerate() {
        let fair = weights[tenant] * (left / unfilled_weight[position]);
        shares[tenant] = fair.min(demands[tenant]);
        left = (left - shares[tenant]).max(0.0);
    }
    Ok(Some(shares))
}
