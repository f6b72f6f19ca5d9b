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
    /// The charges that each had in flight after its latest dispatch before the stretch.
    ahead: [i128; 2],
}

/// Finds the largest |ΔS₁/w₁ − ΔS₂/w₂| over all pairs of tenants and all intervals in which both were
/// backlogged throughout, with constant weights. Compares it with the bound of the scheduler:
///
/// Σ over both of (max(C, D, L) + E + O + U + 1) / w
///
/// The terms of a tenant are taken over its own backlog up to the end of the interval:
///
/// * C: the largest charge of a dispatched task
/// * D and E: the debt, or the credit, with which it entered the calendar
/// * L: the charges it had in flight right after its latest dispatch before the other was backlogged, too
/// * O: the peak of what it is owed plus the overcharge of its attempts in flight
/// * U: the peak undercharge of its attempts in flight
/// * 1: one unit of cost for the rounding of virtual times
///
/// Service is the charge, corrected to the actual cost at settlement.
///
/// Proof. Let X = weight · (V − v) + owed. Every change of a tenant's service changes X by as much the other
/// way, and else only V moves X, equally per weight for all. So the gap between i and j is the range of
/// Y = Xⱼ/wⱼ − Xᵢ/wᵢ, and it is enough to bound Y from above, for each of the two as i.
///
/// * While both are backlogged, i is dispatched only when vᵢ ≤ vⱼ. So Y ≤ Cᵢ/wᵢ + owedⱼ/wⱼ after it.
///   From then on, Y plus j's overcharge in flight, per weight, plus i's undercharge in flight, per weight,
///   does not grow until the next dispatch of i: a dispatch of j takes its charge from Y and adds at most
///   that to the overcharge; a settlement moves as much from one to the other, or reduces Y. So
///   Y ≤ (Cᵢ + Uᵢ)/wᵢ + Oⱼ/wⱼ.
/// * Before the first such dispatch of i, the value at the beginning of the interval takes the place of Cᵢ.
///   There Xⱼ ≤ Eⱼ + Oⱼ: V grows only up to the v of a tenant that is served, the smallest one, so Xⱼ ≤
///   owedⱼ then, and Xⱼ plus j's overcharge in flight does not grow otherwise. And Xᵢ ≥ −Lᵢ − Uᵢ: V is at
///   least vᵢ less what i has in flight when it is dispatched; or Xᵢ ≥ −Dᵢ − Uᵢ if i was not yet.
///
/// Returns `None` if no two tenants were ever backlogged together. Takes O(changes · tenants).
///
/// # Errors
/// If a change contradicts the changes before it; the error has its index.
pub fn service_gap(changes: &[Change]) -> Result<Option<GapReport>, MeasureError> {
    let mut ledger = Ledger::new(changes)?;
    let tenants = ledger.accounts.len();
    let mut stretches: Vec<Option<Stretch>> = vec![None; tenants * tenants];
    let mut report: Option<GapReport> = None;
    for (index, &change) in changes.iter().enumerate() {
        let subject = ledger.book(change);
        for other in (0..tenants).filter(|&other| other != subject) {
            let (a, b) = (subject.min(other), subject.max(other));
            let stretch = &mut stretches[a * tenants + b];
            let pair = [&ledger.accounts[a], &ledger.accounts[b]];
            if !pair.iter().all(|account| account.backlogged) {
                *stretch = None;
                continue;
            }
            let grown = extend(stretch, pair, index);
            if let (true, Some(stretch)) = (grown, stretch) {
                let gap = measure(stretch, pair);
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
                ahead: [a.charged_last, b.charged_last],
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
fn measure(stretch: &Stretch, [a, b]: [&Account; 2]) -> ServiceGap {
    let weights = a.weight * b.weight;
    let gap = stretch.most.0 - stretch.least.0;
    let [ahead_a, ahead_b] = stretch.ahead;
    let bound = a.spread(ahead_a) * b.weight + b.spread(ahead_b) * a.weight;
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
