//! Optimizers by name and by table, as the command line and study files ask for them.

use optimist::encode::{Domain, Encoding};
use optimist::settings::{
    Activation, Constants, DefaultSettings, FamilyKind, Layers, PaperSettings, TheorySettings, TrustRegion,
};
use optimist::space::{Kind, Parameter, Space, Value};
use optimist::{Method, MethodError, Observation, Optimizer, Outcome, Settings, rng};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

use Entry::{Flag, List, Number, Table, Text, Whole};

#[test]
fn every_listed_name_can_be_read_and_built() {
    let domain = Domain::cube(2);
    for name in Method::NAMES {
        let method: Method = name.parse().unwrap();
        assert!(method.build(&domain, 10, 0).is_ok(), "{name}");
    }
    assert_eq!("go-ucb".parse(), Ok(Method::default()));
    assert_eq!("go-ucb:paper".parse(), Ok(Method::GoUcb(Box::new(Settings::paper()))));
    assert_eq!("go-ucb:theory".parse(), Ok(Method::GoUcb(Box::new(Settings::theory()))));
}

#[test]
fn an_optimizer_rebuilt_from_its_record_suggests_what_the_original_does() {
    for name in Method::NAMES.into_iter().chain(["go-ucb:paper", "go-ucb:theory"]) {
        let method: Method = name.parse().unwrap();
        for domain in [Domain::cube(2), mixed()] {
            let build = || method.build(&domain, 12, 3).unwrap();
            let mut original = build();
            let (mut record, mut pending) = (Vec::new(), Vec::new());
            for step in 0..40 {
                let call = Call::make(step, &mut pending, &original, &domain);
                call.repeat(&mut original);
                record.push(call);
                if step % 5 == 4 {
                    let mut rebuilt = build();
                    record.iter().for_each(|call| call.repeat(&mut rebuilt));
                    let next = |optimizer: &Optimizer| {
                        let suggestion = optimizer.suggest(&mut rng(3, 1000));
                        suggestion.x.into_iter().map(f64::to_bits).collect::<Vec<_>>()
                    };
                    assert_eq!(next(&rebuilt), next(&original), "{name} at step {step}");
                    assert_eq!(rebuilt.recommend(), original.recommend(), "{name} at step {step}");
                }
            }
        }
    }
}

#[test]
fn a_batch_is_what_asking_one_after_the_other_gives_and_leaves_nothing_behind() {
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for name in Method::NAMES.into_iter().chain(["go-ucb:paper", "go-ucb:theory"]) {
        let mut optimizer = name.parse::<Method>().unwrap().build(&mixed(), 20, 3).unwrap();
        for round in 0..6_u64 {
            let stream = |i: u64| rng(3, 10 * round + i);
            let mut batch = optimizer.batch();
            let suggested: Vec<Vec<f64>> = (0..3)
                .map(|i| {
                    let x = batch.suggest(&mut stream(i)).x;
                    batch.propose(x.clone());
                    x
                })
                .collect();
            drop(batch);
            for (i, x) in (0..).zip(&suggested) {
                assert_eq!(bits(&optimizer.ask(&mut stream(i))), bits(x), "{name}, round {round}, point {i}");
            }
            for (i, x) in suggested.into_iter().enumerate().skip(usize::from(round == 4)) {
                let outcome =
                    if i == 2 { Outcome::Failed } else { Outcome::Value { y: x[0], noise_std: None } };
                optimizer.tell(Observation { x, outcome }).unwrap();
            }
        }
    }
}

#[test]
fn a_ranking_has_the_best_points_once_each_and_the_best_first() {
    for name in Method::NAMES {
        let mut optimizer = name.parse::<Method>().unwrap().build(&Domain::cube(2), 20, 0).unwrap();
        assert_eq!(optimizer.ranking(3), [], "{name}");
        for i in [0, 1, 2, 3, 4, 5, 6, 7, 5, 5] {
            let x = vec![f64::from(i) / 8.0, 0.5];
            let outcome = Outcome::Value { y: -(x[0] - 0.6).powi(2), noise_std: None };
            optimizer.tell(Observation { x, outcome }).unwrap();
        }
        let ranking = optimizer.ranking(5);
        assert_eq!(ranking.len(), 5, "{name}");
        assert!(ranking.is_sorted_by(|a, b| a.mean >= b.mean), "{name}: {ranking:?}");
        let mut places: Vec<u64> = ranking.iter().map(|point| point.x[0].to_bits()).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 5, "{name}: {ranking:?}");
        assert_eq!(optimizer.ranking(100).len(), 8, "{name}");
    }
}

