//! The history of a study in the terminal: the value of each trial, and the best so far.

use optimist_study::view::number::significant;
use optimist_study::{Search, State, TrialState};

use super::history::Trace;

const WIDTH: usize = 64;
/// Odd, so that the label in the middle is exact: a constant is drawn there.
const HEIGHT: usize = 13;
/// Room for a number such as -1.2345e-10.
const LABEL: usize = 11;

/// The run in 80 columns; `None` if no trial has a value.
pub fn text(state: &State) -> Option<String> {
    let trials = state.trials();
    let trace = Trace::main(state)?;
    let last = trials.len().checked_sub(1)?;
    let (low, high) = trace.visible_range();
    let column = |number: usize| number * (WIDTH - 1) / last.max(1);
    // Half of the widest range is finite.
    let part = |value: f64| (high / 2.0 - value / 2.0) / (high / 2.0 - low / 2.0);
    let row = |value: f64| (part(value).clamp(0.0, 1.0) * (HEIGHT - 1) as f64).round() as usize;
    let is_visible = |value: f64| (low..=high).contains(&value);

    let mut canvas = [[' '; WIDTH]; HEIGHT];
    let end = trace.best.last().map(|&(_, best)| (last, best));
    let mut bend: Option<(usize, usize)> = None;
    for &(number, best) in trace.best.iter().chain(&end).filter(|(_, best)| is_visible(*best)) {
        let (x, y) = (column(number), row(best));
        if let Some((x_before, y_before)) = bend {
            canvas[y_before][x_before..=x].fill('─');
            if y != y_before {
                canvas[y_before.min(y)..=y_before.max(y)].iter_mut().for_each(|line| line[x] = '│');
                (canvas[y_before][x], canvas[y][x]) =
                    if y < y_before { ('╯', '╭') } else { ('╮', '╰') };
            }
        }
        bend = Some((x, y));
    }
    let beyond = |value: f64| if value < low { '▾' } else { '▴' };
    for &(number, value) in &trace.values {
        let cell = &mut canvas[row(value)][column(number)];
        // A dot must not hide the line.
        if !is_visible(value) {
            *cell = beyond(value);
        } else if *cell == ' ' {
            *cell = '·';
        }
    }
    for &(number, value) in trace.best.iter().filter(|(_, value)| is_visible(*value)) {
        canvas[row(value)][column(number)] = '●';
    }
    let failed: Vec<usize> =
        trials.iter().filter(|t| t.state == TrialState::Failed).map(|t| column(t.number)).collect();

    let label = |row: usize| match row {
        0 => significant(high, 5),
        row if row == HEIGHT - 1 => significant(low, 5),
        row if row == HEIGHT / 2 => significant(high / 2.0 + low / 2.0, 5),
        _ => String::new(),
    };
    let what = title(state).map(|title| format!("{:>LABEL$}  {title}", ""));
    let mut lines: Vec<String> = (0..HEIGHT)
        .map(|row| format!("{:>LABEL$} ┤{}", label(row), String::from_iter(canvas[row]).trim_end()))
        .collect();
    let axis: String = (0..WIDTH).map(|column| if failed.contains(&column) { '×' } else { '─' }).collect();
    lines.push(format!("{:>LABEL$} └{axis}", ""));
    lines.push(format!("{:>LABEL$}  0{:>rest$}", "trial", last, rest = WIDTH - 1));
    let is_drawn = |mark: char| canvas.iter().flatten().any(|cell| *cell == mark);
    let legend = [
        ("● new best", true),
        ("· trial", is_drawn('·')),
        ("── best so far", is_drawn('─')),
        ("▾ below", is_drawn('▾')),
        ("▴ above", is_drawn('▴')),
        ("× failed", !failed.is_empty()),
    ];
    let legend: Vec<&str> =
        legend.into_iter().filter(|(_, is_drawn)| *is_drawn).map(|(text, _)| text).collect();
    lines.push(format!("{:>LABEL$}  {}", "", legend.join("   ")));
    Some(what.into_iter().chain(lines).collect::<Vec<_>>().join("\n"))
}

