//! A storage with studies, and `optimist serve` on it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use optimist_study::{Import, Measurement, Storage, Study, StudyFile};

use crate::common::Folder;

/// A server on a free port of this machine; it ends with its value.
pub struct Served {
    pub folder: Folder,
    process: Child,
    /// What it printed for people to open.
    pub link: String,
}

impl Served {
    /// Serves the studies that `prepare` makes in a new storage.
    pub fn new(prepare: impl FnOnce(&Storage)) -> Self {
        let folder = Folder::new();
        prepare(&storage(&folder));
        let mut command = folder.optimist(&["serve", "--storage", "optimist.db", "--listen", "127.0.0.1:0"]);
        let mut process =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let link = link(&mut process);
        Self { folder, process, link }
    }

    pub fn storage(&self) -> Storage {
        storage(&self.folder)
    }

    pub fn study(&self, name: &str) -> Study {
        Study::open(&self.storage(), name).expect("the study is there")
    }

    /// An address of it.
    pub fn at(&self, path: &str) -> String {
        let end = self.link.find("/login").unwrap_or(self.link.len());
        format!("{}{path}", self.link[..end].trim_end_matches('/'))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn storage(folder: &Folder) -> Storage {
    let place = folder.path().join("optimist.db");
    place.to_str().expect("temporary folders have plain names").parse().expect("it is a place")
}

/// The first address that the server prints.
fn link(process: &mut Child) -> String {
    let (sender, receiver) = std::sync::mpsc::channel();
    let streams: [Box<dyn std::io::Read + Send>; 2] = [
        Box::new(process.stdout.take().expect("it is piped")),
        Box::new(process.stderr.take().expect("it is piped")),
    ];
    for stream in streams {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let word = line.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:"));
                match word {
                    Some(word) => drop(sender.send(word.to_owned())),
                    None => eprintln!("server: {line}"),
                }
            }
        });
    }
    receiver.recv_timeout(std::time::Duration::from_secs(60)).expect("the server prints its address")
}

pub fn create(storage: &Storage, text: &str) -> Study {
    Study::create(storage, StudyFile::parse(text).expect("it is a study file").definition).expect("it is new")
}

/// A study of a model that is tuned: a log scale, integers, a category, a condition, noise and failures.
pub fn tuning(storage: &Storage, n: usize) -> Study {
    tuned(storage, "image-model", "go-ucb", n)
}

/// The same under another name, by another optimizer.
pub fn tuned(storage: &Storage, name: &str, optimizer: &str, n: usize) -> Study {
    let text = "
        name = 'NAME'
        optimizer.name = 'OPTIMIZER'
        direction = 'minimize'
        seed = 7
        trials = 60
        parameters.rate = { type = 'float', low = 1e-5, high = 0.1, log = true }
        parameters.layers = { type = 'int', low = 1, high = 6 }
        parameters.dropout = { type = 'float', low = 0.0, high = 0.6 }
        parameters.optimizer = { type = 'categorical', choices = ['adam', 'sgd'] }
        parameters.momentum = { type = 'float', low = 0.0, high = 0.99, when = { optimizer = 'sgd' } }";
    let mut study = create(storage, &text.replace("NAME", name).replace("OPTIMIZER", optimizer));
    for i in 0..n {
        let worker = format!("gpu-{}", i % 3);
        let job = study.ask(Some(&worker)).expect("it can be asked");
        if i % 17 == 11 {
            let failed = optimist_study::Evaluation::Failed {
                kind: optimist_study::FailureKind::Crashed,
                reason: "exit status 1".to_owned(),
                stderr: Some(
                    "Traceback (most recent call last):\nRuntimeError: CUDA out of memory".to_owned(),
                ),
                known: None,
            };
            study.tell(job.trial, failed, Some(3.0)).expect("it can be told");
            continue;
        }
        let (rate, layers) = (job.params.float("rate"), job.params.int("layers") as f64);
        let momentum = job.params.get("momentum").and_then(|value| value.as_f64()).unwrap_or(0.4);
        let noise = 0.004 * ((i * 37 % 11) as f64 - 5.0);
        let loss = 0.21
            + 0.05 * (rate.log10() + 2.7).powi(2)
            + 0.015 * (layers - 4.0).powi(2)
            + 0.4 * (job.params.float("dropout") - 0.25).powi(2)
            + 0.03 * (momentum - 0.8).powi(2)
            + noise;
        let loss = if rate > 0.06 { 40.0 * loss } else { loss };
        study.tell(job.trial, Measurement::new(loss), Some(20.0 + (i % 7) as f64)).expect("it can be told");
    }
    study
}

