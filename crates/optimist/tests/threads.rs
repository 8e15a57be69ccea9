//! An ask uses all threads of the pool that it runs in, and suggests the same with any number of them.

use optimist::encode::Domain;
use optimist::{Method, Observation, Outcome, rng};

/// What `name` suggests after a few observations of a cube, in a pool of this many threads.
fn suggestions(name: &str, n_threads: usize) -> Vec<Vec<f64>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    let domain = Domain::cube(4);
    let mut optimizer = name.parse::<Method>().unwrap().build(&domain, 40, 3).unwrap();
    let height = |x: &[f64]| x.iter().map(|x| (5.0 * x).sin()).sum::<f64>() + x[0] * x[3];
    for i in 0..12 {
        let x = domain.sample(&mut rng(0, i));
        let outcome = Outcome::Value { y: height(&x), noise_std: None };
        optimizer.tell(Observation { x, outcome }).unwrap();
    }
    let ask = |i: u64| {
        let x = pool.install(|| optimizer.ask(&mut rng(1, i)));
        let outcome = Outcome::Value { y: height(&x), noise_std: None };
        optimizer.tell(Observation { x: x.clone(), outcome }).unwrap();
        x
    };
    (0..4).map(ask).collect()
}

#[test]
fn suggestions_are_the_same_bit_for_bit_with_one_thread_and_with_several() {
    for name in ["go-ucb", "gp-ei", "turbo"] {
        let alone = suggestions(name, 1);
        assert_eq!(alone, suggestions(name, 2), "{name}");
        assert_eq!(alone, suggestions(name, 3), "{name}");
    }
}
