//! Objectives that write anything at all: a trial ends with a value or with a reason, and the log has it.

use std::ops::ControlFlow;
use std::time::Duration;

use optimist_study::objective::Mode;
use optimist_study::{
    CommandEvaluator, Evaluation, Evaluator, Interrupt, Objective, Record, Storage, Study, StudyFile,
};
use proptest::prelude::*;

const STUDY: &str =
    "direction = 'maximize'\noptimizer.name = 'random'\nparameters.x = { type = 'float', low = 0, high = 1 }";

/// Runs a trial whose objective writes these bytes, and stores what came of it.
fn run(bytes: &[u8], mode: Mode) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("reply"), bytes).unwrap();
    let command = ["sh", "-c", "read line; cat reply; cat reply >&2"].map(str::to_owned).to_vec();
    let timeout = Some(Duration::from_secs(60));
    let objective = Objective { command, mode, timeout, folder: folder.path().to_owned() };
    let mut study = Study::create(&Storage::memory(), StudyFile::parse(STUDY).unwrap().definition).unwrap();
    let job = study.ask(None).unwrap();
    let space = &study.state().definition().space;
    let evaluation = CommandEvaluator::new(objective, space, &Interrupt::default()).evaluate(&job).unwrap();
    match &evaluation {
        Evaluation::Measured(measured) => prop_assert!(measured.value("value").is_some_and(f64::is_finite)),
        Evaluation::Failed { reason, .. } => prop_assert!(!reason.is_empty()),
        Evaluation::Stopped { .. } => prop_assert!(false, "nobody interrupted"),
    }
    study.tell(0, evaluation, None).unwrap();
    let mut n_records = 0;
    study
        .export(|line| {
            n_records += usize::from(Record::from_json(line).is_ok());
            ControlFlow::Continue(())
        })
        .unwrap();
    prop_assert_eq!(n_records, 3);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn arbitrary_bytes_end_a_trial(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        run(&bytes, Mode::Once)?;
        run(&bytes, Mode::Serve)?;
    }

    #[test]
    fn what_looks_like_an_answer_ends_a_trial(
        text in "(\\{|\\}|\"value\": |\"error\": |\"noise_std\": |, |[0-9.e-]{1,4}|NaN|null|\"[a-z]{0,3}\"|\n){0,12}"
    ) {
        run(text.as_bytes(), Mode::Once)?;
        run(text.as_bytes(), Mode::Serve)?;
    }
}

#[test]
fn a_log_with_an_empty_command_cannot_be_started_and_says_so() {
    let study = Study::create(&Storage::memory(), StudyFile::parse(STUDY).unwrap().definition);
    let job = study.unwrap().ask(None).unwrap();
    let space = StudyFile::parse(STUDY).unwrap().definition.space;
    for mode in [Mode::Once, Mode::Serve] {
        let objective = Objective { command: Vec::new(), mode, timeout: None, folder: "/".into() };
        let error =
            CommandEvaluator::new(objective, &space, &Interrupt::default()).evaluate(&job).unwrap_err();
        assert!(error.to_string().contains("without a command"), "{error}");
    }
}
