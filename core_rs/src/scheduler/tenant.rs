//! One tenant: its queue, its tasks in flight, and its virtual time.

use std::collections::{BTreeMap, BTreeSet};

use super::limits::{
    DISCOUNT_EIGHTHS, FULL_RATIO, MAX_OBSERVED, MAX_SERVED, PRIORITY_STEP, RATIO_DIVISOR,
    REFUND_COSTS,
};
use super::virtual_time::VirtualTime;
use super::{Limits, Place, Pool, Reason};
use crate::measure::float;

/// Virtual time, arrival in the calendar and index of each runnable tenant; the next one first.
pub(super) type Calendar = BTreeSet<(VirtualTime, i64, u32)>;

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
    /// The virtual time from which `served` counts.
    pub base: f64,
    /// Service since `base`: charges less what was given back.
    pub served: i64,
    /// Sum of the charges in flight.
    pub charged: i64,
    pub owed: i64,
    /// Number of its latest arrival in the calendar.
    pub arrival: i64,
    pub epoch: u64,
    /// The pool's `rebased` that its virtual time takes into account.
    pub rebased: f64,
    /// Learned actual / estimate, in permille.
    pub ratio: i64,
    pub slots: i64,
    pub cost: i64,
    pub place: Place,
    /// Its entry in the calendar.
    pub entry: Option<(VirtualTime, i64)>,
    pub pending: BTreeMap<i64, Queued>,
}

impl Tenant {
    pub fn new(id: u32, limits: Limits, pool: &Pool) -> Self {
        Self {
            id,
            limits,
            base: 0.0,
            served: 0,
            charged: 0,
            owed: 0,
            arrival: 0,
            epoch: pool.epoch,
            rebased: pool.rebased,
            ratio: FULL_RATIO,
            slots: 0,
            cost: 0,
            place: Place::Idle,
            entry: None,
            pending: BTreeMap::new(),
        }
    }

    /// v = base + served / weight: rounded once, however often it was served.
    pub fn virtual_time(&self) -> f64 {
        self.at(self.served)
    }

    fn at(&self, served: i64) -> f64 {
        self.base + float(served.into()) / float(self.limits.weight.into())
    }

    /// weight · (V − v).
    pub fn deficit(&self, pool: &Pool) -> f64 {
        float(self.limits.weight.into()) * (pool.virtual_time - self.virtual_time())
    }

    pub fn restart_at(&mut self, virtual_time: f64) {
        self.base = virtual_time;
        self.served = 0;
    }

    pub fn head(&self) -> Option<Queued> {
        self.pending.first_key_value().map(|(_, queued)| *queued)
    }

    /// What fairness counts for a task of this estimated cost until it is settled.
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

    /// Follows the pool's epoch and its rebasing.
    pub fn adopt(&mut self, pool: &Pool) {
        if self.epoch != pool.epoch {
            self.epoch = pool.epoch;
            self.rebased = pool.rebased;
            self.owed = 0;
            self.restart_at(0.0);
        }
        #[expect(clippy::float_cmp, reason = "a copy of the pool's, or an older one")]
        if self.rebased != pool.rebased {
            self.rebase(pool.rebased - self.rebased, pool.rebased);
        }
    }

    pub fn rebase(&mut self, by: f64, rebased: f64) {
        self.restart_at(self.virtual_time() - by);
        self.rebased = rebased;
    }

    /// Serves its head task. V moves on to its virtual time without what is in flight, which may still be
    /// given back. What it is owed pays part of the charge.
    pub fn serve(&mut self, charge: i64, pool: &mut Pool) {
        let settled = self.at(self.served - self.charged);
        pool.virtual_time = pool.virtual_time.max(settled);
        let discount = self.owed.min(charge * DISCOUNT_EIGHTHS / 8);
        self.owed -= discount;
        self.served = (self.served + charge - discount).min(MAX_SERVED);
        self.charged += charge;
        self.arrive(pool);
    }

    fn arrive(&mut self, pool: &mut Pool) {
        pool.sequence += 1;
        self.arrival = pool.sequence;
    }

    /// Joins the calendar. Time without work, or spent parked, is no credit; debt is kept.
    fn enter(&mut self, pool: &mut Pool) {
        if self.virtual_time() < pool.virtual_time {
            self.restart_at(pool.virtual_time);
        }
        self.arrive(pool);
    }

    /// Updates a tenant's place and its calendar entry after any change.
    pub fn touch(&mut self, pool: &mut Pool, calendar: &mut Calendar) {
        let Some(head) = self.head() else {
            self.owed = 0;
            self.move_to(Place::Idle, calendar);
            return;
        };
        match self.place {
            Place::Calendar => {}
            Place::Idle => self.enter(pool),
            Place::Parked(_) => {
                if !self.never_fits(head.cost, pool) && self.blocked(head.cost).is_some() {
                    return;
                }
                self.enter(pool);
            }
        }
        self.move_to(Place::Calendar, calendar);
    }

    /// Changes the place and the calendar together. No other function writes calendar entries.
    pub fn move_to(&mut self, place: Place, calendar: &mut Calendar) {
        self.place = place;
        if let Some((at, arrival)) = self.entry.take() {
            calendar.remove(&(at, arrival, self.id));
        }
        if place == Place::Calendar {
            self.enter_calendar(calendar);
        }
    }

    pub fn enter_calendar(&mut self, calendar: &mut Calendar) {
        let at = VirtualTime(self.virtual_time());
        self.entry = Some((at, self.arrival));
        calendar.insert((at, self.arrival, self.id));
    }

    /// Moves the charge ratio towards one observation.
    pub fn learn(&mut self, actual: i64, cost: i64) {
        let observed = (FULL_RATIO * actual / cost).min(MAX_OBSERVED);
        let step = (observed - self.ratio).div_euclid(RATIO_DIVISOR);
        self.ratio = (self.ratio + step).clamp(1, FULL_RATIO);
    }

    /// Corrects its service from a charge to the actual cost, 0 if the attempt did not run.
    ///
    /// A refund raises the deficit of a tenant in the calendar at once up to the quantum plus a few times the
    /// actual cost; the rest is owed. Elsewhere a refund only reduces a debt: a tenant without work, or at a
    /// ceiling of its own, could not have been served sooner.
    pub fn correct(&mut self, charge: i64, actual: i64, pool: &Pool) {
        let delta = charge - actual;
        if delta <= 0 {
            self.served = (self.served - delta).min(MAX_SERVED);
        } else if self.place == Place::Calendar {
            let most = pool.quantum + REFUND_COSTS * actual;
            let room = (float(most.into()) - self.deficit(pool)).floor().max(0.0);
            #[expect(clippy::cast_possible_truncation, reason = "a whole number up to 2^40")]
            let at_once = float(delta.into()).min(room) as i64;
            self.served -= at_once;
            self.owed += delta - at_once;
        } else if self.virtual_time() > pool.virtual_time {
            self.served -= delta;
            if self.virtual_time() < pool.virtual_time {
                self.restart_at(pool.virtual_time);
            }
        }
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
