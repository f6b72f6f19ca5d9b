//! Ranges that keep every intermediate value exact in an `i64` and in a double's 53 bits.

/// Largest estimated or actual cost.
pub const MAX_COST: i64 = 1 << 40;
/// Largest weight of a tenant.
pub const MAX_WEIGHT: i64 = 1_000_000;
/// Largest quantum of a pool.
pub const MAX_QUANTUM: i64 = 1 << 30;
/// A task may cost at most this many quanta, so that it becomes affordable within as many rounds.
pub const MAX_QUANTA_PER_TASK: i64 = 1 << 20;
/// Largest number of slots. It keeps every sum over the tasks in flight within 2^62.
pub const MAX_SLOTS: i64 = 1 << 22;
/// Largest cost ceiling.
pub const MAX_CEILING: i64 = 1 << 53;
/// Largest priority number; lower numbers go first.
pub const MAX_PRIORITY: i64 = 255;
/// Largest number of tenants that one dispatch visits.
pub const MAX_VISITS: u32 = 256;

/// Deepest debt a tenant can have.
pub(super) const MIN_DEFICIT: i64 = -(1 << 52);
/// Distance between two priorities in a score; arrival numbers stay below it.
pub(super) const PRIORITY_STEP: i64 = 1 << 44;
/// A charge ratio of 1, in permille.
pub(super) const FULL_RATIO: i64 = 1000;
/// Cap on one observation of actual / estimate, in permille.
pub(super) const MAX_OBSERVED: i64 = 1 << 20;
/// Each observation moves the charge ratio by the difference divided by this number.
pub(super) const RATIO_DIVISOR: i64 = 8;
/// A refund may raise a deficit to one round's credit plus this many charges of the head.
pub(super) const REFUND_CHARGES: i64 = 4;
