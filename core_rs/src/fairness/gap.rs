//! The largest service gap between two backlogged tenants, and the bound it must stay within.

use super::change::Change;
use super::ledger::{Account, Ledger};
use crate::MeasureError;
use crate::measure::float;

/// How far the service of two tenants, each per weight, drifted apart over one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServiceGap {
    /// The two tenants, the one that got more first.
    pub pair: (u32, u32),
    /// The interval begins after the change with this index.
    pub from_index: usize,
    /// The interval ends after the change with this index.
    pub to_index: usize,
    /// The gap |ΔS₁/w₁ − ΔS₂/w₂|.
    pub gap: f64,
    /// What the gap may be at most.
    pub bound: f64,
    /// Whether the gap is within the bound, decided exactly.
    pub holds: bool,
}

impl ServiceGap {
    /// The gap as a part of its bound; within the bound it is at most 1.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.gap / self.bound
    }
}

/// The result of [`service_gap`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GapReport {
    /// The largest gap.
    pub largest: ServiceGap,
    /// The gap that comes closest to its bound, or exceeds it furthest.
    pub closest: ServiceGap,
}

/// The extremes of S₁·w₂ − S₂·w₁ while two tenants are backlogged together.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    least: (i128, usize),
    most: (i128, usize),
    forfeited: [i128; 2],
}

/// Finds the largest |ΔS₁/w₁ − ΔS₂/w₂| over all pairs of tenants and all intervals in which both were
/// backlogged throughout, with constant weights, and compares it with what deficit round robin
/// allows:
///
/// 2·quantum + Σ over both of (C + D + O + U + F) / w
///
/// where, over the tenant's own backlog up to the end of the interval, C is the largest charge of a
/// head (or, if larger, the part of the deficit above one round's credit that it entered the calendar
/// with), D the debt it entered with, O and U the peaks of what its attempts in flight were
/// overcharged and undercharged, and F the refunds forfeited while both were backlogged. Service is by
/// charge, corrected to the actual cost at settlement.
///
/// Without estimation errors this is the bound of Shreedhar and Varghese (1995) and follows the same
/// way: the deficit, credited to the current round, stays between −D − U and w·quantum + C + O, and
/// service is credit minus the change of the deficit minus what was forfeited.
///
/// `None` if no two tenants were ever backlogged together. Takes O(changes · tenants).
///
/// # Errors
/// A quantum that is not above 0; a change that does not fit those before it, by index.
pub fn service_gap(changes: &[Change], quantum: i64) -> Result<Option<GapReport>, MeasureError> {
    if quantum <= 0 {
        return Err(MeasureError::new("quantum", quantum, "a number above 0"));
    }
    let mut ledger = Ledger::new(changes)?;
    let tenants = ledger.accounts.len();
    let mut stretches: Vec<Option<Stretch>> = vec![None; tenants * tenants];
    let mut report: Option<GapReport> = None;
    for (index, &change) in changes.iter().enumerate() {
        let subject = ledger.book(change);
        let head = matches!(change, Change::Head { .. });
        for other in (0..tenants).filter(|&other| other != subject && !head) {
            let (a, b) = (subject.min(other), subject.max(other));
            let stretch = &mut stretches[a * tenants + b];
            let pair = [&ledger.accounts[a], &ledger.accounts[b]];
            if !pair.iter().all(|account| account.backlogged) {
                *stretch = None;
                continue;
            }
            let grown = extend(stretch, pair, index);
            if let (true, Some(stretch)) = (grown, stretch) {
                let gap = measure(stretch, pair, quantum.into());
                report = Some(report.map_or(
                    GapReport {
                        largest: gap,
                        closest: gap,
                    },
                    |report| report.including(gap),
                ));
            }
        }
    }
    Ok(report)
}

impl GapReport {
    fn including(self, gap: ServiceGap) -> Self {
        let further = gap.gap > self.largest.gap;
        let closer = gap.ratio() > self.closest.ratio();
        Self {
            largest: if further { gap } else { self.largest },
            closest: if closer { gap } else { self.closest },
        }
    }
}

/// Takes the present services into a stretch, and tells whether its gap is new or grew.
fn extend(stretch: &mut Option<Stretch>, [a, b]: [&Account; 2], index: usize) -> bool {
    let now = a.service * b.weight - b.service * a.weight;
    match stretch {
        None => {
            *stretch = Some(Stretch {
                least: (now, index),
                most: (now, index),
                forfeited: [a.forfeited, b.forfeited],
            });
            true
        }
        Some(stretch) if now < stretch.least.0 => {
            stretch.least = (now, index);
            true
        }
        Some(stretch) if now > stretch.most.0 => {
            stretch.most = (now, index);
            true
        }
        Some(_) => false,
    }
}

/// The gap over a stretch so far, times both weights so that it is whole, against the bound.
fn measure(stretch: &Stretch, [a, b]: [&Account; 2], quantum: i128) -> ServiceGap {
    let weights = a.weight * b.weight;
    let gap = stretch.most.0 - stretch.least.0;
    let spread = [a, b].map(|account| account.spread(quantum));
    let lost_a = spread[0] + a.forfeited - stretch.forfeited[0];
    let lost_b = spread[1] + b.forfeited - stretch.forfeited[1];
    let bound = 2 * quantum * weights + lost_a * b.weight + lost_b * a.weight;
    let rising = stretch.least.1 <= stretch.most.1;
    let (first, second) = if rising { (a, b) } else { (b, a) };
    ServiceGap {
        pair: (first.id, second.id),
        from_index: stretch.least.1.min(stretch.most.1),
        to_index: stretch.least.1.max(stretch.most.1),
        gap: float(gap) / float(weights),
        bound: float(bound) / float(weights),
        holds: gap <= bound,
    }
}
