//! Ideal shares of a capacity, and how far the service of two tenants drifts apart.

mod change;
mod gap;
mod ledger;
mod shares;

pub use change::Change;
pub use gap::{GapReport, ServiceGap, service_gap};
pub use shares::ideal_shares;

#[cfg(test)]
mod tests;
