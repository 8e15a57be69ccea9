//! The paper's nine real tasks: the accuracy of three classifiers on three data sets as a function of their
//! hyper-parameters (§6.2 and the appendix), each in the paper's form and in that of a practitioner.
//!
//! Relaxed, as in the paper: the domain is [0, 10]^d. A category has an interval of equal length for each choice,
//! `true` before `false`; numbers are mapped linearly, and integers then rounded to the nearest one.
//! Typed: integers, switches and categories are what they are, and rates have log scales.
//!
//! Both forms give the same named parameters to scikit-learn, in the same order, so that a configuration is
//! trained once. Repetition k tests on fold k mod 5.
//!
//! Departures from the paper, where it says too little, are in docs/benchmarks.md.

use optimist::encode::{Domain, Encoding};
use optimist::space::{Assignment, Kind, Parameter, Space, Value};

use super::{BUDGET, Group, Noise, Objective, Task};

/// The relaxed tasks, in the order of the paper's figures.
pub(super) fn relaxed() -> Vec<Task> {
    every_pair(|classifier, data| {
        let hyper_parameters = classifier.hyper_parameters();
        let d = hyper_parameters.len();
        let configure = move |u: &[f64]| {
            let value = |(hyper, &u): (&HyperParameter, &f64)| (hyper.name, relaxed_value(&hyper.paper, u));
            hyper_parameters.iter().zip(u).map(value).collect()
        };
        task(
            Group::Real,
            format!("{}-{}", classifier.name, data.name),
            format!("{} on {}: accuracy over [0, 10]^{d}", classifier.title, data.title),
            Domain::boxed(&vec![(0.0, 10.0); d]),
            Learner::new(classifier, data, configure),
        )
    })
}

/// The same tasks over typed spaces.
pub(super) fn typed() -> Vec<Task> {
    every_pair(|classifier, data| {
        let parameter = |hyper: HyperParameter| Parameter::new(hyper.name, hyper.typed);
        let parameters = classifier.hyper_parameters().into_iter().map(parameter).collect();
        let encoding = Encoding::new(Space::new(parameters).expect("the hyper-parameters are well formed"));
        task(
            Group::Typed,
            format!("{}-{}-typed", classifier.name, data.name),
            format!("{} on {}: accuracy over its typed space", classifier.title, data.title),
            encoding.domain().clone(),
            Learner::new(classifier, data, move |u| encoding.decode(u)),
        )
    })
}

/// The fold that a repetition tests on.
pub fn fold(rep: usize) -> usize {
    rep % 5
}

/// A classifier and a data set: what is trained where.
pub struct Learner {
    classifier: &'static str,
    data: &'static str,
    /// The hyper-parameters at a point of the unit cube.
    configure: Box<Configure>,
}

pub(super) type Configure = dyn Fn(&[f64]) -> Assignment + Send + Sync;

impl Learner {
    fn new(
        classifier: &Classifier,
        data: &DataSet,
        configure: impl Fn(&[f64]) -> Assignment + Send + Sync + 'static,
    ) -> Learner {
        Learner { classifier: classifier.name, data: data.name, configure: Box::new(configure) }
    }

    /// The parameters of the training that gives the value at a point of the unit cube.
    pub fn params(&self, x: &[f64], rep: usize) -> Assignment {
        let fold = i64::try_from(fold(rep)).expect("there are five folds");
        let what = [
            ("classifier", Value::from(self.classifier)),
            ("data", Value::from(self.data)),
            ("fold", Value::from(fold)),
        ];
        let hyper_parameters = (self.configure)(x);
        what.into_iter().chain(hyper_parameters.iter().map(|(name, value)| (name, value.clone()))).collect()
    }
}

struct DataSet {
    name: &'static str,
    title: &'static str,
}

struct Classifier {
    name: &'static str,
    title: &'static str,
    hyper_parameters: fn() -> Vec<HyperParameter>,
}

impl Classifier {
    fn hyper_parameters(&self) -> Vec<HyperParameter> {
        (self.hyper_parameters)()
    }
}

const DATA_SETS: [DataSet; 3] = [
    DataSet { name: "breast", title: "Breast-cancer" },
    DataSet { name: "australian", title: "Australian" },
    DataSet { name: "diabetes", title: "Diabetes" },
];

