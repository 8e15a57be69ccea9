//! Workers with commands: leases are renewed, what others lose is taken over, and every way to end.

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use optimist::space::{Kind, Parameter, Space};
use optimist_study::objective::Mode;
use optimist_study::state::Over;
use optimist_study::worker::{Ending, Notice, work};
use optimist_study::{
    CommandEvaluator, Evaluator, Interrupt, Objective, Storage, Study, StudyFile, Trial, TrialState,
};

fn create(storage: &Storage, lines: &str) -> Study {
    let text = format!(
        "name = 's'\ndirection = 'maximize'\noptimizer.name = 'random'\n{lines}
        parameters.x = {{ type = 'float', low = 0.0, high = 1.0 }}"
    );
    Study::create(storage, StudyFile::parse(&text).unwrap().definition).unwrap()
}

/// Measures trials with a shell script.
fn script(script: &str, interrupt: &Interrupt) -> CommandEvaluator {
    command(&["sh", "-c", script], interrupt)
}

fn command(command: &[&str], interrupt: &Interrupt) -> CommandEvaluator {
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    let objective = Objective { command, mode: Mode::Once, timeout: None, folder: std::env::temp_dir() };
    let x = Parameter::new("x", Kind::Float { low: 0.0, high: 1.0, log: false, step: None });
    CommandEvaluator::new(objective, &Space::new(vec![x]).unwrap(), interrupt)
}

fn run(study: Study, evaluator: impl Evaluator + Clone + Send, workers: usize) -> (Study, Ending) {
    work(study, evaluator, workers, &Interrupt::default(), |_| ControlFlow::Continue(())).unwrap()
}

fn run_script(study: Study, text: &str, workers: usize) -> (Study, Ending) {
    run(study, script(text, &Interrupt::default()), workers)
}

#[test]
fn a_study_is_worked_on_until_it_is_over() {
    for workers in [1, 3] {
        let (study, ending) =
            run_script(create(&Storage::memory(), "trials = 10"), "echo $OPTIMIST_X", workers);
        assert!(matches!(ending, Ending::Over(Over::Trials)), "{ending:?}");
        assert_eq!(study.state().count(TrialState::Complete), 10);
        let trials = study.state().trials();
        assert!(trials.iter().all(|trial| trial.seconds.is_some() && trial.worker.is_some()));
    }
}

#[test]
fn leases_are_renewed_for_as_long_as_a_trial_takes() {
    let storage = Storage::memory();
    let study = create(&storage, "trials = 2\nlease = 0.6");
    let mut other = Study::open(&storage, "s").unwrap();
    let (study, _) = thread::scope(|scope| {
        let working = scope.spawn(|| run_script(study, "sleep 2; echo 1", 2));
        while !working.is_finished() {
            other.refresh().unwrap();
            other.reclaim().unwrap();
            thread::sleep(Duration::from_millis(20));
        }
        working.join().unwrap()
    });
    assert!(study.state().trials().iter().all(|trial| trial.attempts == 1 && trial.value() == Some(1.0)));
}

#[test]
fn what_others_lose_is_waited_for_and_taken_over() {
    let storage = Storage::memory();
    let mut study = create(&storage, "trials = 2\nlease = 1");
    let lost = study.claim().unwrap().unwrap(); // and never renewed
    let mut n_waited = 0;
    let (study, _) =
        work(study, script("echo 1", &Interrupt::default()), 1, &Interrupt::default(), |notice| {
            n_waited += usize::from(matches!(notice, Notice::Waiting(1)));
            ControlFlow::Continue(())
        })
        .unwrap();
    let taken_over = &study.state().trials()[lost.trial];
    assert_eq!((taken_over.state, taken_over.attempts), (TrialState::Complete, 2));
    assert_eq!(n_waited, 1, "that is said once");
}

