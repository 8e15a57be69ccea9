//! Several studies in one chart, and one study in a line of a table.

use optimist_study::State;
use optimist_study::view::number::significant;

use super::history::Trace;
use crate::canvas::{Anchor, Canvas, Shape, colour, cut};
use crate::chart::{Axis, Chart};
use crate::render;

/// As many as can be told apart.
pub const MOST_STUDIES: usize = 6;

/// The most corners of a line.
const MOST_STEPS: usize = 300;

/// The best value so far of each study by number of trials, as SVG.
pub fn best_so_far(states: &[&State]) -> String {
    let states = &states[..states.len().min(MOST_STUDIES)];
    let traces: Vec<Option<Trace>> = states.iter().map(|state| Trace::main(state)).collect();
    let bests = traces.iter().flatten().flat_map(|trace| settled(&trace.best).iter().map(|&(_, best)| best));
    let y = Axis::around(bests, 0.06);
    let last = states.iter().map(|state| state.n_trials()).max().unwrap_or(0).saturating_sub(1).max(1);
    let x = Axis::Whole { low: 0.0, high: last as f64 };
    let mut chart = Chart::new(860.0, 380.0, "Best value so far", &x, "trial", &y);
    for (i, (state, trace)) in states.iter().zip(&traces).enumerate() {
        let Some(trace) = trace else { continue };
        let name = &state.definition().name;
        let at = |number: usize, best: f64| chart.at(x.position(number as f64), y.position(best));
        let mut stairs = Vec::new();
        for pair in trace.best.windows(2) {
            stairs.extend([at(pair[0].0, pair[0].1), at(pair[1].0, pair[0].1)]);
        }
        let Some(&(number, best)) = trace.best.last() else { continue };
        stairs.extend([at(number, best), at(state.n_trials().saturating_sub(1), best)]);
        let title = format!("{name}: {} in trial {number}", significant(best, 6));
        let shape = Shape::Line { points: stairs, width: 2.0, is_dashed: i % 2 == 1 };
        chart.canvas.add_titled(colour::SERIES[i], shape, Some(title));
    }
    draw_legend(&mut chart.canvas, states);
    render::svg(&chart.canvas, None)
}

/// Without the first few, which are far from the rest.
fn settled(best: &[(usize, f64)]) -> &[(usize, f64)] {
    &best[(best.len() / 4).min(best.len().saturating_sub(2))..]
}

fn draw_legend(canvas: &mut Canvas, states: &[&State]) {
    let mut left = 180.0;
    for (i, state) in states.iter().enumerate() {
        let name = cut(&state.definition().name, 16);
        let line = vec![(left, 16.0), (left + 18.0, 16.0)];
        canvas.add(colour::SERIES[i], Shape::Line { points: line, width: 2.5, is_dashed: i % 2 == 1 });
        left += 30.0 + 6.4 * name.chars().count() as f64;
        canvas.faint_text((left - 6.4 * name.chars().count() as f64 - 8.0, 20.0), name, 11, Anchor::Start);
    }
}

/// The best value so far as a line without axes, as SVG; `None` before the first value.
pub fn sparkline(state: &State) -> Option<String> {
    const SIZE: (f64, f64) = (120.0, 28.0);
    let trace = Trace::main(state)?;
    let (low, high) = trace.visible_range();
    let last = state.n_trials().saturating_sub(1).max(1) as f64;
    let y = Axis::Linear { low, high };
    let at = |(number, value): (usize, f64)| {
        (2.0 + (SIZE.0 - 4.0) * number as f64 / last, SIZE.1 - 3.0 - (SIZE.1 - 6.0) * y.position(value))
    };
    let mut canvas = Canvas::new(SIZE.0, SIZE.1);
    let step = trace.values.len().div_ceil(MOST_STEPS).max(1);
    let specks = trace.values.iter().step_by(step).map(|&value| at(value)).collect();
    canvas.add(colour::RANKS[1], Shape::Specks { at: specks, size: 1.5 });
    let stairs: Vec<(usize, f64)> = trace.stairs(state.n_trials().saturating_sub(1));
    canvas.line(colour::BEST, stairs.into_iter().map(at).collect(), 1.5);
    Some(render::svg(&canvas, None))
}
