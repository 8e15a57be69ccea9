//! Reports: their numbers, on records made by hand, and their files.

use std::process::Command;

use optimist_bench::answer::Answer;
use optimist_bench::report::{Answers, Estimate, Measure, RankRow, Report, ReportError, Standing};
use optimist_bench::results::RunRecord;
use optimist_bench::task;

/// A record of a task of which every round has the same regret, but for one that is better.
fn record(task: &str, optimizer: &str, rep: usize, regret: f64, best: f64) -> RunRecord {
    let task = task::find(task).unwrap();
    let optimum = task.optimum().unwrap();
    let mut values = vec![optimum - regret; task.n + task.horizon];
    values[2] = optimum - best;
    RunRecord {
        task: task.name.into(),
        optimizer: optimizer.into(),
        rep,
        n: task.n,
        horizon: task.horizon,
        values,
        ask_ms: (0..task.horizon).map(|round| (round + 100 * rep) as f64).collect(),
        ..RunRecord::default()
    }
}

/// f1 has 30 rounds: cumulative regrets 29 r + b of 30, 59 and 88 for `good`, 291 for `poor`.
fn records() -> Vec<RunRecord> {
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
    let cumulative = good.cumulative.last();
    assert!(close(cumulative, 59.0, Some(1.96 * 29.0 / 3f64.sqrt())), "{cumulative:?}");
    assert!(close(poor.cumulative.last(), 291.0, None));
    assert!(close(good.simple.last(), 1.0, Some(0.0)));
    // Rounds 1 to 3 of `poor`: 10, 10, 1.
    let at = |measure, round: usize| poor.regret(measure).curve[round - 1];
    assert!(close(at(Measure::Cumulative, 1), 10.0, None) && close(at(Measure::Cumulative, 3), 21.0, None));
    assert!(close(at(Measure::Simple, 2), 10.0, None) && close(at(Measure::Simple, 4), 1.0, None));
    assert_eq!((poor.cumulative.curve.len(), poor.simple.curve.len()), (30, 30));
    // 0..25, 100..125 and 200..225: the middle one is 112, and 95 % are below 220.3.
    let ask = good.ask.unwrap();
    assert!(ask.median == 112.0 && ask.high == 220.3, "{ask:?}");
}

#[test]
fn regret_of_the_order_of_rounding_is_none() {
    let nearly = [record("f1", "a", 0, 10.0, 1e-9), record("f1", "b", 0, 10.0, 0.0)];
    let report = Report::new(&nearly).unwrap();
    assert!(report.tasks[0].rows.iter().all(|row| row.simple.last().mean == 0.0));
}

fn ranks(rows: &[RankRow]) -> Vec<(&str, f64, f64)> {
    rows.iter().map(|row| (row.optimizer.as_str(), row.cumulative, row.simple)).collect()
}

#[test]
fn ranks_are_over_the_tasks_that_all_ranked_have_played_and_equals_share_theirs() {
    // `twin` is `good` on f1 and f2, where `poor` has more regret but the same best round on f1.
    let mut records = vec![record("f3", "good", 0, 5.0, 0.0), record("f3", "poor", 0, 6.0, 0.0)];
    for (task, regret) in [("f1", 1.0), ("f2", 3.0)] {
        records.extend(["good", "twin"].map(|name| record(task, name, 0, regret, 0.5)));
    }
    records.extend([record("f1", "poor", 0, 9.0, 0.5), record("f2", "poor", 0, 9.0, 0.75)]);
    let report = Report::new(&records).unwrap();
    let [all, shared] = &report.rankings[..] else { panic!("two sets of tasks were played") };
    assert_eq!(all.tasks, ["f1", "f2", "f3"]);
    assert_eq!(ranks(&all.rows), [("good", 1.0, 4.0 / 3.0), ("poor", 2.0, 5.0 / 3.0)]);
    assert_eq!(shared.tasks, ["f1", "f2"]);
    assert_eq!(ranks(&shared.rows), [("good", 1.5, 1.75), ("twin", 1.5, 1.75), ("poor", 3.0, 2.5)]);
}

