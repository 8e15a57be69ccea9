//! The surrogate of the default preset: when it is refitted, and on which observations.
//!
//! Given: the history. Gives: the belief after all observations. Does not know: how a fit is made (`refit`), pending points
//! (`fantasies`).
//!
//! Up to 127 observations everything is refitted after each of them. Beyond that the scales hardly change from one observation to
//! the next: they are learnt at checkpoints, and the observations in between only update the ball, so an ask late in a long run
//! costs no more than one in a short run. At some checkpoints, the anchors, learning starts from the centres of the hyper-priors;
//! at the checkpoints that follow, from the scales of the last anchor, which takes a fraction of the steps. Which observations a
//! checkpoint uses depends only on how many there are, so the belief is a function of the history whether or not it was cached.

use std::sync::{Arc, Mutex, PoisonError};

use super::refit::Refit;
use super::{Belief, Preparation, TrainingData};
use crate::evidence::Hyperparameters;
use crate::frame::Frame;
use crate::history::History;
use crate::model::{Family, FamilyMaker};
use crate::optimizer::{Observation, Rng};
use crate::oracle::OracleError;

/// Most observations that scales are learnt from. Learning from all had 0.97 ± 0.02 of the cumulative regret on eight tasks with 500
/// trials, and an ask took 2.6 times as long (docs/results/log.md, "Long runs").
const LEARNT_FROM: usize = 256;

/// Most observations that the ball of a checkpoint is fitted to: a limit on time. No other number is on record.
const BELIEVED_FROM: usize = 1024;

/// Most observations between two checkpoints. No other number is on record.
const LONGEST_STEP: usize = 64;

/// Families fitted to a history, refitted when they have to be. Caches the last fit, which saves time and changes nothing: it is
/// only used for the history that it was made from, or for that history with more observations.
pub struct Surrogate {
    families: Vec<FamilyMaker>,
    refit: Refit,
    frame: Frame,
    kept: Mutex<Option<CachedFit>>,
}

impl Surrogate {
    /// A surrogate that chooses between these families. Nothing is fitted until it is asked for.
    pub fn new(mut families: Vec<FamilyMaker>, refit: Refit, frame: Frame) -> Self {
        families.sort_by_key(|family| !family.make().is_parametric()); // stable: processes last
        Self { families, refit, frame, kept: Mutex::default() }
    }

    /// The belief after all observations; pending points don't count. `rng` is for families that are not linear in w, whose fits
    /// start from random weights.
    ///
    /// # Errors
    /// If there is no value yet, or no family could be fitted.
    pub fn belief(&self, history: &History, rng: &mut Rng) -> Result<Arc<Belief>, OracleError> {
        let families = || self.families_for(history.observations().len());
        // Observations can only be added to a family that is linear in w, and only its fits can start from earlier scales.
        let is_incremental = families().iter().all(|family| family.is_linear());
        let told = history.observations();
        let n_fitted = if is_incremental { checkpoint(told.len()) } else { told.len() };
        let anchor = if is_incremental { anchor(n_fitted) } else { n_fitted };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fit = match kept.take().filter(|kept| is_incremental && kept.is_of(history)) {
            Some(kept) if kept.is_current(told.len()) => kept,
            earlier => {
                CachedFit::fit(&self.refit, families, &told[..n_fitted], anchor, &self.frame, earlier, rng)?
            }
        };
        fit.update(history, &self.frame);
        Ok(Arc::clone(&kept.insert(fit).belief))
    }

    /// The families that compete after `n_told` observations. Asking a Gaussian process takes time that grows with the square of
    /// their number, so it drops out when there are many.
    fn families_for(&self, n_told: usize) -> Vec<Box<dyn Family>> {
        let mut families: Vec<Box<dyn Family>> = self.families.iter().map(FamilyMaker::make).collect();
        if n_told > LEARNT_FROM && families.iter().any(|family| family.is_parametric()) {
            families.retain(|family| family.is_parametric());
        }
        families
    }

