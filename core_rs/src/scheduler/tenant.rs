//! One tenant: its queue, its tasks in flight, and its deficit.

use std::collections::{BTreeMap, BTreeSet};

use super::limits::{
    FULL_RATIO, MAX_OBSERVED, MIN_DEFICIT, PRIORITY_STEP, RATIO_DIVISOR, REFUND_CHARGES,
};
use super::{Limits, Place, Pool, Reason};

/// The next round and the index of each runnable tenant, smallest round first.
pub(super) type Calendar = BTreeSet<(i64, u32)>;

/// A queued task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub task: u64,
    pub cost: i64,
}

#[derive(Debug, Clone)]
pub(super) struct Tenant {
    pub id: u32,
    pub limits: Limits,
    pub deficit: i64,
    /// Round up to which the deficit has been credited.
    pub credited: i64,
    pub epoch: u64,
    /// Learned actual / estimate, in permille.
    pub ratio: i64,
    pub slots: i64,
    pub cost: i64,
    pub place: Place,
    pub pending: BTreeMap<i64, Queued>,
}

impl Tenant {
    pub fn new(id: u32, limits: Limits, pool: &Pool) -> Self {
        Self {
            id,
            limits,
            deficit: 0,
            credited: 0,
            epoch: pool.epoch,
            ratio: FULL_RATIO,
            slots: 0,
            cost: 0,
            place: Place::Idle,
            pending: BTreeMap::new(),
        }
    }

    /// The amount that one round adds to the deficit.
    fn round_credit(&self, pool: &Pool) -> i64 {
        self.limits.weight * pool.quantum
    }

    pub fn head(&self) -> Option<Queued> {
        self.pending.first_key_value().map(|(_, queued)| *queued)
    }

    /// The amount that a task of this estimated cost takes from the deficit.
    pub fn charge(&self, cost: i64) -> i64 {
        ceil_div(cost * self.ratio, FULL_RATIO).max(1)
    }

    /// The tenant's own ceiling that stops a task of this cost now, if any.
    pub fn blocked(&self, cost: i64) -> Option<Reason> {
        let Limits {
            slot_ceiling,
            cost_ceiling,
            ..
        } = self.limits;
        if slot_ceiling != 0 && self.slots >= slot_ceiling {
            Some(Reason::Slots)
        } else if cost_ceiling != 0 && self.cost + cost > cost_ceiling {
            Some(Reason::Cost)
        } else {
            None
        }
    }

    /// True if a task of this cost is above a ceiling, so that no settlement can make room for it.
    pub fn never_fits(&self, cost: i64, pool: &Pool) -> bool {
        let above = |ceiling| ceiling != 0 && cost > ceiling;
        above(self.limits.cost_ceiling) || above(pool.cost_ceiling)
    }

    /// Resets the deficit if a new epoch began since the tenant was last updated.
    pub fn adopt(&mut self, pool: &Pool) {
        if self.epoch != pool.epoch {
            self.epoch = pool.epoch;
            self.deficit = 0;
            self.credited = 0;
        }
    }

    /// Credits a tenant in the calendar for the rounds that passed since it was last credited.
    pub fn credit(&mut self, pool: &Pool) {
        if matches!(self.place, Place::Calendar { .. }) {
            self.credit_to(pool.round, pool);
        }
    }

    pub fn credit_to(&mut self, round: i64, pool: &Pool) {
        self.deficit += (round - self.credited) * self.round_credit(pool);
        self.credited = round;
    }

    /// Pays an idle tenant's debt with the rounds that passed. The deficit stays at most 0.
    pub fn settle_debt(&mut self, pool: &Pool) {
        let credit = self.round_credit(pool);
        let passed = pool.round - self.credited;
        self.deficit = if self.deficit < 0 && passed < ceil_div(-self.deficit, credit) {
            self.deficit + passed * credit
        } else {
            0
        };
        self.credited = pool.round;
    }

    /// The round in which a head task with this charge becomes affordable.
    fn eligible(&self, charge: i64, pool: &Pool) -> i64 {
        let missing = charge - self.deficit;
        let round = if missing <= 0 {
            self.credited
        } else {
            self.credited + ceil_div(missing, self.round_credit(pool))
        };
        round.max(pool.round)
    }

    /// Updates a tenant's place and its calendar entry after any change.
    pub fn touch(&mut self, pool: &Pool, calendar: &mut Calendar) {
        let Some(head) = self.head() else {
            self.deficit = self.deficit.min(0);
            if matches!(self.place, Place::Parked(_)) {
                self.credited = pool.round;
            }
            self.move_to(Place::Idle, calendar);
            return;
        };
        match self.place {
            Place::Idle => self.settle_debt(pool),
            Place::Calendar { .. } => {}
            Place::Parked(_) => {
                if !self.never_fits(head.cost, pool) && self.blocked(head.cost).is_some() {
                    return;
                }
                self.credited = pool.round;
            }
        }
        let round = self.eligible(self.charge(head.cost), pool);
        self.move_to(Place::Calendar { round }, calendar);
    }

    /// Changes the place and the calendar together. No other function writes calendar entries.
    pub fn move_to(&mut self, place: Place, calendar: &mut Calendar) {
        if place == self.place {
            return;
        }
        if let Place::Calendar { round } = self.place {
            calendar.remove(&(round, self.id));
        }
        if let Place::Calendar { round } = place {
            calendar.insert((round, self.id));
        }
        self.place = place;
    }

    /// Gives back the charge of an attempt that never started.
    pub fn refund(&mut self, charge: i64) {
        self.deficit += charge;
        if self.pending.is_empty() {
            self.deficit = self.deficit.min(0);
        }
    }

    /// Moves the charge ratio towards one observation.
    pub fn learn(&mut self, actual: i64, cost: i64) {
        let observed = (FULL_RATIO * actual / cost).min(MAX_OBSERVED);
        let step = (observed - self.ratio).div_euclid(RATIO_DIVISOR);
        self.ratio = (self.ratio + step).clamp(1, FULL_RATIO);
    }

    /// Corrects the deficit by `delta` = charge − actual. Returns the part of a refund that was cut off.
    pub fn correct(&mut self, delta: i64, pool: &Pool) -> i64 {
        let corrected = self.deficit + delta;
        if delta <= 0 {
            self.deficit = corrected.max(MIN_DEFICIT);
            return 0;
        }
        let Some(head) = self.head() else {
            self.deficit = corrected.min(0);
            return 0;
        };
        let most = self.round_credit(pool) + REFUND_CHARGES * self.charge(head.cost);
        self.deficit = self.deficit.max(corrected.min(most));
        corrected - self.deficit
    }
}

/// The quotient rounded up, for `dividend >= 0` and `divisor > 0`.
pub(super) fn ceil_div(dividend: i64, divisor: i64) -> i64 {
    dividend / divisor + i64::from(dividend % divisor != 0)
}

/// The queue position of the task with arrival number `sequence`.
pub(super) fn score(priority: i64, sequence: i64) -> i64 {
    priority * PRIORITY_STEP + sequence
}