#[test]
fn ranks_are_of_the_repetitions_that_all_ranked_have_played() {
    // `slow` played the easy repetition only, where it has more regret than `quick`.
    let records = [
        record("f1", "quick", 0, 1.0, 1.0),
        record("f1", "quick", 1, 9.0, 1.0),
        record("f1", "slow", 0, 2.0, 1.0),
    ];
    let report = Report::new(&records).unwrap();
    assert_eq!(ranks(&report.rankings[0].rows), [("quick", 1.0, 1.5), ("slow", 2.0, 1.5)]);
}

#[test]
fn one_optimizer_alone_is_neither_ranked_nor_marked_best() {
    let report = Report::new(&[record("f1", "go-ucb", 0, 1.0, 1.0)]).unwrap();
    assert!(report.rankings.is_empty() && report.comparisons.is_empty());
    assert_eq!(report.tasks[0].standing(&report.tasks[0].rows[0], Measure::Simple), Standing::Alone);
    assert!(report.to_markdown().contains("| go-ucb | 30.00 |"), "{}", report.to_markdown());
}

#[test]
fn go_ucb_is_compared_run_by_run_with_what_others_have_played() {
    let regrets = [1.0, 2.0, 3.0, 4.0, 5.0];
    let mut records = Vec::new();
    for (rep, regret) in regrets.into_iter().enumerate() {
        records.push(record("f1", "go-ucb", rep, regret, 1.0));
        records.push(record("f1", "worse", rep, 1.5 * regret, 1.0));
        // Lost in the first three repetitions by a little, won in two by more: ahead on the mean.
        records.push(record(
            "f1",
            "mixed",
            rep,
            if rep < 3 { regret - 0.5 } else { regret + 1.0 + 0.1 * rep as f64 },
            2.0,
        ));
    }
    records.push(record("f2", "go-ucb", 0, 1.0, 1.0));
    records.push(record("f3", "elsewhere", 0, 1.0, 1.0));
    let report = Report::new(&records).unwrap();
    let [mixed, worse] = &report.comparisons[..] else { panic!("`elsewhere` has no run in common") };
    assert_eq!((mixed.other.as_str(), worse.other.as_str(), worse.n_tasks), ("mixed", "worse", 1));
    let cumulative = |wins, losses| (wins, 0, losses);
    let runs = |of: &optimist_bench::report::Paired| (of.wins, of.ties, of.losses);
    assert_eq!((runs(&worse.cumulative), worse.cumulative.tasks_ahead), (cumulative(5, 0), 1));
    assert_eq!(worse.cumulative.p, Some(0.0625), "five wins of five");
    assert_eq!((runs(&worse.simple), worse.simple.p), ((0, 5, 0), None));
    assert_eq!((runs(&mixed.cumulative), mixed.cumulative.tasks_ahead), (cumulative(2, 3), 1));
}

#[test]
fn tasks_weigh_alike_whatever_their_scale() {
    // Six wins of 50 % on a task of small regrets, six losses of 1 % on one of large.
    let records: Vec<RunRecord> = (0..6)
        .flat_map(|rep| {
            let spread = 1.0 + 0.001 * rep as f64;
            [
                record("f1", "go-ucb", rep, 0.5 * spread, 0.1),
                record("f1", "other", rep, spread, 0.1),
                record("f2", "go-ucb", rep, 1010.0 * spread, 0.1),
                record("f2", "other", rep, 1000.0 * spread, 0.1),
            ]
        })
        .collect();
    let report = Report::new(&records).unwrap();
    let paired = &report.comparisons[0].cumulative;
    assert_eq!((paired.wins, paired.losses), (6, 6));
    // The six wins have the highest ranks, 7 to 12 of 12, whose sum is 57 of 78.
    assert!((paired.p.unwrap() - 0.176).abs() < 0.001, "{:?}", paired.p);
}

