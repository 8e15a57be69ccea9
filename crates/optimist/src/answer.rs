//! Answers: the recommended point, the ranking, and the improvement that another trial can be expected to bring.
//!
//! Given: a belief and the history. Gives: recommendations in the units of the observations. Does not know: how points are
//! chosen, how the belief came about.

use rand::RngExt;

use crate::acquisition::{Effort, Region, UpperConfidenceBound};
use crate::belief::Belief;
use crate::belief::noise::Noise;
use crate::frame::Frame;
use crate::history::{History, ranked};
use crate::normal::expected_excess;
use crate::optimizer::{Observation, Recommendation, Rng, rng};

/// How many points with the highest values the best one is looked for among. A limit for long runs: most have fewer points. No other
/// number is on record.
const CONTENDERS: usize = 64;

/// Of the points with the highest values, the one with the highest posterior mean. With noise it need not be the one with the
/// highest value, which may have been lucky.
pub fn incumbent<'a>(belief: &Belief, history: &'a History, frame: &Frame) -> Option<&'a [f64]> {
    let contenders = history.highest(CONTENDERS).into_iter();
    let expected = contenders.map(|told| (told, belief.ball.mean(&frame.apply(&told.x))));
    expected.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(told, _)| told.x.as_slice())
}

/// A point that was tried, with the posterior of the objective there, in the units of the ball.
struct PointPosterior<'a> {
    x: &'a [f64],
    mean: f64,
    std: f64,
}

/// The `n` points with the highest values. Their posteriors take into account that the family may not explain the values
/// (`belief::noise`).
fn contenders<'a>(
    belief: &'a Belief,
    history: &'a History,
    frame: &'a Frame,
    n: usize,
) -> impl Iterator<Item = PointPosterior<'a>> {
    let noise = Noise::of(belief, history);
    history.highest(n).into_iter().map(move |told| {
        let (mean, std) = noise.predict(belief, history, &told.x, frame);
        PointPosterior { x: told.x.as_slice(), mean, std }
    })
}

fn best_contender<'a>(
    belief: &'a Belief,
    history: &'a History,
    frame: &'a Frame,
) -> Option<PointPosterior<'a>> {
    contenders(belief, history, frame, CONTENDERS)
        .reduce(|best, next| if next.mean > best.mean { next } else { best })
}

/// The point tried with the highest posterior mean; the one with the highest value if there is no belief.
pub fn highest_mean(belief: Option<&Belief>, history: &History, frame: &Frame) -> Option<Recommendation> {
    let Some(belief) = belief else { return history.best() };
    let PointPosterior { x, mean, std } = best_contender(belief, history, frame)?;
    let (mean, std) = belief.outputs.restore(mean, std);
    Some(Recommendation { x: x.to_vec(), mean, std: Some(std) })
}

/// Trials before one is spent on measuring the noise. Halfway through 20 trials that lowered the score in the group `lab` by 7,
/// halfway through 50 it raised it by 5 (docs/results/log.md, "The recommendation").
const MEASURE_NOISE_AFTER: usize = 24;

/// Whether `x`, the best point, should be tried once more: for some outcome no point was measured twice, so nothing tells noise
/// from roughness, and the recommendation depends on it. `beliefs` has one for each outcome.
pub fn should_repeat<'a>(
    x: &[f64],
    beliefs: impl IntoIterator<Item = &'a Belief>,
    history: &History,
) -> bool {
    let mut outcomes = beliefs.into_iter().zip(history.outcomes());
    history.observations().len() >= MEASURE_NOISE_AFTER
        && outcomes.any(|(belief, outcome)| Noise::of(belief, outcome) == Noise::Unknown)
        && !history.is_pending(x)
}

/// The point with the highest value, if it should be tried once more.
pub fn best_to_repeat<'a>(belief: &Belief, history: &'a History) -> Option<&'a [f64]> {
    let best = history.highest(1).pop()?.x.as_slice();
    should_repeat(best, [belief], history).then_some(best)
}

/// The paper's answer: a point of Phase II, drawn uniformly; one of Phase I, the first `n` trials, if there is none.
pub fn drawn_from_phase_two(history: &History, n: usize, rng: &mut Rng) -> Option<Recommendation> {
    let told = history.observations();
    let value =
        |told: &Observation| told.value().map(|mean| Recommendation { x: told.x.clone(), mean, std: None });
    let phase_two: Vec<Recommendation> = told.iter().skip(n).filter_map(value).collect();
    let drawn = if phase_two.is_empty() { told.iter().filter_map(value).collect() } else { phase_two };
    (!drawn.is_empty()).then(|| drawn[rng.random_range(0..drawn.len())].clone())
}

/// The `n` points with the highest posterior means, highest first, among those with the highest values: 64, or 4n if that is more.
pub fn ranking(belief: Option<&Belief>, history: &History, frame: &Frame, n: usize) -> Vec<Recommendation> {
    let Some(belief) = belief else { return history.ranking(n) };
    let contenders = contenders(belief, history, frame, CONTENDERS.max(n.saturating_mul(4)));
    let predicted = contenders.map(|PointPosterior { x, mean, std }| {
        let (mean, std) = belief.outputs.restore(mean, std);
        (x, mean, Some(std))
    });
    ranked(predicted.collect(), n)
}

/// The expected improvement over the incumbent's posterior mean, at the point of the domain whose mean plus one standard deviation
/// is highest.
pub fn expected_gain(belief: &Belief, history: &History, frame: &Frame) -> Option<f64> {
    let PointPosterior { x: incumbent, mean, .. } = best_contender(belief, history, frame)?;
    let (best, _) = belief.outputs.restore(mean, 0.0);
    let ucb = UpperConfidenceBound { ball: &belief.ball, radius: 1.0, frame };
    let everywhere = Region::whole(history.domain());
    let rng = &mut rng(0, history.observations().len() as u64);
    let x = ucb.argmax(&everywhere, &[incumbent.to_vec()], |_| false, Effort::default(), rng)?;
    let (mean, std) = belief.predict(&frame.apply(&x));
    Some(expected_excess(mean, std, best))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Domain;
    use crate::optimizer::Outcome;

    #[test]
    fn answers_are_drawn_from_all_of_phase_two_and_nothing_else() {
        let mut history = History::new(Domain::cube(1));
        let (mut rng, n) = (rng(0, 0), 3);
        assert_eq!(drawn_from_phase_two(&history, n, &mut rng), None);
        let mut drawn_after = |outcomes: &[Option<f64>]| {
            for y in outcomes {
                let x = vec![0.1 * history.observations().len() as f64];
                let outcome = y.map_or(Outcome::Failed, |y| Outcome::Value { y, noise_std: None });
                history.tell(Observation { x, outcome }).unwrap();
            }
            let draws = (0..200).map(|_| drawn_from_phase_two(&history, n, &mut rng).unwrap());
            let mut drawn: Vec<f64> = draws.map(|answer| answer.mean).collect();
            drawn.sort_by(f64::total_cmp);
            drawn.dedup();
            drawn
        };
        assert_eq!(drawn_after(&[Some(1.0), None, Some(2.0)]), [1.0, 2.0]);
        assert_eq!(drawn_after(&[None]), [1.0, 2.0]);
        assert_eq!(drawn_after(&[Some(3.0), None, Some(4.0), Some(5.0)]), [3.0, 4.0, 5.0]);
    }
}
