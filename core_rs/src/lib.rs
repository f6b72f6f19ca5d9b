//! Scheduling arithmetic for Fairlane: numbers and arrays in, numbers out.
//!
//! This crate performs no I/O, reads no clock and draws no random numbers, so the same inputs
//! always give the same result.
//!
//! * [`scheduler`]: weighted deficits in virtual time, which is start-time fair queueing. It is the
//!   reference for the dispatcher that runs in production, and simulations run on it.
//! * [`fairness`]: ideal shares, and the largest service gap between tenants with its bound.
//! * [`intervals`]: peak overlap, fullest sliding window, occupancy.
//! * [`stats`]: nearest-rank percentiles and Jain's index.
//! * [`quantile`]: running quantiles in bounded memory.
//!
//! The measures share one convention. Without data they return `None`, never 0 or NaN. An invalid
//! input (NaN, infinite, negative where that is impossible) is a [`MeasureError`].

pub mod fairness;
pub mod intervals;
mod measure;
#[cfg(feature = "python")]
mod python;
pub mod quantile;
pub mod scheduler;
pub mod stats;

pub use measure::MeasureError;

/// The profile this library was compiled with: `"release"`, or `"debug"` when debug assertions are on.
///
/// Benchmarks refuse numbers that come from a debug build.
#[must_use]
pub const fn build_profile() -> &'static str {
    if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    }
}

/// The version of this crate, which is also the version of the Python package.
#[must_use]
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
