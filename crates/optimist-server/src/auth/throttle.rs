//! Limits failed logins: a few are free, then each needs a longer pause.
//!
//! Failures are counted for each name and address together, so nobody can lock out somebody else from another address, and for each
//! address alone, so nobody can try one password on many names.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Failures for one name from one address before pauses start.
const OF_NAME: u32 = 3;

/// Failures for all names from one address before pauses start.
const OF_ADDRESS: u32 = 20;

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(900);

/// Failures are forgotten after this long without a try.
const FORGET: Duration = Duration::from_secs(3600);

/// The most counters to remember.
const CAPACITY: usize = 10_000;

#[derive(Debug, Clone, Copy)]
struct Failures {
    n: u32,
    last: Instant,
}

/// Failed logins so far.
#[derive(Debug, Default)]
pub struct Throttle {
    /// By address, and by address and name.
    failures: HashMap<(IpAddr, Option<String>), Failures>,
}

impl Throttle {
    /// How long to wait, if it is too early for another try. Otherwise the try counts as failed until [`Throttle::succeeded`], so
    /// that many tries at the same time don't all pass.
    pub fn attempt(&mut self, address: IpAddr, name: &str, now: Instant) -> Option<Duration> {
        let keys = keys(address, name);
        let wait = keys.iter().filter_map(|(key, free)| self.wait(key, *free, now)).max();
        if wait.is_some() {
            return wait;
        }
        if self.failures.len() + keys.len() > CAPACITY {
            self.forget(now);
        }
        for (key, _) in keys {
            let known = self.failures.entry(key).or_insert(Failures { n: 0, last: now });
            known.n = if now.duration_since(known.last) > FORGET { 1 } else { known.n.saturating_add(1) };
            known.last = now;
        }
        None
    }

    /// The password was right: the name's count starts over.
    pub fn succeeded(&mut self, address: IpAddr, name: &str) {
        let [(by_address, _), (by_name, _)] = keys(address, name);
        self.failures.remove(&by_name);
        if let Some(known) = self.failures.get_mut(&by_address) {
            known.n = known.n.saturating_sub(1);
        }
    }

    fn wait(&self, key: &(IpAddr, Option<String>), free: u32, now: Instant) -> Option<Duration> {
        let known = self.failures.get(key).filter(|known| known.n >= free)?;
        let pause = Duration::from_secs(1 << (known.n - free).min(10)).min(LONGEST);
        (known.last + pause).checked_duration_since(now).filter(|wait| !wait.is_zero())
    }

    /// Makes room: drops stale counters, then the older half.
    fn forget(&mut self, now: Instant) {
        self.failures.retain(|_, known| now.duration_since(known.last) < LONGEST);
        if self.failures.len() + 2 > CAPACITY {
            let mut times: Vec<Instant> = self.failures.values().map(|known| known.last).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            self.failures.retain(|_, known| known.last > middle);
        }
    }
}

/// The counters of a login, each with its number of free tries.
fn keys(address: IpAddr, name: &str) -> [((IpAddr, Option<String>), u32); 2] {
    let address = network(address);
    let name: String = name.chars().take(64).collect();
    [((address, None), OF_ADDRESS), ((address, Some(name)), OF_NAME)]
}

/// IPv6 addresses by their /64 network: whoever has one address has all of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    #[test]
    fn a_thousand_wrong_passwords_take_ten_days() {
        let (mut throttle, begin) = (Throttle::default(), Instant::now());
        let (mut now, mut pauses) = (begin, Vec::new());
        for _ in 0..1000 {
            if let Some(wait) = throttle.attempt(HERE, "anna", now) {
                pauses.push(wait.as_secs());
                now += wait;
                assert_eq!(throttle.attempt(HERE, "anna", now), None);
            }
        }
        assert!(pauses.starts_with(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900]), "{pauses:?}");
        assert!(now - begin > Duration::from_secs(9 * 86_400), "{:?}", now - begin);
    }

    #[test]
    fn others_are_not_locked_out_and_a_right_password_starts_over() {
        let (mut throttle, now) = (Throttle::default(), Instant::now());
        let elsewhere: IpAddr = "10.0.0.2".parse().unwrap();
        (0..3).for_each(|_| assert_eq!(throttle.attempt(HERE, "anna", now), None));
        assert!(throttle.attempt(HERE, "anna", now).is_some());
        assert_eq!(throttle.attempt(elsewhere, "anna", now), None);
        assert_eq!(throttle.attempt(HERE, "ben", now), None);
        throttle.succeeded(HERE, "anna");
        assert_eq!(throttle.attempt(HERE, "anna", now), None);
    }

    #[test]
    fn one_password_on_many_names_is_slowed_down_too_and_memory_is_bounded() {
        let (mut throttle, now) = (Throttle::default(), Instant::now());
        let tried = (0..100).filter(|n| throttle.attempt(HERE, &n.to_string(), now).is_none()).count();
        assert_eq!(tried, 20);
        for n in 0..30_000_u32 {
            throttle.attempt(IpAddr::V4(n.into()), "anna", now + Duration::from_millis(n.into()));
        }
        assert!(throttle.failures.len() <= CAPACITY, "{}", throttle.failures.len());
        let neighbours = ["2001:db8::1", "2001:db8::2"].map(|address| network(address.parse().unwrap()));
        assert_eq!(neighbours[0], neighbours[1]);
    }
}
