//! Bytes in flight: a page carries its room from before its body is read until its rows are
//! spooled.
//!
//! A body's length is seldom known before it is read. So it begins with a small room and grows:
//! where nothing is free it takes the one overdraft, and waits for that while another has it. The
//! holder of the overdraft waits for no memory, so it ends, and so does the wait. Together the
//! bodies take at most the budget and one longest body.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The unit in which room is counted, in bytes.
const UNIT: usize = 1_024;

/// The room that a body begins with, in bytes.
const FIRST: usize = 64 * 1024;

/// Room for bodies, shared by all.
#[derive(Clone, Debug)]
pub struct Budget {
    units: Arc<Semaphore>,
    overdraft: Arc<Semaphore>,
}

impl Budget {
    /// Room for `bytes`, at least that of one small body.
    pub fn new(bytes: usize) -> Self {
        let units = (bytes.max(FIRST) / UNIT).min(Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(units)), overdraft: Arc::new(Semaphore::new(1)) }
    }

    /// Waits for the room that a body begins with.
    pub async fn reserve(&self) -> Permit {
        let first = units(FIRST);
        let held = Arc::clone(&self.units).acquire_many_owned(first).await.ok();
        Permit { budget: self.clone(), held, overdraft: None }
    }

    /// Room that is free, in bytes.
    pub fn free(&self) -> usize {
        self.units.available_permits() * UNIT
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// The room that one body takes. Dropping it gives the room back.
#[derive(Debug)]
pub struct Permit {
    budget: Budget,
    held: Option<OwnedSemaphorePermit>,
    overdraft: Option<OwnedSemaphorePermit>,
}

impl Permit {
    /// Makes sure that the body may grow to `bytes`.
    pub async fn grow_to(&mut self, bytes: usize) {
        if self.overdraft.is_none() && !self.try_hold(bytes) {
            self.overdraft = Arc::clone(&self.budget.overdraft).acquire_owned().await.ok();
        }
    }

    /// Gives back what a body of `bytes` does not need: the overdraft too, where the room is free.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(held) = &mut self.held {
            let surplus = held.num_permits().saturating_sub(units(bytes) as usize);
            drop(held.split(surplus));
        }
        if self.overdraft.is_some() && self.try_hold(bytes) {
            self.overdraft = None;
        }
    }

    /// Holds room for `bytes` where it is free.
    fn try_hold(&mut self, bytes: usize) -> bool {
        let held = self.held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = (units(bytes) as usize).saturating_sub(held);
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        match Arc::clone(&self.budget.units).try_acquire_many_owned(missing) {
            Ok(more) => match &mut self.held {
                Some(held) => held.merge(more),
                None => self.held = Some(more),
            },
            Err(_) => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_permit_gives_its_room_back() {
        let budget = Budget::new(1024 * 1024);
        let mut permit = budget.reserve().await;
        permit.grow_to(512 * 1024).await;
        assert_eq!(budget.free(), 512 * 1024);
        permit.shrink_to(10 * 1024);
        assert_eq!(budget.free(), 1014 * 1024);
        drop(permit);
        assert_eq!(budget.free(), 1024 * 1024);
    }

    #[tokio::test]
    async fn the_overdraft_is_given_back_with_what_was_too_much() {
        let budget = Budget::new(256 * 1024);
        let (mut first, mut second) = (budget.reserve().await, budget.reserve().await);
        first.grow_to(1024 * 1024).await;
        first.shrink_to(100 * 1024);
        assert_eq!(budget.free(), 92 * 1024);
        second.grow_to(1024 * 1024).await;
        assert_eq!(budget.free(), 92 * 1024);
        drop((first, second));
        assert_eq!(budget.free(), 256 * 1024);
    }

    #[tokio::test]
    async fn bodies_that_all_grow_end_one_after_the_other() {
        let budget = Budget::new(256 * 1024);
        let mut tasks = Vec::new();
        for _ in 0..4 {
            let budget = budget.clone();
            tasks.push(tokio::spawn(async move {
                let mut permit = budget.reserve().await;
                for step in 1..=16 {
                    permit.grow_to(step * 64 * 1024).await;
                    tokio::task::yield_now().await;
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(budget.free(), 256 * 1024);
    }
}