/// The calls that an optimizer is a fold over.
enum Call {
    Propose(Vec<f64>),
    Tell(Observation),
    Withdraw(Vec<f64>),
}

impl Call {
    /// Its own proposals and those of others, told late, out of order or never, failed, withdrawn, and told unasked.
    fn make(step: u64, pending: &mut Vec<Vec<f64>>, optimizer: &Optimizer, domain: &Domain) -> Self {
        let luck = &mut rng(3, step);
        let value = |x: Vec<f64>| {
            let y = -x.iter().map(|x| (x - 0.4).powi(2)).sum::<f64>();
            Self::Tell(Observation { x, outcome: Outcome::Value { y, noise_std: None } })
        };
        let mut propose = |x: Vec<f64>| {
            pending.push(x.clone());
            Self::Propose(x)
        };
        match step % 20 {
            3 | 8 | 13 | 17 => value(pending.pop().unwrap()),
            4 | 14 => value(pending.remove(0)),
            7 => Self::Tell(Observation { x: pending.remove(0), outcome: Outcome::Failed }),
            18 => Self::Withdraw(pending.remove(0)),
            9 => value(domain.sample(luck)),
            19 => propose(domain.sample(luck)),
            _ => propose(optimizer.suggest(luck).x),
        }
    }

    fn repeat(&self, optimizer: &mut Optimizer) {
        match self {
            Self::Propose(x) => optimizer.propose(x.clone()),
            Self::Tell(observation) => optimizer.tell(observation.clone()).unwrap(),
            Self::Withdraw(x) => optimizer.withdraw(x),
        }
    }
}

/// Levels, choices and a condition.
fn mixed() -> Domain {
    let choices = ["line", "tree"].map(Value::from).to_vec();
    let parameters = vec![
        Parameter::new("method", Kind::Categorical { choices }),
        Parameter::new("depth", Kind::Int { low: 1, high: 9, log: false, step: None }).when("method", "tree"),
        Parameter::new("rate", Kind::Float { low: 1e-4, high: 1.0, log: true, step: None }),
    ];
    Encoding::new(Space::new(parameters).unwrap()).domain().clone()
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    for (typed, meant) in [("go_ucb", "go-ucb"), ("GO-UCB", "go-ucb"), ("rnadom", "random")] {
        let error = typed.parse::<Method>().unwrap_err();
        assert_eq!(error, MethodError::Unknown { name: typed.into(), nearest: Some(meant.into()) });
        assert!(error.to_string().contains(&format!("did you mean `{meant}`?")), "{error}");
    }
    let error = "simulated annealing".parse::<Method>().unwrap_err();
    assert!(matches!(error, MethodError::Unknown { nearest: None, .. }), "{error}");
}

#[test]
fn a_table_without_settings_is_the_default() {
    assert_eq!(table(&[("name", Text("go-ucb"))]), Ok(Method::default()));
    assert_eq!(table(&[("name", Text("random"))]), Ok(Method::Random));
    assert_eq!(go_ucb(&[("preset", Text("default")), ("family", Text("auto"))]), Ok(Settings::default()));
}