#[test]
fn nobody_waits_for_a_trial_that_was_asked_for_by_hand() {
    let mut study = create(&Storage::memory(), "trials = 2");
    study.ask(Some("Ada")).unwrap();
    let (study, ending) = run_script(study, "echo 1", 1);
    assert!(matches!(ending, Ending::Over(Over::Trials)), "{ending:?}");
    let states: Vec<TrialState> = study.state().trials().iter().map(|trial| trial.state).collect();
    assert_eq!(states, [TrialState::Running, TrialState::Complete]);
}

#[test]
fn failures_in_a_row_end_a_run_and_others_do_not() {
    let broken = create(&Storage::memory(), "trials = 50\nmax_failures = 3");
    let (study, ending) = run_script(broken, "echo no such bean >&2; exit 1", 1);
    assert!(
        matches!(&ending, Ending::Failures { n: 3, last } if last.contains("no such bean")),
        "{ending:?}"
    );
    assert_eq!(study.state().count(TrialState::Failed), 3);
    let (study, ending) = run_script(study, "case $OPTIMIST_X in *[02468]) exit 1;; *) echo 1;; esac", 1);
    let row =
        |trials: &[Trial]| trials.iter().rev().take_while(|trial| trial.state == TrialState::Failed).count();
    let gave_up = matches!(ending, Ending::Failures { .. });
    assert_eq!(gave_up, row(study.state().trials()) >= 3, "{ending:?}");
}

#[test]
fn a_run_that_is_to_stop_finishes_what_it_has_begun() {
    let interrupt = Interrupt::default();
    let study = create(&Storage::memory(), "trials = 50");
    let (study, ending) = work(study, script("sleep 0.1; echo 1", &interrupt), 2, &interrupt, |_| {
        if !interrupt.is_requested() {
            interrupt.request();
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(matches!(ending, Ending::Interrupted), "{ending:?}");
    assert!(study.state().trials().iter().all(Trial::has_ended));
    assert!((2..50).contains(&study.state().trials().len()));
}

#[test]
fn a_run_that_is_to_stop_now_puts_back_what_it_has_begun() {
    let interrupt = Interrupt::default();
    let study = create(&Storage::memory(), "trials = 50");
    let stop = interrupt.clone();
    let (study, ending) = thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(500));
            stop.request();
            stop.request();
        });
        let evaluator = script("sleep 100; echo 1", &interrupt);
        work(study, evaluator, 2, &interrupt, |_| ControlFlow::Continue(())).unwrap()
    });
    assert!(matches!(ending, Ending::Interrupted), "{ending:?}");
    let states: Vec<(TrialState, usize)> =
        study.state().trials().iter().map(|trial| (trial.state, trial.attempts)).collect();
    assert_eq!(states, [(TrialState::Waiting, 0); 2]);
}

#[test]
fn a_command_that_cannot_be_started_ends_a_run_and_costs_no_trial() {
    let study = create(&Storage::memory(), "trials = 5\nmax_attempts = 1");
    let (study, ending) = run(study, command(&["no-such-program"], &Interrupt::default()), 2);
    assert!(matches!(ending, Ending::CannotStart(_)), "{ending:?}");
    assert!(study.state().trials().iter().all(|trial| trial.state == TrialState::Waiting));
    let (study, _) = run_script(study, "echo 1", 1);
    assert_eq!(study.state().count(TrialState::Complete), 5);
}

#[test]
fn an_observer_that_has_seen_enough_ends_the_run() {
    let study = create(&Storage::memory(), "trials = 500");
    let evaluator = script("echo 1", &Interrupt::default());
    let (study, _) = work(study, evaluator, 1, &Interrupt::default(), |_| ControlFlow::Break(())).unwrap();
    assert!(study.state().trials().len() < 500);
}

#[test]
fn more_workers_than_a_process_can_have_are_refused_before_anything_begins() {
    let study = create(&Storage::memory(), "trials = 10");
    let interrupt = Interrupt::default();
    let evaluator = script("echo 1", &interrupt);
    let error = work(study, evaluator, 40_000, &interrupt, |notice| panic!("{notice:?}")).err().unwrap();
    assert!(
        error.to_string().starts_with("cannot start 40000 workers: a process can have at most 1000"),
        "{error}"
    );
}
