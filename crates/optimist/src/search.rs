//! The feasible point with the highest score: how every acquisition function is maximised.
//!
//! Given: a score with its gradient, and the region to search. Gives: the best point found there. Does not know: what the score
//! means, which points have been tried (the caller passes those to avoid).
//!
//! The score is computed at random candidates in one block, then climbed from the best of them: real coordinates by a quasi-Newton
//! method, or by projected gradients if constraints tie them together; integers and choices by trying other levels, always at
//! feasible points. Climbs, and parts of the block, run in parallel; the result does not depend on how many threads there are.

mod region;

pub use self::region::Region;

use rayon::prelude::*;

use crate::encode::AxisKind;
use crate::lbfgsb::{ClimbLimits, maximize_in_box};
use crate::optimizer::Rng;
use crate::projected_gradient::maximize_in_set;

/// A function of points of the unit cube to maximise.
pub trait Score: Sync {
    /// The score at each of many points: a block, since one matrix product is faster than a loop over points.
    fn scores(&self, points: &[Vec<f64>]) -> Vec<f64>;

    /// The score at x; `grad_x` is set to its gradient.
    fn score_with_grad(&self, x: &[f64], grad_x: &mut [f64]) -> f64;
}

/// How much work a search may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Number of candidates spread over the region.
    pub spread: usize,
    /// Number of candidates near the incumbents.
    pub near: usize,
    /// Number of climbs, from the best candidates.
    pub climbs: usize,
    /// Quasi-Newton steps of every climb, after which only the best quarter continues.
    pub first_steps: usize,
    /// Quasi-Newton steps of the climbs that continue. If it is at most `first_steps`, none does.
    pub steps: usize,
}

/// Chosen by hand and varied afterwards, on 29 tasks with 261 pairs of runs (docs/results/log.md): half or twice as many
/// candidates, none near the incumbents, half or twice as many climbs give 1.003 to 1.010 ± 0.007 of the regret. So this is enough,
/// and more is only slower. The log also has what ending climbs early saves.
impl Default for Effort {
    fn default() -> Self {
        Self { spread: 400, near: 300, climbs: 12, first_steps: 8, steps: 40 }
    }
}

impl Effort {
    /// Half as many candidates and climbs.
    pub fn halved(self) -> Self {
        Self { spread: self.spread / 2, near: self.near / 2, climbs: self.climbs.div_ceil(2), ..self }
    }
}

/// The best feasible point of the region, among those not `taken`. Climbs also start at the incumbents, and candidates are spread
/// around them. `None` if every point found is taken.
pub fn argmax(
    score: &impl Score,
    region: &Region<'_>,
    incumbents: &[Vec<f64>],
    taken: impl Fn(&[f64]) -> bool,
    effort: Effort,
    rng: &mut Rng,
) -> Option<Vec<f64>> {
    search(score, region, incumbents, effort, rng).best_not(taken)
}

/// The points that a search found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The ends of the climbs, with their scores; best first.
    climbed: Vec<(Vec<f64>, f64)>,
    /// The candidates, best first.
    candidates: Vec<Vec<f64>>,
}

/// Number of candidates that are scored in one block: a quarter of those of the default effort.
const BLOCK: usize = 175;

/// Searches for high scores, as [`argmax`] does.
pub fn search(
    score: &impl Score,
    region: &Region<'_>,
    incumbents: &[Vec<f64>],
    effort: Effort,
    rng: &mut Rng,
) -> Found {
    let search = |steps: usize, polishes: bool| Search { score, region, steps, polishes };
    let mut candidates = region.samples(effort.spread, rng);
    if !incumbents.is_empty() {
        candidates
            .extend((0..effort.near).map(|i| region.sample_near(&incumbents[i % incumbents.len()], rng)));
    }
    let scores: Vec<f64> = candidates.par_chunks(BLOCK).flat_map_iter(|block| score.scores(block)).collect();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let candidates: Vec<Vec<f64>> = order.into_iter().map(|i| std::mem::take(&mut candidates[i])).collect();
    let starts: Vec<&Vec<f64>> = candidates.iter().take(effort.climbs).chain(incumbents).collect();
    let first = search(effort.first_steps, effort.steps <= effort.first_steps);
    let climbed = starts.into_par_iter().with_max_len(1).map(|start| first.climb(start)).collect();
    let mut found = Found { climbed, candidates };
    found.sort();
    if effort.steps > effort.first_steps {
        found.continue_best(|x| search(effort.steps, true).climb(x));
    }
    found
}

