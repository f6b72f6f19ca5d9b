//! The service of each tenant, and how far its deficit can have moved at the same time.

use std::collections::BTreeMap;

use super::change::Change;
use crate::MeasureError;

/// A tenant's running account. Sums are over its present backlog, unless stated otherwise.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub id: u32,
    pub weight: i128,
    pub backlogged: bool,
    /// Service since the beginning of the history.
    pub service: i128,
    /// Refunds cut off since the beginning of the history.
    pub forfeited: i128,
    head: i128,
    deficit: i128,
    largest_head: i128,
    over: Errors,
    under: Errors,
}

/// Estimation errors of the attempts in flight: all overcharges, or all undercharges.
#[derive(Debug, Default)]
struct Errors {
    now: i128,
    peak: i128,
}

impl Errors {
    fn add(&mut self, error: i128) {
        self.now += error;
        self.peak = self.peak.max(self.now);
    }
}

impl Account {
    /// Largest distance between two values of the deficit, less one round's credit.
    ///
    /// The deficit, credited to the current round, exceeds a head task's charge by more than one
    /// round's credit only if it began there, or if overcharged attempts in flight give a refund. It
    /// falls below 0 only if it began there, or if attempts in flight were undercharged.
    pub fn spread(&self, quantum: i128) -> i128 {
        let carried = self.deficit - self.weight * quantum;
        let above = self.largest_head.max(carried) + self.over.peak;
        let below = (-self.deficit).max(0) + self.under.peak;
        above + below
    }

    fn begin(&mut self, deficit: i64) {
        self.backlogged = true;
        self.deficit = deficit.into();
        self.largest_head = self.head;
        self.over.peak = self.over.now;
        self.under.peak = self.under.now;
    }

    fn end(&mut self) {
        self.backlogged = false;
        self.head = 0;
    }
}

/// The charge of one attempt, and its correction `delta`: charge − actual.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    tenant: u32,
    charge: i128,
    delta: i128,
    ended: bool,
}

/// The accounts of all tenants, and the final correction of every attempt.
#[derive(Debug)]
pub(super) struct Ledger {
    pub accounts: Vec<Account>,
    indices: BTreeMap<u32, usize>,
    attempts: BTreeMap<u64, Attempt>,
}

impl Ledger {
    /// Checks the changes, and finds out how each attempt ends. An attempt that does not end within
    /// this history is never corrected, so its error counts as 0.
    pub fn new(changes: &[Change]) -> Result<Self, MeasureError> {
        let mut ledger = Self {
            accounts: Vec::new(),
            indices: BTreeMap::new(),
            attempts: BTreeMap::new(),
        };
        for (index, &change) in changes.iter().enumerate() {
            ledger.look_ahead(change).map_err(|needed| {
                MeasureError::new(format!("changes[{index}]"), format!("{change:?}"), needed)
            })?;
        }
        for account in &mut ledger.accounts {
            account.end();
        }
        Ok(ledger)
    }

    fn look_ahead(&mut self, change: Change) -> Result<(), &'static str> {
        if let Change::Weight { tenant, weight } = change {
            if weight <= 0 {
                return Err("a change with a weight above 0");
            }
            let next = self.accounts.len();
            let index = *self.indices.entry(tenant).or_insert(next);
            if index == next {
                self.accounts.push(Account {
                    id: tenant,
                    ..Account::default()
                });
            }
            self.accounts[index].backlogged = false;
            return Ok(());
        }
        let Some(&index) = self.indices.get(&change.tenant()) else {
            return Err("preceded by a weight of its tenant");
        };
        let backlogged = &mut self.accounts[index].backlogged;
        match change {
            Change::Weight { .. } => {}
            Change::Backlogged { .. } => {
                if std::mem::replace(backlogged, true) {
                    return Err("about a tenant that is not backlogged");
                }
            }
            Change::Unbacklogged { .. } => {
                if !std::mem::replace(backlogged, false) {
                    return Err("about a tenant that is backlogged");
                }
            }
            Change::Head { charge, .. } => not_below_zero(charge, 0)?,
            Change::Dispatched {
                tenant,
                fence,
                charge,
            } => {
                not_below_zero(charge, 0)?;
                let attempt = Attempt {
                    tenant,
                    charge: charge.into(),
                    delta: 0,
                    ended: false,
                };
                if self.attempts.insert(fence, attempt).is_some() {
                    return Err("about a fence that is not used yet");
                }
            }
            Change::Settled {
                fence,
                actual,
                forfeited,
                ..
            } => {
                not_below_zero(actual, forfeited)?;
                self.finish(change, fence, Some(actual))?;
            }
            Change::Kept { fence, .. } => self.finish(change, fence, None)?,
            Change::Reversed { fence, .. } => self.finish(change, fence, Some(0))?,
        }
        Ok(())
    }

    fn finish(
        &mut self,
        change: Change,
        fence: u64,
        actual: Option<i64>,
    ) -> Result<(), &'static str> {
        match self.attempts.get_mut(&fence) {
            Some(attempt) if attempt.tenant == change.tenant() && !attempt.ended => {
                attempt.ended = true;
                attempt.delta = actual.map_or(0, |actual| attempt.charge - i128::from(actual));
                Ok(())
            }
            _ => Err("about a fence that its tenant has in flight"),
        }
    }

    /// Applies one change of a checked history and returns the index of its tenant's account.
    pub fn book(&mut self, change: Change) -> usize {
        let index = self.indices[&change.tenant()];
        let account = &mut self.accounts[index];
        match change {
            Change::Weight { weight, .. } => {
                account.end();
                account.weight = weight.into();
            }
            Change::Backlogged { deficit, .. } => account.begin(deficit),
            Change::Unbacklogged { .. } => account.end(),
            Change::Head { charge, .. } => {
                account.head = charge.into();
                account.largest_head = account.largest_head.max(account.head);
            }
            Change::Dispatched { fence, .. } => {
                let Attempt { charge, delta, .. } = self.attempts[&fence];
                account.service += charge;
                account.largest_head = account.largest_head.max(charge);
                account.over.add(delta.max(0));
                account.under.add((-delta).max(0));
            }
            Change::Settled { fence, .. }
            | Change::Kept { fence, .. }
            | Change::Reversed { fence, .. } => {
                let delta = self.attempts[&fence].delta;
                account.service -= delta;
                account.over.now -= delta.max(0);
                account.under.now -= (-delta).max(0);
                if let Change::Settled { forfeited, .. } = change {
                    account.forfeited += i128::from(forfeited);
                }
            }
        }
        index
    }
}

fn not_below_zero(a: i64, b: i64) -> Result<(), &'static str> {
    if a < 0 || b < 0 {
        return Err("a change with amounts of 0 or more");
    }
    Ok(())
}
