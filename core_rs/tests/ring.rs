//! Compares the calendar with textbook deficit round robin, which walks a ring round by round.

use std::collections::{BTreeMap, VecDeque};

use _core::scheduler::{Limits, Scheduler};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Operation {
    Submit(u32, i64),
    Dispatch(usize),
    Settle(usize, i64),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (0..4u32, 1..=40i64).prop_map(|(tenant, cost)| Operation::Submit(tenant, cost)),
        2 => (1..=5usize).prop_map(Operation::Dispatch),
        2 => (any::<usize>(), 0..=30i64).prop_map(|(pick, over)| Operation::Settle(pick, over)),
    ]
}

#[derive(Debug, Default)]
struct Member {
    credit: i64,
    deficit: i64,
    /// The last round in which it got credit or joined.
    round: i64,
    queue: VecDeque<(u64, i64)>,
}

/// Deficit round robin as published. Actual costs are never below the estimates, so settlements only
/// make debts. Members are visited in the order of their index, and join from the next round.
#[derive(Debug, Default)]
struct Ring {
    members: Vec<Member>,
    round: i64,
    next: usize,
}

impl Ring {
    fn submit(&mut self, tenant: u32, task: u64, cost: i64) {
        let member = &mut self.members[tenant as usize];
        if member.queue.is_empty() {
            let passed = self.round - member.round;
            member.deficit = (member.deficit + passed * member.credit).min(0);
            member.round = self.round;
        }
        member.queue.push_back((task, cost));
    }

    fn dispatch(&mut self, limit: usize) -> Vec<u64> {
        let mut placed = Vec::new();
        while placed.len() < limit && self.members.iter().any(|member| !member.queue.is_empty()) {
            if self.next == self.members.len() {
                self.next = 0;
                self.round += 1;
            }
            let member = &mut self.members[self.next];
            if !member.queue.is_empty() && member.round < self.round {
                member.deficit += member.credit;
                member.round = self.round;
            }
            while placed.len() < limit
                && let Some(&(task, cost)) = member.queue.front()
                && cost <= member.deficit
            {
                member.deficit -= cost;
                member.queue.pop_front();
                placed.push(task);
            }
            if member.queue.is_empty() {
                member.deficit = member.deficit.min(0);
            }
            if placed.len() < limit {
                self.next += 1;
            }
        }
        placed
    }

    fn restart(&mut self) {
        self.round = 0;
        self.next = 0;
        for member in &mut self.members {
            (member.deficit, member.round) = (0, 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_calendar_and_the_ring_make_the_same_decisions(
        quantum in 1..=10i64,
        weights in prop::collection::vec(1..=8i64, 4),
        operations in prop::collection::vec(operation(), 1..200),
    ) {
        let mut scheduler = Scheduler::new(quantum, 1000, 0).unwrap();
        let mut ring = Ring::default();
        for (tenant, &weight) in (0..).zip(&weights) {
            let limits = Limits { weight, slot_ceiling: 0, cost_ceiling: 0 };
            scheduler.put_tenant(tenant, limits).unwrap();
            ring.members.push(Member { credit: weight * quantum, ..Member::default() });
        }
        let mut in_flight = BTreeMap::new();
        for (task, operation) in (0..).zip(operations) {
            match operation {
                Operation::Submit(tenant, cost) => {
                    scheduler.submit(tenant, task, cost, 0).unwrap();
                    ring.submit(tenant, task, cost);
                }
                Operation::Dispatch(limit) => {
                    let batch = scheduler.dispatch(limit, limit);
                    let placed: Vec<u64> = batch.placed.iter().map(|placement| placement.task).collect();
                    prop_assert_eq!(&placed, &ring.dispatch(limit));
                    in_flight.extend(batch.placed.iter().map(|p| (p.task, (p.tenant, p.charge))));
                }
                Operation::Settle(pick, over) => {
                    let Some(index) = pick.checked_rem(in_flight.len()) else { continue };
                    let (&task, &(tenant, charge)) = in_flight.iter().nth(index).unwrap();
                    in_flight.remove(&task);
                    scheduler.settle(task, Some(charge + over)).unwrap();
                    let live = scheduler.pool_state().live;
                    ring.members[tenant as usize].deficit -= over;
                    if live == 0 && ring.round > 0 {
                        ring.restart();
                    }
                }
            }
        }
    }
}