#[test]
fn an_optimizer_is_near_the_best_unless_pairs_tell_them_apart() {
    let mut records = Vec::new();
    for rep in 0..5 {
        let luck = [0.0, 3.0, 1.0, 4.0, 2.0][rep];
        records.push(record("f1", "best", rep, 1.0 + luck, 1.0));
        // Always half a point more: far less than the spread, but never by luck.
        records.push(record("f1", "behind", rep, 1.5 + luck + 0.01 * rep as f64, 1.0));
        // More on the mean, but not always.
        records.push(record("f1", "near", rep, 1.6 + 0.8 * (4.0 - luck), 1.0));
    }
    let report = Report::new(&records).unwrap();
    let part = &report.tasks[0];
    let standing = |name| part.standing(part.row(name).unwrap(), Measure::Cumulative);
    assert_eq!(standing("best"), Standing::Best);
    assert_eq!(standing("behind"), Standing::Behind);
    assert_eq!(standing("near"), Standing::Near);
    assert_eq!(
        part.standing(part.row("near").unwrap(), Measure::Simple),
        Standing::Best,
        "all have the same"
    );
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
            "        poor           1             ~ 291.0           * 1.000     12.00",
            " f2     good           1             * 355.2           * 0.250     31.50",
            "        poor           1             ~ 355.5           ~ 0.500     31.50",
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
         median_ask_ms,ask_ms_95\nf1,\"a,b\",1,29.125,,0.125,,12,22.8\n"
    );
}

/// A record of a task whose optimum is not known, with accuracies of 0.5 but for the best.
fn real(task: &str, optimizer: &str, rep: usize, best: f64) -> RunRecord {
    let mut values = vec![0.5; 72];
    values[10] = best;
    let ask_ms = vec![1.0; 64];
    RunRecord {
        task: task.into(),
        optimizer: optimizer.into(),
        rep,
        n: 8,
        horizon: 64,
        values,
        ask_ms,
        ..RunRecord::default()
    }
}

#[test]
fn where_the_optimum_is_not_known_it_is_the_best_that_was_seen_on_the_fold() {
    let records =
        [real("rf-breast", "a", 0, 0.9), real("rf-breast", "b", 0, 0.8), real("rf-breast", "b", 1, 0.7)];
    let report = Report::new(&records).unwrap();
    let simple = |name| report.tasks[0].row(name).unwrap().simple.by_run.clone();
    assert_eq!(simple("a").into_values().collect::<Vec<_>>(), [0.0]);
    let b: Vec<f64> = simple("b").into_values().collect();
    assert!((b[0] - 0.1).abs() < 1e-12 && b[1] == 0.0, "{b:?}");
}

#[test]
fn figures_are_arranged_as_in_the_paper_then_typed_tasks_then_others() {
    let records =
        ["ackley", "gb-breast-typed", "mlp-diabetes", "gb-breast", "rf-breast", "f2", "levy"].map(|task| {
            match task::find(task).unwrap().optimum() {
                Some(_) => record(task, "go-ucb", 0, 1.0, 0.5),
                None => real(task, "go-ucb", 0, 0.9),
            }
        });
    let page = Report::new(&records).unwrap().to_markdown();
    let tables: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| cumulative regret | ")).collect();
    assert_eq!(
        tables,
        ["f2 |", "rf-breast | gb-breast |", "mlp-diabetes |", "gb-breast-typed |", "ackley | levy |"]
    );
}

