//! Python bindings of the measures.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::fairness::{self, Change};
use crate::{intervals, quantile, stats};

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "converted from Python")]
pub fn percentile(values: Vec<f64>, q: f64) -> PyResult<Option<f64>> {
    Ok(stats::percentile(&values, q)?)
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "converted from Python")]
pub fn percentiles(values: Vec<f64>, qs: Vec<f64>) -> PyResult<Option<Vec<f64>>> {
    Ok(stats::percentiles(&values, &qs)?)
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "converted from Python")]
pub fn jain(values: Vec<f64>) -> PyResult<Option<f64>> {
    Ok(stats::jain(&values)?)
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "converted from Python")]
pub fn ideal_shares(
    weights: Vec<f64>,
    demands: Vec<f64>,
    capacity: f64,
) -> PyResult<Option<Vec<f64>>> {
    Ok(fairness::ideal_shares(&weights, &demands, capacity)?)
}

#[pyfunction]
#[pyo3(signature = (intervals, costs = None))]
#[expect(clippy::needless_pass_by_value, reason = "converted from Python")]
pub fn peak_overlap(
    intervals: Vec<(f64, f64)>,
    costs: Option<Vec<f64>>,
) -> PyResult<Option<(f64, f64)>> {
    let peak = intervals::peak_overlap(&intervals, costs.as_deref())?;
    Ok(peak.map(|peak| (peak.value, peak.at)))
}

#[pyfunction]
#[pyo3(signature = (stamps, width, costs = None))]
#[expect(clippy::needless_pass_by_value, reason = "converted from Python")]
pub fn fullest_window(
    stamps: Vec<f64>,
    width: f64,
    costs: Option<Vec<f64>>,
) -> PyResult<Option<(f64, f64)>> {
    let peak = intervals::fullest_window(&stamps, width, costs.as_deref())?;
    Ok(peak.map(|peak| (peak.value, peak.at)))
}

#[pyfunction]
#[pyo3(signature = (intervals, capacity, start, end, costs = None))]
#[expect(clippy::needless_pass_by_value, reason = "converted from Python")]
pub fn occupancy(
    intervals: Vec<(f64, f64)>,
    capacity: f64,
    start: f64,
    end: f64,
    costs: Option<Vec<f64>>,
) -> PyResult<Option<f64>> {
    let window = (start, end);
    Ok(intervals::occupancy(
        &intervals,
        capacity,
        window,
        costs.as_deref(),
    )?)
}

#[pyclass(module = "fairlane._core", frozen, get_all, eq)]
#[derive(Debug, PartialEq)]
pub struct ServiceGap {
    pair: (u32, u32),
    from_index: usize,
    to_index: usize,
    gap: f64,
    bound: f64,
    ratio: f64,
    holds: bool,
}

#[pymethods]
impl ServiceGap {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

impl From<fairness::ServiceGap> for ServiceGap {
    fn from(gap: fairness::ServiceGap) -> Self {
        Self {
            pair: gap.pair,
            from_index: gap.from_index,
            to_index: gap.to_index,
            gap: gap.gap,
            bound: gap.bound,
            ratio: gap.ratio(),
            holds: gap.holds,
        }
    }
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "converted from Python")]
pub fn service_gap(changes: Vec<Bound<'_, PyTuple>>) -> PyResult<Option<(ServiceGap, ServiceGap)>> {
    let changes = changes
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            change(entry).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "changes[{index}] is {entry}; it must be a change such as ('weight', 0, 6)"
                ))
            })
        })
        .collect::<PyResult<Vec<Change>>>()?;
    let report = fairness::service_gap(&changes)?;
    Ok(report.map(|report| (report.largest.into(), report.closest.into())))
}

fn change(entry: &Bound<'_, PyTuple>) -> Option<Change> {
    let kind: String = entry.get_item(0).ok()?.extract().ok()?;
    let tenant: u32 = entry.get_item(1).ok()?.extract().ok()?;
    let amount = |index| entry.get_item(index).ok()?.extract::<i64>().ok();
    let fence = || entry.get_item(2).ok()?.extract::<u64>().ok();
    let (length, found) = match kind.as_str() {
        "weight" => {
            let weight = amount(2)?;
            (3, Change::Weight { tenant, weight })
        }
        "backlogged" => {
            let deficit = entry.get_item(2).ok()?.extract().ok()?;
            (3, Change::Backlogged { tenant, deficit })
        }
        "parked" => (2, Change::Parked { tenant }),
        "idle" => (2, Change::Idle { tenant }),
        "dispatched" => (
            5,
            Change::Dispatched {
                tenant,
                fence: fence()?,
                charge: amount(3)?,
                owed: amount(4)?,
            },
        ),
        "settled" => (
            5,
            Change::Settled {
                tenant,
                fence: fence()?,
                actual: amount(3)?,
                owed: amount(4)?,
            },
        ),
        "kept" => {
            let fence = fence()?;
            (3, Change::Kept { tenant, fence })
        }
        "reversed" => (
            4,
            Change::Reversed {
                tenant,
                fence: fence()?,
                owed: amount(3)?,
            },
        ),
        _ => return None,
    };
    (entry.len() == length).then_some(found)
}

#[pyclass(module = "fairlane._core")]
pub struct RunningQuantile(quantile::RunningQuantile);

#[pymethods]
impl RunningQuantile {
    #[new]
    #[pyo3(signature = (relative_error = 0.01))]
    fn new(relative_error: f64) -> PyResult<Self> {
        Ok(Self(quantile::RunningQuantile::new(relative_error)?))
    }

    fn add(&mut self, value: f64) -> PyResult<()> {
        Ok(self.0.add(value)?)
    }

    fn percentile(&self, q: f64) -> PyResult<Option<f64>> {
        Ok(self.0.percentile(q)?)
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    #[getter]
    fn relative_error(&self) -> f64 {
        self.0.relative_error()
    }
}
