//! Peers: processes that speak the optimizer protocol, well or badly. The peers here are a few lines of
//! Python's standard library; the real ones are run by hand, since their packages take gigabytes.

use std::process::Command;
use std::time::Duration;

use optimist::encode::Domain;
use optimist::{Observation, Outcome, rng};
use optimist_bench::contestant::{Contestant, ContestantError};
use optimist_bench::optimizers::{self, OptimizerError};
use optimist_bench::peer::{self, Peer, PeerError};
use optimist_bench::process::ProcessError;
use optimist_bench::run::{Experiment, Grid, run};
use optimist_bench::{results, task, trainer};

/// Proposes the mean of all points told and, in the first coordinate, the share of them that failed.
const HONEST: &str = r#"
import json, sys
points, failed = [], 0
for line in sys.stdin:
    message = json.loads(line)
    if "init" in message:
        dim = message["init"]["dim"]
        points.append([message["init"]["seed"] / 100] * dim)
    elif "tell" in message:
        points.append(message["tell"]["x"])
        failed += message["tell"]["y"] is None
    else:
        mean = [sum(x[i] for x in points) / len(points) for i in range(dim)]
        print(json.dumps({"x": [failed / len(points)] + mean[1:]}), flush=True)
"#;

fn peer(script: &str, domain: &Domain, seed: u64) -> Peer {
    let mut command = Command::new("python3");
    command.args(["-c", script]);
    Peer::start(command, domain.clone(), 10, seed, Duration::from_secs(20)).unwrap()
}

/// What an ask fails with.
fn error(peer: &mut Peer) -> PeerError {
    match peer.ask(&mut rng(0, 0)) {
        Err(ContestantError::Peer(error)) => error,
        other => panic!("not the error of a peer: {other:?}"),
    }
}

#[test]
fn a_peer_is_asked_and_told() {
    let mut peer = peer(HONEST, &Domain::cube(2), 50);
    let mut rng = rng(0, 0);
    assert_eq!(peer.ask(&mut rng).unwrap(), [0.0, 0.5]);
    let told =
        [(vec![0.1, 0.8], Outcome::Value { y: 3.0, noise_std: None }), (vec![0.9, 0.2], Outcome::Failed)];
    for (x, outcome) in told {
        peer.tell(Observation { x, outcome }).unwrap();
    }
    assert_eq!(peer.ask(&mut rng).unwrap(), [1.0 / 3.0, 0.5]);
    assert_eq!(peer.recommend().unwrap().x, [0.1, 0.8]);
    let infinite = Outcome::Value { y: f64::INFINITY, noise_std: None };
    assert!(peer.tell(Observation { x: vec![0.5, 0.5], outcome: infinite }).is_err());
    assert!(peer.tell(Observation { x: vec![0.5], outcome: Outcome::Failed }).is_err());
}

#[test]
fn proposals_are_snapped_and_told_as_they_were_proposed() {
    let domain = &task::find("func3c").unwrap().domain;
    // Proposes the last point told and a hundredth more.
    let script = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "init" in message:
        x = [0.5] * message["init"]["dim"]
    elif "tell" in message:
        x = [min(1, v + 0.01) for v in message["tell"]["x"]]
    else:
        print(json.dumps({"x": x}), flush=True)
"#;
    let mut peer = peer(script, domain, 0);
    let mut rng = rng(0, 0);
    let first = peer.ask(&mut rng).unwrap();
    assert!(domain.contains(&first));
    peer.tell(Observation { x: first, outcome: Outcome::Failed }).unwrap();
    let real = domain.dimension() - 1;
    assert_eq!(peer.ask(&mut rng).unwrap()[real], 0.51, "not a hundredth more than the snapped point");
}

#[test]
fn what_went_wrong_is_said() {
    let cube = &Domain::cube(2);
    let answering = |answer: &str| format!("input(); input(); print('''{answer}''', flush=True); input()");
    for answer in ["hello", r#"{"x": [0.5]}"#, r#"{"x": [0.5, 1.5]}"#, r#"{"x": [0.5, NaN]}"#, "{}"] {
        let expected = PeerError::Garbage { line: answer.to_owned(), dimension: 2 };
        assert_eq!(error(&mut peer(&answering(answer), cube, 0)), expected);
    }
    let missing = error(&mut peer(&answering(r#"{"error": "No module named 'cma'"}"#), cube, 0));
    assert_eq!(
        missing.to_string(),
        "the peer reported `No module named 'cma'`; scripts/peers-env installs what is missing"
    );
    let dead = error(&mut peer("raise SystemExit('no luck')", cube, 0));
    assert_eq!(dead.to_string(), "the peer ended without an answer; last output: no luck");

    let mut command = Command::new("python3");
    command.args(["-c", "import time; time.sleep(60)"]);
    let patience = Duration::from_millis(50);
    let mut silent = Peer::start(command, cube.clone(), 10, 0, patience).unwrap();
    assert_eq!(error(&mut silent), PeerError::Process(ProcessError::Silent { after: patience }));

    let nowhere = Peer::start(Command::new("no-such-command"), cube.clone(), 10, 0, patience);
    assert!(matches!(nowhere.err(), Some(PeerError::Process(ProcessError::NotStarted { .. }))));
}

#[test]
fn a_peer_that_breaks_loses_its_own_cells_only() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let grid = Grid {
        tasks: task::select(&["f1", "decision-tree"]).unwrap(),
        optimizers: ["honest", "broken", "random"].map(str::to_owned).to_vec(),
        reps: 1,
    };
    let experiment = Experiment { grids: vec![grid], horizon: None, seed: 0, jobs: 2 };
    let build = |name: &str, domain: &Domain, horizon: usize, seed: u64| -> Result<_, OptimizerError> {
        Ok(match name {
            "honest" => Box::new(peer(HONEST, domain, 7)) as Box<dyn Contestant>,
            "broken" => Box::new(peer("raise SystemExit('no luck')", domain, 7)),
            _ => optimizers::build(name, domain, horizon, seed)?,
        })
    };
    let failures = run(&experiment, &out, &build, &trainer::nobody, &|_| {}).unwrap();
    assert_eq!(failures.len(), 2);
    for failure in &failures {
        let text = failure.to_string();
        assert!(text.starts_with("broken on ") && text.ends_with("last output: no luck"), "{text}");
    }
    assert_eq!(results::read(&out).unwrap().len(), 4);
}

#[test]
fn the_script_has_every_peer() {
    let script = include_str!("../python/peers.py");
    for name in peer::NAMES {
        assert!(script.contains(&format!("    \"{name}\": ")), "{name}");
    }
}