#[test]
fn a_panel_has_eight_lines_unless_more_are_asked_for_and_tables_have_all() {
    let names = ["random", "a", "b", "c", "d", "e", "f", "g", "h", "i", "go-ucb"];
    let regret = |i: usize| if i == 0 { 99.0 } else { i as f64 };
    let records = || names.iter().enumerate().map(|(i, name)| record("f1", name, 0, regret(i), 0.5));
    let records: Vec<RunRecord> = records().collect();
    // With GO-UCB and random search, which are the worst here, those with the least regret.
    let html = Report::new(&records).unwrap().to_html();
    let legend = html.split("class=\"legend\"").nth(1).unwrap().split("</figure>").next().unwrap();
    let shown = |name: &str| legend.contains(&format!("</svg>{name}</span>"));
    assert_eq!(names.map(shown), [true, true, true, true, true, true, true, false, false, false, true]);
    assert!(html.contains("the best 8 of 11 optimizers") && html.contains("<th>i</th>"));
    let all = Report::new(&records).unwrap().with_lines(20).to_html();
    assert!(all.contains("</svg>i</span>") && !all.contains("the best 8 of"));
}

#[test]
fn the_page_opens_with_who_is_first() {
    let records: Vec<RunRecord> = ["f1", "f2"]
        .iter()
        .flat_map(|task| {
            [("a", 1.0), ("go-ucb", 2.0), ("b", 3.0)].map(|(name, regret)| (*task, name, regret))
        })
        .map(|(task, name, regret)| record(task, name, 0, regret, regret))
        .collect();
    let page = Report::new(&records).unwrap().to_markdown();
    let first = page.lines().skip_while(|line| !line.starts_with("# ")).nth(2).unwrap();
    let expected = "By cumulative regret `a` (1.00) has the best mean rank. `go-ucb` is 2nd of 3 (2.00) and has the least \
                    mean regret on 0 of 2 tasks.";
    assert!(first.starts_with(expected), "{first}");
}

/// As many kinds of optimizers and tasks as a report may have to show.
fn varied_records() -> Vec<RunRecord> {
    let mut records = Vec::new();
    for (task, scale) in [("f1", 1.0), ("f2", 1000.0), ("f3", 100.0), ("ackley", 10.0)] {
        for rep in 0..5 {
            let spread = 1.0 + 0.1 * rep as f64;
            for (optimizer, regret) in [("go-ucb", 1.0), ("tpe", 2.0), ("random", 4.0)] {
                records.push(record(task, optimizer, rep, scale * regret * spread, 0.1 * scale));
            }
            if rep < 3 && task != "ackley" {
                records.push(record(task, "botorch:gp-ei", rep, 1.01 * scale * spread.powi(2), 0.2 * scale));
            }
        }
    }
    records
}

/// The file beside this test is what people see. If it is meant to change: read it, then copy the new one there.
#[test]
fn the_page_in_markdown_is_the_one_that_was_read_and_liked() {
    let notes = vec!["`hebo` was left out: it is not installed.".to_owned()];
    let page = Report::new(&varied_records()).unwrap().with_notes(notes).to_markdown();
    if page != include_str!("fixtures/report.md") {
        let new = std::env::temp_dir().join("optimist-report.md");
        std::fs::write(&new, page).unwrap();
        panic!("the page has changed: compare tests/fixtures/report.md with {}", new.display());
    }
}

#[test]
fn the_page_in_html_is_well_formed_and_needs_nothing_else() {
    let odd = record("f1", "a<b & \"c\"", 0, 1.0, 1.0);
    let records: Vec<RunRecord> = varied_records().into_iter().chain([odd]).collect();
    let folder = tempfile::tempdir().unwrap();
    Report::new(&records).unwrap().write(folder.path()).unwrap();
    let page = folder.path().join("index.html");

    let check = "import sys, xml.dom.minidom as xml; xml.parse(sys.argv[1])";
    let output = Command::new("python3").args(["-c", check]).arg(&page).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let html = std::fs::read_to_string(&page).unwrap();
    let names_of_languages = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"];
    let html = names_of_languages.iter().fold(html, |html, name| html.replace(name, ""));
    for outside in ["http", "//", "src=", "@import", "<link", "<script", "<iframe"] {
        assert!(!html.contains(outside), "{outside} in the page");
    }
    assert_eq!(html.matches("url(").count(), html.matches("url(#").count(), "only to parts of itself");
    for link in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let anchor = link.strip_prefix('#').unwrap();
        assert!(html.contains(&format!(" id=\"{anchor}\"")), "nothing is called {anchor}");
    }
    // Four tasks by two kinds of regret, and a line in each legend.
    assert_eq!(html.matches("<svg viewBox").count(), 8);
    assert!(html.contains("stroke-dasharray") && html.contains("prefers-color-scheme: dark"));
}

