//! An ask uses all threads of the pool that it runs in, and suggests the same with any number of them.

use optimist::encode::Domain;
use optimist::{Method, Observation, Outcome, rng};

/// What `name` suggests after so many observations of a cube, in a pool of this many threads.
fn suggestions(name: &str, n_told: u64, n_threads: usize) -> Vec<Vec<f64>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    let domain = Domain::cube(4);
    let mut optimizer = name.parse::<Method>().unwrap().build(&domain, 40, 3).unwrap();
    let height = |x: &[f64]| x.iter().map(|x| (5.0 * x).sin()).sum::<f64>() + x[0] * x[3];
    for i in 0..n_told {
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
    // After 260 observations, products of matrices are large enough to be shared.
    for (name, n_told) in [("go-ucb", 12), ("go-ucb", 260), ("gp-ei", 12), ("gp-ei", 260), ("turbo", 12)] {
        let alone = suggestions(name, n_told, 1);
        assert_eq!(alone, suggestions(name, n_told, 2), "{name}, {n_told}");
        assert_eq!(alone, suggestions(name, n_told, 3), "{name}, {n_told}");
    }
}
