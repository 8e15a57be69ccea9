//! A family of your own: the rate of an enzyme that too much substrate inhibits, a law with three unknown constants. Ten noisy
//! measurements find the concentration at which it works fastest.
//!
//!     cargo run --release -p optimist --example own_family

use optimist::encode::Encoding;
use optimist::settings::DefaultSettings;
use optimist::space::{Parameter, Space};
use optimist::{Family, GoUcb, Observation, Optimizer, Outcome, Settings, rng};
use rand_distr::{Distribution, Normal};

/// v(s) = v_max s / (k_m + s + s²/k_i). Weights are the logarithms of the constants over a guess of each: a constant
/// is then positive, and w ~ N(0, 1), the prior of a family that names none, trusts the guess to a factor of about 3.
struct Inhibited;

impl Family for Inhibited {
    fn dimension(&self) -> usize {
        1
    }

    fn n_weights(&self) -> usize {
        3
    }

    fn value(&self, w: &[f64], s: &[f64]) -> f64 {
        rate(2.0 * w[0].exp(), 5.0 * w[1].exp(), 10.0 * w[2].exp(), s[0])
    }
}

fn rate(v_max: f64, k_m: f64, k_i: f64, s: f64) -> f64 {
    v_max * s / (k_m + s + s * s / k_i)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let encoding = Encoding::new(Space::new(vec![Parameter::float("substrate", 0.0, 100.0)])?);
    let concentration = |x: &[f64]| encoding.decode(x).float("substrate");
    let noise = Normal::new(0.0, 0.03)?;
    let mut rng = rng(0, 0);

    // The law is in millimoles and knows how values behave, so nothing should be scaled or warped.
    let settings = DefaultSettings { scaled: false, warp: false, trust_region: None, ..Default::default() };
    let (domain, trials) = (encoding.domain(), 10);
    let policy = GoUcb::with_family(domain, trials, &Settings::Default(settings), 0, || Box::new(Inhibited))?;
    let mut optimizer = Optimizer::new(domain.clone(), policy);
    for trial in 1..=trials {
        let x = optimizer.ask(&mut rng);
        let s = concentration(&x);
        let y = rate(3.0, 2.5, 20.0, s) + noise.sample(&mut rng); // the laboratory
        println!("trial {trial:2}: {s:6.2} mM gives {y:.3}");
        optimizer.tell(Observation { x, outcome: Outcome::Value { y, noise_std: None } })?;
    }
    let best = optimizer.recommend().ok_or("no trial gave a value")?;
    let (s, v) = (concentration(&best.x), best.mean);
    println!("best: {s:.2} mM, where {v:.3} is expected; in truth it is 7.07 mM, and 1.757 there");
    Ok(())
}
