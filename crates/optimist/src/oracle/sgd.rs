//! The paper's oracle: gradient descent on the mean squared error, 2000 steps at a rate of 1e-11 (appendix,
//! "Implementation of GO-UCB").
//!
//! It exists for the preset `paper`, and does not fit: so small a rate moves the weights by about 1e-6. The paper says "stochastic"
//! and gives no batch size; Phase I has 5 to 8 points, so every step uses all of them. Noise and prior do not enter the steps, only
//! the loss that is reported.

use super::{Fit, OracleError, Problem};
use crate::linalg::add_scaled;

/// Settings of the descent; the paper's by default.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Number of gradient steps.
    pub steps: usize,
    /// The learning rate: a step is the gradient times this.
    pub rate: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { steps: 2000, rate: 1e-11 }
    }
}

/// Weights after gradient descent from `start`. Converged means that the gradient has vanished: no entry is above
/// 1e-6 (1 + mean squared error).
///
/// # Errors
/// If the data or the loss at `start` are not finite, or the rate is so large that the loss diverges.
pub fn fit(problem: &Problem<'_>, start: &[f64], settings: &Settings) -> Result<Fit, OracleError> {
    problem.check()?;
    let mut w = start.to_vec();
    let mut gradient = vec![0.0; w.len()];
    let mut loss = mean_squared_error(problem, &w, &mut gradient);
    if !loss.is_finite() {
        return Err(OracleError::BadStart { loss });
    }
    for step in 1..=settings.steps {
        add_scaled(-settings.rate, &gradient, &mut w);
        loss = mean_squared_error(problem, &w, &mut gradient);
        if !loss.is_finite() {
            return Err(OracleError::Diverged { step, loss });
        }
    }
    let largest = gradient.iter().fold(0.0, |largest: f64, g| largest.max(g.abs()));
    Ok(Fit { loss: problem.loss(&w), w, steps: settings.steps, converged: largest <= 1e-6 * (1.0 + loss) })
}

/// Mean of (f_w(x_i) − y_i)², and its gradient in w.
fn mean_squared_error(problem: &Problem<'_>, w: &[f64], gradient: &mut [f64]) -> f64 {
    let share = 1.0 / problem.y.len().max(1) as f64;
    let mut grad_w = vec![0.0; w.len()];
    let mut loss = 0.0;
    gradient.fill(0.0);
    for (x, y) in problem.x.iter_rows().zip(problem.y) {
        let error = problem.family.value(w, x) - y;
        problem.family.grad_w(w, x, &mut grad_w);
        add_scaled(2.0 * share * error, &grad_w, gradient);
        loss += share * error * error;
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Matrix, dot};
    use crate::model::{Anova, Family, Mlp};
    use crate::optimizer::rng;
    use rand::RngExt;

    #[test]
    fn the_papers_settings_move_the_weights_by_a_millionth_and_do_not_converge() {
        let family = Mlp::paper(20);
        let mut rng = rng(0, 0);
        let x = Matrix::from_fn(5, 20, |_, _| rng.random_range(-5.0..5.0));
        let y: Vec<f64> = x.iter_rows().map(|x| family.value(&[1.0; 551], x)).collect(); // f1
        let problem = Problem { family: &family, x: &x, y: &y, noise_std: &[0.01; 5], prior_weight: 0.0 };
        let start = family.start(&mut rng);
        let fit = fit(&problem, &start, &Settings::default()).unwrap();
        let moved: Vec<f64> = fit.w.iter().zip(&start).map(|(to, from)| to - from).collect();
        let distance = dot(&moved, &moved).sqrt();
        assert!((1e-7..1e-4).contains(&distance), "moved by {distance}");
        assert!(!fit.converged);
        assert_eq!(fit.steps, 2000);
        let at_start = problem.loss(&start);
        assert!(fit.loss < at_start && fit.loss > 0.999 * at_start);
    }

    #[test]
    fn a_sensible_rate_converges_to_least_squares() {
        let family = Anova::linear(1);
        let x = Matrix::from_fn(5, 1, |i, _| i as f64 / 2.0 - 1.0);
        let problem = Problem {
            family: &family,
            x: &x,
            y: &[3.0, 2.5, 2.0, 1.5, 1.0],
            noise_std: &[1.0; 5],
            prior_weight: 0.0,
        };
        let settings = Settings { steps: 500, rate: 0.1 };
        let fit = fit(&problem, &[0.0, 0.0], &settings).unwrap();
        assert!(fit.converged);
        assert!((family.value(&fit.w, &[0.0]) - 2.0).abs() < 1e-6);
        assert!((family.value(&fit.w, &[1.0]) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn too_large_a_rate_is_an_error_and_not_nan() {
        let family = Anova::linear(1);
        let x = Matrix::from_fn(2, 1, |i, _| i as f64);
        let problem =
            Problem { family: &family, x: &x, y: &[0.0, 1.0], noise_std: &[1.0; 2], prior_weight: 0.0 };
        let settings = Settings { steps: 2000, rate: 100.0 };
        let said = fit(&problem, &[0.0, 0.0], &settings).unwrap_err().to_string();
        assert!(said.starts_with("oracle stopped at step ") && said.ends_with("; lower the rate"), "{said}");
    }
}