/// What is drawn, where that does not go without saying.
fn title(state: &State) -> Option<String> {
    match (state.outcomes().search(), state.outcomes().goal()) {
        _ if state.outcomes().is_one() => None,
        (Search::Front, _) => Some("hypervolume".to_owned()),
        (_, Some(goal)) if state.outcomes().has_constraints() => {
            Some(format!("{}; the line is the best that is feasible", goal.name))
        }
        (_, Some(goal)) => Some(goal.name.clone()),
        (_, None) => Some("feasible trials".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use optimist_study::{Evaluation, FailureKind, Measurement, Storage, Study, StudyFile};

    use super::HEIGHT;

    fn drawn(values: &[Option<f64>], direction: &str) -> Option<String> {
        let text = format!(
            "direction = '{direction}'\nparameters.x = {{ type = 'bool' }}\noptimizer.name = 'random'"
        );
        let definition = StudyFile::parse(&text).unwrap().definition;
        let mut study = Study::create(&Storage::memory(), definition).unwrap();
        for value in values {
            let trial = study.ask(None).unwrap().trial;
            let failed = || Evaluation::failed(FailureKind::Crashed, "it crashed");
            let ended = value.map_or_else(failed, |value| Measurement::new(value).into());
            study.tell(trial, ended, None).unwrap();
        }
        super::text(study.state())
    }

    #[test]
    fn every_picture_fits_eighty_columns() {
        for n in [1, 2, 64, 1000] {
            let values: Vec<Option<f64>> = (0..n).map(|i| Some(-1.23456e-200 * f64::from(i))).collect();
            for line in drawn(&values, "minimize").unwrap().lines() {
                assert!(line.chars().count() <= 80, "{n} trials: {line}");
            }
        }
    }

    #[test]
    fn the_best_line_rises_when_maximizing_and_falls_when_minimizing() {
        let values = [Some(1.0), Some(0.0), Some(2.0), None, Some(3.0)];
        let picture = drawn(&values, "maximize").unwrap();
        assert_eq!(picture.matches('●').count(), 3 + 1, "three bests and the legend:\n{picture}");
        assert!(picture.lines().next().unwrap().ends_with('●'), "{picture}");
        assert_eq!(picture.matches('×').count(), 1 + 1, "{picture}");
        let picture = drawn(&values, "minimize").unwrap();
        assert_eq!(picture.matches('●').count(), 2 + 1, "{picture}");
    }

    #[test]
    fn an_outlier_does_not_flatten_the_rest() {
        let mut values: Vec<Option<f64>> = (0..20).map(|i| Some(f64::from(i))).collect();
        values[3] = Some(-1e9);
        let picture = drawn(&values, "maximize").unwrap();
        assert!(picture.contains('▾') && picture.matches('●').count() > 8, "{picture}");
        assert!(picture.lines().last().unwrap().contains("▾ below"), "{picture}");
    }

    #[test]
    fn the_legend_has_what_is_drawn_and_nothing_else() {
        let rising: Vec<Option<f64>> = (0..9).map(|i| Some(f64::from(i))).collect();
        let picture = drawn(&rising, "maximize").unwrap();
        let legend = picture.lines().last().unwrap();
        assert_eq!(legend.trim(), "● new best   ── best so far", "{picture}");
        let picture = drawn(&[Some(1.0), Some(0.0), None], "maximize").unwrap();
        assert!(picture.lines().last().unwrap().ends_with("× failed"), "{picture}");
    }

    #[test]
    fn the_best_so_far_begins_where_it_is_in_sight() {
        let mut values: Vec<Option<f64>> = (0..20).map(|i| Some(f64::from(i))).collect();
        values[0] = Some(-1e9);
        let picture = drawn(&values, "maximize").unwrap();
        let lowest = picture.lines().nth(HEIGHT - 1).unwrap();
        let first = lowest.split('┤').nth(1).unwrap();
        assert!(first.starts_with('▾') && !first.contains("▾─"), "{picture}");
    }

    #[test]
    fn a_constant_is_on_the_row_with_its_label() {
        for constant in [1.0, -7.5, 0.0] {
            let picture = drawn(&[Some(constant); 4], "maximize").unwrap();
            let line = picture.lines().find(|line| line.contains('●')).unwrap();
            assert!(line.trim_start().starts_with(&format!("{constant} ┤")), "{picture}");
        }
    }

    #[test]
    fn the_largest_numbers_have_short_labels() {
        let picture = drawn(&[Some(1e308), Some(-1e308), Some(0.0)], "minimize").unwrap();
        assert!(!picture.contains("inf") && !picture.contains("NaN"), "{picture}");
        assert!(picture.lines().all(|line| line.chars().count() <= 80), "{picture}");
        let rows: Vec<&str> = picture.lines().filter(|line| line.contains(['●', '·'])).collect();
        assert_eq!(rows.len(), 3 + 1, "three rows and the legend:\n{picture}");
    }

    #[test]
    fn there_is_nothing_to_draw_without_a_value() {
        assert_eq!(drawn(&[None, None], "maximize"), None);
    }
}
