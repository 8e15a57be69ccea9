//! The history of a study in the terminal: the value of each trial, and the best so far.

use optimist_study::view::number::significant;
use optimist_study::{Direction, Trial, TrialState};

use super::history::Trace;

const WIDTH: usize = 64;
const HEIGHT: usize = 12;
/// Room for a number such as -1.2345e-10.
const LABEL: usize = 11;

/// The run in 80 columns; `None` if no trial has a value.
pub fn text(trials: &[Trial], direction: Direction) -> Option<String> {
    let trace = Trace::of(trials, direction)?;
    let last = trials.iter().map(|trial| trial.number).max()?;
    let (low, high) = trace.visible_range(direction);
    let column = |number: usize| number * (WIDTH - 1) / last.max(1);
    let row =
        |value: f64| (((high - value) / (high - low)).clamp(0.0, 1.0) * (HEIGHT - 1) as f64).round() as usize;

    let mut canvas = [[' '; WIDTH]; HEIGHT];
    let end = (last, trace.best.last()?.1);
    let mut bend: Option<(usize, usize)> = None;
    for &(number, best) in trace.best.iter().chain([&end]) {
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
    for &(number, value) in &trace.values {
        let visible = (low..=high).contains(&value);
        let mark = if visible {
            '·'
        } else if value < low {
            '▾'
        } else {
            '▴'
        };
        let cell = &mut canvas[row(value)][column(number)];
        // A dot must not hide the line.
        if *cell == ' ' || !visible {
            *cell = mark;
        }
    }
    for &(number, value) in &trace.best {
        canvas[row(value)][column(number)] = '●';
    }
    let failed: Vec<usize> =
        trials.iter().filter(|t| t.state == TrialState::Failed).map(|t| column(t.number)).collect();

    let label = |row: usize| match row {
        0 => significant(high, 5),
        row if row == HEIGHT - 1 => significant(low, 5),
        row if row == HEIGHT / 2 => significant(high + (low - high) * row as f64 / (HEIGHT - 1) as f64, 5),
        _ => String::new(),
    };
    let mut lines: Vec<String> = (0..HEIGHT)
        .map(|row| format!("{:>LABEL$} ┤{}", label(row), String::from_iter(canvas[row]).trim_end()))
        .collect();
    let axis: String = (0..WIDTH).map(|column| if failed.contains(&column) { '×' } else { '─' }).collect();
    lines.push(format!("{:>LABEL$} └{axis}", ""));
    lines.push(format!("{:>LABEL$}  0{:>rest$}", "trial", last, rest = WIDTH - 1));
    lines.push(format!("{:>LABEL$}  ● new best   · trial   ── best so far   × failed", ""));
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist::space::Assignment;
    use optimist_study::{Measurement, Source};

    fn trials(values: &[Option<f64>]) -> Vec<Trial> {
        let trial = |(number, value): (usize, &Option<f64>)| Trial {
            number,
            params: Assignment::default(),
            source: Source::Enqueued,
            why: None,
            state: if value.is_some() { TrialState::Complete } else { TrialState::Failed },
            attempts: 1,
            measurements: value.map(Measurement::new).into_iter().collect(),
            failure: None,
            seconds: None,
            worker: None,
            asked_at: 0,
            ended_at: None,
            amendments: Vec::new(),
        };
        values.iter().enumerate().map(trial).collect()
    }

    #[test]
    fn every_picture_fits_eighty_columns() {
        for n in [1, 2, 64, 1000] {
            let values: Vec<Option<f64>> = (0..n).map(|i| Some(-1.23456e-200 * f64::from(i))).collect();
            for line in text(&trials(&values), Direction::Minimize).unwrap().lines() {
                assert!(line.chars().count() <= 80, "{n} trials: {line}");
            }
        }
    }

    #[test]
    fn the_best_line_rises_when_maximizing_and_falls_when_minimizing() {
        let values = trials(&[Some(1.0), Some(0.0), Some(2.0), None, Some(3.0)]);
        let picture = text(&values, Direction::Maximize).unwrap();
        assert_eq!(picture.matches('●').count(), 3 + 1, "three bests and the legend:\n{picture}");
        assert!(picture.lines().next().unwrap().ends_with('●'), "{picture}");
        assert_eq!(picture.matches('×').count(), 1 + 1, "{picture}");
        let picture = text(&values, Direction::Minimize).unwrap();
        assert_eq!(picture.matches('●').count(), 2 + 1, "{picture}");
    }

    #[test]
    fn an_outlier_does_not_flatten_the_rest() {
        let mut values: Vec<Option<f64>> = (0..20).map(|i| Some(f64::from(i))).collect();
        values[3] = Some(-1e9);
        let picture = text(&trials(&values), Direction::Maximize).unwrap();
        assert!(picture.contains('▾') && picture.matches('●').count() > 8, "{picture}");
    }

    #[test]
    fn there_is_nothing_to_draw_without_a_value() {
        assert_eq!(text(&trials(&[None, None]), Direction::Maximize), None);
    }
}
