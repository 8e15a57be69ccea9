//! How long things take on a large study. Prints figures and asserts none: `cargo test --release -p optimist-study --test
//! speed -- --ignored --nocapture`.

use std::time::Instant;

use optimist::rng;
use optimist_study::event::{Event, Record, Source};
use optimist_study::log::Appended;
use optimist_study::{Measurement, Storage, Study, StudyFile};

const N_PARAMETERS: usize = 10;

#[test]
#[ignore = "prints figures"]
fn opening_asking_and_telling() {
    for optimizer in ["random", "tpe", "go-ucb"] {
        for n_trials in [1_000, 100_000] {
            let folder = tempfile::tempdir().unwrap();
            let storage = Storage::sqlite(folder.path().join("a.db"));
            fill(&storage, optimizer, n_trials);
            let (mut study, open) = timed(|| Study::open(&storage, "large").unwrap());
            let memory = resident_mb();
            let (job, first) = timed(|| study.ask(None).unwrap());
            let (_, second) = timed(|| study.ask(None).unwrap());
            let mut tells: Vec<f64> = (0..21)
                .map(|i| {
                    let start = Instant::now(); // waiting for the disk counts
                    study.tell(job.trial, Measurement::new(f64::from(i)), None).unwrap();
                    start.elapsed().as_secs_f64() * 1e3
                })
                .collect();
            tells.sort_by(f64::total_cmp);
            println!(
                "{optimizer:8} {n_trials:6} trials: open {open:8.1} ms ({memory:.0} MB), first ask {first:8.1} ms, \
                 second {second:8.1} ms, tell {:.2} ms (median)",
                tells[10]
            );
        }
    }
}

#[test]
#[ignore = "prints figures"]
fn telling() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::sqlite(folder.path().join("a.db"));
    fill(&storage, "random", 1_000);
    let mut study = Study::open(&storage, "large").unwrap();
    let mut tells: Vec<f64> = (0..301)
        .map(|i| {
            let job = study.ask(None).unwrap();
            let start = Instant::now(); // waiting for the disk counts
            study.tell(job.trial, Measurement::new(f64::from(i)), None).unwrap();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    tells.sort_by(f64::total_cmp);
    println!(
        "tell: {:.2} ms (median), {:.2} ms (fastest tenth), {:.2} ms (slowest tenth)",
        tells[150], tells[30], tells[270]
    );
}

/// A study of `n_trials` complete trials.
fn fill(storage: &Storage, optimizer: &str, n_trials: usize) {
    let parameters: String = (0..N_PARAMETERS)
        .map(|i| format!("parameters.learning_rate_{i} = {{ type = 'float', low = 0, high = 1 }}\n"))
        .collect();
    let text = format!(
        "name = 'large'\ndirection = 'maximize'\ntrials = 200000\noptimizer.name = '{optimizer}'\n{parameters}"
    );
    let study = Study::create(storage, StudyFile::parse(&text).unwrap().definition).unwrap();
    let (mut log, encoding) = (storage.connect().unwrap(), study.state().encoding().clone());
    let (mut head, mut luck) = (1, rng(0, 0));
    for block in (0..n_trials).collect::<Vec<_>>().chunks(1000) {
        let mut bodies = Vec::new();
        for &trial in block {
            let x = encoding.domain().sample(&mut luck);
            let measured = Measurement::new(-x.iter().map(|x| (x - 0.3).powi(2)).sum::<f64>());
            let source = Source::Suggested { seen: head, gain: None, engine: None, since: None };
            let worker = Some("machine-17/123456".to_owned());
            let asked = Event::Asked { trial, params: encoding.decode(&x), source, worker, why: None };
            let told = Event::Told { trial, measured, seconds: Some(1.5) };
            for event in [asked, told] {
                bodies.push(Record::new(head + 1 + bodies.len() as u64, event).to_json().unwrap());
            }
        }
        assert_eq!(log.append(study.id(), head, &bodies, &[]).unwrap(), Appended::Stored);
        head += bodies.len() as u64;
    }
}

/// The result, and milliseconds of this thread on the processor: other programs may run.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = on_processor_ms();
    let result = work();
    (result, on_processor_ms() - start)
}

fn on_processor_ms() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e6
}

fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kb.unwrap_or(f64::NAN) / 1024.0
}
