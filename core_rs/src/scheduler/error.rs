//! What the scheduler refuses. A refused operation changes nothing.

use std::error::Error;
use std::fmt;

use super::task::PhaseName;

/// Why an operation was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerError {
    /// An argument lies outside its range, both ends of which are allowed.
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
    /// No tenant with this index was put.
    UnknownTenant(u32),
    /// No live task has this handle.
    UnknownTask(u64),
    /// A live task already has this handle.
    DuplicateTask(u64),
    /// The task can never be admitted: it costs more than its tenant may have in flight.
    AboveTenantCeiling {
        /// Estimated cost of the task.
        cost: i64,
        /// The tenant's cost ceiling.
        ceiling: i64,
    },
    /// The task can never be admitted: it costs more than the pool may have in flight.
    AbovePoolCeiling {
        /// Estimated cost of the task.
        cost: i64,
        /// The pool's cost ceiling.
        ceiling: i64,
    },
    /// The task is not in the phase the operation applies to.
    WrongPhase {
        /// Handle of the task.
        task: u64,
        /// The phase it is in.
        phase: PhaseName,
        /// The phase it would have to be in.
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
            } => write!(f, "{argument} is {value}, outside {low}..={high}"),
            Self::UnknownTenant(tenant) => write!(f, "tenant {tenant} is unknown"),
            Self::UnknownTask(task) => write!(f, "task {task} is unknown or has ended"),
            Self::DuplicateTask(task) => write!(f, "task {task} is already live"),
            Self::AboveTenantCeiling { cost, ceiling } => {
                write!(f, "cost is {cost}, above the tenant's ceiling of {ceiling}")
            }
            Self::AbovePoolCeiling { cost, ceiling } => {
                write!(f, "cost is {cost}, above the pool's ceiling of {ceiling}")
            }
            Self::WrongPhase {
                task,
                phase,
                needed,
            } => write!(f, "task {task} is {phase}, not {needed}"),
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