    /// The name of the family that a belief is about.
    pub fn name(&self, belief: &Belief) -> &str {
        &self.families[belief.family_idx].name
    }
}

/// A belief, and the observations that it was made from.
struct CachedFit {
    belief: Arc<Belief>,
    preparation: Preparation,
    anchor: Anchor,
    learnt_at: usize,
    n_told: usize,
    /// `History::fingerprint` of these observations.
    fingerprint: u64,
}

/// The scales of each family at the last anchor, where learning starts at later checkpoints.
struct Anchor {
    at: usize,
    learnt: Vec<Option<Hyperparameters>>,
}

impl CachedFit {
    /// A fit to all observations, starting from the scales after the first `at` of them. An `earlier` fit saves time and changes
    /// nothing.
    ///
    /// # Errors
    /// If no family could be fitted.
    fn fit(
        refit: &Refit,
        families: impl Fn() -> Vec<Box<dyn Family>>,
        observations: &[Observation],
        at: usize,
        frame: &Frame,
        earlier: Option<Self>,
        rng: &mut Rng,
    ) -> Result<Self, OracleError> {
        type Families = Vec<Box<dyn Family>>;
        let mut learn = |families: Families, told: &[Observation], start: &[Option<Hyperparameters>]| {
            let believed = working_set(told, BELIEVED_FROM);
            let preparation = Preparation::of(&believed, refit.limited).ok_or(OracleError::NothingToFit)?;
            let sample = TrainingData::new(working_set(told, LEARNT_FROM), preparation, frame);
            let fits = refit.fit(families, &sample, start, rng);
            Ok::<_, OracleError>((fits, preparation, TrainingData::new(believed, preparation, frame)))
        };
        let n = observations.len();
        let learnt_at_anchor = match earlier.map(|earlier| earlier.anchor) {
            _ if at == n => Vec::new(),
            Some(anchor) if anchor.at == at => anchor.learnt,
            _ => learn(families(), &observations[..at], &[])
                .map_or(Vec::new(), |(fits, ..)| fits.hyperparameters()),
        };
        let (fits, preparation, told) = learn(families(), observations, &learnt_at_anchor)?;
        let learnt = if at == n { fits.hyperparameters() } else { learnt_at_anchor };
        let belief = Arc::new(fits.into_belief(&told)?);
        Ok(Self {
            belief,
            preparation,
            anchor: Anchor { at, learnt },
            learnt_at: n,
            n_told: n,
            fingerprint: 0,
        })
    }

    /// Whether it was made from this history, or from its beginning.
    fn is_of(&self, history: &History) -> bool {
        self.n_told <= history.observations().len() && self.fingerprint == history.fingerprint(self.n_told)
    }

    /// Whether no checkpoint has been passed since it was fitted.
    fn is_current(&self, n_told: usize) -> bool {
        self.learnt_at == checkpoint(n_told)
    }

    /// Updates the belief with the observations told since. There must be none unless all families are linear in w.
    fn update(&mut self, history: &History, frame: &Frame) {
        let new = &history.observations()[self.n_told..];
        if !new.is_empty() {
            Arc::make_mut(&mut self.belief).update(&TrainingData::new(new, self.preparation, frame));
        }
        self.n_told += new.len();
        self.fingerprint = history.fingerprint(self.n_told);
    }
}

/// How many observations there were at the last checkpoint: all but at most 2 %, and all but fewer than 64.
fn checkpoint(n_told: usize) -> usize {
    last_multiple(n_told, 64, LONGEST_STEP)
}

/// How many observations there were at the last anchor: every eighth checkpoint is one; up to 64 observations every one, second or
/// fourth.
fn anchor(n_told: usize) -> usize {
    last_multiple(n_told, 8, 8 * LONGEST_STEP)
}

/// The last multiple, up to n, of the largest power of two in n divided by `share`; of `longest` if that is less.
fn last_multiple(n: usize, share: usize, longest: usize) -> usize {
    let leading_power = n.checked_ilog2().map_or(1, |log| 1 << log);
    n - n % (leading_power / share).clamp(1, longest)
}

