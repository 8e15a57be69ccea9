//! How much each parameter matters.

use optimist::insight::Importance;
use optimist_study::State;
use serde_json::{Value, json};

use super::surrogate::{Surrogate, by_outcome, trust};
use super::{Plot, PlotKind, WIDE};
use crate::canvas::{Anchor, Canvas, Shape, colour, cut};

pub const TITLE: &str = "Importance";

pub fn plot(state: &State, models: &[Surrogate]) -> Plot {
    let importances: Vec<Importances> =
        models.iter().map(|model| Importances::new(state, model.importances().to_vec())).collect();
    let panels = models.iter().zip(&importances);
    let data = importances.iter().map(Importances::data).collect();
    Plot {
        kind: PlotKind::Importance,
        title: TITLE,
        caption: format!(
            "The part of the variance of the model's prediction, over the whole space, that is due to each \
             parameter: by itself, and with all its interactions (first-order and total Sobol' indices). {}",
            trust(models)
        ),
        panels: panels
            .map(|(model, found)| found.draw(&model.series.heading("importance of each parameter")))
            .collect(),
        data: by_outcome(models, data),
    }
}

/// By parameter, the most important first.
struct Importances(Vec<(String, Importance)>);

impl Importances {
    fn new(state: &State, found: Vec<Importance>) -> Self {
        let names = state.definition().space.parameters().iter().map(|parameter| parameter.name.clone());
        let mut importances: Vec<(String, Importance)> = names.zip(found).collect();
        importances.sort_by(|a, b| b.1.total.total_cmp(&a.1.total));
        Self(importances)
    }

    /// Bars: the whole, and within it the part that needs no other parameter.
    fn draw(&self, title: &str) -> Canvas {
        const ROW: f64 = 24.0;
        let longest = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(24);
        let (left, width) = (18.0 + 6.8 * longest as f64, WIDE);
        let largest = self.0.first().map_or(1.0, |(_, first)| first.total.max(first.main));
        let scale = (width - left - 60.0) / largest.max(0.01);
        let mut canvas = Canvas::new(width, 46.0 + ROW * self.0.len() as f64);
        canvas.bold_text((8.0, 20.0), cut(title, 40), 13);
        canvas.add(colour::POINT, Shape::Dot { at: (320.0, 16.0), radius: 3.5 });
        canvas.faint_text((328.0, 20.0), "by itself", 11, Anchor::Start);
        canvas.add(colour::RANKS[1], Shape::Dot { at: (400.0, 16.0), radius: 3.5 });
        canvas.faint_text((408.0, 20.0), "with interactions", 11, Anchor::Start);
        for (i, (name, Importance { main, total })) in self.0.iter().enumerate() {
            let top = 34.0 + ROW * i as f64;
            canvas.text((left - 8.0, top + 14.0), cut(name, 24), 12, Anchor::End);
            let mut bar = |colour, part: f64| {
                let shape =
                    Shape::Rect { at: (left, top + 2.0), width: (scale * part).max(1.0), height: ROW - 8.0 };
                let title = format!(
                    "{name}: {:.0} % by itself, {:.0} % with interactions",
                    100.0 * main,
                    100.0 * total
                );
                canvas.add_titled(colour, shape, Some(title));
            };
            bar(colour::RANKS[1], total.max(*main));
            bar(colour::POINT, *main);
            let end = left + scale * total.max(*main) + 6.0;
            canvas.faint_text((end, top + 14.0), format!("{:.0} %", 100.0 * total), 12, Anchor::Start);
        }
        canvas
    }

    /// The data behind it.
    fn data(&self) -> Value {
        let row = |(name, Importance { main, total }): &(String, Importance)| json!({ "parameter": name, "main": main, "total": total });
        self.0.iter().map(row).collect()
    }
}