const CLASSIFIERS: [Classifier; 3] = [
    Classifier { name: "rf", title: "random forest", hyper_parameters: random_forest },
    Classifier { name: "mlp", title: "multi-layer perceptron", hyper_parameters: multi_layer_perceptron },
    Classifier { name: "gb", title: "gradient boosting", hyper_parameters: gradient_boosting },
];

fn every_pair(task: impl Fn(&'static Classifier, &'static DataSet) -> Task) -> Vec<Task> {
    let pairs =
        DATA_SETS.iter().flat_map(|data| CLASSIFIERS.iter().map(move |classifier| (classifier, data)));
    pairs.map(|(classifier, data)| task(classifier, data)).collect()
}

fn task(group: Group, name: String, summary: String, domain: Domain, learner: Learner) -> Task {
    Task {
        // Tasks live as long as the program.
        name: name.leak(),
        summary: summary.leak(),
        source: "Liu and Wang 2023 (GO-UCB), §6.2; data of KEEL",
        group,
        domain,
        n: BUDGET.0,
        horizon: BUDGET.1,
        noise: Noise::NONE,
        failures: None,
        objective: Objective::Accuracy(learner),
    }
}

/// One line of the appendix's lists, named as in scikit-learn.
struct HyperParameter {
    name: &'static str,
    /// With the paper's bounds.
    paper: Kind,
    /// As a practitioner would have it.
    typed: Kind,
}

fn random_forest() -> Vec<HyperParameter> {
    vec![
        int("n_estimators", 20, 200),
        choice("criterion", &["gini", "entropy", "log_loss"]),
        int("max_depth", 1, 10),
        int("min_samples_split", 2, 10),
        int("min_samples_leaf", 1, 10),
        choice("max_features", &["sqrt", "log2"]),
        switch("bootstrap"),
    ]
}

fn multi_layer_perceptron() -> Vec<HyperParameter> {
    vec![
        choice("activation", &["identity", "logistic", "tanh", "relu"]),
        float("alpha", 1e-6, 1e-2).log_from(1e-6),
        float("learning_rate_init", 1e-6, 1e-2).log_from(1e-6),
        int("max_iter", 100, 300),
        switch("shuffle"),
        between("beta_1", 0.0, 1.0),
        between("beta_2", 0.0, 1.0),
        int("n_iter_no_change", 1, 10),
    ]
}

fn gradient_boosting() -> Vec<HyperParameter> {
    vec![
        choice("loss", &["log_loss", "exponential"]),
        between("learning_rate", 0.0, 1.0).log_from(1e-3),
        int("n_estimators", 20, 200),
        between("subsample", 0.0, 1.0),
        choice("criterion", &["friedman_mse", "squared_error"]),
        int("min_samples_split", 2, 10),
        int("min_samples_leaf", 1, 10),
        between("min_weight_fraction_leaf", 0.0, 0.5),
        int("max_depth", 1, 10),
        choice("max_features", &["sqrt", "log2"]),
        int("max_leaf_nodes", 2, 10),
    ]
}

/// How far numbers stay from the ends of an open interval.
const HAIR: f64 = 1e-6;

fn int(name: &'static str, low: i64, high: i64) -> HyperParameter {
    HyperParameter::new(name, Kind::Int { low, high, log: false, step: None })
}

fn float(name: &'static str, low: f64, high: f64) -> HyperParameter {
    HyperParameter::new(name, Kind::Float { low, high, log: false, step: None })
}

/// A number in the open interval.
fn between(name: &'static str, low: f64, high: f64) -> HyperParameter {
    float(name, low + HAIR, high - HAIR)
}

fn choice(name: &'static str, choices: &[&str]) -> HyperParameter {
    HyperParameter::new(
        name,
        Kind::Categorical { choices: choices.iter().map(|&choice| choice.into()).collect() },
    )
}

fn switch(name: &'static str) -> HyperParameter {
    HyperParameter::new(name, Kind::Bool)
}

impl HyperParameter {
    fn new(name: &'static str, kind: Kind) -> HyperParameter {
        HyperParameter { name, paper: kind.clone(), typed: kind }
    }