/// The observations that represent all of them: all if there are at most `limit`; otherwise the best quarter of `limit`, the newest
/// quarter, and an even spread over time of the others. In the order told.
fn working_set(observations: &[Observation], limit: usize) -> Vec<&Observation> {
    let t = observations.len();
    if t <= limit {
        return observations.iter().collect();
    }
    let (older, newest) = observations.split_at(t - limit / 4);
    let mut by_value: Vec<usize> = (0..older.len()).collect();
    let value = |i: usize| older[i].value().unwrap_or(f64::NEG_INFINITY);
    by_value.select_nth_unstable_by(limit / 4, |&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    let (chosen, rest) = by_value.split_at_mut(limit / 4);
    rest.sort_unstable();
    let spread = limit - chosen.len() - newest.len();
    let mut chosen = chosen.to_vec();
    chosen.extend((0..spread).map(|i| rest[i * rest.len() / spread]));
    chosen.sort_unstable();
    chosen.into_iter().map(|i| &older[i]).chain(newest).collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::encode::Domain;
    use crate::linalg::Matrix;
    use crate::model::Anova;
    use crate::optimizer::{Outcome, rng};

    const REFIT: Refit =
        Refit { scaled: true, warp: true, limited: true, noise: crate::evidence::NOISE, restarts: 1 };

    /// Values of a wave at random points of the square; every tenth trial fails.
    fn observations(t: usize) -> Vec<Observation> {
        let mut rng = rng(0, 0);
        let observation = |i: usize| {
            let x: Vec<f64> = (0..2).map(|_| rng.random_range(0.0..1.0)).collect();
            let y = (4.0 * x[0]).sin() + x[1] - x[0] * x[1];
            let outcome = if i % 10 == 9 { Outcome::Failed } else { Outcome::Value { y, noise_std: None } };
            Observation { x, outcome }
        };
        (0..t).map(observation).collect()
    }

    fn fit_after(earlier: Option<CachedFit>, observations: &[Observation]) -> CachedFit {
        let families = || -> Vec<Box<dyn Family>> { vec![Box::new(Anova::new(2))] };
        let frame = Frame::symmetric(2);
        let at = anchor(observations.len());
        CachedFit::fit(&REFIT, families, observations, at, &frame, earlier, &mut rng(1, 0)).unwrap()
    }

    fn fit(observations: &[Observation]) -> CachedFit {
        fit_after(None, observations)
    }

    fn history(observations: &[Observation]) -> History {
        let mut history = History::new(Domain::cube(2));
        observations.iter().for_each(|told| history.tell(told.clone()).unwrap());
        history
    }

    fn refitting() -> Surrogate {
        let anova = FamilyMaker::new("anova", || Box::new(Anova::new(2)));
        Surrogate::new(vec![anova], REFIT, Frame::symmetric(2))
    }

    /// Predictions at twenty points.
    fn predictions(growing: &CachedFit) -> Vec<(f64, f64)> {
        let probe = Matrix::from_fn(20, 2, |i, j| (0.37 * i as f64 + 0.91 * j as f64).sin());
        probe.iter_rows().map(|x| growing.belief.predict(x)).collect()
    }

    #[test]
    fn checkpoints_are_every_observation_at_first_and_then_within_a_fiftieth_and_within_64() {
        assert!((0..128).all(|n| checkpoint(n) == n));
        for n in (128..5000).chain([99_999, 100_000]) {
            let (m, since) = (checkpoint(n), n - checkpoint(n));
            assert!(50 * since <= n && since < 64, "{m} for {n}");
            assert_eq!(checkpoint(m), m);
            assert!(checkpoint(n - 1) <= m);
        }
    }

    #[test]
    fn a_working_set_has_the_best_the_newest_and_an_even_spread_in_the_order_told() {
        for t in [257, 400, 1000, 20_000] {
            let all = observations(t);
            let chosen = working_set(&all, 256);
            let number = |told: &Observation| {
                (told as *const Observation as usize - all.as_ptr() as usize) / size_of::<Observation>()
            };
            let numbers: Vec<usize> = chosen.iter().map(|told| number(told)).collect();
            assert_eq!(numbers.len(), 256);
            assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "in the order told, none twice");
            assert!((t - 64..t).all(|i| numbers.contains(&i)), "the newest are there");
            let mut by_value: Vec<usize> = (0..t - 64).filter(|&i| all[i].value().is_some()).collect();
            by_value.sort_by(|&a, &b| all[b].value().unwrap().total_cmp(&all[a].value().unwrap()));
            assert!(by_value[..64].iter().all(|i| numbers.contains(i)), "the best are there");
            let n_early = numbers.iter().filter(|&&i| i < (t - 64) / 2).count();
            assert!((64..=128).contains(&n_early), "{n_early} of the first half");
        }
    }

    #[test]
    fn up_to_the_limit_a_working_set_is_everything() {
        let all = observations(256);
        assert!(working_set(&all, 256).into_iter().eq(&all));
    }

    #[test]
    fn a_belief_updated_step_by_step_equals_one_made_at_once() {
        let (all, frame) = (observations(600), Frame::symmetric(2));
        for n in [131, 259, 597] {
            let mut step_by_step = fit(&all[..checkpoint(n)]);
            (checkpoint(n)..=n).for_each(|n| step_by_step.update(&history(&all[..n]), &frame));
            let mut at_once = fit(&all[..checkpoint(n)]);
            at_once.update(&history(&all[..n]), &frame);
            assert!(step_by_step.is_current(n) && n > checkpoint(n));
            assert_eq!(predictions(&step_by_step), predictions(&at_once));
        }
    }

    #[test]
    fn anchors_are_checkpoints_and_within_an_eighth_and_within_512() {
        assert!((0..16).all(|n| anchor(n) == n));
        for n in (16..5000).chain([99_999, 100_000]) {
            let at = anchor(n);
            assert!(8 * (n - at) <= n && n - at < 512, "{at} for {n}");
            assert_eq!((anchor(at), checkpoint(at)), (at, at));
        }
    }

    #[test]
    fn an_earlier_belief_changes_nothing() {
        let all = observations(300);
        for n in [64, 65, 71, 144, 300] {
            let fresh = predictions(&fit(&all[..n]));
            for earlier in [anchor(n), n - 1, 30] {
                assert_eq!(
                    predictions(&fit_after(Some(fit(&all[..earlier])), &all[..n])),
                    fresh,
                    "{earlier}, {n}"
                );
            }
        }
    }

    #[test]
    fn what_is_added_is_learnt_as_if_it_had_been_fitted_with_the_same_scales() {
        let (all, frame) = (observations(300), Frame::symmetric(2));
        let mut followed = fit(&all[..200]);
        followed.update(&history(&all), &frame);
        let fitted = fit(&all);
        for x in [[0.0, 0.0], [0.5, -0.7], [-0.9, 0.2]] {
            let ((mean, std), (fitted, _)) = (followed.belief.predict(&x), fitted.belief.predict(&x));
            assert!((mean - fitted).abs() < 3.0 * std + 0.02, "{mean} ± {std}, {fitted}");
        }
    }

    #[test]
    fn a_belief_is_a_function_of_the_history_whatever_was_asked_before() {
        let (all, model) = (observations(150), refitting());
        let mut other = all.clone();
        other[3].outcome = Outcome::Value { y: 9.0, noise_std: None };
        let at = |model: &Surrogate, told: &[Observation]| {
            model.belief(&history(told), &mut rng(1, 0)).unwrap().predict(&[0.2, -0.4])
        };
        for told in [&all[..40], &other[..41], &all[..140], &all[..139], &other[..140], &all[..], &all[..40]]
        {
            assert_eq!(at(&model, told), at(&refitting(), told), "{} told", told.len());
        }
        assert_ne!(at(&model, &all), at(&model, &other));
    }
}
