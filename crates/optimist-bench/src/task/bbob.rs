//! Tasks of the black-box optimization benchmark (BBOB): rotated and shifted, so that no axis, centre
//! or corner is special; negated, and without the penalty outside of the domain, which no point is in.
//!
//! Names and formulas: Hansen, Finck, Ros and Auger 2009, "Real-parameter black-box optimization
//! benchmarking 2009: noiseless functions definitions". Rotations and shifts come from a seed here.

use std::f64::consts::TAU;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;

use super::{ContinuousTask, Function, Task};

pub(super) fn tasks() -> Vec<Task> {
    vec![ellipsoid(), bent_cigar(), sharp_ridge(), step_ellipsoid(), rastrigin(), gallagher()]
}

/// f10: a smooth quadratic bowl a thousand times longer than wide.
fn ellipsoid() -> Task {
    let d = 10;
    let Frame { x_opt, r, .. } = Frame::draw(10, d);
    task(Bbob {
        name: "ellipsoid",
        summary: "rotated quadratic of condition 1e6, lightly rippled",
        source: "BBOB f10, Hansen et al. 2009",
        noise_std: 1e4,
        x_opt,
        value: Box::new(move |offset| {
            let z: Vec<f64> = r.times(offset).into_iter().map(oscillated).collect();
            (0..d).map(|i| 1e6f64.powf(part(i, d)) * z[i] * z[i]).sum()
        }),
    })
}

/// f12: a long, slightly bent valley; all but one direction are steep.
fn bent_cigar() -> Task {
    let d = 10;
    let Frame { x_opt, r, .. } = Frame::draw(12, d);
    task(Bbob {
        name: "bent-cigar",
        summary: "rotated, bent valley: one flat direction among steep ones",
        source: "BBOB f12, Hansen et al. 2009",
        noise_std: 0.0,
        x_opt,
        value: Box::new(move |offset| {
            let z = r.times(&asymmetric(0.5, r.times(offset)));
            z[0] * z[0] + 1e6 * z[1..].iter().map(|z| z * z).sum::<f64>()
        }),
    })
}

/// f13: a ridge that is sharp across and slopes gently along.
fn sharp_ridge() -> Task {
    let d = 20;
    let Frame { x_opt, r, q } = Frame::draw(13, d);
    task(Bbob {
        name: "sharp-ridge",
        summary: "rotated ridge, not differentiable along its crest, in 20 dimensions",
        source: "BBOB f13, Hansen et al. 2009",
        noise_std: 5.0,
        x_opt,
        value: Box::new(move |offset| {
            let z = q.times(&stretched(10.0, r.times(offset)));
            z[0] * z[0] + 100.0 * z[1..].iter().map(|z| z * z).sum::<f64>().sqrt()
        }),
    })
}

/// f7: an ellipsoid in steps: no slope to follow but from plateau to plateau.
fn step_ellipsoid() -> Task {
    let d = 10;
    let Frame { x_opt, r, q } = Frame::draw(7, d);
    task(Bbob {
        name: "step-ellipsoid",
        summary: "rotated quadratic of condition 100 made of plateaus",
        source: "BBOB f7, Hansen et al. 2009",
        noise_std: 0.5,
        x_opt,
        value: Box::new(move |offset| {
            let z_hat = stretched(10.0, r.times(offset));
            let step = |z: f64| {
                if z.abs() > 0.5 { (0.5 + z).floor() } else { (0.5 + 10.0 * z).floor() / 10.0 }
            };
            let z = q.times(&z_hat.iter().map(|z| step(*z)).collect::<Vec<_>>());
            let bowl: f64 = (0..d).map(|i| 100f64.powf(part(i, d)) * z[i] * z[i]).sum();
            0.1 * bowl.max(z_hat[0].abs() / 1e4)
        }),
    })
}

/// f15: Rastrigin, rotated and unevenly stretched.
fn rastrigin() -> Task {
    let d = 10;
    let Frame { x_opt, r, q } = Frame::draw(15, d);
    task(Bbob {
        name: "rastrigin-rotated",
        summary: "rotated bowl of condition 10 under ripples",
        source: "BBOB f15, Hansen et al. 2009",
        noise_std: 1.0,
        x_opt,
        value: Box::new(move |offset| {
            let bent = asymmetric(0.2, r.times(offset).into_iter().map(oscillated).collect());
            let z = r.times(&stretched(10.0, q.times(&bent)));
            z.iter().map(|z| 10.0 * (1.0 - (TAU * z).cos()) + z * z).sum()
        }),
    })
}

/// f21: 101 peaks of random place, width and height, and no trend that leads to the highest.
fn gallagher() -> Task {
    const PEAKS: usize = 101;
    let d = 5;
    let Frame { x_opt, r, .. } = Frame::draw(21, d);
    let mut rng = optimist::rng(21, 1);
    let mut conditions: Vec<f64> = (0..PEAKS - 1).map(|j| 1000f64.powf(2.0 * part(j, PEAKS - 1))).collect();
    conditions.shuffle(&mut rng);
    conditions.insert(0, 1000.0);
    let peaks: Vec<Peak> = (0..PEAKS)
        .map(|i| Peak {
            height: if i == 0 { 10.0 } else { 1.1 + 8.0 * part(i - 1, PEAKS - 1) },
            // Relative to the highest peak, which is the optimum.
            centre: x_opt
                .iter()
                .map(|x| if i == 0 { 0.0 } else { rng.random_range(-5.0..5.0) - x })
                .collect(),
            steepness: {
                let mut steepness: Vec<f64> = (0..d).map(|k| conditions[i].powf(0.5 * part(k, d))).collect();
                steepness.shuffle(&mut rng);
                steepness.iter().map(|s| s / conditions[i].powf(0.25)).collect()
            },
        })
        .collect();
    task(Bbob {
        name: "gallagher",
        summary: "101 random peaks without a trend",
        source: "BBOB f21, Hansen et al. 2009, after Gallagher and Yuan 2006",
        noise_std: 0.1,
        x_opt,
        value: Box::new(move |offset| {
            let value = peaks.iter().map(|peak| peak.value(&r, offset)).fold(0.0, f64::max);
            oscillated(10.0 - value).powi(2)
        }),
    })
}

