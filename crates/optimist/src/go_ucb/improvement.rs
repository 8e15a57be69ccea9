//! Line 5 of the default preset: x_t is where the model expects most improvement, or where one is most likely.
//!
//! Given: a belief. Gives: x_t, and the radius √β_t of the ball whose upper confidence bound leads there. Does not know: how the
//! belief came about.
//!
//! What has to be improved on is the highest posterior mean of the incumbent and all pending points, plus a standard deviation of
//! the noise. With the aim `regret`, and every other time with `answer`, the search stays in the trust region.

use std::sync::Arc;

use super::{GoUcb, Scope};
use crate::acquisition::{Effort, ExpectedImprovement, ProbabilityOfImprovement, Region};
use crate::answer;
use crate::belief::Belief;
use crate::history::History;
use crate::optimizer::{Observation, Rng};
use crate::policy::Suggestion;
use crate::search;
use crate::settings::Aim;
use crate::trust_region::WHOLE;

/// Beyond this order of the ball a search is half as thorough, so that an ask late in a long run with many dimensions takes half as
/// long (at n = 1,000, d = 100). Half as many candidates, or half as many climbs, had 1.003 to 1.010 ± 0.007 of the regret on smaller
/// tasks (docs/results/log.md); both together, and on runs this long, were not measured.
const LARGE: usize = 768;

impl GoUcb {
    /// Line 5, or the best point once more if the noise has to be measured. `None` if every point found has been tried.
    pub(super) fn argmax_of_improvement(
        &self,
        belief: &Arc<Belief>,
        aim: Aim,
        effort: Effort,
        history: &History,
        rng: &mut Rng,
    ) -> Option<Suggestion> {
        if let (Aim::Answer, Some(x)) = (aim, answer::best_to_repeat(belief, history)) {
            return Some(Suggestion::repeat(x.to_vec()));
        }
        let frame = &self.frame;
        let pending: Vec<Vec<f64>> = history.pending().iter().map(|x| frame.apply(x)).collect();
        let belief = self.fantasies.belief(belief, &pending);
        let ball = &belief.ball;
        let incumbent = answer::incumbent(&belief, history, frame);
        let baseline = incumbent.map(|x| frame.apply(x)).into_iter().chain(pending);
        let highest_mean = baseline.map(|x| ball.mean(&x)).fold(f64::NEG_INFINITY, f64::max);
        let target = highest_mean + self.exploration(history).sqrt() * belief.noise_std;
        let scope = Scope::next(aim, history);
        let region = self.region(incumbent, scope, history);
        let effort = if ball.order() > LARGE { effort.halved() } else { effort };
        let starts = incumbent.map(<[f64]>::to_vec);
        let taken = |x: &[f64]| history.is_taken(x);
        let (x_t, radius) = match scope {
            Scope::Global => {
                let improvement = ExpectedImprovement { ball, target, frame };
                let x_t = search::argmax(&improvement, &region, starts.as_slice(), taken, effort, rng)?;
                let radius = improvement.radius(&x_t);
                (x_t, radius)
            }
            Scope::Local => {
                let improvement = ProbabilityOfImprovement { ball, target, frame };
                let x_t = improvement.argmax(&region, starts.as_slice(), taken, effort, rng)?;
                let radius = improvement.radius(&x_t);
                (x_t, radius)
            }
        };
        Some(self.suggestion(x_t, &belief, radius))
    }

    /// The part of the domain that line 5 searches; all of it without a trust region or before the first value.
    pub(super) fn region<'a>(
        &self,
        incumbent: Option<&[f64]>,
        scope: Scope,
        history: &'a History,
    ) -> Region<'a> {
        let (Some(trust), Some(incumbent)) = (&self.trust_region, incumbent) else {
            return Region::whole(history.domain());
        };
        let half_width = match scope {
            Scope::Global => WHOLE,
            Scope::Local => {
                let width = trust.width(history.observations().iter().map(Observation::value), self.n);
                trust.half_width(&width, self.rounds(history).count(), self.horizon)
            }
        };
        trust.region(incumbent, half_width, history)
    }
}
