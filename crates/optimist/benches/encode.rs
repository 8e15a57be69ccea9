//! From named values to the unit cube and back.

use divan::Bencher;
use optimist::encode::Encoding;
use optimist::rng;
use optimist::space::{Kind, Parameter, Space, Value};

fn main() {
    divan::main();
}

/// `n` parameters: floats on both scales, integers, choices, and floats that depend on a choice.
fn encoding(n: usize) -> Encoding {
    let parameter = |i: usize| {
        let name = format!("parameter_{i}");
        let float = |log| Kind::Float { low: 1e-3, high: 10.0, log, step: None };
        match i % 5 {
            0 => Parameter::new(name, float(false)),
            1 => Parameter::new(name, float(true)),
            2 => Parameter::new(name, Kind::Int { low: 1, high: 64, log: false, step: None }),
            3 => {
                Parameter::new(name, Kind::Categorical { choices: ["a", "b", "c"].map(Value::from).to_vec() })
            }
            _ => Parameter::new(name, float(false)).when(format!("parameter_{}", i - 1), "b"),
        }
    };
    Encoding::new(Space::new((0..n).map(parameter).collect()).expect("a valid space"))
}

#[divan::bench(args = [20, 500])]
fn encode(bencher: Bencher, n: usize) {
    let encoding = encoding(n);
    let assignment = encoding.decode(&encoding.domain().sample(&mut rng(0, 0)));
    bencher.bench(|| encoding.encode(&assignment));
}

#[divan::bench(args = [20, 500])]
fn decode(bencher: Bencher, n: usize) {
    let encoding = encoding(n);
    let x = encoding.domain().sample(&mut rng(0, 0));
    bencher.bench(|| encoding.decode(&x));
}