struct Peak {
    height: f64,
    centre: Vec<f64>,
    steepness: Vec<f64>,
}

impl Peak {
    fn value(&self, r: &Rotation, offset: &[f64]) -> f64 {
        let from_centre: Vec<f64> = offset.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
        let z = r.times(&from_centre);
        let distance: f64 = z.iter().zip(&self.steepness).map(|(z, s)| s * z * z).sum();
        self.height * (-distance / (2.0 * z.len() as f64)).exp()
    }
}

/// A function of the offset from its optimum, to be minimised there to 0, on [-5, 5]^d.
struct Bbob {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    noise_std: f64,
    x_opt: Vec<f64>,
    value: Function<[f64]>,
}

fn task(Bbob { name, summary, source, noise_std, x_opt, value }: Bbob) -> Task {
    Task::from(ContinuousTask {
        name,
        summary,
        source,
        bounds: vec![(-5.0, 5.0); x_opt.len()],
        noise_std,
        optimum: 0.0,
        maximiser: x_opt.clone(),
        value: Box::new(move |x| {
            let offset: Vec<f64> = x.iter().zip(&x_opt).map(|(x, x_opt)| x - x_opt).collect();
            -value(&offset)
        }),
    })
}

/// Where the optimum is, in [-4, 4]^d, and the two rotations.
struct Frame {
    x_opt: Vec<f64>,
    r: Rotation,
    q: Rotation,
}

impl Frame {
    fn draw(seed: u64, d: usize) -> Frame {
        let mut rng = optimist::rng(seed, 0);
        Frame {
            x_opt: (0..d).map(|_| rng.random_range(-4.0..4.0)).collect(),
            r: Rotation::draw(d, &mut rng),
            q: Rotation::draw(d, &mut rng),
        }
    }
}

/// An orthogonal matrix, by rows.
pub(super) struct Rotation(Vec<Vec<f64>>);

impl Rotation {
    /// Normal rows, made orthogonal by Gram and Schmidt's method: uniform over all rotations.
    pub(super) fn draw(d: usize, rng: &mut optimist::Rng) -> Rotation {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(d);
        for _ in 0..d {
            let mut row: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
            // Twice, because once leaves rounding errors.
            for _ in 0..2 {
                for earlier in &rows {
                    let along = dot(earlier, &row);
                    row.iter_mut().zip(earlier).for_each(|(x, e)| *x -= along * e);
                }
            }
            let length = dot(&row, &row).sqrt();
            rows.push(row.iter().map(|x| x / length).collect());
        }
        Rotation(rows)
    }

    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        self.0.iter().map(|row| dot(row, x)).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// How far along coordinate `i` of `d` is: 0 for the first, 1 for the last.
fn part(i: usize, d: usize) -> f64 {
    i as f64 / (d - 1) as f64
}

/// Λ^α: coordinates stretched from 1 for the first to √α for the last.
fn stretched(alpha: f64, x: Vec<f64>) -> Vec<f64> {
    let d = x.len();
    x.iter().enumerate().map(|(i, x)| alpha.powf(0.5 * part(i, d)) * x).collect()
}

/// T_osz: small, smooth irregularities.
fn oscillated(x: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    let (c1, c2) = if x > 0.0 { (10.0, 7.9) } else { (5.5, 3.1) };
    let log = x.abs().ln();
    x.signum() * (log + 0.049 * ((c1 * log).sin() + (c2 * log).sin())).exp()
}

/// T_asy^β: the positive side made steeper, the more so the later the coordinate.
fn asymmetric(beta: f64, x: Vec<f64>) -> Vec<f64> {
    let d = x.len();
    let bend = |(i, &x): (usize, &f64)| {
        if x > 0.0 { x.powf(1.0 + beta * part(i, d) * x.sqrt()) } else { x }
    };
    x.iter().enumerate().map(bend).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_keeps_lengths_and_angles() {
        let r = Rotation::draw(20, &mut optimist::rng(3, 0));
        for (i, a) in r.0.iter().enumerate() {
            for (j, b) in r.0.iter().enumerate() {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(a, b) - expected).abs() < 1e-12, "rows {i} and {j}");
            }
        }
    }

    #[test]
    fn optima_are_neither_at_the_centre_nor_in_a_corner() {
        for task in tasks() {
            let from_centre = task.formula().unwrap().maximiser.iter().map(|x| (x - 0.5).abs());
            assert!(from_centre.clone().fold(0.0, f64::max) > 0.2, "{} is centred", task.name);
            assert!(from_centre.fold(0.0, f64::max) <= 0.4, "{} is at the border", task.name);
        }
    }
}
