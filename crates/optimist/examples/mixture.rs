//! A mixture: the shares of an alloy add up to one, and tin must not exceed a fifth of the copper. Twenty-five castings
//! find the hardest alloy.
//!
//!     cargo run --release -p optimist --example mixture

use optimist::encode::Encoding;
use optimist::space::{Assignment, Constraint, Kind, Parameter, Space, Value};
use optimist::{Method, Observation, Outcome, rng};

const METALS: [&str; 4] = ["copper", "zinc", "tin", "nickel"];

/// The foundry, a black box: copper and tin make the alloy hard together, zinc and nickel help a little.
fn hardness(alloy: &Assignment) -> f64 {
    let [copper, zinc, tin, nickel] = METALS.map(|metal| share(alloy, metal));
    60.0 + 400.0 * copper * tin + 90.0 * copper * zinc + 150.0 * zinc * nickel - 80.0 * nickel * nickel
}

fn share(alloy: &Assignment, metal: &str) -> f64 {
    alloy.get(metal).and_then(Value::as_f64).unwrap_or_default()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let any_share = || Kind::Float { low: 0.0, high: 1.0, log: false, step: None };
    let metals = METALS.map(|metal| Parameter::new(metal, any_share())).to_vec();
    let space = Space::new(metals)?
        .with_constraints([Constraint::sum(METALS, 1.0)?, "tin <= 0.2*copper".parse()?])?;
    let encoding = Encoding::new(space);

    let trials = 25;
    let mut optimizer = Method::default().build(encoding.domain(), trials, 0)?;
    for trial in 0..trials as u64 {
        let x = optimizer.ask(&mut rng(0, trial));
        let alloy = encoding.decode(&x);
        let y = hardness(&alloy);
        let shares = METALS.map(|metal| format!("{metal} {:5.1} %", 100.0 * share(&alloy, metal)));
        println!("trial {trial:2}: {} gives {y:.2}", shares.join(", "));
        optimizer.tell(Observation { x, outcome: Outcome::Value { y, noise_std: None } })?;
    }
    let best = optimizer.recommend().ok_or("no trial gave a value")?;
    let shares =
        METALS.map(|metal| format!("{metal} {:.1} %", 100.0 * share(&encoding.decode(&best.x), metal)));
    println!("best: {}, where {:.2} is expected", shares.join(", "), best.mean);
    println!("in truth it is 83.3 % copper and 16.7 % tin, and 115.56 there");
    Ok(())
}
