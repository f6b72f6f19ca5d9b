//! Ranges that keep every intermediate value exact in an `i64` and in a double's 53 bits.

/// Largest estimated or actual cost.
pub const MAX_COST: i64 = 1 << 40;
/// Largest weight of a tenant.
pub const MAX_WEIGHT: i64 = 1_000_000;
/// Largest quantum of a pool.
pub const MAX_QUANTUM: i64 = 1 << 30;
/// Largest number of slots. It keeps every sum over the tasks in flight within 2^62.
pub const MAX_SLOTS: i64 = 1 << 22;
/// Largest cost ceiling.
pub const MAX_CEILING: i64 = 1 << 53;
/// Largest priority number; lower numbers go first.
pub const MAX_PRIORITY: i64 = 255;
/// Largest number of visits of one dispatch that serve nothing.
pub const MAX_VISITS: u32 = 256;

/// Largest service that a tenant's virtual time counts since its base, so that sums stay exact.
pub(super) const MAX_SERVED: i64 = 1 << 52;
/// The pool's virtual time returns to 0 when it, times the largest weight, exceeds this: a double then
/// still tells a sixteenth of a unit of service apart, whatever the weight.
pub(super) const MAX_VIRTUAL_SERVICE: f64 = 281_474_976_710_656.0; // 2^48
/// Distance between two priorities in a score; arrival numbers stay below it.
pub(super) const PRIORITY_STEP: i64 = 1 << 44;
/// A charge ratio of 1, in permille.
pub(super) const FULL_RATIO: i64 = 1000;
/// Cap on one observation of actual / estimate, in permille.
pub(super) const MAX_OBSERVED: i64 = 1 << 20;
/// Each observation moves the charge ratio by the difference divided by this number.
pub(super) const RATIO_DIVISOR: i64 = 8;
/// A refund raises a deficit at once to at most a quantum plus this many times the actual cost; the rest is owed.
pub(super) const REFUND_COSTS: i64 = 4;
/// What is owed pays at most this much of a charge, in eighths.
pub(super) const DISCOUNT_EIGHTHS: i64 = 7;
