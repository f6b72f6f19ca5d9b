//! Random operations.

use _core::scheduler::Limits;
use proptest::prelude::*;

use super::TENANTS;

#[derive(Debug, Clone)]
pub enum Operation {
    Submit {
        tenant: u32,
        cost: i64,
        priority: i64,
        copies: u8,
    },
    Dispatch(usize),
    /// Picks a task in flight; the actual cost is in permille of the estimate.
    Settle(usize, Option<i64>),
    FailRetry(usize),
    GiveBack(usize, bool),
    Resume(usize),
    Cancel(usize),
    PutTenant(u32, Limits),
    Capacity(i64),
    CostCeiling(i64),
}

fn costs() -> impl Strategy<Value = i64> {
    prop_oneof![1..=100i64, 1..=100_000i64, Just(100_000)]
}

fn limits() -> impl Strategy<Value = Limits> {
    let weight = prop_oneof![1..=10i64, 1..=1000i64];
    let slot_ceiling = prop_oneof![2 => Just(0), 1 => 1..=4i64];
    let cost_ceiling = prop_oneof![3 => Just(0), 1 => 50_000..=300_000i64];
    (weight, slot_ceiling, cost_ceiling).prop_map(|(weight, slot_ceiling, cost_ceiling)| Limits {
        weight,
        slot_ceiling,
        cost_ceiling,
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let pick = any::<usize>();
    let actual = prop_oneof![
        1 => Just(None),
        2 => Just(Some(1000)),
        2 => (0..=1000i64).prop_map(Some),
        2 => (1000..=5000i64).prop_map(Some),
    ];
    prop_oneof![
        12 => (0..TENANTS, costs(), 0..=3i64, 1..=4u8).prop_map(|(tenant, cost, priority, copies)| {
            Operation::Submit { tenant, cost, priority, copies }
        }),
        12 => (1..=6usize).prop_map(Operation::Dispatch),
        14 => (pick, actual).prop_map(|(pick, actual)| Operation::Settle(pick, actual)),
        2 => pick.prop_map(Operation::FailRetry),
        4 => (pick, any::<bool>()).prop_map(|(pick, wait)| Operation::GiveBack(pick, wait)),
        2 => pick.prop_map(Operation::Resume),
        2 => pick.prop_map(Operation::Cancel),
        1 => (0..TENANTS, limits()).prop_map(|(tenant, limits)| Operation::PutTenant(tenant, limits)),
        1 => (0..=8i64).prop_map(Operation::Capacity),
        1 => prop_oneof![Just(0), 60_000..=500_000i64].prop_map(Operation::CostCeiling),
    ]
}

/// A pool's quantum, the first limits of its tenants, and the operations.
pub fn history(length: usize) -> impl Strategy<Value = (i64, Vec<Limits>, Vec<Operation>)> {
    (
        prop_oneof![1..=100i64, 100..=100_000i64],
        prop::collection::vec(limits(), TENANTS as usize),
        prop::collection::vec(operation(), 1..length),
    )
}
