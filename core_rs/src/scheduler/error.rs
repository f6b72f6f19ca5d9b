//! The error of the scheduler. A refused operation changes nothing.

use std::error::Error;
use std::fmt;

use super::task::PhaseName;

/// Why an operation was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerError {
    /// An argument is outside its range. Both ends of the range are allowed.
    OutOfRange {
        /// Name of the argument.
        argument: &'static str,
        /// The value given.
        value: i64,
        /// Smallest value allowed.
        low: i64,
        /// Largest value allowed.
        high: i64,
    },
    /// There is no tenant with this index.
    UnknownTenant(u32),
    /// No live task has this handle.
    UnknownTask(u64),
    /// A live task already has this handle.
    DuplicateTask(u64),
    /// The task can never be admitted: its cost exceeds its tenant's cost ceiling.
    AboveTenantCeiling {
        /// Estimated cost of the task.
        cost: i64,
        /// The tenant's cost ceiling.
        ceiling: i64,
    },
    /// The task can never be admitted: its cost exceeds the pool's cost ceiling.
    AbovePoolCeiling {
        /// Estimated cost of the task.
        cost: i64,
        /// The pool's cost ceiling.
        ceiling: i64,
    },
    /// The task is in a phase in which the operation is not allowed.
    WrongPhase {
        /// Handle of the task.
        task: u64,
        /// The phase it is in.
        phase: PhaseName,
        /// The phase that the operation needs.
        needed: PhaseName,
    },
}

impl fmt::Display for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange {
                argument,
                value,
                low,
                high,
            } => write!(f, "{argument} is {value}; it must be from {low} to {high}"),
            Self::UnknownTenant(tenant) => {
                write!(f, "tenant {tenant} does not exist; add it first")
            }
            Self::UnknownTask(task) => write!(f, "task {task} does not exist or has ended"),
            Self::DuplicateTask(task) => {
                write!(
                    f,
                    "task {task} exists and has not ended; use another handle"
                )
            }
            Self::AboveTenantCeiling { cost, ceiling } => {
                write!(f, "cost is {cost}; the tenant's cost ceiling is {ceiling}")
            }
            Self::AbovePoolCeiling { cost, ceiling } => {
                write!(f, "cost is {cost}; the pool's cost ceiling is {ceiling}")
            }
            Self::WrongPhase {
                task,
                phase,
                needed,
            } => write!(f, "task {task} is {phase}; it must be {needed}"),
        }
    }
}

impl Error for SchedulerError {}

/// Returns `value` if it lies within `low..=high`.
pub(super) fn within(
    argument: &'static str,
    value: i64,
    low: i64,
    high: i64,
) -> Result<i64, SchedulerError> {
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(SchedulerError::OutOfRange {
            argument,
            value,
            low,
            high,
        })
    }
}