#[test]
fn the_folder_holds_the_pages_the_table_and_a_figure_for_three_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new/report");
    Report::new(&varied_records()).unwrap().write(&folder).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let page = read("report.md");
    assert!(!read("results.csv").is_empty());
    for (name, tasks) in [("synthetic", "f1 f2 f3"), ("others-1", "ackley")] {
        for regret in ["cumulative", "simple"] {
            assert!(page.contains(&format!("](figures/{name}-{regret}.svg)")), "{page}");
            let svg = read(&format!("figures/{name}-{regret}.svg"));
            let label = format!("{regret} regret");
            let texts = tasks.split(' ').chain(["round (Phase I shaded)", "go-ucb", &label]);
            for text in texts {
                assert!(svg.contains(text), "{text} is not in {name}-{regret}.svg");
            }
        }
    }
    assert!(read("figures/synthetic-simple.svg").contains("botorch:gp-ei"));
    assert_eq!(std::fs::read_dir(folder.join("figures")).unwrap().count(), 4);
}

#[test]
fn a_report_that_mixes_engines_says_so_at_its_top() {
    let of = |rep, engine| RunRecord { engine, ..record("f1", "go-ucb", rep, 1.0, 1.0) };
    let note = "This report mixes engines: engine 10: `go-ucb` (1 record); engine 11: `go-ucb` (2 records).";
    let mixed = Report::new(&[of(0, Some(11)), of(1, Some(10)), of(2, Some(11))]).unwrap();
    assert!(mixed.to_text().starts_with(note) && mixed.summary().starts_with(note), "{}", mixed.summary());
    let page = mixed.to_markdown();
    assert!(page.find(note).unwrap() < page.find("\n## ").unwrap(), "{page}");
    let html = mixed.to_html();
    let above = &html[..html.find("<h2").unwrap()];
    assert!(above.contains("mixes engines: engine 10: <code>go-ucb</code> (1 record); engine 11: "));
    let one_engine = [of(0, Some(11)), of(1, Some(11)), record("f1", "pycma", 0, 1.0, 1.0)];
    assert!(!Report::new(&one_engine).unwrap().to_markdown().contains("mixes engines"));
}

#[test]
fn records_that_cannot_be_reported_on_are_named_by_line() {
    let good = record("f1", "good", 0, 1.0, 1.0);
    let error = |records: &[RunRecord]| Report::new(records).err().unwrap();
    assert_eq!(error(&[]), ReportError::Empty);
    let unknown = RunRecord { task: "f4".into(), ..good.clone() };
    assert!(error(&[good.clone(), unknown]).to_string().starts_with("line 2: there is no task `f4`"));
    assert_eq!(
        error(&[good.clone(), good.clone()]).to_string(),
        "lines 1 and 2 are the same run (good on f1, repetition 0, seed 0); delete one of them"
    );
    let short = RunRecord { rep: 1, horizon: 2, values: vec![1.0; 7], ..good.clone() };
    assert_eq!(
        error(&[good, short]).to_string(),
        "line 2: a run of `f1` has n = 5, T = 2, but that of line 1 has n = 5, T = 25; put them into files of their own"
    );
}

