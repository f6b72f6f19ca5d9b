//! The largest service gap between two backlogged tenants, and the bound it must stay within.

use super::change::Change;
use super::ledger::{Account, Ledger};
use crate::MeasureError;
use crate::measure::float;

/// How far the service of two tenants, each per weight, drifted apart over one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServiceGap {
    /// The two tenants; the first got more service.
    pub pair: (u32, u32),
    /// The interval begins after the change with this index.
    pub from_index: usize,
    /// The interval ends after the change with this index.
    pub to_index: usize,
    /// The gap |ΔS₁/w₁ − ΔS₂/w₂|.
    pub gap: f64,
    /// The largest gap allowed.
    pub bound: f64,
    /// True if the gap is within the bound, computed in integers.
    pub holds: bool,
}

impl ServiceGap {
    /// The gap divided by its bound: at most 1 if the gap is within the bound.
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
    /// The gap with the largest ratio to its bound.
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
/// backlogged throughout, with constant weights. Compares it with the bound of deficit round robin:
///
/// 2·quantum + Σ over both of (C + D + O + U + F) / w
///
/// The terms of a tenant are taken over its own backlog up to the end of the interval:
///
/// * C: the largest charge of a head task or, if larger, the deficit with which the tenant entered the
///   calendar less one round's credit
/// * D: the debt with which it entered
/// * O and U: the peak overcharge and the peak undercharge of its attempts in flight
/// * F: the refunds forfeited while both tenants were backlogged
///
/// Service is the charge, corrected to the actual cost at settlement.
///
/// Without estimation errors this is the bound of Shreedhar and Varghese (1995), with the same proof:
/// the deficit, credited to the current round, stays between −D − U and w·quantum + C + O, and service
/// is the credit minus the change of the deficit minus the forfeited refunds.
///
/// Returns `None` if no two tenants were ever backlogged together. Takes O(changes · tenants).
///
/// # Errors
/// If the quantum is not above 0, or a change contradicts the changes before it; the error has its index.
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

/// Adds the present services to a stretch. Returns true if the stretch is new or its gap grew.
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

/// The gap over a stretch so far and its bound, both times the two weights, so that they are integers.
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
