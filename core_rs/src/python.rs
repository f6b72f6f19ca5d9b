//! The Python module `fairlane._core`. Only this module and its children know Python.
//!
//! Everything is documented for its users in `fairlane/_core.pyi`.

mod measures;
mod scheduler;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::MeasureError;
use crate::scheduler::SchedulerError;

impl From<SchedulerError> for PyErr {
    fn from(error: SchedulerError) -> Self {
        PyValueError::new_err(error.to_string())
    }
}

impl From<MeasureError> for PyErr {
    fn from(error: MeasureError) -> Self {
        PyValueError::new_err(error.to_string())
    }
}

/// A whole number of a fixed size.
trait Whole: for<'a, 'py> FromPyObject<'a, 'py> {
    const RANGE: &'static str;
}

impl Whole for u32 {
    const RANGE: &'static str = "0..=2^32-1";
}

impl Whole for u64 {
    const RANGE: &'static str = "0..=2^64-1";
}

impl Whole for usize {
    const RANGE: &'static str = "0..=2^64-1";
}

impl Whole for i64 {
    const RANGE: &'static str = "-2^63..=2^63-1";
}

/// Reads an integer argument; one that does not fit is a `ValueError` that names it.
fn whole<T: Whole>(argument: &str, value: &Bound<'_, PyInt>) -> PyResult<T> {
    value
        .extract()
        .map_err(|_| PyValueError::new_err(format!("{argument} is {value}, outside {}", T::RANGE)))
}

#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::measures::{
        RunningQuantile, ServiceGap, fullest_window, ideal_shares, jain, occupancy, peak_overlap,
        percentile, percentiles, service_gap,
    };
    #[pymodule_export]
    use super::scheduler::{PoolState, Scheduler, TaskState, TenantState};

    #[pyfunction]
    fn build_profile() -> &'static str {
        crate::build_profile()
    }

    #[pyfunction]
    fn version() -> &'static str {
        crate::version()
    }
}