/// A record of Branin with the same value at every recommended and best observed point, and intervals of ±2.
fn answered(optimizer: &str, rep: usize, regret: f64, observed_regret: f64) -> RunRecord {
    let task = task::find("branin").unwrap();
    let optimum = task.optimum().unwrap();
    let answer = |trials| Answer {
        trials,
        value: optimum - regret,
        best_observed: optimum - observed_regret,
        mean: Some(optimum),
        std: Some(1.0),
    };
    RunRecord {
        task: task.name.into(),
        optimizer: optimizer.into(),
        rep,
        horizon: 8,
        values: vec![optimum - observed_regret; 8],
        ask_ms: vec![1.0; 8],
        answers: [2, 4, 8].map(answer).into(),
        ..RunRecord::default()
    }
}

#[test]
fn answers_are_scored_between_random_search_and_the_optimum() {
    let records = [
        answered("perfect", 0, 0.0, 0.0),
        answered("perfect", 1, 0.0, 1.0),
        answered("hopeless", 0, 1e6, 0.0),
        answered("hopeless", 1, 1e6, 0.0),
    ];
    let answers = Answers::new(&records);
    let [perfect, hopeless] = &answers.rows[..] else { panic!("one row for each optimizer") };
    assert_eq!((perfect.optimizer.as_str(), perfect.tasks, perfect.rank), ("perfect", 1, 1.0));
    assert_eq!((perfect.scores, perfect.spread), ([100.0; 3], Some(0.0)));
    assert_eq!((perfect.covered, perfect.worse, perfect.gain), (Some(1.0), Some(0.0), None));
    assert_eq!((hopeless.scores, hopeless.rank, hopeless.visited), ([-100.0; 3], 2.0, 100.0));
    assert_eq!((hopeless.covered, hopeless.worse, hopeless.gain), (Some(0.0), Some(1.0), None));

    let markdown = Report::new(&records).unwrap().to_markdown();
    assert!(markdown.contains("## Answers"), "{markdown}");
    let row = "| small | perfect | 1 | 1.00 | 100.0 | 100.0 | **100.0** | 0.0 |";
    assert!(markdown.contains(row), "{markdown}");
}

#[test]
fn where_there_is_noise_recommended_points_are_compared_with_the_best_observed() {
    let noisy = |rep, regret, observed_regret| RunRecord {
        task: "branin-noise10".into(),
        ..answered("lucky", rep, regret, observed_regret)
    };
    let gain = |records: &[RunRecord]| {
        let answers = Answers::new(records);
        assert_eq!(answers.rows[0].worse, None);
        answers.rows[0].gain.unwrap()
    };
    let ahead = gain(&[noisy(0, 0.0, 0.1)]);
    assert!(ahead > 0.0);
    assert_eq!(gain(&[noisy(0, 0.1, 0.0)]), -ahead);
    assert_eq!(gain(&[noisy(0, 0.0, 0.1), noisy(1, 0.0, 0.0)]), ahead / 2.0);
}

/// About half of random search's runs are above its median, whatever the noise and however many trials fail.
#[test]
fn random_search_is_as_often_above_zero_as_below() {
    use optimist_bench::run::{Experiment, Grid, run};
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for name in ["branin-heavy", "hartmann3-noise20", "branin-fails40", "hartmann3-region70"] {
        let grid =
            Grid { tasks: vec![task::find(name).unwrap()], optimizers: vec!["random".into()], reps: 60 };
        let experiment = Experiment { grids: vec![grid], horizon: Some(12), seed: 0, jobs: 2 };
        let build = optimist_bench::optimizers::build;
        run(&experiment, &out, &build, &optimist_bench::trainer::nobody, &|_| {}).unwrap();
        let records = optimist_bench::results::read(&out).unwrap();
        let is_above = |record: &&RunRecord| Answers::new(&[(*record).clone()]).rows[0].scores[2] > 0.0;
        let above = records.iter().filter(|record| record.task == name).filter(is_above).count();
        assert!((18..=42).contains(&above), "{name}: {above} of 60");
    }
}

#[test]
fn records_without_answers_have_no_scores() {
    assert!(Answers::new(&records()).is_empty());
    assert!(!Report::new(&records()).unwrap().to_markdown().contains("## Answers"));
}
