//! GO-UCB: Algorithm 1 as a policy, in the order of the paper.
//!
//! Given: the history. Gives: the next point x_t. The three presets of `settings` run through the same lines; `preset` puts
//! them together. Does not know: how the ball is fitted (`belief`), how its maximum is searched for (`acquisition`), what is
//! recommended in the end (`answer`).
//!
//! Departures from the paper, default preset only: the ball is refitted on all data (`belief::growing`), its radius follows what
//! there is to gain, and no point is proposed twice while there is another. With the aim `regret` the radius is the smallest that
//! promises a gain, and the argmax is confined to a trust region. With `answer` it is where the expected gain is highest, and later
//! the two take turns; Phase I is spread evenly, and the best point may be tried once more, to tell noise from roughness.

mod preset;
mod several;

use std::sync::Arc;

pub use self::several::Several;

use crate::acquisition::{
    Effort, ExpectedImprovement, JointAscent, ProbabilityOfImprovement, Region, UpperConfidenceBound,
};
use crate::answer;
use crate::belief::Belief;
use crate::belief::growing::Refitting;
use crate::belief::recursive::Recursion;
use crate::belief::supposed::Supposed;
use crate::frame::Frame;
use crate::history::{History, Proposal};
use crate::optimizer::{Recommendation, Rng, rng};
use crate::oracle::OracleError;
use crate::policy::{Policy, Suggestion, Why};
use crate::schedule::Schedule;
use crate::search;
use crate::settings::Aim;
use crate::sobol::Design;
use crate::trust_region::{TrustRegion, WHOLE};

/// Algorithm 1.
pub struct GoUcb {
    /// n: how many trials Phase I has.
    n: usize,
    /// T: how many Phase II has.
    horizon: usize,
    /// From the unit cube to the coordinates of the families.
    frame: Frame,
    /// What all data say of the families: the ball of the default preset, and what every preset's ranking rests on.
    model: Refitting,
    /// The same with what is pending.
    supposed: Supposed,
    phase_two: PhaseTwo,
    /// A factor on the square of the radius, or of the gain that is hoped for.
    exploration: f64,
    trust_region: Option<TrustRegion>,
}

/// How a preset goes through lines 2 to 5.
enum PhaseTwo {
    /// Default: the refitted ball, as wide as there is something to gain.
    Refitted { aim: Aim, effort: Effort, design: Design },
    /// `paper` and `theory`: the ball of eqs. 3 and 5 with the radius of a schedule.
    Scheduled(Box<Scheduled>),
}

struct Scheduled {
    recursion: Recursion,
    schedule: Schedule,
    search: Search,
}

/// How the argmax over x and w is searched for.
enum Search {
    /// The linearised bound from many starts, then the exact inner maximum.
    Bound(Effort),
    /// The paper's gradient ascent over x and w together.
    Joint(JointAscent),
}

impl Policy for GoUcb {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        if self.is_exploring(history) {
            return Suggestion::explore(self.explore(history, rng)); // Phase I, line 2
        }
        match self.optimistic(history, rng) {
            Ok(Some(suggestion)) => suggestion,
            Ok(None) => {
                Suggestion::random(history.fresh_uniform(rng), "every point that was found is known already")
            }
            Err(failure) => Suggestion::random(history.fresh_uniform(rng), failure),
        }
    }

    fn recommend(&self, history: &History) -> Option<Recommendation> {
        match &self.phase_two {
            PhaseTwo::Refitted { .. } => {
                answer::most_expected(self.belief(history).as_deref(), history, &self.frame)
            }
            PhaseTwo::Scheduled(_) => {
                let rng = &mut rng(0, history.observations().len() as u64);
                answer::drawn_from_phase_two(history, self.n, rng)
            }
        }
    }

    fn ranking(&self, history: &History, n: usize) -> Vec<Recommendation> {
        answer::ranking(self.belief(history).as_deref(), history, &self.frame, n)
    }

    fn expected_gain(&self, history: &History) -> Option<f64> {
        answer::expected_gain(&*self.belief(history)?, history, &self.frame)
    }

    fn warnings(&self) -> Vec<String> {
        let Some((_, proof)) = self.theory() else { return Vec::new() };
        proof.warnings().iter().map(ToString::to_string).collect()
    }
}

