//! The Python module `fairlane._core`. Only this module and its children depend on Python.
//!
//! `fairlane/_core.pyi` holds the documentation for users.

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

/// An integer type of a fixed size, and its range in words.
trait Integer: for<'a, 'py> FromPyObject<'a, 'py> {
    const RANGE: &'static str;
}

impl Integer for u32 {
    const RANGE: &'static str = "0 to 2^32-1";
}

impl Integer for u64 {
    const RANGE: &'static str = "0 to 2^64-1";
}

impl Integer for usize {
    const RANGE: &'static str = "0 to 2^64-1";
}

impl Integer for i64 {
    const RANGE: &'static str = "-2^63 to 2^63-1";
}

/// Converts an integer argument. An integer out of range raises a `ValueError` that names the argument.
fn integer<T: Integer>(argument: &str, value: &Bound<'_, PyInt>) -> PyResult<T> {
    value.extract().map_err(|_| {
        let range = T::RANGE;
        PyValueError::new_err(format!("{argument} is {value}; it must be from {range}"))
    })
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