impl Found {
    /// The end of the best climb, with its score.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        self.climbed.first().map(|(x, score)| (x.as_slice(), *score))
    }

    /// Continues the best quarter of the climbs.
    fn continue_best(&mut self, climb: impl Fn(&[f64]) -> (Vec<f64>, f64) + Sync) {
        let best = self.climbed.len().div_ceil(4);
        self.climbed[..best].par_iter_mut().with_max_len(1).for_each(|climbed| {
            let further = climb(&climbed.0);
            if further.1 > climbed.1 {
                *climbed = further;
            }
        });
        self.sort();
    }

    /// Climbs again from the ends of the best `n` climbs, over real coordinates only, on a more expensive function that the score
    /// stands in for. It sets its gradient and returns its value.
    pub fn climb_again(
        &mut self,
        n: usize,
        f: impl Fn(&[f64], &mut [f64]) -> f64 + Sync,
        region: &Region<'_>,
        steps: usize,
    ) {
        self.climbed.truncate(n);
        self.climbed.par_iter_mut().for_each(|(x, value)| (*x, *value) = climb_reals(&f, region, x, steps));
        self.sort();
    }

    /// The best of the points that aren't `taken`.
    pub fn best_not(self, taken: impl Fn(&[f64]) -> bool) -> Option<Vec<f64>> {
        self.climbed.into_iter().map(|(x, _)| x).chain(self.candidates).find(|x| !taken(x))
    }

    fn sort(&mut self) {
        self.climbed.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
}

/// Climbs over the active real coordinates.
fn climb_reals(
    f: impl Fn(&[f64], &mut [f64]) -> f64,
    region: &Region<'_>,
    x: &[f64],
    steps: usize,
) -> (Vec<f64>, f64) {
    climb_columns(f, region, x, steps, |kind| matches!(kind, AxisKind::Real))
}

/// Climbs over the active coordinates of some kinds, treating all of them as real.
fn climb_columns(
    f: impl Fn(&[f64], &mut [f64]) -> f64,
    region: &Region<'_>,
    x: &[f64],
    steps: usize,
    moves: impl Fn(&AxisKind) -> bool,
) -> (Vec<f64>, f64) {
    let (mut lower, mut upper) = (x.to_vec(), x.to_vec());
    for (index, axis) in region.domain.axes().iter().enumerate() {
        let column = axis.columns.start;
        if moves(&axis.kind) && region.domain.is_active(index, x) {
            lower[column] = region.lower[column];
            upper[column] = region.upper[column];
        }
    }
    let maximum = if region.couplings.is_empty() {
        // With a first step of at most a tenth of the region the default effort missed the best point of a mixed lattice in
        // 16 balls of 160 (`acquisition`), so in 6. Ending at gains of 1e-4 saved no time.
        maximize_in_box(f, x, &lower, &upper, ClimbLimits::steps(steps))
    } else {
        let project = |z: &mut [f64]| {
            (0..z.len()).for_each(|j| z[j] = z[j].clamp(lower[j], upper[j]));
            if !region.couplings.iter().all(|coupling| coupling.snap_reals(z)) {
                z.copy_from_slice(x); // x is outside the region, and its levels leave no way in
            }
        };
        maximize_in_set(f, project, x, PROJECTED_STEPS * steps)
    };
    (maximum.x, maximum.value)
}

