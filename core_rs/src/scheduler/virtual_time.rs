//! Virtual time: service per unit of weight.

use std::cmp::Ordering;

/// A moment in virtual time, never NaN. Ordered like the scores of a sorted set: -0 equals 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VirtualTime(pub f64);

impl Ord for VirtualTime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0
            .partial_cmp(&other.0)
            .expect("virtual time is never NaN")
    }
}

impl PartialOrd for VirtualTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for VirtualTime {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for VirtualTime {}
