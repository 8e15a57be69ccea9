//! Reports: their numbers, on records made by hand, and their files.

use optimist_bench::report::{Estimate, Report, ReportError};
use optimist_bench::results::Record;
use optimist_bench::task;

/// A record of a task of which every round has the same regret, but for one that is better.
fn record(task: &str, optimizer: &str, rep: usize, regret: f64, best: f64) -> Record {
    let task = task::find(task).unwrap();
    let optimum = task.optimum().unwrap();
    let mut values = vec![optimum - regret; task.n + task.horizon];
    values[2] = optimum - best;
    Record {
        task: task.name.into(),
        optimizer: optimizer.into(),
        rep,
        n: task.n,
        horizon: task.horizon,
        values,
        ask_ms: (0..task.horizon).map(|round| (round + 100 * rep) as f64).collect(),
        seed: 0,
    }
}

/// f1 has 30 rounds: cumulative regrets 29 r + b of 30, 59 and 88 for `good`, 291 for `poor`.
fn records() -> Vec<Record> {
    vec![
        record("f1", "good", 0, 1.0, 1.0),
        record("f1", "poor", 0, 10.0, 1.0),
        record("f1", "good", 1, 2.0, 1.0),
        record("f1", "good", 2, 3.0, 1.0),
        record("f2", "poor", 0, 5.0, 0.5),
        record("f2", "good", 0, 5.0, 0.25),
        record("f3", "good", 0, 5.0, 0.0),
    ]
}

fn close(estimate: Estimate, mean: f64, half_width: Option<f64>) -> bool {
    (estimate.mean - mean).abs() < 1e-9
        && match (estimate.half_width, half_width) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            (a, b) => a == b,
        }
}

#[test]
fn the_numbers_are_those_of_the_records() {
    let report = Report::new(&records()).unwrap();
    assert_eq!(report.tasks.iter().map(|part| part.task.name).collect::<Vec<_>>(), ["f1", "f2", "f3"]);
    let [good, poor] = &report.tasks[0].rows[..] else { panic!("f1 has two rows") };
    assert_eq!(
        (good.optimizer.as_str(), good.reps, poor.optimizer.as_str(), poor.reps),
        ("good", 3, "poor", 1)
    );
    // Sample sd of 30, 59, 88 is 29.
    assert!(close(good.cumulative, 59.0, Some(1.96 * 29.0 / 3f64.sqrt())), "{:?}", good.cumulative);
    assert!(close(poor.cumulative, 291.0, None));
    assert!(close(good.simple, 1.0, Some(0.0)));
    // Rounds 1 to 3 of `poor`: 10, 10, 1.
    assert!(close(poor.curve[0], 10.0, None) && close(poor.curve[2], 21.0, None));
    assert_eq!(poor.curve.len(), 30);
    // 0..25, 100..125 and 200..225: the middle one is 112.
    assert_eq!(good.median_ask_ms, Some(112.0));
}

#[test]
fn ranks_are_over_the_tasks_that_all_played_and_equals_share_theirs() {
    let mut records = records();
    // A third optimizer that ties with `good` on f1 and f2, in cumulative regret.
    records.extend([record("f1", "twin", 0, 2.0, 1.0), record("f2", "twin", 0, 5.0, 0.25)]);
    let report = Report::new(&records).unwrap();
    assert_eq!(report.n_ranked, 2);
    assert_eq!(report.ranks, [("good".into(), 1.5), ("twin".into(), 1.5), ("poor".into(), 3.0)]);
}

#[test]
fn one_optimizer_alone_is_neither_ranked_nor_marked_best() {
    let report = Report::new(&[record("f1", "good", 0, 1.0, 1.0)]).unwrap();
    assert!(report.ranks.is_empty());
    assert!(report.to_markdown().contains("| f1 | good | 1 | 30.00 | 1.000 | 12.00 |"));
}

#[test]
fn the_text_table_is_aligned_and_marks_the_best() {
    let report = Report::new(&records()).unwrap();
    let text = report.to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1].trim(), "task   optimizer   reps   cumulative regret     simple regret   ask, ms");
    assert_eq!(
        lines[3..8].iter().map(|line| line.trim_end()).collect::<Vec<_>>(),
        [
            " f1     good           3     * 59.00 ± 32.82   * 1.000 ± 0.000     112.0",
            "        poor           1               291.0           * 1.000     12.00",
            " f2     good           1             * 355.2           * 0.250     31.50",
            "        poor           1               355.5             0.500     31.50",
            " f3     good           1               355.0             0.000     31.50",
        ]
    );
    assert!(text.contains("mean rank over 2 tasks"), "{text}");
}

#[test]
fn the_table_for_other_programs_is_at_full_precision() {
    let report = Report::new(&[record("f1", "a,b", 0, 1.0, 0.125)]).unwrap();
    assert_eq!(
        report.to_csv(),
        "task,optimizer,reps,cumulative_regret,cumulative_half_width,simple_regret,simple_half_width,\
         median_ask_ms\nf1,\"a,b\",1,29.125,,0.125,,12\n"
    );
}

#[test]
fn the_folder_holds_the_page_the_table_and_two_figures_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new/report");
    Report::new(&records()).unwrap().write(&folder).unwrap();
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let page = String::from_utf8(read("report.md")).unwrap();
    assert!(page.contains("| f1 | good | 3 | **59.00 ± 32.82** | **1.000 ± 0.000** | 112.0 |"), "{page}");
    assert!(page.contains("![Cumulative regret on f2](f2.svg)"));
    assert!(!read("results.csv").is_empty());
    for task in ["f1", "f2", "f3"] {
        let svg = String::from_utf8(read(&format!("{task}.svg"))).unwrap();
        for text in [&format!("{task}: cumulative regret"), "round (Phase I shaded)", "good"] {
            assert!(svg.contains(text), "{text} is not in {task}.svg");
        }
        assert!(read(&format!("{task}.png")).starts_with(b"\x89PNG"));
    }
}

#[test]
fn records_that_cannot_be_reported_on_are_named_by_line() {
    let good = record("f1", "good", 0, 1.0, 1.0);
    let error = |records: &[Record]| Report::new(records).err().unwrap();
    assert_eq!(error(&[]), ReportError::Empty);
    let unknown = Record { task: "f4".into(), ..good.clone() };
    assert!(error(&[good.clone(), unknown]).to_string().starts_with("line 2: there is no task `f4`"));
    assert_eq!(
        error(&[good.clone(), good.clone()]).to_string(),
        "lines 1 and 2 are the same run (good on f1, repetition 0, seed 0); delete one of them"
    );
    let short = Record { rep: 1, values: vec![1.0; 3], ..good.clone() };
    assert_eq!(
        error(&[good, short]).to_string(),
        "line 2: task `f1` has 3 rounds here, but 30 now; run it again"
    );
}
