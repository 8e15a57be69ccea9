//! The log of a study: appending to it, reading and folding it.

use std::path::Path;

use divan::Bencher;
use optimist::{ENGINE_VERSION, rng};
use optimist_study::event::{Event, Record, Source};
use optimist_study::log::Appended;
use optimist_study::{Measurement, State, Storage, Study, StudyFile};

fn main() {
    divan::main();
}

const N_TRIALS: usize = 1000;

const STUDY: &str = "
    name = 'bench'
    direction = 'maximize'
    optimizer.name = 'random'
    parameters.rate = { type = 'float', low = 1e-5, high = 1.0, log = true }
    parameters.depth = { type = 'int', low = 1, high = 12 }
    parameters.kind = { type = 'categorical', choices = ['a', 'b', 'c'] }";

fn storage(backend: &str, folder: &Path) -> Storage {
    match backend {
        "memory" => Storage::memory(),
        _ => Storage::sqlite(folder.join("bench.db")),
    }
}

fn study(storage: &Storage) -> Study {
    let file = StudyFile::parse(STUDY).expect("a valid study file");
    Study::create(storage, file.definition).expect("an empty storage")
}

/// What is appended to a new log by trials that are asked and told, in order.
fn bodies(study: &Study, n_trials: usize) -> Vec<String> {
    let (encoding, mut luck) = (study.state().encoding(), rng(0, 0));
    let events = (0..n_trials).flat_map(|trial| {
        let params = encoding.decode(&encoding.domain().sample(&mut luck));
        let source = Source::Suggested { seen: 1, gain: None, engine: None, since: None };
        let asked = Event::Asked { trial, params, source, worker: None, why: None };
        let measured = Measurement::new(trial as f64);
        [asked, Event::Told { trial, measured, seconds: Some(1.5) }]
    });
    (2..).zip(events).map(|(seq, event)| Record::new(seq, event).to_json().unwrap()).collect()
}

/// One record, as it is stored while a study runs. SQLite is given a folder of its own.
#[divan::bench(args = ["memory", "sqlite"], sample_count = 200, sample_size = 1)]
fn append(bencher: Bencher, backend: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let storage = storage(backend, folder.path());
    let study = study(&storage);
    let mut log = storage.connect().expect("the storage is there");
    let (bodies, mut head) = (bodies(&study, N_TRIALS), 1);
    bencher.bench_local(|| {
        let body = &bodies[head as usize - 1..][..1];
        assert!(matches!(log.append(study.id(), head, body, &[]), Ok(Appended::Stored)));
        head += 1;
    });
}

/// Opens a study of 1,000 trials: reads its log and folds it.
#[divan::bench(args = ["memory", "sqlite"], sample_count = 10)]
fn open(bencher: Bencher, backend: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let storage = storage(backend, folder.path());
    let study = study(&storage);
    let mut log = storage.connect().expect("the storage is there");
    log.append(study.id(), 1, &bodies(&study, N_TRIALS), &[]).expect("nobody else appends");
    bencher.bench_local(|| Study::open(&storage, "bench").expect("it was made above"));
}

/// The fold alone, over records that are in memory.
#[divan::bench(sample_count = 20)]
fn fold(bencher: Bencher) {
    let study = study(&Storage::memory());
    let definition = Box::new(study.state().definition().clone());
    let created =
        Record::new(1, Event::Created { optimist: String::new(), engine: ENGINE_VERSION, definition });
    let parse = |body: &String| Record::from_json(body).expect("a record that we wrote");
    let records: Vec<Record> = bodies(&study, N_TRIALS).iter().map(parse).collect();
    bencher.with_inputs(|| (created.clone(), records.clone())).bench_values(|(created, records)| {
        let mut state = State::new(created).expect("a valid definition");
        records.into_iter().for_each(|record| state.apply(record).expect("records in order"));
        state
    });
}
