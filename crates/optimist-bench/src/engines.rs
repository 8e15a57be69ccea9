//! Which engine made which records. An engine's number (`optimist::ENGINE_VERSION`) rises whenever one of our optimizers
//! suggests something else, so records of two engines are not of the same optimizer.
//!
//! Given: records. Gives: what a reader should know about their engines.
//! Peers have no engine and are left out; records older than the field are of an unknown engine.

use std::collections::BTreeMap;

use optimist::ENGINE_VERSION;

use crate::optimizers;
use crate::report::page::count;
use crate::results::RunRecord;

/// A note on a report whose records more than one engine made; of each its optimizer and its engine.
pub(crate) fn mixed<'r>(records: impl IntoIterator<Item = (&'r str, Option<u32>)>) -> Option<String> {
    let engines = Engines::of(records);
    (engines.0.len() > 1).then(|| {
        format!(
            "This report mixes engines: {engines}. Between engines an optimizer may suggest different points; to compare \
             like with like, delete the older records and run them again."
        )
    })
}

/// A note on records that are kept although this program's engine did not make them.
pub fn others(records: &[&RunRecord]) -> Option<String> {
    let is_other = |record: &&RunRecord| record.engine != Some(ENGINE_VERSION);
    let others = records.iter().copied().filter(is_other);
    let engines = Engines::of(others.map(|record| (record.optimizer.as_str(), record.engine)));
    (!engines.0.is_empty()).then(|| {
        format!(
            "some records in the file were not made by engine {ENGINE_VERSION}, which is this program's ({engines}); they are \
             kept: to run them again, delete their lines or write to another file"
        )
    })
}

/// How many records of each of our optimizers each engine made; unknown engines first.
struct Engines<'r>(BTreeMap<Option<u32>, BTreeMap<&'r str, usize>>);

impl<'r> Engines<'r> {
    fn of(records: impl IntoIterator<Item = (&'r str, Option<u32>)>) -> Self {
        let mut engines: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for (optimizer, engine) in records {
            if optimizers::engine(optimizer).is_some() {
                *engines.entry(engine).or_default().entry(optimizer).or_default() += 1;
            }
        }
        Self(engines)
    }
}

impl std::fmt::Display for Engines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_one = |(engine, records): (&Option<u32>, &BTreeMap<&str, usize>)| {
            let engine = engine.map_or_else(|| "unknown".to_owned(), |engine| engine.to_string());
            let records =
                records.iter().map(|(optimizer, &n)| format!("`{optimizer}` ({})", count(n, "record")));
            format!("engine {engine}: {}", records.collect::<Vec<_>>().join(", "))
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
        RunRecord { task, optimizer, rep, horizon: 1, values, ask_ms, engine, ..RunRecord::default() }
    }

    #[test]
    fn a_mix_names_each_engine_and_its_records() {
        let records = [
            ("go-ucb", Some(10)),
            ("go-ucb", Some(11)),
            ("go-ucb", Some(11)),
            ("tpe", Some(10)),
            ("random", None),
            ("pycma", None),
        ];
        let note = mixed(records).unwrap();
        let start = "This report mixes engines: engine unknown: `random` (1 record); engine 10: `go-ucb` (1 record), `tpe` (1 record); \
                     engine 11: `go-ucb` (2 records). ";
        assert!(note.starts_with(start), "{note}");
    }

    #[test]
    fn one_engine_beside_peers_is_no_mix_whether_known_or_not() {
        for engine in [Some(11), None] {
            assert_eq!(mixed([("go-ucb", engine), ("tpe", engine), ("pycma", None)]), None);
        }
    }

    #[test]
    fn records_of_other_engines_are_listed_and_those_of_peers_are_not() {
        let ours = record("go-ucb", 2, Some(ENGINE_VERSION));
        let peers = record("pycma", 0, None);
        assert_eq!(others(&[&ours, &peers]), None);
        let older = [record("go-ucb", 0, Some(1)), record("go-ucb", 1, Some(1)), record("tpe", 0, None)];
        let records: Vec<&RunRecord> = older.iter().chain([&ours, &peers]).collect();
        assert_eq!(
            others(&records).unwrap(),
            format!(
                "some records in the file were not made by engine {ENGINE_VERSION}, which is this program's (engine unknown: \
                 `tpe` (1 record); engine 1: `go-ucb` (2 records)); they are kept: to run them again, delete their lines or write \
                 to another file"
            )
        );
    }
}
