//! GO-UCB: Algorithm 1 as a policy, in the order of the paper.
//!
//! Given: the history. Gives: the next point x_t. Does not know: how the ball is fitted (`belief`), how its maximum is searched
//! for (`acquisition`), which point is recommended in the end (`answer`).
//!
//! What the presets don't share is in files of its own: `preset` puts a policy together, `phases` says which points belong to
//! Phase I and draws them, `improvement` is line 5 of the default preset, `multi_outcome` is the algorithm for several outcomes.
//!
//! Departures from the paper are those of the default preset: the ball is refitted on all data (`belief::surrogate`), its radius
//! follows the improvement that can be expected, and no point is proposed twice while there are others.

mod improvement;
mod multi_outcome;
mod phases;
mod preset;
mod scope;

use std::sync::Arc;

use self::scope::Scope;
use crate::acquisition::{Effort, JointAscent, UpperConfidenceBound};
use crate::answer;
use crate::belief::Belief;
use crate::belief::fantasies::Fantasies;
use crate::belief::recursive::RecursiveSurrogate;
use crate::belief::surrogate::Surrogate;
use crate::frame::Frame;
use crate::history::History;
use crate::optimizer::{Recommendation, Rng, rng};
use crate::oracle::OracleError;
use crate::policy::{Policy, Suggestion, Why};
use crate::schedule::Schedule;
use crate::settings::Aim;
use crate::sobol::Design;
use crate::trust_region::TrustRegion;

/// Algorithm 1, for one outcome.
pub struct GoUcb {
    /// n: the length of Phase I.
    n: usize,
    /// T: the length of Phase II.
    horizon: usize,
    /// From the unit cube to the coordinates of the families.
    frame: Frame,
    /// Refitted on all data: the ball of the default preset, and what every preset ranks points by.
    surrogate: Surrogate,
    /// The surrogate's belief with pending points counted as observed.
    fantasies: Fantasies,
    phase_two: PhaseTwo,
    /// A factor on β_t; in the default preset, on the square of the improvement to be exceeded.
    exploration: f64,
    trust_region: Option<TrustRegion>,
}

/// How a preset goes through lines 2 to 5 of Phase II.
enum PhaseTwo {
    /// Default: the refitted ball, as wide as an improvement needs it to be.
    Refitted { aim: Aim, effort: Effort, design: Design },
    /// `paper` and `theory`: the ball of eqs. 3 and 5 with the radius of a schedule.
    Scheduled(Box<Scheduled>),
}

struct Scheduled {
    surrogate: RecursiveSurrogate,
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
        Suggestion::or_random(self.optimistic(history, rng), history, rng)
    }

    fn recommend(&self, history: &History) -> Option<Recommendation> {
        match &self.phase_two {
            PhaseTwo::Refitted { .. } => {
                answer::highest_mean(self.belief(history).as_deref(), history, &self.frame)
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
    /// Phase II, lines 2 to 5. `None` if every point found has been tried.
    fn optimistic(&self, history: &History, rng: &mut Rng) -> Result<Option<Suggestion>, OracleError> {
        match &self.phase_two {
            PhaseTwo::Refitted { aim, effort, .. } => {
                let belief = self.surrogate.belief(history, rng)?; // lines 2-4
                Ok(self.argmax_of_improvement(&belief, *aim, *effort, history, rng)) // line 5
            }
            PhaseTwo::Scheduled(scheduled) => {
                let Scheduled { surrogate, schedule, search } = &**scheduled;
                let belief = surrogate.belief(history)?; // Phase I, line 5; Phase II, lines 2 and 3
                let t = history.observations().len().saturating_sub(self.n) + 1;
                let radius = (self.exploration(history) * schedule.beta_t(t)).sqrt(); // line 4
                Ok(self.argmax_in_ball(&belief, radius, search, history, rng)) // line 5
            }
        }
    }

    /// Line 5 in a ball of radius √β_t.
    fn argmax_in_ball(
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
                let region = self.region(incumbent, Scope::Local, history);
                let starts = incumbent.map(<[f64]>::to_vec);
                ucb.argmax(&region, starts.as_slice(), taken, *effort, rng)?
            }
            Search::Joint(ascent) => {
                let best = history.highest(1).pop().map(|told| told.x.as_slice());
                Some(ascent.argmax(ucb, history.domain(), best, rng)).filter(|x| !taken(x))?
            }
        };
        Some(self.suggestion(x_t, belief, radius))
    }

    /// The factor on β_t. It grows with the number of pending points, so that a batch spreads out.
    fn exploration(&self, history: &History) -> f64 {
        self.exploration * (1 + history.pending().len()) as f64
    }

    fn suggestion(&self, x: Vec<f64>, belief: &Belief, radius: f64) -> Suggestion {
        Suggestion { x, why: Why::Optimism { family: self.surrogate.name(belief).to_owned(), radius } }
    }

    /// The belief given all observations, whatever the preset; pending points don't count. `None` before the first value, or if
    /// no family could be fitted.
    #[doc(hidden)] // for tests and benches
    pub fn belief(&self, history: &History) -> Option<Arc<Belief>> {
        self.surrogate.belief(history, &mut rng(0, history.observations().len() as u64)).ok()
    }
}
