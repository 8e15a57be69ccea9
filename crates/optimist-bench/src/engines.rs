//! Which engine made which runs. An engine's number (`optimist::ENGINE_VERSION`) rises whenever one of our optimizers
//! suggests something else, so an optimizer's runs of two engines are not runs of the same optimizer.
//!
//! Given: records. Gives: what a reader should know about their engines.
//! Peers have no engine and are left out; records older than the field are of an unknown engine.

use std::collections::BTreeMap;

use optimist::ENGINE_VERSION;

use crate::optimizers;
use crate::report::page::count;
use crate::results::RunRecord;

/// A note on a report whose runs more than one engine made.
pub fn mixed(records: &[RunRecord]) -> Option<String> {
    let engines = Engines::of(records);
    (engines.0.len() > 1).then(|| {
        format!(
            "This report mixes engines: {engines}. Between engines an optimizer may suggest different points; to compare \
             like with like, delete the older runs and play them again."
        )
    })
}

/// A note on runs that are kept although this program's engine did not make them.
pub fn others(records: &[&RunRecord]) -> Option<String> {
    let is_other = |record: &&RunRecord| record.engine != Some(ENGINE_VERSION);
    let engines = Engines::of(records.iter().copied().filter(is_other));
    (!engines.0.is_empty()).then(|| {
        format!(
            "some runs in the file were not made by engine {ENGINE_VERSION}, which is this program's ({engines}); they are \
             kept: to play them again, delete their lines or write to another file"
        )
    })
}

/// How many runs of each of our optimizers each engine made; unknown engines first.
struct Engines<'r>(BTreeMap<Option<u32>, BTreeMap<&'r str, usize>>);

impl<'r> Engines<'r> {
    fn of(records: impl IntoIterator<Item = &'r RunRecord>) -> Self {
        let mut engines: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for record in records {
            if optimizers::engine(&record.optimizer).is_some() {
                let runs = engines.entry(record.engine).or_default();
                *runs.entry(record.optimizer.as_str()).or_default() += 1;
            }
        }
        Self(engines)
    }
}

impl std::fmt::Display for Engines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_one = |(engine, runs): (&Option<u32>, &BTreeMap<&str, usize>)| {
            let engine = engine.map_or_else(|| "unknown".to_owned(), |engine| engine.to_string());
            let runs = runs.iter().map(|(optimizer, &n)| format!("`{optimizer}` ({})", count(n, "run")));
            format!("engine {engine}: {}", runs.collect::<Vec<_>>().join(", "))
        };
        f.write_str(&self.0.iter().map(of_one).collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(optimizer: &str, rep: usize, engine: Option<u32>) -> RunRecord {
        let (values, ask_ms) = (vec![0.0], vec![0.0]);
        let (task, optimizer) = ("f1".to_owned(), optimizer.to_owned());
        RunRecord { task, optimizer, rep, n: 0, horizon: 1, values, ask_ms, seed: 0, engine }
    }

    #[test]
    fn a_mix_names_each_engine_and_its_runs() {
        let records = [
            record("go-ucb", 0, Some(10)),
            record("go-ucb", 1, Some(11)),
            record("go-ucb", 2, Some(11)),
            record("tpe", 0, Some(10)),
            record("random", 0, None),
            record("pycma", 0, None),
        ];
        let note = mixed(&records).unwrap();
        let start = "This report mixes engines: engine unknown: `random` (1 run); engine 10: `go-ucb` (1 run), `tpe` (1 run); \
                     engine 11: `go-ucb` (2 runs). ";
        assert!(note.starts_with(start), "{note}");
    }

    #[test]
    fn one_engine_beside_peers_is_no_mix_whether_known_or_not() {
        for engine in [Some(11), None] {
            let records = [record("go-ucb", 0, engine), record("tpe", 0, engine), record("pycma", 0, None)];
            assert_eq!(mixed(&records), None);
        }
    }

    #[test]
    fn runs_of_other_engines_are_listed_and_those_of_peers_are_not() {
        let ours = record("go-ucb", 2, Some(ENGINE_VERSION));
        let peers = record("pycma", 0, None);
        assert_eq!(others(&[&ours, &peers]), None);
        let older = [record("go-ucb", 0, Some(1)), record("go-ucb", 1, Some(1)), record("tpe", 0, None)];
        let records: Vec<&RunRecord> = older.iter().chain([&ours, &peers]).collect();
        assert_eq!(
            others(&records).unwrap(),
            format!(
                "some runs in the file were not made by engine {ENGINE_VERSION}, which is this program's (engine unknown: \
                 `tpe` (1 run); engine 1: `go-ucb` (2 runs)); they are kept: to play them again, delete their lines or write \
                 to another file"
            )
        );
    }
}
