//! What a model says about the parameters of a study, whatever its optimizer: in the user's direction.

use optimist::insight::{Dependence, Importance, JointDependence, Prediction, explained};
use optimist::space::Assignment;
use optimist::{Insight, Method, Observation, Settings};

use crate::error::StudyError;
use crate::state::{State, Update};

/// A model of an outcome of a study.
pub struct StudyInsight<'s> {
    state: &'s State,
    outcome: usize,
    /// Fitted to values to be maximised: those of minimised outcomes have their sign flipped.
    model: Insight,
    /// The trial of each of its observations.
    trials: Vec<usize>,
}

/// How the values of trials are predicted, each from all others.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaveOneOut {
    /// In the order of telling.
    pub predictions: Vec<TrialPrediction>,
    /// The part of the variance of the values that is predicted: 1 if all are exact, 0 or less if their mean would have
    /// done as well; `None` where the values do not vary.
    pub explained: Option<f64>,
}

/// The value of a trial as all others predict it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialPrediction {
    /// The number of the trial.
    pub trial: usize,
    /// What was observed.
    pub observed: f64,
    /// What the others say of it.
    pub mean: f64,
    /// How unsure that is, noise included; one standard deviation.
    pub std: f64,
}

impl<'s> StudyInsight<'s> {
    /// Fits the model of GO-UCB to what was told: with the study's own settings, if GO-UCB suggests in it and refits, and
    /// with the default ones if not. `None` before the first value, or if no family fits.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn of(state: &'s State) -> Result<Option<Self>, StudyError> {
        Self::of_outcome(state, 0)
    }

    /// The same of one of several outcomes, counted in the order of declaration.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    ///
    /// # Panics
    /// If there is no such outcome.
    pub fn of_outcome(state: &'s State, outcome: usize) -> Result<Option<Self>, StudyError> {
        let mut trials = Vec::new();
        let mut observations = Vec::new();
        for update in state.updates() {
            let Update::Told { trial, outcome: told } = update else { continue };
            let x = state.encoding().encode(&state.trials()[*trial].params)?;
            observations.push(Observation { x, outcome: told.outcomes()[outcome] });
            trials.push(*trial);
        }
        let settings = match state.definition().optimizer.method() {
            Method::GoUcb(settings) if matches!(**settings, Settings::Default(_)) => (**settings).clone(),
            _ => Settings::default(),
        };
        let model = Insight::fit(state.encoding(), observations, &settings)?;
        Ok(model.map(|model| Self { state, outcome, model, trials }))
    }

    fn in_user_direction(&self, y: f64) -> f64 {
        self.state.in_user_direction(self.outcome, y)
    }

    /// How much each parameter matters, in the order of declaration.
    pub fn importances(&self) -> Vec<Importance> {
        self.model.importances()
    }

    /// How the value depends on a parameter, on average over the others.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn partial_dependence(&self, parameter: usize) -> Vec<Dependence> {
        let along = self.model.partial_dependence(parameter).into_iter();
        along.map(|at| Dependence { mean: self.in_user_direction(at.mean), ..at }).collect()
    }

    /// How the value depends on two parameters together, on average over the others.
    ///
    /// # Panics
    /// If there are no such parameters.
    pub fn joint_dependence(&self, first: usize, second: usize) -> JointDependence {
        let mut joint = self.model.joint_dependence(first, second);
        joint.means.iter_mut().flatten().for_each(|mean| *mean = self.in_user_direction(*mean));
        joint
    }

    /// What is expected at a point of the space, and how unsure that is: one standard deviation, noise not included.
    ///
    /// # Errors
    /// If the point is not in the space.
    pub fn predict(&self, params: &Assignment) -> Result<(f64, f64), StudyError> {
        let (mean, std) = self.model.predict(&self.state.encoding().encode(params)?);
        Ok((self.in_user_direction(mean), std))
    }

    /// Each value that was observed, predicted from all others.
    pub fn leave_one_out(&self) -> LeaveOneOut {
        let predictions = self.model.leave_one_out();
        let of_trial = |&Prediction { observation, observed, mean, std }: &Prediction| TrialPrediction {
            trial: self.trials[observation],
            observed: self.in_user_direction(observed),
            mean: self.in_user_direction(mean),
            std,
        };
        LeaveOneOut {
            predictions: predictions.iter().map(of_trial).collect(),
            explained: explained(&predictions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measurement, Storage, Study, StudyFile};
    use optimist::space::Value;

    #[test]
    fn predictions_and_dependence_have_the_sign_of_what_was_told() {
        let text = "
            name = 's'
            direction = 'minimize'
            parameters.x = { type = 'float', low = 1.0, high = 3.0 }";
        let definition = StudyFile::parse(text).unwrap().definition;
        let mut study = Study::create(&Storage::memory(), definition).unwrap();
        for _ in 0..8 {
            let job = study.ask(None).unwrap();
            let x = job.params.get("x").and_then(Value::as_f64).unwrap();
            study.tell(job.trial, Measurement::new(x), None).unwrap();
        }
        let insight = StudyInsight::of(study.state()).unwrap().unwrap();
        let LeaveOneOut { predictions, explained } = insight.leave_one_out();
        assert!(predictions.len() == 8 && explained.is_some_and(|part| part > 0.5), "{predictions:?}");
        for TrialPrediction { trial, observed, mean, .. } in predictions {
            assert_eq!(Some(observed), study.state().trials()[trial].value());
            assert!(mean > 0.0, "{mean} for trial {trial}");
        }
        let along = insight.partial_dependence(0);
        assert!(along.is_sorted_by(|a, b| a.mean < b.mean), "{along:?}");
        assert_eq!(insight.importances().len(), 1);
        let (mean, std) = insight.predict(&Assignment::from_iter([("x", 2.0)])).unwrap();
        assert!((mean - 2.0).abs() < 0.1 && std > 0.0, "{mean} ± {std}");
        assert!(insight.predict(&Assignment::from_iter([("x", 4.0)])).is_err());
    }
}