/// Projected gradients take about this many times the steps of a quasi-Newton method.
const PROJECTED_STEPS: usize = 2;

/// Most rounds of moving levels.
const MAX_SWEEPS: usize = 10;

/// With more grids than this, a climb that will be continued leaves them where rounding put them, and the others only try the next
/// levels. With 50 integers that made an ask 17 times as fast (docs/results/log.md); no other number is on record.
const MANY_GRIDS: usize = 20;

struct Search<'a, S> {
    score: &'a S,
    region: &'a Region<'a>,
    steps: usize,
    /// Whether grids are moved level by level, no matter how many there are.
    polishes: bool,
}

impl<S: Score> Search<'_, S> {
    /// Alternates real coordinates and levels until neither gains. Grids are first climbed as if they were real, and rounded: in
    /// many dimensions that is far quicker than going level by level, and leaves little to do there.
    fn climb(&self, start: &[f64]) -> (Vec<f64>, f64) {
        let axes = self.region.domain.axes();
        let has_levels = axes.iter().any(|axis| !matches!(axis.kind, AxisKind::Real));
        if !has_levels {
            return self.climb_reals(start);
        }
        let mut x = self.climb_rounded(start);
        let mut value = f64::NEG_INFINITY;
        for _ in 0..4 {
            let (next, climbed) = self.climb_reals(&x);
            let (next, gained) = self.climb_levels(next, climbed);
            let gain = gained - value;
            (x, value) = (next, gained);
            if gain <= 1e-9 * (1.0 + value.abs()) {
                break;
            }
        }
        (x, value)
    }

    fn climb_reals(&self, x: &[f64]) -> (Vec<f64>, f64) {
        climb_reals(|x, grad_x| self.score.score_with_grad(x, grad_x), self.region, x, self.steps)
    }

    /// The end of a climb over reals and grids, rounded; the start if that is better, or if there are constraints.
    fn climb_rounded(&self, start: &[f64]) -> Vec<f64> {
        if !self.region.couplings.is_empty() {
            return start.to_vec();
        }
        let f = |x: &[f64], grad_x: &mut [f64]| self.score.score_with_grad(x, grad_x);
        let (mut x, _) =
            climb_columns(f, self.region, start, self.steps, |kind| !matches!(kind, AxisKind::OneHot));
        self.region.snap(&mut x);
        let scores = self.score.scores(&[start.to_vec(), x.clone()]);
        if scores[1] > scores[0] { x } else { start.to_vec() }
    }

    /// Moves grids and choices to better levels until none gains. All alternatives on all axes are scored in one block; then the
    /// best of each axis are combined, if that is better than the best one alone.
    fn climb_levels(&self, mut x: Vec<f64>, mut value: f64) -> (Vec<f64>, f64) {
        let domain = self.region.domain;
        for _ in 0..MAX_SWEEPS {
            let active = (0..domain.axes().len()).filter(|&index| domain.is_active(index, &x));
            let trials: Vec<(usize, Vec<f64>)> = active
                .flat_map(|index| self.alternatives(index, &x).into_iter().map(move |trial| (index, trial)))
                .collect();
            let points: Vec<Vec<f64>> = trials.iter().map(|(_, trial)| trial.clone()).collect();
            let scores = self.score.scores(&points);
            let mut best_of_axis: Vec<Option<(f64, &[f64])>> = vec![None; domain.axes().len()];
            for ((index, trial), score) in trials.iter().zip(&scores) {
                if *score > best_of_axis[*index].map_or(value, |(best, _)| best) {
                    best_of_axis[*index] = Some((*score, trial));
                }
            }
            let gains = best_of_axis.iter().flatten();
            let Some(&(score, best)) = gains.reduce(|best, next| if next.0 > best.0 { next } else { best })
            else {
                break;
            };
            let together = self.together(&x, &best_of_axis);
            let both =
                together.map(|together| (self.score.scores(std::slice::from_ref(&together))[0], together));
            (value, x) = match both {
                Some((both, together)) if both > score => (both, together),
                _ => (score, best.to_vec()),
            };
        }
        (x, value)
    }

    fn has_many_grids(&self) -> bool {
        let axes = self.region.domain.axes().iter();
        self.region.couplings.is_empty()
            && axes.filter(|axis| matches!(axis.kind, AxisKind::Grid(_))).count() > MANY_GRIDS
    }

    /// x with each axis at its best level; `None` if there are constraints.
    fn together(&self, x: &[f64], best_of_axis: &[Option<(f64, &[f64])>]) -> Option<Vec<f64>> {
        if !self.region.couplings.is_empty() {
            return None;
        }
        let mut together = x.to_vec();
        for (axis, best) in self.region.domain.axes().iter().zip(best_of_axis) {
            if let Some((_, trial)) = best {
                together[axis.columns.clone()].copy_from_slice(&trial[axis.columns.clone()]);
            }
        }
        self.region.snap(&mut together);
        Some(together)
    }

    /// The points that differ from x in the level of one axis: all levels if there are few, otherwise steps of increasing length.
    fn alternatives(&self, index: usize, x: &[f64]) -> Vec<Vec<f64>> {
        let (domain, axis) = (self.region.domain, &self.region.domain.axes()[index]);
        let Some(level) = domain.level(index, x) else { return Vec::new() };
        let column = axis.columns.start;
        let levels: Vec<usize> = match &axis.kind {
            AxisKind::Real => Vec::new(),
            AxisKind::OneHot => (0..axis.columns.len()).collect(),
            AxisKind::Grid(_) if self.has_many_grids() && !self.polishes => Vec::new(),
            AxisKind::Grid(grid) => {
                let longest = if self.has_many_grids() { 2 } else { grid.count() };
                let steps = (0..40).map(|bit| 1usize << bit).take_while(|step| *step < longest);
                let reach: Vec<usize> = if grid.count() <= 16 && !self.has_many_grids() {
                    (0..grid.count()).collect()
                } else {
                    steps
                        .flat_map(|step| [level.checked_sub(step), level.checked_add(step)])
                        .flatten()
                        .collect()
                };
                let inside =
                    |u: f64| u >= self.region.lower[column] - 1e-12 && u <= self.region.upper[column] + 1e-12;
                reach.into_iter().filter(|&i| i < grid.count() && inside(grid.level(i))).collect()
            }
        };
        let others = levels.into_iter().filter(|&other| other != level);
        let Some(coupling) = self.region.coupling(column) else {
            return others.filter_map(|other| self.moved(index, other, x, |_| true)).collect();
        };
        // The other coordinates of the coupling follow: all of them as little as possible or, for a step to the next level,
        // each one alone.
        let partners =
            || coupling.members().iter().filter(|member| member.grid.is_some() && member.column != column);
        let follow = |other: usize| {
            let all = self.moved(index, other, x, |trial| coupling.snap_others(column, trial));
            let partners = partners().filter(move |_| other.abs_diff(level) == 1);
            let alone = partners.filter_map(move |partner| {
                self.moved(index, other, x, |trial| coupling.snap_only(partner.column, trial))
            });
            all.into_iter().chain(alone)
        };
        others.flat_map(follow).collect()
    }

    /// x with one axis moved to another level; `None` if the coordinates tied to it can't `follow`.
    fn moved(
        &self,
        index: usize,
        level: usize,
        x: &[f64],
        follow: impl Fn(&mut [f64]) -> bool,
    ) -> Option<Vec<f64>> {
        let mut trial = x.to_vec();
        self.region.domain.set_level(index, level, &mut trial);
        let follows = follow(&mut trial);
        self.region.domain.snap(&mut trial);
        follows.then_some(trial)
    }
}