/// A study with two goals and a constraint.
pub fn several(storage: &Storage, n: usize) -> Study {
    let text = "
        name = 'phone-net'
        seed = 1
        trials = 40
        outcomes.accuracy = { goal = 'maximize' }
        outcomes.latency_ms = { goal = 'minimize', reference = 50 }
        outcomes.memory_gb = { at_most = 4 }
        parameters.depth = { type = 'int', low = 1, high = 12 }
        parameters.width = { type = 'int', low = 16, high = 1024, log = true }
        parameters.half_precision = { type = 'bool' }";
    let mut study = create(storage, text);
    for _ in 0..n {
        let job = study.claim().expect("it can be asked").expect("there is a next trial");
        let (depth, width) = (job.params.int("depth") as f64, job.params.int("width") as f64);
        let half = job.params.get("half_precision").is_some_and(|half| half.to_string() == "true");
        let work = depth * width * width / 1e6;
        let accuracy = 0.97 - 0.25 / (1.0 + 0.4 * depth) - 3.0 / width - if half { 0.006 } else { 0.0 };
        let latency = (1.0 + 9.0 * work) * if half { 0.6 } else { 1.0 };
        let memory = (0.3 + 1.4 * work) * if half { 0.5 } else { 1.0 };
        let measured =
            Measurement::of([("accuracy", accuracy), ("latency_ms", latency), ("memory_gb", memory)]);
        study.tell(job.trial, measured, Some(30.0)).expect("it can be told");
    }
    study
}

/// A study with a person in the loop.
pub fn laboratory(storage: &Storage) -> Study {
    let text = "
        name = 'film'
        direction = 'maximize'
        seed = 3
        trials = 30
        parameters.temperature = { type = 'float', low = 120, high = 280, step = 5 }
        parameters.minutes = { type = 'int', low = 10, high = 90, step = 5 }
        parameters.gas = { type = 'categorical', choices = ['nitrogen', 'argon', 'dry air'] }";
    create(storage, text)
}

/// A study of so many trials that were made elsewhere.
pub fn large(storage: &Storage, n: usize) -> Study {
    let parameters: String =
        (0..10).map(|i| format!("parameters.x{i} = {{ type = 'float', low = 0, high = 1 }}\n")).collect();
    let text = format!(
        "name = 'large'\ndirection = 'minimize'\ntrials = {n}\noptimizer.name = 'random'\n{parameters}"
    );
    let mut study = create(storage, &text);
    let mut seed = 1_u64;
    let mut uniform = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    for piece in 0..n.div_ceil(5000) {
        let trials: Vec<Import> = (0..5000.min(n - 5000 * piece))
            .map(|i| {
                let x: Vec<f64> = (0..10).map(|_| uniform()).collect();
                let value = x.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>() * (1.0 + 1e-4 * i as f64);
                let params = x.iter().enumerate().map(|(i, x)| (format!("x{i}"), *x)).collect();
                let outcome =
                    if i % 97 == 13 { Err("diverged".to_owned()) } else { Ok(Measurement::new(value)) };
                Import { params, outcome, known: None }
            })
            .collect();
        study.import(&trials).expect("they can be imported");
    }
    study
}
