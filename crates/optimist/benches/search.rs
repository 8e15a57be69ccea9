//! Line 5 of Phase II and its parts, then whole asks.

mod common;

use divan::Bencher;
use optimist::encode::Domain;
use optimist::internal::acquisition::{Effort, Region, UpperConfidenceBound};
use optimist::internal::confidence::Confidence;
use optimist::internal::frame::Frame;
use optimist::internal::search::{Score, argmax};
use optimist::{GoUcb, Method, Optimizer, Settings, rng};

fn main() {
    divan::main();
}

/// Observations and dimension: dual form, primal form, dual form of a large space.
const CASES: [(usize, usize); 3] = [(72, 20), (1000, 20), (72, 500)];

/// The ball of GO-UCB after `t` observations.
fn ball(t: usize, d: usize) -> Confidence {
    let domain = Domain::cube(d);
    let policy = GoUcb::new(&domain, 2 * t, &Settings::default(), 0).expect("default settings are valid");
    let mut optimizer = Optimizer::new(domain, policy);
    let told = common::observations(t, d);
    told.into_iter().for_each(|told| optimizer.tell(told).expect("a point of the cube"));
    optimizer.policy().belief(optimizer.history()).expect("there are values").ball.clone()
}

/// All candidates of an ask, as one block.
#[divan::bench(args = CASES, sample_count = 20)]
fn score_block(bencher: Bencher, (t, d): (usize, usize)) {
    let (ball, frame, domain) = (ball(t, d), Frame::symmetric(d), Domain::cube(d));
    let ucb = UpperConfidenceBound { ball: &ball, radius: 0.5, frame: &frame };
    let effort = Effort::default();
    let mut rng = rng(0, 0);
    let points: Vec<Vec<f64>> = (0..effort.spread + effort.near).map(|_| domain.sample(&mut rng)).collect();
    bencher.bench_local(|| ucb.scores(&points));
}

/// The score at one point with its gradient: a step of a climb.
#[divan::bench(args = CASES)]
fn score_with_grad(bencher: Bencher, (t, d): (usize, usize)) {
    let (ball, frame) = (ball(t, d), Frame::symmetric(d));
    let ucb = UpperConfidenceBound { ball: &ball, radius: 0.5, frame: &frame };
    let (x, mut grad_x) = (vec![0.3; d], vec![0.0; d]);
    bencher.bench_local(|| ucb.score_with_grad(&x, &mut grad_x));
}

/// One quasi-Newton climb from a random point.
#[divan::bench(args = CASES, sample_count = 20)]
fn climb(bencher: Bencher, (t, d): (usize, usize)) {
    let (ball, frame, domain) = (ball(t, d), Frame::symmetric(d), Domain::cube(d));
    let ucb = UpperConfidenceBound { ball: &ball, radius: 0.5, frame: &frame };
    let effort = Effort { spread: 1, near: 0, climbs: 1, first_steps: 40, steps: 40 };
    let region = Region::whole(&domain);
    bencher.bench_local(|| argmax(&ucb, &region, &[], |_| false, effort, &mut rng(0, 0)));
}

/// A suggestion after a new observation, fit and search, as `optimist-bench speed` measures it in full.
#[divan::bench(
    args = [("go-ucb", 72), ("go-ucb", 1000), ("gp-ei", 72), ("turbo", 72), ("tpe", 1000), ("cma-es", 1000)],
    sample_count = 16,
    sample_size = 1
)]
fn ask_and_tell(bencher: Bencher, (name, t): (&str, usize)) {
    const D: usize = 20;
    let mut optimizer = told(name, t, D);
    let mut more = common::observations(t + 1000, D).into_iter().skip(t);
    bencher.bench_local(|| {
        optimizer.tell(more.next().expect("fewer than 1,000 are measured")).expect("a point of the cube");
        optimizer.suggest(&mut rng(0, 0))
    });
}

/// An optimizer that was told `n` observations of the cube.
fn told(name: &str, n: usize, d: usize) -> Optimizer {
    let method: Method = name.parse().expect("a name of the list");
    let mut optimizer = method.build(&Domain::cube(d), 2 * n, 0).expect("default settings fit every cube");
    common::observations(n, d)
        .into_iter()
        .for_each(|told| optimizer.tell(told).expect("a point of the cube"));
    optimizer
}
