//! Laboratory data as functions of 3 to 6 inputs: an emulator fitted to each data set, and the nearest measured point of it.
//!
//! Values go from 0 to 1, the optimum, and come from a process (`python/lab.py`), which has the data and fits the emulators. Most
//! emulated optima lie at edges, which flatters optimizers that run into corners; the pool has the measured ones.

use optimist::encode::Domain;

use super::{Group, Noise, Objective, Served, Task};

/// Trials, none of them given.
const TRIALS: usize = 50;

pub(super) fn tasks() -> Vec<Task> {
    DATA.iter().flat_map(|data| VERSIONS.map(|version| task(data, version))).collect()
}

const VERSIONS: [&str; 2] = ["emulator", "pool"];

struct Data {
    name: &'static str,
    d: usize,
    points: usize,
    what: &'static str,
    /// The emulator, and R² of its predictions in five-fold cross-validation.
    emulator: (&'static str, f64),
    /// A tenth of the data's standard deviation, on the scale of each version.
    noise: [f64; 2],
}

/// As `python/lab.py` prints them.
const DATA: [Data; 10] = [
    Data {
        name: "alkox",
        d: 4,
        points: 104,
        what: "conversion of an enzymatic oxidation",
        emulator: ("a Gaussian process", 0.37),
        noise: [0.0132, 0.0134],
    },
    Data {
        name: "benzylation",
        d: 4,
        points: 72,
        what: "impurity of a benzylation in flow",
        emulator: ("a Gaussian process", 0.95),
        noise: [0.0192, 0.0289],
    },
    Data {
        name: "colors_bob",
        d: 5,
        points: 161,
        what: "a mixture of five dyes to match a green",
        emulator: ("a Gaussian process", 0.92),
        noise: [0.0194, 0.0216],
    },
    Data {
        name: "colors_n9",
        d: 3,
        points: 102,
        what: "a mixture of three dyes to match a green",
        emulator: ("a Gaussian process", 0.96),
        noise: [0.0198, 0.0207],
    },
    Data {
        name: "fullerenes",
        d: 3,
        points: 216,
        what: "yield of fullerene adducts",
        emulator: ("a Gaussian process", 0.99),
        noise: [0.0269, 0.0272],
    },
    Data {
        name: "hplc",
        d: 6,
        points: 1007,
        what: "peak area of a chromatograph's sampling",
        emulator: ("a Gaussian process", 0.87),
        noise: [0.0147, 0.0222],
    },
    Data {
        name: "photo_pce10",
        d: 4,
        points: 1020,
        what: "light-degradation of a polymer blend with PCE10",
        emulator: ("extra trees", 0.83),
        noise: [0.0167, 0.0144],
    },
    Data {
        name: "photo_wf3",
        d: 4,
        points: 1020,
        what: "light-degradation of a polymer blend with WF3",
        emulator: ("extra trees", 0.81),
        noise: [0.018, 0.0148],
    },
    Data {
        name: "snar",
        d: 4,
        points: 66,
        what: "impurity of a nucleophilic substitution",
        emulator: ("a network", 0.98),
        noise: [0.0152, 0.0296],
    },
    Data {
        name: "suzuki",
        d: 4,
        points: 247,
        what: "yield of a Suzuki coupling",
        emulator: ("a Gaussian process", 0.96),
        noise: [0.0223, 0.0219],
    },
];

fn task(data: &'static Data, version: &'static str) -> Task {
    let Data { name, d, points, what, emulator: (emulator, r2), noise } = data;
    let name = name.replace('_', "-");
    let (name, summary, noise) = match version {
        "pool" => {
            (format!("{name}-pool"), format!("{what}: the nearest of {points} measured points"), noise[1])
        }
        _ => (name, format!("{what}: {emulator} fitted to {points} points, R² {r2}"), noise[0]),
    };
    Task {
        // Tasks live as long as the program.
        name: name.leak(),
        summary: summary.leak(),
        source: "Häse et al. 2021 (Olympus); data of the package olymp",
        group: Group::Lab,
        domain: Domain::cube(*d),
        n: 0,
        horizon: TRIALS,
        noise: Noise::Gaussian { std: noise },
        failures: None,
        objective: Objective::Served(Served::new([("lab", data.name), ("version", version)], |x| {
            x.iter().enumerate().map(|(i, x)| (format!("x{i}"), *x)).collect()
        })),
    }
}