    /// On a log scale where it is typed, from `low` on.
    fn log_from(mut self, low: f64) -> HyperParameter {
        if let Kind::Float { high, .. } = self.paper {
            self.typed = Kind::Float { low, high, log: true, step: None };
        }
        self
    }
}

/// The value at `u` in [0, 1], a tenth of the paper's coordinate.
fn relaxed_value(kind: &Kind, u: f64) -> Value {
    match *kind {
        Kind::Float { low, high, .. } => Value::Float(low * (1.0 - u) + high * u), // exact at both ends
        Kind::Int { low, high, .. } => Value::Int((low as f64 + (high - low) as f64 * u).round() as i64),
        Kind::Bool => Value::Bool(u < 0.5),
        Kind::Categorical { ref choices } => {
            choices[((u * choices.len() as f64) as usize).min(choices.len() - 1)].clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::find;

    fn params(task: &str, x: &[f64], rep: usize) -> String {
        let Objective::Accuracy(learner) = &find(task).unwrap().objective else {
            panic!("{task} is a formula")
        };
        serde_json::to_string(&learner.params(x, rep)).unwrap()
    }

    #[test]
    fn the_relaxed_domain_is_mapped_as_the_appendix_says() {
        assert_eq!(
            params("rf-breast", &[0.0, 0.34, 1.0, 0.06, 0.05, 0.5, 0.4999], 7),
            r#"{"classifier":"rf","data":"breast","fold":2,"n_estimators":20,"criterion":"entropy","max_depth":10,"min_samples_split":2,"min_samples_leaf":1,"max_features":"log2","bootstrap":true}"#
        );
        assert_eq!(
            params("mlp-australian", &[1.0, 1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 0.5], 0),
            r#"{"classifier":"mlp","data":"australian","fold":0,"activation":"relu","alpha":0.01,"learning_rate_init":1e-6,"max_iter":200,"shuffle":false,"beta_1":1e-6,"beta_2":0.999999,"n_iter_no_change":6}"#
        );
        assert_eq!(
            params("gb-diabetes", &[0.0, 0.5, 1.0, 0.25, 0.5, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0], 4),
            r#"{"classifier":"gb","data":"diabetes","fold":4,"loss":"log_loss","learning_rate":0.5,"n_estimators":200,"subsample":0.2500005,"criterion":"squared_error","min_samples_split":2,"min_samples_leaf":10,"min_weight_fraction_leaf":0.499999,"max_depth":1,"max_features":"sqrt","max_leaf_nodes":10}"#
        );
    }

    #[test]
    fn choices_have_intervals_of_equal_length() {
        let activation = &multi_layer_perceptron()[0].paper;
        let at: Vec<String> = [0.0, 0.2499, 0.25, 0.4999, 0.5, 0.7499, 0.75, 1.0]
            .map(|u| relaxed_value(activation, u).to_string())
            .to_vec();
        assert_eq!(at, ["identity", "identity", "logistic", "logistic", "tanh", "tanh", "relu", "relu"]);
    }

    /// So that a configuration is trained once, whichever form it comes from.
    #[test]
    fn both_forms_have_the_same_configurations() {
        // 110 trees, entropy, depth 10, 10 to split, 1 in a leaf, sqrt, no bootstrap; one column a choice.
        let relaxed = params("rf-breast", &[0.5, 0.5, 1.0, 1.0, 0.0, 0.0, 1.0], 0);
        let typed = params("rf-breast-typed", &[0.5, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0], 0);
        assert_eq!(relaxed, typed);
    }

    #[test]
    fn rates_are_typed_on_log_scales_and_all_else_has_the_papers_bounds() {
        let logs: Vec<_> = CLASSIFIERS
            .iter()
            .flat_map(Classifier::hyper_parameters)
            .filter(|hyper| hyper.typed != hyper.paper)
            .map(|hyper| (hyper.name, hyper.typed))
            .collect();
        let log = |low, high| Kind::Float { low, high, log: true, step: None };
        assert_eq!(
            logs,
            [
                ("alpha", log(1e-6, 1e-2)),
                ("learning_rate_init", log(1e-6, 1e-2)),
                ("learning_rate", log(1e-3, 1.0 - HAIR))
            ]
        );
    }
}
