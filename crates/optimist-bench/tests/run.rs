//! Regret runs: fair, reproducible, and not lost when something goes wrong.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use optimist::encode::Domain;
use optimist::{Observation, Recommendation, Rng, TellError};
use optimist_bench::contestant::{Contestant, ContestantError};
use optimist_bench::optimizers::{self, OptimizerError};
use optimist_bench::peer::PeerError;
use optimist_bench::results::{self, RunRecord};
use optimist_bench::run::{Experiment, Grid, Progress, RunError, run};
use optimist_bench::{engines, task, trainer};

/// Runs `optimizers` on f1 and the conditional task, twice each, without listening.
fn run_quietly(optimizers: &[&str], seed: u64, out: &Path) -> Vec<RunRecord> {
    run(&experiment(optimizers, seed), out, &stubborn_build, &trainer::nobody, &|_| {}).unwrap();
    sorted(results::read(out).unwrap())
}

fn experiment(optimizers: &[&str], seed: u64) -> Experiment {
    Experiment { grids: vec![grid(&["f1", "decision-tree"], optimizers, 2)], horizon: None, seed, jobs: 2 }
}

fn grid(tasks: &[&str], optimizers: &[&str], reps: usize) -> Grid {
    let optimizers = optimizers.iter().map(|name| (*name).to_owned()).collect();
    Grid { tasks: task::select(tasks).unwrap(), optimizers, reps }
}

/// `random`, and `other`: the same search under another name.
fn stubborn_build(name: &str, domain: &Domain, horizon: usize, seed: u64) -> Built {
    optimizers::build(if name == "other" { "random" } else { name }, domain, horizon, seed)
}

type Built = Result<Box<dyn Contestant>, OptimizerError>;

/// In the order of their keys, without the times, which differ from run to run.
fn sorted(mut records: Vec<RunRecord>) -> Vec<RunRecord> {
    records.sort_by(|a, b| a.key().cmp(&b.key()));
    for record in &mut records {
        assert_eq!(record.ask_ms.len(), record.horizon);
        record.ask_ms.clear();
    }
    records
}

#[test]
fn the_same_seed_gives_the_same_records_and_another_seed_others() {
    let folder = tempfile::tempdir().unwrap();
    let records = |file: &str, seed| run_quietly(&["random"], seed, &folder.path().join(file));
    let first = records("first", 5);
    assert_eq!(first.len(), 4);
    assert_eq!(first, records("second", 5));
    assert_ne!(first[0].values, records("third", 6)[0].values);
}

#[test]
fn what_else_is_run_makes_no_difference_to_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let alone = run_quietly(&["random"], 0, &folder.path().join("alone"));
    let together = run_quietly(&["other", "random"], 0, &folder.path().join("together"));
    let same: Vec<RunRecord> = together.into_iter().filter(|record| record.optimizer == "random").collect();
    assert_eq!(alone, same);
}

/// Random search that says in how many threads it was asked.
struct Counting {
    random: Box<dyn Contestant>,
    n_threads: Arc<Mutex<Vec<usize>>>,
}

impl Contestant for Counting {
    fn ask(&mut self, rng: &mut Rng) -> Result<Vec<f64>, ContestantError> {
        self.n_threads.lock().unwrap().push(rayon::current_num_threads());
        self.random.ask(rng)
    }

    fn tell(&mut self, observation: Observation) -> Result<(), ContestantError> {
        self.random.tell(observation)
    }

    fn recommend(&self) -> Option<Recommendation> {
        self.random.recommend()
    }
}

#[test]
fn asks_of_jobs_side_by_side_have_one_thread_each_and_one_job_has_all() {
    let folder = tempfile::tempdir().unwrap();
    let n_threads = |jobs: usize| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let build = |name: &str, domain: &Domain, trials: usize, seed: u64| -> Built {
            let random = optimizers::build(name, domain, trials, seed)?;
            Ok(Box::new(Counting { random, n_threads: seen.clone() }))
        };
        let experiment = Experiment { jobs, ..experiment(&["random"], 0) };
        run(&experiment, &folder.path().join(jobs.to_string()), &build, &trainer::nobody, &|_| {}).unwrap();
        let mut seen = seen.lock().unwrap().clone();
        seen.dedup();
        seen
    };
    assert_eq!(n_threads(3), [1]);
    assert_eq!(n_threads(1), [rayon::current_num_threads()]);
}

/// Random search that counts the trials that are under way when it is asked.
struct Open {
    random: Box<dyn Contestant>,
    n_open: usize,
    seen: Arc<Mutex<Vec<usize>>>,
}

