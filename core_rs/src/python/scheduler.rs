//! Python bindings of the reference scheduler.

use pyo3::prelude::*;
use pyo3::types::PyInt;

use super::integer;
use crate::scheduler as core;
use crate::scheduler::{Limits, Phase, Place, Reason};

/// Tenant, task, fence, charge, deficit and owed amount of each placement.
type Placements = Vec<(u32, u64, u64, i64, f64, i64)>;

#[pyclass(module = "fairlane._core", frozen, get_all, eq)]
#[derive(Debug, PartialEq)]
pub struct TenantState {
    weight: i64,
    slot_ceiling: i64,
    cost_ceiling: i64,
    virtual_time: f64,
    deficit: f64,
    owed: i64,
    charged: i64,
    ratio: i64,
    place: &'static str,
    parked_by: Option<&'static str>,
    slots: i64,
    cost: i64,
    pending: usize,
}

#[pyclass(module = "fairlane._core", frozen, get_all, eq)]
#[derive(Debug, PartialEq)]
pub struct PoolState {
    quantum: i64,
    capacity: i64,
    cost_ceiling: i64,
    slots: i64,
    cost: i64,
    virtual_time: f64,
    round: i64,
    epoch: u64,
    live: i64,
}

#[pyclass(module = "fairlane._core", frozen, get_all, eq)]
#[derive(Debug, PartialEq)]
pub struct TaskState {
    tenant: u32,
    cost: i64,
    phase: &'static str,
    fence: Option<u64>,
    charge: Option<i64>,
}

#[pymethods]
impl TenantState {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

#[pymethods]
impl PoolState {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

#[pymethods]
impl TaskState {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

impl From<core::TenantState> for TenantState {
    fn from(state: core::TenantState) -> Self {
        let (place, parked_by) = match state.place {
            Place::Idle => ("idle", None),
            Place::Calendar => ("calendar", None),
            Place::Parked(Reason::Slots) => ("parked", Some("slots")),
            Place::Parked(Reason::Cost) => ("parked", Some("cost")),
        };
        Self {
            weight: state.limits.weight,
            slot_ceiling: state.limits.slot_ceiling,
            cost_ceiling: state.limits.cost_ceiling,
            virtual_time: state.virtual_time,
            deficit: state.deficit,
            owed: state.owed,
            charged: state.charged,
            ratio: state.ratio,
            place,
            parked_by,
            slots: state.slots,
            cost: state.cost,
            pending: state.pending,
        }
    }
}

impl From<core::Task> for TaskState {
    fn from(task: core::Task) -> Self {
        let (fence, charge) = match task.phase {
            Phase::InFlight { fence, charge } => (Some(fence), Some(charge)),
            Phase::Pending | Phase::Waiting => (None, None),
        };
        Self {
            tenant: task.tenant,
            cost: task.cost,
            phase: task.phase.name().as_str(),
            fence,
            charge,
        }
    }
}

#[pyclass(module = "fairlane._core")]
pub struct Scheduler(core::Scheduler);

#[pymethods]
impl Scheduler {
    #[new]
    #[pyo3(signature = (quantum, capacity, cost_ceiling = None))]
    fn new(
        quantum: &Bound<'_, PyInt>,
        capacity: &Bound<'_, PyInt>,
        cost_ceiling: Option<&Bound<'_, PyInt>>,
    ) -> PyResult<Self> {
        Ok(Self(core::Scheduler::new(
            integer("quantum", quantum)?,
            integer("capacity", capacity)?,
            ceiling("cost_ceiling", cost_ceiling)?,
        )?))
    }

    #[pyo3(signature = (tenant, weight, slot_ceiling = None, cost_ceiling = None))]
    fn put_tenant(
        &mut self,
        tenant: &Bound<'_, PyInt>,
        weight: &Bound<'_, PyInt>,
        slot_ceiling: Option<&Bound<'_, PyInt>>,
        cost_ceiling: Option<&Bound<'_, PyInt>>,
    ) -> PyResult<()> {
        let limits = Limits {
            weight: integer("weight", weight)?,
            slot_ceiling: ceiling("slot_ceiling", slot_ceiling)?,
            cost_ceiling: ceiling("cost_ceiling", cost_ceiling)?,
        };
        Ok(self.0.put_tenant(integer("tenant", tenant)?, limits)?)
    }

