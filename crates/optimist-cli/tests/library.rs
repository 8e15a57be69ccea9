//! The command suggests what the Rust library does, bit for bit; `python/tests/test_optimizer.py` compares Python with the command.

mod common;

use common::Folder;
use optimist::space::{Assignment, Parameter, Space};

#[test]
fn the_same_seed_gives_the_same_points_as_the_library() {
    let folder = Folder::new();
    folder.write(
        "net.toml",
        r#"
        direction = "maximize"
        seed = 11
        trials = 20
        parameters.lr = { type = "float", low = 1e-5, high = 1.0, log = true }
        parameters.depth = { type = "int", low = 1, high = 12 }
        parameters.solver = { type = "categorical", choices = ["sgd", "adam"] }
        "#,
    );
    folder.run(&["create", "net.toml"]).expect_code(0);
    let parameters = vec![
        Parameter::log_float("lr", 1e-5, 1.0),
        Parameter::int("depth", 1, 12),
        Parameter::choice("solver", ["sgd", "adam"]),
    ];
    let space = Space::new(parameters).expect("a sound space");
    let mut trial = 0;
    let best = optimist::maximize(space, 20, 11, |params| {
        let asked = folder.run(&["ask", "net", "--json"]).expect_code(0).stdout;
        let asked: serde_json::Value = serde_json::from_str(&asked).expect("a trial");
        assert_eq!(asked["params"], serde_json::to_value(params).expect("plain values"), "trial {trial}");
        let y = height(params);
        folder.run(&["tell", "net", &trial.to_string(), "--", &y.to_string()]).expect_code(0);
        trial += 1;
        y
    });
    let recommended = folder.run(&["best", "net", "--json"]).expect_code(0).stdout;
    let recommended: serde_json::Value = serde_json::from_str(&recommended).expect("a point");
    let params = serde_json::to_value(best.expect("there are values").params).expect("plain values");
    assert!(recommended.to_string().contains(&params.to_string()), "{recommended} has {params}");
}

fn height(params: &Assignment) -> f64 {
    -(params.float("lr") - 0.1).powi(2) - 0.1 * (params.float("depth") - 5.0).powi(2)
}