impl Contestant for Open {
    fn ask(&mut self, rng: &mut Rng) -> Result<Vec<f64>, ContestantError> {
        self.seen.lock().unwrap().push(self.n_open);
        self.n_open += 1;
        self.random.ask(rng)
    }

    fn tell(&mut self, observation: Observation) -> Result<(), ContestantError> {
        self.n_open -= 1;
        self.random.tell(observation)
    }

    fn recommend(&self) -> Option<Recommendation> {
        self.random.recommend()
    }
}

#[test]
fn as_many_trials_are_under_way_as_the_name_says_and_all_are_told_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let play = |name: &str| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let build = |name: &str, domain: &Domain, trials: usize, seed: u64| -> Built {
            let random = optimizers::build(name, domain, trials, seed)?;
            Ok(Box::new(Open { random, n_open: 0, seen: seen.clone() }))
        };
        let grids = vec![grid(&["branin-noise10"], &[name], 1)];
        let experiment = Experiment { grids, horizon: Some(6), seed: 0, jobs: 1 };
        let out = folder.path().join(name);
        assert!(run(&experiment, &out, &build, &trainer::nobody, &|_| {}).unwrap().is_empty());
        let record = results::read(&out).unwrap().remove(0);
        let answered: Vec<usize> = record.answers.iter().map(|answer| answer.trials).collect();
        assert_eq!(answered, [2, 3, 6]);
        (seen.lock().unwrap().clone(), record.values)
    };
    let (alone, values) = play("random");
    assert_eq!(alone, [0; 6]);
    let (seen, same) = play("random@3");
    assert_eq!(seen, [0, 1, 2, 2, 2, 2]);
    assert_eq!(values, same, "random search does not care");
}

#[test]
fn the_grids_of_an_experiment_have_their_own_repetitions_and_a_cell_of_two_is_played_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let experiment = Experiment {
        grids: vec![
            grid(&["f1"], &["random"], 3),
            grid(&["decision-tree", "f1"], &["other", "random", "other"], 1),
        ],
        horizon: None,
        seed: 0,
        jobs: 1,
    };
    run(&experiment, &out, &stubborn_build, &trainer::nobody, &|_| {}).unwrap();
    let played: Vec<(String, String, usize)> =
        results::read(&out).unwrap().into_iter().map(|r| (r.task, r.optimizer, r.rep)).collect();
    let expected = [
        ("f1", "random", 0),
        ("f1", "other", 0),
        ("decision-tree", "other", 0),
        ("decision-tree", "random", 0),
        ("f1", "random", 1),
        ("f1", "random", 2),
    ];
    assert_eq!(played, expected.map(|(task, optimizer, rep)| (task.into(), optimizer.into(), rep)));
}

#[test]
fn every_optimizer_is_told_the_same_first_points_and_noise() {
    let folder = tempfile::tempdir().unwrap();
    let heard: Arc<Mutex<BTreeMap<String, Vec<Vec<Observation>>>>> = Arc::default();
    let build = |name: &str, domain: &Domain, trials: usize, seed: u64| -> Built {
        Ok(Box::new(Listener {
            search: optimizers::build("random", domain, trials, seed)?,
            // A search of its own: one draw ahead of the other.
            skip: name == "b",
            name: name.to_owned(),
            heard: Vec::new(),
            all: Arc::clone(&heard),
        }))
    };
    let experiment =
        Experiment { grids: vec![grid(&["decision-tree"], &["a", "b"], 1)], horizon: None, seed: 0, jobs: 2 };
    let task = experiment.grids[0].tasks[0];
    run(&experiment, &folder.path().join("out"), &build, &trainer::nobody, &|_| {}).unwrap();
    let heard = heard.lock().unwrap();
    let (a, b) = (&heard["a"][0], &heard["b"][0]);
    let n = task.n;
    assert_eq!(a[..n], b[..n]);
    assert_ne!(a[n].x, b[n].x, "the listeners search differently");
    let formula = task.formula().unwrap();
    // What is told less the value is the noise, and it is the same where the points differ.
    let noise = |observation: &Observation| match observation.outcome {
        optimist::Outcome::Value { y, .. } => y - formula.value(&observation.x),
        optimist::Outcome::Failed => f64::NAN,
    };
    for (a, b) in a.iter().zip(b) {
        assert!((noise(a) - noise(b)).abs() < 1e-12);
    }
    assert!(noise(&a[0]) != noise(&a[1]));
}

