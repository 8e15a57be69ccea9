//! Test functions of the literature as plain formulas of natural coordinates, for whichever task wants them.
//!
//! Given: a point on the scale of the source. Gives: the value, to be minimised unless it says otherwise.
//! Does not know: tasks, noise, bounds, signs.

use std::f64::consts::{E, PI, TAU};

/// 0 at the origin: a needle in a plain that slopes the less the farther away it is.
pub(super) fn ackley(x: &[f64]) -> f64 {
    let d = x.len() as f64;
    let root_mean_square = (x.iter().map(|x| x * x).sum::<f64>() / d).sqrt();
    let mean_cosine = x.iter().map(|x| (TAU * x).cos()).sum::<f64>() / d;
    20.0 + E - 20.0 * (-0.2 * root_mean_square).exp() - mean_cosine.exp()
}

/// 0 at the origin: a bowl that is wide compared with its ripples.
pub(super) fn griewank(z: &[f64]) -> f64 {
    let bowl: f64 = z.iter().map(|z| z * z / 4000.0).sum();
    let ripples: f64 = z.iter().enumerate().map(|(i, z)| (z / ((i + 1) as f64).sqrt()).cos()).product();
    bowl - ripples + 1.0
}

/// 0 at (1, …, 1).
pub(super) fn levy(x: &[f64]) -> f64 {
    let w: Vec<f64> = x.iter().map(|x| 1.0 + (x - 1.0) / 4.0).collect();
    let last = w[w.len() - 1];
    let valleys: f64 = w[..w.len() - 1]
        .iter()
        .map(|w| (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2)))
        .sum();
    let ends = (PI * w[0]).sin().powi(2) + (last - 1.0).powi(2) * (1.0 + (TAU * last).sin().powi(2));
    valleys + ends
}

/// 0 at (1, …, 1), along a bent valley.
pub(super) fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|x| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2)).sum::<f64>()
}

/// To be maximised on [0, π]^d, m = 10.
pub(super) fn michalewicz(x: &[f64]) -> f64 {
    let ridge = |(i, x): (usize, &f64)| x.sin() * ((i + 1) as f64 * x * x / PI).sin().powi(20);
    x.iter().enumerate().map(ridge).sum()
}

/// The largest value of [`styblinski_tang`] for each coordinate, and where it is.
pub(super) const STYBLINSKI_TANG_MAXIMUM: f64 = 39.16616570377142;
pub(super) const STYBLINSKI_TANG_MAXIMISER: f64 = -2.903534027771177;

/// To be maximised: two hills in each coordinate.
pub(super) fn styblinski_tang(x: &[f64]) -> f64 {
    -0.5 * x.iter().map(|x| x.powi(4) - 16.0 * x * x + 5.0 * x).sum::<f64>()
}

pub(super) const SHEKEL_MAXIMUM: f64 = 10.53644315348353;
pub(super) const SHEKEL_MAXIMISER: [f64; 4] =
    [4.000746867060662, 3.999509480595589, 4.000746870040894, 3.999509477615357];

/// To be maximised on [0, 10]^4: ten narrow peaks on a plain.
pub(super) fn shekel(x: &[f64]) -> f64 {
    const CENTRES: [[f64; 4]; 10] = [
        [4.0, 4.0, 4.0, 4.0],
        [1.0, 1.0, 1.0, 1.0],
        [8.0, 8.0, 8.0, 8.0],
        [6.0, 6.0, 6.0, 6.0],
        [3.0, 7.0, 3.0, 7.0],
        [2.0, 9.0, 2.0, 9.0],
        [5.0, 3.0, 5.0, 3.0],
        [8.0, 1.0, 8.0, 1.0],
        [6.0, 2.0, 6.0, 2.0],
        [7.0, 3.6, 7.0, 3.6],
    ];
    const WIDTHS: [f64; 10] = [0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5];
    let peak = |(centre, width): (&[f64; 4], &f64)| {
        1.0 / (x.iter().zip(centre).map(|(x, c)| (x - c).powi(2)).sum::<f64>() + width)
    };
    CENTRES.iter().zip(&WIDTHS).map(peak).sum()
}

