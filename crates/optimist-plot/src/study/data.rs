//! The numbers behind plots, written one by one: a large study has millions.

use optimist::space::Parameter;
use optimist_study::{State, Trial};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Plot, PlotKind};

/// Those of all plots, by kind.
pub struct Data<'p> {
    pub plots: &'p [Plot],
    pub state: &'p State,
}

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.plots.len()))?;
        for plot in self.plots {
            let word = plot.kind.word();
            match plot.kind {
                PlotKind::History => map.serialize_entry(word, &history(self.state))?,
                PlotKind::Slices => map.serialize_entry(word, &slices(self.state))?,
                PlotKind::Parallel => map.serialize_entry(word, &parallel(self.state))?,
                PlotKind::Importance | PlotKind::Surrogate => map.serialize_entry(word, &plot.data)?,
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
    let direction = state.definition().direction;
    Rows(move || {
        let mut best: Option<f64> = None;
        state.trials().iter().map(move |trial| {
            let value = trial.value();
            best = match (best, value) {
                (Some(best), Some(value)) if !direction.is_better(value, best) => Some(best),
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