#[test]
fn peers_are_left_out_of_tasks_with_constraints() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let experiment = Experiment {
        grids: vec![grid(&["f1", "g01"], &["random", "pycma"], 1)],
        horizon: None,
        seed: 0,
        jobs: 1,
    };
    let build = |_: &str, domain: &Domain, trials: usize, seed: u64| -> Built {
        optimizers::build("random", domain, trials, seed)
    };
    assert!(run(&experiment, &out, &build, &trainer::nobody, &|_| {}).unwrap().is_empty());
    let records = results::read(&out).unwrap();
    let played: Vec<(&str, &str)> =
        records.iter().map(|record| (record.task.as_str(), record.optimizer.as_str())).collect();
    assert_eq!(played.len(), 3);
    assert!(!played.contains(&("g01", "pycma")), "{played:?}");
    assert_eq!(Vec::from_iter(experiment.unfit()), [("g01", "pycma")]);
    let g01 = task::find("g01").unwrap();
    let error = optimizers::build("pycma", &g01.domain, 1, 0).err().unwrap();
    assert!(error.to_string().contains("peers don't support constraints"), "{error}");
}

struct Listener {
    search: Box<dyn Contestant>,
    skip: bool,
    name: String,
    heard: Vec<Observation>,
    all: Arc<Mutex<BTreeMap<String, Vec<Vec<Observation>>>>>,
}

impl Contestant for Listener {
    fn ask(&mut self, rng: &mut Rng) -> Result<Vec<f64>, ContestantError> {
        if self.skip {
            self.search.ask(rng)?;
        }
        self.search.ask(rng)
    }

    fn tell(&mut self, observation: Observation) -> Result<(), ContestantError> {
        self.heard.push(observation);
        Ok(())
    }

    fn recommend(&self) -> Option<Recommendation> {
        None
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let heard = std::mem::take(&mut self.heard);
        self.all.lock().unwrap().entry(self.name.clone()).or_default().push(heard);
    }
}

#[test]
fn a_run_that_was_killed_anywhere_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let expected = run_quietly(&["random", "other"], 0, &whole);
    let bytes = std::fs::read(&whole).unwrap();
    for length in [0, 1, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
        let killed = folder.path().join(format!("killed-{length}"));
        std::fs::write(&killed, &bytes[..length]).unwrap();
        assert_eq!(run_quietly(&["random", "other"], 0, &killed), expected, "killed after {length} bytes");
    }
}

#[test]
fn finished_cells_are_skipped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run_quietly(&["random"], 0, &out);
    let events = Mutex::new(Vec::new());
    let listen = |event: Progress| {
        events.lock().unwrap().push(match event {
            Progress::Started { cells, missing, .. } => format!("{} of {cells}", cells - missing.len()),
            Progress::Finished { record, .. } => record.optimizer.clone(),
            Progress::Failed(failure) => failure.to_string(),
        });
    };
    run(&experiment(&["random", "other", "random"], 0), &out, &stubborn_build, &trainer::nobody, &listen)
        .unwrap();
    assert_eq!(events.into_inner().unwrap(), ["4 of 8", "other", "other", "other", "other"]);
}

#[test]
fn an_optimizer_that_breaks_loses_its_own_cells_only() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let build = |name: &str, domain: &Domain, horizon: usize, seed: u64| -> Built {
        match name {
            "random" => optimizers::build(name, domain, horizon, seed),
            "missing" => Err(OptimizerError("it is not installed".into())),
            _ => Ok(Box::new(Broken { how: name.to_owned() })),
        }
    };
    let experiment = experiment(&["panics", "refuses", "strays", "reports", "missing", "random"], 0);
    let failures = run(&experiment, &out, &build, &trainer::nobody, &|_| {}).unwrap();
    assert_eq!(failures.len(), 20);
    let reason = |optimizer: &str| {
        let failure = failures.iter().find(|failure| failure.optimizer == optimizer && failure.task == "f1");
        failure.unwrap().reason.to_string()
    };
    assert_eq!(reason("panics"), "it panicked: no idea");
    assert_eq!(reason("reports"), "the peer reported `no memory`");
    assert_eq!(reason("missing"), "it is not installed");
    assert!(reason("refuses").starts_with("it refused the outcome of round 1: "), "{}", reason("refuses"));
    assert!(reason("strays").starts_with("its proposal in round 6 is not in the domain: [2.0"));
    let records = results::read(&out).unwrap();
    assert_eq!(records.len(), 4);
    assert!(records.iter().all(|record| record.optimizer == "random"));
}

struct Broken {
    how: String,
}

impl Contestant for Broken {
    fn ask(&mut self, _: &mut Rng) -> Result<Vec<f64>, ContestantError> {
        match self.how.as_str() {
            "strays" => Ok(vec![2.0; 20]),
            "reports" => Err(PeerError::Reported { message: "no memory".into() }.into()),
            _ => panic!("no idea"),
        }
    }