pub(super) const HARTMANN6_MAXIMUM: f64 = 3.3223680114155147;
pub(super) const HARTMANN6_MAXIMISER: [f64; 6] = [
    0.20168951124191284,
    0.15001069303607942,
    0.47687397615814214,
    0.27533242915344236,
    0.31165161853027346,
    0.6573005364418029,
];

pub(super) fn hartmann6(x: &[f64]) -> f64 {
    const WEIGHTS: [f64; 4] = [1.0, 1.2, 3.0, 3.2];
    const STEEPNESS: [[f64; 6]; 4] = [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ];
    const CENTRES: [[f64; 6]; 4] = [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ];
    let hill = |i: usize| {
        let distance: f64 = (0..6).map(|j| STEEPNESS[i][j] * (x[j] - CENTRES[i][j]).powi(2)).sum();
        WEIGHTS[i] * (-distance).exp()
    };
    (0..4).map(hill).sum()
}

/// To be minimised; on [-5, 10] × [0, 15] three equal minima.
pub(super) fn branin(x: f64, y: f64) -> f64 {
    let valley = y - 5.1 / (4.0 * PI * PI) * x * x + 5.0 / PI * x - 6.0;
    valley * valley + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x.cos() + 10.0
}

pub(super) const HARTMANN3_MAXIMUM: f64 = 3.862779787332663;
pub(super) const HARTMANN3_MAXIMISER: [f64; 3] = [0.1145888649597168, 0.5556488931884765, 0.852546984741211];

/// To be maximised on [0, 1]^3.
pub(super) fn hartmann3(x: &[f64]) -> f64 {
    const WEIGHTS: [f64; 4] = [1.0, 1.2, 3.0, 3.2];
    const STEEPNESS: [[f64; 3]; 4] =
        [[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]];
    const CENTRES: [[f64; 3]; 4] = [
        [0.3689, 0.1170, 0.2673],
        [0.4699, 0.4387, 0.7470],
        [0.1091, 0.8732, 0.5547],
        [0.0381, 0.5743, 0.8828],
    ];
    let hill = |i: usize| {
        let distance: f64 = (0..3).map(|j| STEEPNESS[i][j] * (x[j] - CENTRES[i][j]).powi(2)).sum();
        WEIGHTS[i] * (-distance).exp()
    };
    (0..4).map(hill).sum()
}

pub(super) const SIX_HUMP_CAMEL_MAXIMUM: f64 = 1.0316284534898774;
pub(super) const SIX_HUMP_CAMEL_MAXIMISER: [f64; 2] = [0.08984201531410217, -0.7126564038753511];

/// Least at two points, of which one is [`SIX_HUMP_CAMEL_MAXIMISER`], where it is -[`SIX_HUMP_CAMEL_MAXIMUM`].
pub(super) fn six_hump_camel(x: f64, y: f64) -> f64 {
    (4.0 - 2.1 * x * x + x.powi(4) / 3.0) * x * x + x * y + (4.0 * y * y - 4.0) * y * y
}

/// 3 at (0, -1), and up to a million elsewhere on [-2, 2]^2.
pub(super) fn goldstein_price(x: f64, y: f64) -> f64 {
    let first = 19.0 - 14.0 * x + 3.0 * x * x - 14.0 * y + 6.0 * x * y + 3.0 * y * y;
    let second = 18.0 - 32.0 * x + 12.0 * x * x + 48.0 * y - 36.0 * x * y + 27.0 * y * y;
    (1.0 + (x + y + 1.0).powi(2) * first) * (30.0 + (2.0 * x - 3.0 * y).powi(2) * second)
}

/// 0 at the origin: a bowl under ripples of wavelength 1.
pub(super) fn rastrigin(x: &[f64]) -> f64 {
    10.0 * x.len() as f64 + x.iter().map(|x| x * x - 10.0 * (TAU * x).cos()).sum::<f64>()
}