#[test]
fn a_table_overrides_its_preset_and_nothing_else() {
    assert_eq!(
        go_ucb(&[("preset", Text("paper")), ("family", Text("quadratic")), ("range", Number(2.0))]),
        Ok(Settings::Paper(PaperSettings {
            family: FamilyKind::Quadratic,
            range: 2.0,
            ..PaperSettings::default()
        }))
    );
    assert_eq!(
        go_ucb(&[("preset", Text("theory")), ("constants", Table(&[("curvature", Number(0.5))]))]),
        Ok(Settings::Theory(TheorySettings {
            constants: Constants { curvature: 0.5, ..Constants::default() },
            ..TheorySettings::default()
        }))
    );
    assert_eq!(
        go_ucb(&[
            ("family", List(&[Text("linear"), Text("anova+fourier")])),
            ("explore_trials", Whole(7)),
            ("exploration", Number(0.25)),
            ("trust_region", Flag(false)),
            ("warp", Flag(false)),
        ]),
        Ok(Settings::Default(DefaultSettings {
            families: vec![FamilyKind::Linear, FamilyKind::AnovaFourier],
            explore_trials: Some(7),
            exploration: 0.25,
            trust_region: None,
            warp: false,
            ..DefaultSettings::default()
        }))
    );
    assert_eq!(
        go_ucb(&[("hidden", List(&[Whole(8), Whole(4)])), ("activation", Text("tanh"))]),
        Ok(Settings::Default(DefaultSettings {
            layers: Layers { hidden: vec![8, 4], activation: Activation::Tanh },
            ..DefaultSettings::default()
        }))
    );
}

#[test]
fn a_trust_region_is_for_every_preset_but_the_papers_which_searches_everywhere() {
    let with = |preset, on| go_ucb(&[("preset", Text(preset)), ("trust_region", Flag(on))]);
    let region = Some(TrustRegion::default());
    assert_eq!(with("default", true), Ok(Settings::default()));
    assert_eq!(with("paper", true), Ok(Settings::paper()));
    let theory = TheorySettings { trust_region: region, ..TheorySettings::default() };
    assert_eq!(with("theory", true), Ok(Settings::Theory(theory)));
    assert_eq!(with("theory", false), Ok(Settings::theory()));
}

#[test]
fn what_cannot_be_used_is_named() {
    let refusals = [
        (("preset", Text("papr")), "papr"),
        (("family", Text("anva")), "family"),
        (("family", List(&[])), "family"),
        (("activation", Text("relu")), "relu"),
        (("kappa", Number(2.0)), "kappa"),
        (("exploration", Number(-1.0)), "exploration"),
        (("exploration", Number(f64::NAN)), "exploration"),
        (("exploration", Text("much")), "much"),
        (("range", Number(2.0)), "preset = \"paper\""),
        (("constants", Table(&[])), "preset = \"theory\""),
        (("explore_trials", Whole(0)), "explore_trials"),
        (("hidden", List(&[])), "hidden"),
        (("hidden", List(&[Whole(25), Whole(0)])), "hidden"),
    ];
    for (entry, part) in refusals {
        let message = go_ucb(&[entry]).unwrap_err().to_string();
        assert!(message.contains(part), "no `{part}` for {entry:?} in: {message}");
    }
    let message = table(&[("name", Text("rndom"))]).unwrap_err().to_string();
    assert!(message.contains("rndom") && message.contains("random"), "{message}");
    let one_family = [("preset", Text("theory")), ("family", List(&[Text("mlp"), Text("anova")]))];
    assert!(go_ucb(&one_family).unwrap_err().to_string().contains("take one family"));
}

/// A value of a table, as a file would have it.
#[derive(Debug, Clone, Copy)]
enum Entry {
    Text(&'static str),
    Number(f64),
    Whole(u64),
    Flag(bool),
    List(&'static [Entry]),
    Table(&'static [(&'static str, Entry)]),
}

fn table(entries: &[(&'static str, Entry)]) -> Result<Method, Error> {
    Method::deserialize(MapDeserializer::new(entries.iter().copied()))
}

/// The settings of GO-UCB with these keys.
fn go_ucb(entries: &[(&'static str, Entry)]) -> Result<Settings, Error> {
    match table(&[&[("name", Text("go-ucb"))], entries].concat())? {
        Method::GoUcb(settings) => Ok(*settings),
        other => panic!("{other:?} is not go-ucb"),
    }
}

impl<'de> IntoDeserializer<'de, Error> for Entry {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Entry {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Text(text) => visitor.visit_borrowed_str(text),
            Number(number) => visitor.visit_f64(number),
            Whole(number) => visitor.visit_u64(number),
            Flag(flag) => visitor.visit_bool(flag),
            List(entries) => visitor.visit_seq(SeqDeserializer::new(entries.iter().copied())),
            Table(entries) => visitor.visit_map(MapDeserializer::new(entries.iter().copied())),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