impl GoUcb {
    /// Phase II, lines 2-5; `None` if every point that was found is taken.
    fn optimistic(&self, history: &History, rng: &mut Rng) -> Result<Option<Suggestion>, OracleError> {
        match &self.phase_two {
            PhaseTwo::Refitted { aim, effort, .. } => {
                let belief = self.model.belief(history, rng)?; // lines 2-4
                if let (Aim::Answer, Some(x)) = (aim, answer::worth_repeating(&belief, history)) {
                    return Ok(Some(Suggestion { x: x.to_vec(), why: Why::Repeat }));
                }
                let wide = *aim == Aim::Answer && looks_wide(history);
                Ok(self.most_to_gain(belief, wide, *effort, history, rng)) // line 5
            }
            PhaseTwo::Scheduled(scheduled) => {
                let Scheduled { recursion, schedule, search } = &**scheduled;
                let belief = recursion.belief(history)?; // Phase I, line 5; Phase II, lines 2 and 3
                let t = history.observations().len().saturating_sub(self.n) + 1;
                let radius = (self.exploration(history) * schedule.beta_t(t)).sqrt(); // line 4
                Ok(self.in_ball(&belief, radius, search, history, rng)) // line 5
            }
        }
    }

    /// Line 5 in a ball that is as wide as there is something to gain over all that is expected of the incumbent and of pending
    /// points, which are taken as observed at their means: where most is to be gained of the whole domain, or where a gain is likeliest
    /// near the incumbent.
    fn most_to_gain(
        &self,
        belief: Arc<Belief>,
        wide: bool,
        effort: Effort,
        history: &History,
        rng: &mut Rng,
    ) -> Option<Suggestion> {
        let frame = &self.frame;
        let pending: Vec<Vec<f64>> = history.pending().iter().map(|x| frame.apply(x)).collect();
        let belief = self.supposed.belief(&belief, &pending);
        let ball = &belief.ball;
        let incumbent = answer::incumbent(&belief, history, frame);
        let known = incumbent.map(|x| frame.apply(x)).into_iter().chain(pending);
        let most_expected = known.map(|x| ball.mean(&x)).fold(f64::NEG_INFINITY, f64::max);
        let target = most_expected + self.exploration(history).sqrt() * belief.noise_std;
        let (region, starts) = (self.region(incumbent, wide, history), starts(incumbent));
        let taken = |x: &[f64]| history.is_taken(x);
        let (x_t, radius) = if wide {
            let improvement = ExpectedImprovement { ball, target, frame };
            let x_t = search::argmax(&improvement, &region, &starts, taken, effort, rng)?;
            let radius = improvement.radius(&x_t);
            (x_t, radius)
        } else {
            let improvement = ProbabilityOfImprovement { ball, target, frame };
            let x_t = improvement.argmax(&region, &starts, taken, effort, rng)?;
            let radius = improvement.radius(&x_t);
            (x_t, radius)
        };
        Some(self.suggestion(x_t, &belief, radius))
    }

    /// Line 5 in a ball of radius √β_t.
    fn in_ball(
        &self,
        belief: &Belief,
        radius: f64,
        search: &Search,
        history: &History,
        rng: &mut Rng,
    ) -> Option<Suggestion> {
        let ucb = UpperConfidenceBound { ball: &belief.ball, radius, frame: &self.frame };
        let taken = |x: &[f64]| history.is_taken(x);
        let x_t = match search {
            Search::Bound(effort) => {
                let incumbent = answer::incumbent(belief, history, &self.frame);
                let (region, starts) = (self.region(incumbent, false, history), starts(incumbent));
                ucb.argmax(&region, &starts, taken, *effort, rng)?
            }
            Search::Joint(ascent) => {
                let best = history.highest(1).pop().map(|told| told.x.as_slice());
                Some(ascent.argmax(ucb, history.domain(), best, rng)).filter(|x| !taken(x))?
            }
        };
        Some(self.suggestion(x_t, belief, radius))
    }

