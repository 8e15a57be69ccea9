//! The numbers behind plots, written one by one: a large study has millions.

use optimist::space::Parameter;
use optimist_study::{State, Trial};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Plot, PlotKind, edf, front, timeline};

/// The numbers behind all plots, by kind.
pub struct Data<'p> {
    pub plots: &'p [Plot],
    pub state: &'p State,
}

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_one = self.state.outcomes().is_one();
        let mut map = serializer.serialize_map(Some(self.plots.len()))?;
        for plot in self.plots {
            let word = plot.kind.word();
            match plot.kind {
                PlotKind::Front => map.serialize_entry(word, &front::data(self.state))?,
                PlotKind::History if is_one => map.serialize_entry(word, &history(self.state))?,
                PlotKind::History => map.serialize_entry(word, &several::history(self.state))?,
                PlotKind::Slices if is_one => map.serialize_entry(word, &slices(self.state))?,
                PlotKind::Slices => map.serialize_entry(word, &several::slices(self.state))?,
                PlotKind::Parallel if is_one => map.serialize_entry(word, &parallel(self.state))?,
                PlotKind::Parallel => map.serialize_entry(word, &several::parallel(self.state))?,
                PlotKind::Edf if is_one => {
                    map.serialize_entry(word, &edf::data(self.state).into_values().next())?
                }
                PlotKind::Edf => map.serialize_entry(word, &edf::data(self.state))?,
                PlotKind::Timeline => map.serialize_entry(word, &timeline::data(self.state))?,
                PlotKind::Importance | PlotKind::Surrogate | PlotKind::Contour | PlotKind::Metrics => {
                    map.serialize_entry(word, &plot.data)?
                }
            }
        }
        map.end()
    }
}

/// A list that is made while it is written.
struct Rows<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Rows<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

fn history(state: &State) -> impl Serialize {
    #[derive(Serialize)]
    struct Row {
        trial: usize,
        state: &'static str,
        value: Option<f64>,
        best: Option<f64>,
    }
    let outcomes = state.outcomes();
    Rows(move || {
        let mut best: Option<f64> = None;
        state.trials().iter().map(move |trial| {
            let value = trial.value();
            best = match (best, value) {
                (Some(best), Some(value)) if !outcomes.is_better(value, best) => Some(best),
                (best, None) => best,
                (_, value) => value,
            };
            Row { trial: trial.number, state: trial.state.word(), value, best }
        })
    })
}

fn slices(state: &State) -> impl Serialize {
    #[derive(Serialize)]
    struct Slice<'s, P: Serialize> {
        parameter: &'s str,
        points: P,
    }
    #[derive(Serialize)]
    struct Point<'s> {
        trial: usize,
        param: &'s optimist::space::Value,
        value: f64,
    }
    fn point<'s>(trial: &'s Trial, parameter: &Parameter) -> Option<Point<'s>> {
        let (param, value) = (trial.params.get(&parameter.name)?, trial.value()?);
        Some(Point { trial: trial.number, param, value })
    }
    Rows(move || {
        state.definition().space.parameters().iter().map(move |parameter| Slice {
            parameter: &parameter.name,
            points: Rows(move || state.trials().iter().filter_map(move |trial| point(trial, parameter))),
        })
    })
}

fn parallel(state: &State) -> impl Serialize {
    #[derive(Serialize)]
    struct Parallel<'s, T: Serialize> {
        parameters: Vec<&'s str>,
        trials: T,
    }
    #[derive(Serialize)]
    struct Line<'s> {
        trial: usize,
        params: &'s optimist::space::Assignment,
        value: f64,
    }
    let names = state.definition().space.parameters().iter().map(|parameter| parameter.name.as_str());
    fn line(trial: &Trial) -> Option<Line<'_>> {
        Some(Line { trial: trial.number, params: &trial.params, value: trial.value()? })
    }
    Parallel { parameters: names.collect(), trials: Rows(move || state.trials().iter().filter_map(line)) }
}

/// The numbers behind plots of several outcomes.
mod several {
    use optimist::space::{Assignment, Value};
    use optimist_study::view::ByOutcome;
    use optimist_study::{State, Trial};
    use serde::Serialize;

    use super::Rows;
    use crate::study::history::Trace;

    fn values(state: &State, trial: &Trial) -> ByOutcome<f64> {
        let known = |name: &str| Some((name.to_owned(), trial.value_of(name)?));
        ByOutcome(state.outcomes().names().filter_map(known).collect())
    }

    /// `best` is the goal of the best feasible trial so far, the hypervolume of several goals, or how many trials are feasible.
    pub fn history(state: &State) -> impl Serialize {
        #[derive(Serialize)]
        struct Row {
            trial: usize,
            state: &'static str,
            values: ByOutcome<f64>,
            feasible: Option<bool>,
            best: Option<f64>,
        }
        let best = Trace::main(state).map(|trace| trace.best).unwrap_or_default();
        Rows(move || {
            let best = best.clone();
            state.trials().iter().map(move |trial| Row {
                trial: trial.number,
                state: trial.state.word(),
                values: values(state, trial),
                feasible: state.is_feasible(trial).filter(|_| state.outcomes().has_constraints()),
                best: best.iter().rev().find(|(number, _)| *number <= trial.number).map(|(_, best)| *best),
            })
        })
    }

    pub fn slices(state: &State) -> impl Serialize {
        #[derive(Serialize)]
        struct Slice<'s> {
            outcome: &'s str,
            parameter: &'s str,
            points: Vec<Point<'s>>,
        }
        #[derive(Serialize)]
        struct Point<'s> {
            trial: usize,
            param: &'s Value,
            value: f64,
        }
        let slice = |outcome, parameter| {
            let point = |trial: &'_ Trial| Some((trial.number, trial.value_of(outcome)?));
            let points = state.trials().iter().filter_map(|trial| {
                let ((trial, value), param) = (point(trial)?, trial.params.get(parameter)?);
                Some(Point { trial, param, value })
            });
            Slice { outcome, parameter, points: points.collect() }
        };
        let parameters = &state.definition().space.parameters();
        let slices = state.outcomes().names().flat_map(|outcome| {
            parameters.iter().map(move |parameter| slice(outcome, parameter.name.as_str()))
        });
        slices.collect::<Vec<_>>()
    }

    pub fn parallel(state: &State) -> impl Serialize {
        #[derive(Serialize)]
        struct Parallel<'s> {
            parameters: Vec<&'s str>,
            outcomes: Vec<&'s str>,
            trials: Vec<Line<'s>>,
        }
        #[derive(Serialize)]
        struct Line<'s> {
            trial: usize,
            params: &'s Assignment,
            values: ByOutcome<f64>,
        }
        let measured = state.trials().iter().filter(|trial| !trial.measurements.is_empty());
        let line = |trial: &'_ Trial| (trial.number, values(state, trial));
        Parallel {
            parameters: state.definition().space.parameters().iter().map(|one| one.name.as_str()).collect(),
            outcomes: state.outcomes().names().collect(),
            trials: measured
                .map(|trial| {
                    let (number, values) = line(trial);
                    Line { trial: number, params: &trial.params, values }
                })
                .collect(),
        }
    }
}
