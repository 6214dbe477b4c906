//! When a host may be asked: one gate a host, or whatever is asked in turn, that every request to
//! it passes.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::{Answer, Permit, PolitenessOptions};
use crate::model::PageError;

/// A slow host rests for this many times as long as its last answer took.
const LATENCY_FACTOR: u32 = 2;

/// Most times that a host's delay is doubled because it fails.
const MAX_DOUBLINGS: u32 = 4;

/// Good answers in a row after which a doubling is taken back.
const GOOD_ANSWERS: u32 = 20;

/// The longest rest for slowness alone.
const MAX_LATENCY_REST: Duration = Duration::from_secs(30);

/// How long after it might have been asked again a host is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(10);

/// A limit of so many requests a second; none for 0.
pub(super) fn limiter(per_sec: u32) -> Option<DefaultDirectRateLimiter> {
    NonZeroU32::new(per_sec).map(Quota::per_second).map(RateLimiter::direct)
}

/// The gate of one host.
#[derive(Debug)]
pub(super) struct Gate {
    slots: Arc<Semaphore>,
    delay: Duration,
    rate: Option<DefaultDirectRateLimiter>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: Option<Instant>,
    /// When it was last turned to.
    used: Option<Instant>,
    crawl_delay: Duration,
    failures: u32,
    /// How often the delay is doubled since the host failed.
    doublings: u32,
    /// Good answers since the last change of that.
    good: u32,
}

impl State {
    /// A host that fails is asked less often at once, and more often again only by and by.
    fn failed(&mut self) {
        self.failures += 1;
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        self.good = 0;
    }

    fn answered(&mut self) {
        self.failures = 0;
        self.good += 1;
        if self.good >= GOOD_ANSWERS {
            self.doublings = self.doublings.saturating_sub(1);
            self.good = 0;
        }
    }
}

/// How a host fares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateReport {
    /// Failures since its last good answer.
    pub failures: u32,
    /// How long it is to be left alone from this moment.
    pub rest: Duration,
}

impl Gate {
    pub(super) fn new(options: &PolitenessOptions) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(options.per_host.max(1))),
            delay: options.delay(),
            rate: limiter(options.max_host_requests_per_sec),
            state: Mutex::default(),
        }
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a new gate would do as well, since nobody has come for long.
    pub(super) fn is_forgotten(&self) -> bool {
        let now = Instant::now();
        let is_past = |at: Option<Instant>| at.is_none_or(|at| at + FORGOTTEN_AFTER <= now);
        self.with_state(|state| is_past(state.next) && is_past(state.used))
    }

    /// Notes that somebody has come.
    pub(super) fn turn_to(&self) {
        self.with_state(|state| state.used = Some(Instant::now()));
    }

    /// Waits until the host may be asked. The turn lasts until [`Turn::end`].
    pub(super) async fn turn(self: Arc<Self>) -> Turn {
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
        // The time may move on while this waits: another answer, or a server that asks for rest.
        while let Err(next) = self.claim() {
            tokio::time::sleep_until(next).await;
        }
        if let Some(rate) = &self.rate {
            rate.until_ready().await;
        }
        Turn { gate: self, _slot: slot, began: Instant::now() }
    }

    /// Takes the turn where its time has come, else says when it comes. Requests side by side keep
    /// their distance too, so taking a turn moves the time of the next one on.
    fn claim(&self) -> Result<(), Instant> {
        let now = Instant::now();
        self.with_state(|state| match state.next {
            Some(next) if next > now => Err(next),
            _ => {
                let distance = self.delay.max(state.crawl_delay);
                state.next = (!distance.is_zero()).then(|| now + distance);
                Ok(())
            }
        })
    }

    pub(super) fn hold(&self, delay: Duration) {
        let next = Instant::now() + delay;
        self.with_state(|state| state.next = Some(state.next.map_or(next, |at| at.max(next))));
    }

    pub(super) fn set_crawl_delay(&self, delay: Duration) {
        self.with_state(|state| state.crawl_delay = state.crawl_delay.max(delay));
    }

    pub(super) fn report(&self) -> GateReport {
        self.with_state(|state| GateReport {
            failures: state.failures,
            rest: state
                .next
                .map_or(Duration::ZERO, |next| next.saturating_duration_since(Instant::now())),
        })
    }

    fn rest(&self, latency: Duration, crawl_delay: Duration) -> Duration {
        let base = self.delay.max(crawl_delay);
        if base.is_zero() {
            base
        } else {
            base.max((latency * LATENCY_FACTOR).min(MAX_LATENCY_REST))
        }
    }
}