    fn tell(&mut self, _: Observation) -> Result<(), ContestantError> {
        if self.how == "refuses" { Err(TellError::NotFinite { y: 1.0 }.into()) } else { Ok(()) }
    }

    fn recommend(&self) -> Option<Recommendation> {
        None
    }
}

#[test]
fn records_say_which_engine_made_them_and_kept_ones_of_others_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run_quietly(&["random"], 0, &out);
    let text = std::fs::read_to_string(&out).unwrap();
    let engine = format!("\"engine\":{}", optimist::ENGINE_VERSION);
    assert_eq!(text.matches(&engine).count(), 4, "{text}");

    // As if an older program had played the first of them.
    std::fs::write(&out, text.replacen(&engine, "\"engine\":1", 1)).unwrap();
    let told = Mutex::new(Vec::new());
    let listen = |progress: Progress| {
        if let Progress::Started { kept, .. } = progress {
            told.lock().unwrap().push(engines::others(kept));
        }
    };
    for seed in [0, 1] {
        run(&experiment(&["random"], seed), &out, &stubborn_build, &trainer::nobody, &listen).unwrap();
    }
    let told = told.into_inner().unwrap();
    assert!(
        told[0].as_ref().is_some_and(|text| text.contains("(engine 1: `random` (1 record))")),
        "{told:?}"
    );
    assert_eq!(told[1], None, "another seed, another experiment");
    let engines: Vec<_> =
        results::read(&out).unwrap().iter().map(|record| record.engine == Some(1)).collect();
    assert_eq!(
        engines,
        [true, false, false, false, false, false, false, false],
        "what was there is left alone"
    );
}

#[test]
fn a_run_may_be_longer_than_its_task_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let longer = Experiment { horizon: Some(40), ..experiment(&["random"], 0) };
    run(&longer, &out, &stubborn_build, &trainer::nobody, &|_| {}).unwrap();
    let records = results::read(&out).unwrap();
    assert!(records.iter().all(|record| record.horizon == 40 && record.values.len() == record.n + 40));
    let error =
        run(&experiment(&["other"], 0), &out, &stubborn_build, &trainer::nobody, &|_| {}).unwrap_err();
    assert!(
        matches!(error, RunError::TaskChanged { horizon: 40, .. }),
        "not even beside another optimizer's"
    );
}

#[test]
fn results_of_a_task_that_has_changed_are_not_mixed_with_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let old = RunRecord {
        task: "f1".into(),
        optimizer: "random".into(),
        rep: 0,
        n: 1,
        horizon: 1,
        values: vec![0.0; 2],
        ask_ms: vec![0.0],
        ..RunRecord::default()
    };
    std::fs::write(&out, format!("{}\n", serde_json::to_string(&old).unwrap())).unwrap();
    let error =
        run(&experiment(&["random"], 0), &out, &stubborn_build, &trainer::nobody, &|_| {}).unwrap_err();
    assert!(matches!(error, RunError::TaskChanged { .. }));
    assert_eq!(
        error.to_string(),
        "the results hold task `f1` with n = 1, horizon = 1, which are now 5 and 25; write to another file"
    );
}

#[test]
fn answers_are_recorded_after_a_quarter_half_and_all_and_failed_rounds_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let grid = Grid {
        tasks: task::select(&["branin-noise10", "branin-region70"]).unwrap(),
        optimizers: vec!["gp-ei".into(), "random".into()],
        reps: 1,
    };
    let experiment = Experiment { grids: vec![grid], horizon: Some(16), seed: 0, jobs: 1 };
    let out = folder.path().join("out");
    let failures = run(&experiment, &out, &optimizers::build, &trainer::nobody, &|_| {}).unwrap();
    assert!(failures.is_empty());
    for record in results::read(&out).unwrap() {
        let trials: Vec<usize> = record.answers.iter().map(|answer| answer.trials).collect();
        assert_eq!(trials, [4, 8, 16]);
        for answer in &record.answers {
            let Some(best) = record.best_visited(answer.trials) else { continue };
            assert!(answer.value <= best, "both recommend points that they have tried");
            assert_eq!(answer.std.is_some(), record.optimizer == "gp-ei", "random search has no model");
        }
        assert_eq!(record.failed.is_empty(), record.task == "branin-noise10");
        if record.optimizer == "random" {
            let last = record.answers.last().unwrap();
            assert_eq!(last.value, last.best_observed, "random search recommends what it saw");
        }
    }
}
