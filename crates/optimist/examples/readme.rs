//! The Rust code of README.md and docs/index.md, with something to train.
//!
//!     cargo run --release -p optimist --example readme

use optimist::space::{Parameter, Space};

/// A training whose loss is least at a learning rate of 0.01.
fn train(lr: f64) -> f64 {
    (lr.log10() + 2.0).powi(2)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let space = Space::new(vec![Parameter::log_float("lr", 1e-5, 1.0)])?;
    let best = optimist::minimize(space, 60, 0, |params| train(params.float("lr")))?;
    println!("{}: {} expected", best.params, best.mean);

    assert!((best.params.float("lr").log10() + 2.0).abs() < 0.1, "{best:?}");
    Ok(())
}
