//! Answers: the point to bet on, the runners-up, and what another trial is worth.
//!
//! Given: a belief and the history. Gives: recommendations in the units of the observations. Does not know: how points are
//! chosen, nor how the belief came about.

use rand::RngExt;

use crate::acquisition::{Effort, Region, UpperConfidenceBound};
use crate::belief::Belief;
use crate::belief::unexplained::Noise;
use crate::frame::Frame;
use crate::history::{History, ranked};
use crate::normal::expected_excess;
use crate::optimizer::{Observation, Recommendation, Rng, rng};

/// Points with the highest values of which one is believed to be the best. As many as most runs have; a limit, so that a long run
/// is not gone through each time.
const CONTENDERS: usize = 64;

/// Of the points with the highest values, the one of which a family expects most. With noise it need not be the first: that one may
/// have been lucky.
pub fn incumbent<'a>(belief: &Belief, history: &'a History, frame: &Frame) -> Option<&'a [f64]> {
    let contenders = history.highest(CONTENDERS).into_iter();
    let expected = contenders.map(|told| (told, belief.ball.mean(&frame.apply(&told.x))));
    expected.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(told, _)| told.x.as_slice())
}

/// A point that was tried, and what is believed of it, in the units of the ball.
pub struct Tried<'a> {
    pub x: &'a [f64],
    pub mean: f64,
    pub std: f64,
}

/// The points with the highest values, with what is believed of them after all: a family need not explain them.
fn contenders<'a>(
    belief: &'a Belief,
    history: &'a History,
    frame: &'a Frame,
    n: usize,
) -> impl Iterator<Item = Tried<'a>> {
    let noise = Noise::of(belief, history);
    history.highest(n).into_iter().map(move |told| {
        let (mean, std) = noise.predict(belief, history, &told.x, frame);
        Tried { x: told.x.as_slice(), mean, std }
    })
}

/// The one of which most is expected.
pub fn best_tried<'a>(belief: &'a Belief, history: &'a History, frame: &'a Frame) -> Option<Tried<'a>> {
    contenders(belief, history, frame, CONTENDERS)
        .reduce(|best, next| if next.mean > best.mean { next } else { best })
}

/// The best point tried, and what is expected there; the best value told if there is no belief.
pub fn most_expected(belief: Option<&Belief>, history: &History, frame: &Frame) -> Option<Recommendation> {
    let Some(belief) = belief else { return history.best() };
    let Tried { x, mean, std } = best_tried(belief, history, frame)?;
    let (mean, std) = belief.outputs.restore(mean, std);
    Some(Recommendation { x: x.to_vec(), mean, std: Some(std) })
}

/// Trials before one is spent on measuring the noise. Of 20 trials it is one too many, of 50 it pays: docs/results/log.md.
const MEASURE_NOISE_AFTER: usize = 24;

/// The point with the highest value, if it should be tried once more: nothing else says how much of what is not explained is noise,
/// and what the answer is rests on it.
pub fn worth_repeating<'a>(belief: &Belief, history: &'a History) -> Option<&'a [f64]> {
    let best = history.highest(1).pop()?.x.as_slice();
    let is_due =
        history.observations().len() >= MEASURE_NOISE_AFTER && Noise::of(belief, history) == Noise::Unknown;
    (is_due && !history.is_pending(best)).then_some(best)
}

/// The paper's answer: one of the points of Phase II, uniformly; of Phase I, the first `n` trials, if there is none.
pub fn drawn_from_phase_two(history: &History, n: usize, rng: &mut Rng) -> Option<Recommendation> {
    let told = history.observations();
    let value =
        |told: &Observation| told.value().map(|mean| Recommendation { x: told.x.clone(), mean, std: None });
    let phase_two: Vec<Recommendation> = told.iter().skip(n).filter_map(value).collect();
    let drawn = if phase_two.is_empty() { told.iter().filter_map(value).collect() } else { phase_two };
    (!drawn.is_empty()).then(|| drawn[rng.random_range(0..drawn.len())].clone())
}

/// The best `n` points by posterior mean, of those with the highest values: several times as many as are wanted.
pub fn ranking(belief: Option<&Belief>, history: &History, frame: &Frame, n: usize) -> Vec<Recommendation> {
    let Some(belief) = belief else { return history.ranking(n) };
    let contenders = contenders(belief, history, frame, CONTENDERS.max(n.saturating_mul(4)));
    let predicted = contenders.map(|Tried { x, mean, std }| {
        let (mean, std) = belief.outputs.restore(mean, std);
        (x, mean, Some(std))
    });
    ranked(predicted.collect(), n)
}

/// The expected improvement over what is expected of the incumbent, at the point of the whole domain whose mean and one standard
/// deviation are highest.
pub fn expected_gain(belief: &Belief, history: &History, frame: &Frame) -> Option<f64> {
    let Tried { x: incumbent, mean, .. } = best_tried(belief, history, frame)?;
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
