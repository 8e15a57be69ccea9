//! Models from engineering and science over real coordinates: smooth, with inputs of unequal weight.

use std::f64::consts::{PI, TAU};

use super::{ContinuousTask, Task};

pub(super) fn tasks() -> Vec<Task> {
    vec![borehole(), chemical_spill()]
}

/// Flow of water through a borehole, in m³ a year. Its radius matters most, three of the inputs
/// hardly at all; the best is a corner.
fn borehole() -> Task {
    let value = |x: &[f64]| {
        let [radius, influence, t_upper, h_upper, t_lower, h_lower, length, conductivity] = *x else {
            unreachable!("the borehole has eight inputs");
        };
        let log = (influence / radius).ln();
        let leak = 2.0 * length * t_upper / (log * radius * radius * conductivity);
        TAU * t_upper * (h_upper - h_lower) / (log * (1.0 + leak + t_upper / t_lower))
    };
    let best = vec![0.15, 100.0, 115_600.0, 1110.0, 116.0, 700.0, 1120.0, 12_045.0];
    Task::from(ContinuousTask {
        name: "borehole",
        summary: "flow through a borehole: monotone, inputs of very unequal weight",
        source: "Harper and Gupta 1983; Morris et al. 1993",
        bounds: vec![
            (0.05, 0.15),
            (100.0, 50_000.0),
            (63_070.0, 115_600.0),
            (990.0, 1110.0),
            (63.1, 116.0),
            (700.0, 820.0),
            (1120.0, 1680.0),
            (9855.0, 12_045.0),
        ],
        noise_std: 0.5,
        optimum: value(&best),
        maximiser: best,
        value: Box::new(value),
    })
}

/// Two spills into a channel: how much, when, where and how it spreads is to be found from the
/// concentrations at three places and four times.
fn chemical_spill() -> Task {
    const TRUTH: [f64; 4] = [10.0, 0.07, 1.505, 30.1525];
    let misfit = |x: &[f64]| -> f64 {
        let sites = [0.0, 1.0, 2.5].into_iter().flat_map(|s| [15.0, 30.0, 45.0, 60.0].map(|t| (s, t)));
        sites.map(|(s, t)| (concentration(x, s, t) - concentration(&TRUTH, s, t)).powi(2)).sum()
    };
    Task::from(ContinuousTask {
        name: "chemical-spill",
        summary: "calibration of a pollutant model: four interacting inputs, heavy tail of bad fits",
        source: "Bliznyuk et al. 2008; Astudillo and Frazier 2019",
        bounds: vec![(7.0, 13.0), (0.02, 0.12), (0.01, 3.0), (30.01, 30.295)],
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: TRUTH.to_vec(),
        value: Box::new(move |x| -misfit(x)),
    })
}

/// At place `s` and time `t`, after a spill at (0, 0) and another at (`place`, `delay`).
fn concentration(x: &[f64], s: f64, t: f64) -> f64 {
    let (mass, diffusion, place, delay) = (x[0], x[1], x[2], x[3]);
    let spread =
        |s: f64, t: f64| mass / (4.0 * PI * diffusion * t).sqrt() * (-s * s / (4.0 * diffusion * t)).exp();
    (4.0 * PI).sqrt() * (spread(s, t) + if t > delay { spread(s - place, t - delay) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use crate::task::find;

    /// As the literature has it for the best corner.
    #[test]
    fn the_best_borehole_is_the_known_corner() {
        assert!((find("borehole").unwrap().optimum().unwrap() - 309.575_587_660_4).abs() < 1e-6);
    }
}