    fn set_capacity(&mut self, capacity: &Bound<'_, PyInt>) -> PyResult<()> {
        Ok(self.0.set_capacity(integer("capacity", capacity)?)?)
    }

    fn set_pool_cost_ceiling(&mut self, cost_ceiling: &Bound<'_, PyInt>) -> PyResult<()> {
        let cost_ceiling = integer("cost_ceiling", cost_ceiling)?;
        Ok(self.0.set_pool_cost_ceiling(cost_ceiling)?)
    }

    #[pyo3(signature = (tenant, task, cost, priority = None))]
    fn submit(
        &mut self,
        tenant: &Bound<'_, PyInt>,
        task: &Bound<'_, PyInt>,
        cost: &Bound<'_, PyInt>,
        priority: Option<&Bound<'_, PyInt>>,
    ) -> PyResult<()> {
        let priority = priority.map_or(Ok(0), |value| integer("priority", value))?;
        Ok(self.0.submit(
            integer("tenant", tenant)?,
            integer("task", task)?,
            integer("cost", cost)?,
            priority,
        )?)
    }

    fn dispatch(
        &mut self,
        limit: &Bound<'_, PyInt>,
        places: &Bound<'_, PyInt>,
    ) -> PyResult<(Placements, Vec<u64>, bool)> {
        let batch = self
            .0
            .dispatch(integer("limit", limit)?, integer("places", places)?);
        let placements = batch
            .placed
            .iter()
            .map(|p| (p.tenant, p.task, p.fence, p.charge, p.deficit, p.owed))
            .collect();
        Ok((placements, batch.rejected, batch.more))
    }

    #[pyo3(signature = (task, actual, good = true))]
    fn settle(
        &mut self,
        task: &Bound<'_, PyInt>,
        actual: &Bound<'_, PyInt>,
        good: bool,
    ) -> PyResult<()> {
        let actual = integer("actual", actual)?;
        Ok(self
            .0
            .settle(integer("task", task)?, good.then_some(actual))?)
    }

    fn fail_retry(&mut self, task: &Bound<'_, PyInt>) -> PyResult<()> {
        Ok(self.0.fail_retry(integer("task", task)?)?)
    }

    #[pyo3(signature = (task, wait = false))]
    fn give_back(&mut self, task: &Bound<'_, PyInt>, wait: bool) -> PyResult<()> {
        Ok(self.0.give_back(integer("task", task)?, wait)?)
    }

    fn resume(&mut self, task: &Bound<'_, PyInt>) -> PyResult<()> {
        Ok(self.0.resume(integer("task", task)?)?)
    }

    fn cancel(&mut self, task: &Bound<'_, PyInt>) -> PyResult<()> {
        Ok(self.0.cancel(integer("task", task)?)?)
    }

    fn pool(&self) -> PoolState {
        let state = self.0.pool_state();
        PoolState {
            quantum: state.quantum,
            capacity: state.capacity,
            cost_ceiling: state.cost_ceiling,
            slots: state.slots,
            cost: state.cost,
            virtual_time: state.virtual_time,
            round: state.round,
            epoch: state.epoch,
            live: state.live,
        }
    }

    fn tenant(&self, tenant: &Bound<'_, PyInt>) -> PyResult<TenantState> {
        Ok(self.0.tenant_state(integer("tenant", tenant)?)?.into())
    }

    fn tenants(&self) -> Vec<u32> {
        self.0.tenants().collect()
    }

    fn pending(&self, tenant: &Bound<'_, PyInt>) -> PyResult<Vec<u64>> {
        Ok(self.0.pending(integer("tenant", tenant)?)?)
    }

    fn head_charge(&self, tenant: &Bound<'_, PyInt>) -> PyResult<Option<i64>> {
        Ok(self.0.head_charge(integer("tenant", tenant)?)?)
    }

    fn task(&self, task: &Bound<'_, PyInt>) -> PyResult<Option<TaskState>> {
        Ok(self.0.task(integer("task", task)?).map(Into::into))
    }

    fn calendar(&self) -> Vec<(f64, u32)> {
        self.0.calendar().collect()
    }
}

fn ceiling(argument: &str, value: Option<&Bound<'_, PyInt>>) -> PyResult<i64> {
    value.map_or(Ok(0), |value| integer(argument, value))
}
