//! The service of each tenant, and how far its credit can have moved at the same time.

use std::collections::BTreeMap;

use super::change::Change;
use crate::MeasureError;

/// A tenant's running account. Peaks are over its present backlog.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub id: u32,
    pub weight: i128,
    pub backlogged: bool,
    /// Service since the beginning of the history.
    pub service: i128,
    /// What it entered the calendar with: credit, and debt.
    credit: i128,
    debt: i128,
    largest_charge: i128,
    owed: i128,
    /// The charges in flight.
    charged: i128,
    /// The charges in flight right after its latest dispatch in this backlog.
    pub charged_last: i128,
    /// Overcharge, and undercharge, of the attempts in flight.
    over: i128,
    under: i128,
    peak_over: i128,
    peak_under: i128,
}

impl Account {
    /// Largest distance between two values of its credit, see [`super::service_gap`]. `ahead`: its
    /// `charged_last` when the other tenant was there, too.
    pub fn spread(&self, ahead: i128) -> i128 {
        let below = self.debt.max(self.largest_charge).max(ahead);
        below + self.credit + self.peak_over + self.peak_under + ROUNDING
    }

    fn begin(&mut self, deficit: f64) {
        self.backlogged = true;
        self.credit = whole(deficit);
        self.debt = whole(-deficit);
        self.largest_charge = 0;
        self.charged_last = 0;
        self.peak_over = 0;
        self.peak_under = 0;
        self.note();
    }

    /// Takes note of what it is owed. Only an overcharge adds to that.
    fn owes(&mut self, owed: i64, delta: i128) -> Result<(), &'static str> {
        let most = self.owed + delta.max(0);
        self.owed = owed.into();
        if self.owed > most {
            return Err("owed no more than before plus the overcharge");
        }
        Ok(())
    }

    fn correct(&mut self, Attempt { charge, delta, .. }: Attempt) {
        self.charged -= charge;
        self.service -= delta;
        self.over -= delta.max(0);
        self.under -= (-delta).max(0);
    }

    fn note(&mut self) {
        self.peak_over = self.peak_over.max(self.over + self.owed);
        self.peak_under = self.peak_under.max(self.under);
    }
}

/// One unit of cost: more than the rounding of the few virtual times that a bound compares.
const ROUNDING: i128 = 1;

/// An amount rounded up to whole units, 0 if negative.
fn whole(amount: f64) -> i128 {
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let units = amount.ceil() as i128;
    units.max(0)
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
            account.backlogged = false;
            account.owed = 0;
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
        let account = &mut self.accounts[index];
        match change {
            Change::Weight { .. } => {}
            Change::Backlogged { deficit, .. } => {
                if std::mem::replace(&mut account.backlogged, true) {
                    return Err("about a tenant that is not backlogged");
                }
                if !deficit.is_finite() {
                    return Err("a change with a finite deficit");
                }
            }
            Change::Parked { .. } => {
                if !std::mem::replace(&mut account.backlogged, false) {
                    return Err("about a tenant that is backlogged");
                }
            }
            Change::Idle { .. } => {
                account.backlogged = false;
                account.owed = 0;
            }
            Change::Dispatched {
                tenant,
                fence,
                charge,
                owed,
            } => {
                not_below_zero(charge, owed)?;
                account.owes(owed, 0)?;
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
                owed,
                ..
            } => {
                not_below_zero(actual, owed)?;
                let delta = self.finish(change, fence, Some(actual))?;
                self.accounts[index].owes(owed, delta)?;
            }
            Change::Kept { fence, .. } => {
                self.finish(change, fence, None)?;
            }
            Change::Reversed { fence, owed, .. } => {
                not_below_zero(0, owed)?;
                let delta = self.finish(change, fence, Some(0))?;
                self.accounts[index].owes(owed, delta)?;
            }
        }
        Ok(())
    }

    fn finish(
        &mut self,
        change: Change,
        fence: u64,
        actual: Option<i64>,
    ) -> Result<i128, &'static str> {
        match self.attempts.get_mut(&fence) {
            Some(attempt) if attempt.tenant == change.tenant() && !attempt.ended => {
                attempt.ended = true;
                attempt.delta = actual.map_or(0, |actual| attempt.charge - i128::from(actual));
                Ok(attempt.delta)
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
                account.backlogged = false;
                account.weight = weight.into();
            }
            Change::Backlogged { deficit, .. } => account.begin(deficit),
            Change::Parked { .. } => account.backlogged = false,
            Change::Idle { .. } => {
                account.backlogged = false;
                account.owed = 0;
            }
            Change::Dispatched { fence, owed, .. } => {
                let Attempt { charge, delta, .. } = self.attempts[&fence];
                account.service += charge;
                account.largest_charge = account.largest_charge.max(charge);
                account.charged += charge;
                account.charged_last = account.charged;
                account.over += delta.max(0);
                account.under += (-delta).max(0);
                account.owed = owed.into();
            }
            Change::Settled { fence, owed, .. } | Change::Reversed { fence, owed, .. } => {
                account.correct(self.attempts[&fence]);
                account.owed = owed.into();
            }
            Change::Kept { fence, .. } => account.correct(self.attempts[&fence]),
        }
        account.note();
        index
    }
}

const fn not_below_zero(a: i64, b: i64) -> Result<(), &'static str> {
    if a < 0 || b < 0 {
        return Err("a change with amounts of 0 or more");
    }
    Ok(())
}
