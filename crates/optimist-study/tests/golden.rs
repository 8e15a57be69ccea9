//! Logs of every format open for ever: `fixtures/log-1.jsonl` holds every kind of record of the first, `log-3.jsonl` those of several
//! outcomes and what was amended. They are never changed.
//! And logs, study files and records that are damaged in any way are refused in words, without a panic.

use std::ops::ControlFlow;

use optimist_study::{Record, State, Storage, Study, StudyFile, TrialState};
use proptest::prelude::*;

const LOG: &str = include_str!("fixtures/log-1.jsonl");
const SEVERAL: &str = include_str!("fixtures/log-3.jsonl");

fn fold<'l>(lines: impl IntoIterator<Item = &'l str>) -> Result<State, String> {
    let mut state: Option<State> = None;
    for line in lines {
        let record = Record::from_json(line).map_err(|error| error.to_string())?;
        match &mut state {
            None => state = Some(State::new(record).map_err(|error| error.to_string())?),
            Some(state) => state.apply(record).map_err(|error| error.to_string())?,
        }
    }
    state.ok_or_else(|| "the log is empty".to_owned())
}

#[test]
fn every_kind_of_record_is_in_the_golden_log() {
    let kinds = [
        "created",
        "asked",
        "told",
        "failed",
        "requeued",
        "retried",
        "enqueued",
        "added",
        "cancelled",
        "changed",
    ];
    for kind in kinds {
        assert!(LOG.contains(&format!("\"event\":{{\"{kind}\"")), "{kind}");
    }
}

#[test]
fn the_golden_log_folds_to_what_happened() {
    let state = fold(LOG.lines()).unwrap();
    assert_eq!((state.head(), state.trials().len(), state.plan().trials), (42, 19, 16));
    let counts = [
        (TrialState::Complete, 15),
        (TrialState::Failed, 2),
        (TrialState::Cancelled, 1),
        (TrialState::Running, 1),
        (TrialState::Waiting, 0),
    ];
    for (kind, count) in counts {
        assert_eq!(state.count(kind), count, "{kind:?}");
    }
    let trial = |number: usize| &state.trials()[number];
    assert_eq!(trial(0).value(), Some(-0.063_583_306_894_806_22));
    assert_eq!(trial(12).value(), Some(0.055), "the mean of both measurements");
    assert_eq!(trial(10).original(), 9, "a replicate");
    assert_eq!(trial(15).value(), Some(-0.5), "imported");
    assert_eq!(state.best_observed().map(|trial| trial.original()), Some(9));
}

#[test]
fn the_golden_log_of_several_outcomes_folds_to_what_happened() {
    let state = fold(SEVERAL.lines()).unwrap();
    let versions: Vec<u32> = SEVERAL.lines().map(|line| Record::from_json(line).unwrap().v).collect();
    assert_eq!((versions[0], versions.iter().max()), (3, Some(&3)));
    let counts = [
        (TrialState::Complete, 6),
        (TrialState::Failed, 4),
        (TrialState::Cancelled, 1),
        (TrialState::Running, 1),
    ];
    for (kind, count) in counts {
        assert_eq!(state.count(kind), count, "{kind:?}");
    }
    let trial = |number: usize| &state.trials()[number];
    assert_eq!(trial(0).measurements.len(), 2);
    assert_eq!(trial(1).value_of("accuracy"), Some(0.75), "amended");
    assert_eq!(trial(1).amendments[0].measurements.len(), 1);
    assert_eq!((trial(2).value_of("memory_gb"), trial(2).value_of("accuracy")), (Some(14.25), None));
    assert_eq!(trial(2).value_of("recall"), Some(0.1 + 0.2), "to the last bit");
    let front = state.observed_front().unwrap();
    assert_eq!((&front.trials[..], front.reference[0]), (&[3, 8][..], 0.5));
    assert!((front.hypervolume.unwrap() - 0.615_580_148_383_273_9).abs() < 1e-12);
}

#[test]
fn golden_logs_are_restored_to_a_storage_and_written_again_as_they_were() {
    for log in [LOG, SEVERAL] {
        let folder = tempfile::tempdir().unwrap();
        let storage: Storage = folder.path().join("a.db").to_str().unwrap().parse().unwrap();
        let mut study = Study::restore(&storage, log.lines(), None).unwrap();
        let mut written = Vec::new();
        study
            .export(|record| {
                written.push(record.to_owned());
                ControlFlow::Continue(())
            })
            .unwrap();
        assert!(written.iter().map(String::as_str).eq(log.lines()));
        assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
    }
}

proptest! {
    #[test]
    fn a_damaged_log_of_several_outcomes_is_read_or_refused_but_never_panics(
        line in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut lines: Vec<String> = SEVERAL.lines().map(str::to_owned).collect();
        let line = line.index(lines.len());
        let mut bytes = lines[line].clone().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        lines[line] = String::from_utf8_lossy(&bytes).into_owned();
        if let Ok(state) = fold(lines.iter().map(String::as_str)) {
            let _ = (state.observed_front(), state.best_observed(), state.hypervolumes());
        }
    }

    #[test]
    fn a_damaged_log_is_read_or_refused_but_never_panics(
        line in 0..42_usize, at in any::<prop::sample::Index>(), byte in any::<u8>(), dropped in any::<bool>()
    ) {
        let mut lines: Vec<String> = LOG.lines().map(str::to_owned).collect();
        if dropped {
            lines.remove(line);
        } else {
            let mut bytes = lines[line].clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            lines[line] = String::from_utf8_lossy(&bytes).into_owned();
        }
        let result = fold(lines.iter().map(String::as_str));
        if dropped && line < 41 {
            prop_assert!(result.is_err(), "record {} is missing", line + 1);
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_record_and_no_study_file(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(Record::from_json(&text).is_err());
        prop_assert!(StudyFile::parse(&text).is_err());
    }

    #[test]
    fn a_damaged_study_file_is_read_or_refused_but_never_panics(
        at in any::<prop::sample::Index>(), replacement in "[ -~\n]{0,6}", cut in 0..20_usize
    ) {
        let file = include_str!("../../../examples/quickstart.toml");
        let start = at.index(file.len());
        let end = (start + cut).min(file.len());
        if file.is_char_boundary(start) && file.is_char_boundary(end) {
            let _ = StudyFile::parse(&format!("{}{replacement}{}", &file[..start], &file[end..]));
        }
    }
}