    /// Where line 5 looks: the trust region around the incumbent, or everywhere.
    fn region<'a>(&self, incumbent: Option<&[f64]>, wide: bool, history: &'a History) -> Region<'a> {
        let (Some(trust), Some(incumbent)) = (&self.trust_region, incumbent) else {
            return Region::whole(history.domain());
        };
        let half = if wide {
            WHOLE // but edges are approached step by step
        } else {
            let width = trust.width(history.observations(), self.n);
            trust.half_width(&width, self.rounds(history).count(), self.horizon)
        };
        let (lower, upper) = trust.around(incumbent, half, history);
        Region::between(history.domain(), lower, upper)
    }

    /// Points that are tried at the same time as others may look further afield.
    fn exploration(&self, history: &History) -> f64 {
        self.exploration * (1 + history.pending().len()) as f64
    }

    fn suggestion(&self, x: Vec<f64>, belief: &Belief, radius: f64) -> Suggestion {
        Suggestion { x, why: Why::Optimism { family: self.model.name(belief).to_owned(), radius } }
    }

    /// Uniform, or spread evenly where that is what the answer is found by.
    fn explore(&self, history: &History, rng: &mut Rng) -> Vec<f64> {
        match &self.phase_two {
            PhaseTwo::Refitted { aim: Aim::Answer, design, .. } => design.next(history, rng),
            PhaseTwo::Refitted { .. } | PhaseTwo::Scheduled(_) => history.fresh_uniform(rng),
        }
    }

    fn is_exploring(&self, history: &History) -> bool {
        let (n_told, n_pending) = (history.observations().len(), history.pending().len());
        self.belongs_to_phase_one(n_told, n_pending, first_value(history))
    }

    /// Whether a point belongs to Phase I that is proposed after so many observations, with so many points pending.
    fn belongs_to_phase_one(&self, n_told: usize, n_pending: usize, first_value: Option<usize>) -> bool {
        let n_explored = match self.phase_two {
            PhaseTwo::Refitted { .. } => n_told + n_pending,
            PhaseTwo::Scheduled(_) => n_told, // ŵ_0 is fitted once, on all of Phase I
        };
        n_explored < self.n || first_value.is_none_or(|first| first >= n_told)
    }

    /// The points of Phase II that were proposed so far.
    fn rounds<'a>(&'a self, history: &'a History) -> impl Iterator<Item = &'a Proposal> {
        let first_value = first_value(history);
        let is_round = move |at: &&Proposal| !self.belongs_to_phase_one(at.n_told, at.n_pending, first_value);
        history.proposals().iter().filter(is_round)
    }

    /// What is believed now on all data, whatever the preset, pending points not counted; `None` before the first value, or if
    /// no family fits.
    pub fn belief(&self, history: &History) -> Option<Arc<Belief>> {
        self.model.belief(history, &mut rng(0, history.observations().len() as u64)).ok()
    }
}

/// Trials after which every second one, for the aim `answer`, looks near the best point and not everywhere. Never was far worse with
/// 100 trials, from the first on worse with 20: docs/results/log.md.
const WIDE_ONLY: usize = 24;

/// Once a trial has failed, near looks begin at once: what is far may fail too. In the group `failing` that took the answer after 20
/// trials from 28 to 38, and changed nothing after 50.
fn looks_wide(history: &History) -> bool {
    let n = history.observations().len() + history.pending().len();
    let has_failures = history.observations().iter().any(|told| told.value().is_none());
    n % 2 == 1 || (n <= WIDE_ONLY && !has_failures)
}

/// The first observation that has a value.
fn first_value(history: &History) -> Option<usize> {
    history.observations().iter().position(|told| told.value().is_some())
}

fn starts(incumbent: Option<&[f64]>) -> Vec<Vec<f64>> {
    incumbent.into_iter().map(<[f64]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Domain;
    use crate::optimizer::{Observation, Outcome};

    /// After 1 to `n` trials, of which the first has this outcome.
    fn wide_looks(first: Outcome, n: usize) -> Vec<bool> {
        let mut history = History::new(Domain::cube(1));
        let mut tell = |i: usize| {
            let outcome = if i == 0 { first } else { Outcome::Value { y: 0.0, noise_std: None } };
            history.tell(Observation { x: vec![i as f64 / n as f64], outcome }).unwrap();
            looks_wide(&history)
        };
        (0..n).map(&mut tell).collect()
    }

    #[test]
    fn wide_and_near_looks_take_turns_late_or_once_a_trial_has_failed() {
        let turns: Vec<bool> = (1..=WIDE_ONLY + 4).map(|n| n % 2 == 1).collect();
        let sound = wide_looks(Outcome::Value { y: 0.0, noise_std: None }, WIDE_ONLY + 4);
        assert!(sound[..WIDE_ONLY].iter().all(|wide| *wide), "{sound:?}");
        assert_eq!(sound[WIDE_ONLY..], turns[WIDE_ONLY..]);
        assert_eq!(wide_looks(Outcome::Failed, WIDE_ONLY + 4), turns);
    }
}