/// A host's turn to be asked.
#[derive(Debug)]
pub struct Turn {
    gate: Arc<Gate>,
    _slot: Option<OwnedSemaphorePermit>,
    began: Instant,
}

impl Turn {
    /// Says that the request begins: what was waited for since is not the host's slowness.
    pub(super) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// Ends the turn with what came of it, from which the host's rest follows.
    pub(super) fn end(self, answered: &Result<(Answer, Permit), PageError>) {
        let latency = self.began.elapsed();
        let is_failure = match answered {
            Ok((Answer::Status { status, .. }, _)) => *status == 429 || *status >= 500,
            Ok(_) => false,
            Err(error) => error.is_transient(),
        };
        self.gate.with_state(|state| {
            if is_failure {
                state.failed();
            } else {
                state.answered();
            }
            let rest = self.gate.rest(latency, state.crawl_delay);
            let next = Instant::now() + rest * 2_u32.pow(state.doublings);
            state.next = Some(state.next.map_or(next, |at| at.max(next)));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(delay_ms: u64) -> Arc<Gate> {
        Arc::new(Gate::new(&PolitenessOptions { delay_ms, ..PolitenessOptions::default() }))
    }

    fn good() -> Result<(Answer, Permit), PageError> {
        Err(PageError::new(crate::model::ErrorCode::FetchRefused, "no"))
    }

    #[tokio::test(start_paused = true)]
    async fn the_delay_counts_from_the_end_of_the_answer() {
        let gate = gate(1_000);
        let turn = Arc::clone(&gate).turn().await;
        tokio::time::advance(Duration::from_millis(400)).await;
        turn.end(&good());
        let ended = Instant::now();
        Arc::clone(&gate).turn().await.end(&good());
        assert!(ended.elapsed() >= Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_side_by_side_keep_their_distance() {
        let options =
            PolitenessOptions { delay_ms: 0, per_host: 3, ..PolitenessOptions::default() };
        let gate = Arc::new(Gate::new(&options));
        gate.set_crawl_delay(Duration::from_secs(10));
        let began = Instant::now();
        let turns = (0..3).map(|_| {
            let gate = Arc::clone(&gate);
            tokio::spawn(async move {
                let _turn = gate.turn().await;
                began.elapsed().as_secs()
            })
        });
        let mut starts = Vec::new();
        for turn in turns.collect::<Vec<_>>() {
            starts.push(turn.await.unwrap());
        }
        starts.sort_unstable();
        assert_eq!(starts, [0, 10, 20]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_host_rests_longer() {
        let gate = gate(1_000);
        let turn = Arc::clone(&gate).turn().await;
        tokio::time::advance(Duration::from_secs(4)).await;
        turn.end(&good());
        assert_eq!(gate.report().rest, Duration::from_secs(8));
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_fails_is_asked_less_often_for_a_while() {
        let gate = gate(1_000);
        let failed = || Err(PageError::new(crate::model::ErrorCode::FetchServer, "no"));
        let mut rests = Vec::new();
        for n in 0..23 {
            let answer = if n < 2 { failed() } else { good() };
            Arc::clone(&gate).turn().await.end(&answer);
            rests.push(gate.report().rest.as_secs());
        }
        assert_eq!(rests[..4], [2, 4, 4, 4]);
        assert_eq!(rests[20..], [4, 2, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_of_ones_own_does_not_wait() {
        let gate = gate(0);
        let began = Instant::now();
        for _ in 0..100 {
            Arc::clone(&gate).turn().await.end(&good());
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_that_a_server_asks_for_is_kept() {
        let gate = gate(0);
        gate.hold(Duration::from_secs(6));
        let began = Instant::now();
        Arc::clone(&gate).turn().await.end(&good());
        assert!(began.elapsed() >= Duration::from_secs(6));
    }
}
