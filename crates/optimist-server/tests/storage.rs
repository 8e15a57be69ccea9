//! A server is a storage: the same contract as every other, and studies run through it.

mod common;

use std::sync::{LazyLock, Mutex};

use common::Running;
use optimist_server::{Role, Server, Settings};
use optimist_study::{Interrupt, Job, Storage, Study, StudyFile, TrialState, log_contract, worker};

/// A server with nothing in it, which lasts as long as the tests.
fn empty() -> Storage {
    static STOPS: LazyLock<Mutex<Vec<optimist_server::Stop>>> = LazyLock::new(Mutex::default);
    let settings = Settings { listen: "127.0.0.1:0".parse().unwrap(), ..Settings::new(Storage::memory()) };
    let server = Server::bind(settings).unwrap();
    let (address, token) = (server.address().unwrap(), server.app().door().local_token().map(str::to_owned));
    STOPS.lock().unwrap().push(server.stop());
    std::thread::spawn(move || server.run().unwrap());
    Storage::http(&format!("http://{address}"), token).unwrap()
}

log_contract!(server, |_: &str| empty());

#[test]
fn a_study_runs_through_a_server_and_says_who_did_what() {
    let server = Running::with_users(|_| ());
    let token = server.token(Role::Worker, Some("film"), None);
    let storage = Storage::http(&format!("http://{}", server.address), Some(token)).unwrap();
    let study = Study::open(&storage, "film").unwrap();
    let objective = |job: &Job| job.params.get("x").and_then(|x| x.as_f64()).unwrap();
    let interrupt = Interrupt::default();
    let (mut study, _) = worker::work(study, objective, 3, &interrupt, |notice| match notice {
        worker::Notice::Trial(trial) if trial.number >= 20 => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    })
    .unwrap();
    assert!(study.state().count(TrialState::Complete) >= 18);
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
    assert!(study.change(study.state().plan().clone()).is_ok(), "nothing is changed");
    let error = study.cancel(2).unwrap_err().to_string();
    assert!(error.contains("refuses") && error.contains("operator"), "{error}");
    let text = "name = 'other'\ndirection = 'minimize'\nparameters.x = { type = 'float', low = 0, high = 1 }";
    let error =
        Study::create(&storage, StudyFile::parse(text).unwrap().definition).err().unwrap().to_string();
    assert!(error.contains("one study only"), "{error}");
    let on_the_server = Study::open(&server.storage, "film").unwrap();
    assert_eq!(on_the_server.state().trials(), study.state().trials());
}

#[test]
fn an_unknown_token_is_an_error_that_says_what_to_do() {
    let server = Running::with_users(|_| ());
    let storage = Storage::http(&format!("http://{}", server.address), Some("opt_00".to_owned())).unwrap();
    let error = Study::open(&storage, "film").err().unwrap().to_string();
    assert!(error.contains("OPTIMIST_TOKEN") && error.contains("optimist token create"), "{error}");
}
