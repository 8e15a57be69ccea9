//! Problems with several goals.

use std::f64::consts::PI;

use super::problem::{Problem, Raw};

pub(super) fn problems() -> Vec<Problem> {
    vec![
        zdt("zdt1", "many coordinates, a convex front", 120.666_666_666_667, zdt1),
        zdt("zdt2", "many coordinates, a concave front", 120.333_333_333_333, zdt2),
        zdt("zdt3", "a front in five pieces", 128.778_116_130_691, zdt3),
        dtlz2().into(),
        dtlz7().into(),
        vlmop2().into(),
        kursawe().into(),
        branin_currin().into(),
        Problem::from(branin_currin()).with_noise("branin-currin-noisy", &[2.0, 0.2]),
        vehicle_safety().into(),
        Problem::from(vehicle_safety()).with_noise("vehicle-safety-noisy", &[3.0, 0.2, 0.005]),
        car_side_impact().into(),
        penicillin().into(),
        osyczka().into(),
    ]
}

fn cube(d: usize, low: f64, high: f64) -> Vec<(f64, f64, f64)> {
    vec![(low, high, 0.0); d]
}

fn zdt(name: &'static str, summary: &'static str, best: f64, formula: fn(&[f64]) -> Vec<f64>) -> Problem {
    Problem::from(Raw {
        name,
        summary,
        source: "Zitzler, Deb and Thiele 2000, with 8 coordinates",
        bounds: cube(8, 0.0, 1.0),
        reference: vec![11.0, 11.0],
        n_constraints: 0,
        best,
        worst: 0.0,
        tiny: false,
        formula,
    })
}

/// 1 + 9 times the mean of all coordinates but the first.
fn zdt_g(x: &[f64]) -> f64 {
    1.0 + 9.0 * x[1..].iter().sum::<f64>() / (x.len() - 1) as f64
}

fn zdt1(x: &[f64]) -> Vec<f64> {
    let g = zdt_g(x);
    vec![x[0], g * (1.0 - (x[0] / g).sqrt())]
}

fn zdt2(x: &[f64]) -> Vec<f64> {
    let g = zdt_g(x);
    vec![x[0], g * (1.0 - (x[0] / g).powi(2))]
}

fn zdt3(x: &[f64]) -> Vec<f64> {
    let g = zdt_g(x);
    vec![x[0], g * (1.0 - (x[0] / g).sqrt() - x[0] / g * (10.0 * PI * x[0]).sin())]
}

fn dtlz2() -> Raw {
    Raw {
        name: "dtlz2",
        summary: "three goals, an eighth of a sphere as the front",
        source: "Deb et al. 2002, with 6 coordinates",
        bounds: cube(6, 0.0, 1.0),
        reference: vec![1.1; 3],
        n_constraints: 0,
        best: 1.331 - PI / 6.0, // the cube less an eighth of the ball
        worst: 0.0,
        tiny: false,
        formula: |x| {
            let distance = 1.0 + x[2..].iter().map(|x| (x - 0.5).powi(2)).sum::<f64>();
            let (a, b) = (0.5 * PI * x[0], 0.5 * PI * x[1]);
            vec![distance * a.cos() * b.cos(), distance * a.cos() * b.sin(), distance * a.sin()]
        },
    }
}

fn dtlz7() -> Raw {
    Raw {
        name: "dtlz7",
        summary: "three goals, a front in four pieces",
        source: "Deb et al. 2002, with 6 coordinates",
        bounds: cube(6, 0.0, 1.0),
        reference: vec![1.0, 1.0, 15.0],
        n_constraints: 0,
        best: 10.457_669,
        worst: 0.0,
        tiny: false,
        formula: |x| {
            let g = 1.0 + 9.0 * x[2..].iter().sum::<f64>() / (x.len() - 2) as f64;
            let part = |x: f64| x / (1.0 + g) * (1.0 + (3.0 * PI * x).sin());
            vec![x[0], x[1], (1.0 + g) * (3.0 - part(x[0]) - part(x[1]))]
        },
    }
}

fn vlmop2() -> Raw {
    Raw {
        name: "vlmop2",
        summary: "two bells, a concave front",
        source: "Van Veldhuizen and Lamont 1999",
        bounds: cube(2, -2.0, 2.0),
        reference: vec![1.1, 1.1],
        n_constraints: 0,
        best: 0.552_112_98,
        worst: 0.0,
        tiny: false,
        formula: |x| {
            let centre = 1.0 / (x.len() as f64).sqrt();
            let bell = |c: f64| 1.0 - (-x.iter().map(|x| (x - c).powi(2)).sum::<f64>()).exp();
            vec![bell(centre), bell(-centre)]
        },
    }
}

fn kursawe() -> Raw {
    Raw {
        name: "kursawe",
        summary: "many local fronts",
        source: "Kursawe 1991",
        bounds: cube(3, -5.0, 5.0),
        reference: vec![-14.0, 1.0],
        n_constraints: 0,
        best: 37.25,
        worst: 0.0,
        tiny: false,
        formula: |x| {
            let pair = |pair: &[f64]| -10.0 * (-0.2 * pair[0].hypot(pair[1])).exp();
            let each = |x: &f64| x.abs().powf(0.8) + 5.0 * (x.powi(3)).sin();
            vec![x.windows(2).map(pair).sum(), x.iter().map(each).sum()]
        },
    }
}

fn branin_currin() -> Raw {
    Raw {
        name: "branin-currin",
        summary: "two smooth functions of two coordinates",
        source: "Belakaria, Deshwal and Doppa 2019",
        bounds: cube(2, 0.0, 1.0),
        reference: vec![18.0, 6.0],
        n_constraints: 0,
        best: 59.360_118_748_677_46,
        worst: 0.0,
        tiny: false,
        formula: |x| {
            let (a, b) = (15.0 * x[0] - 5.0, 15.0 * x[1]);
            let bent = b - 5.1 / (4.0 * PI * PI) * a * a + 5.0 / PI * a - 6.0;
            let branin = bent * bent + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * a.cos() + 10.0;
            let damped = if x[1] == 0.0 { 1.0 } else { 1.0 - (-0.5 / x[1]).exp() };
            let rise = 2300.0 * x[0].powi(3) + 1900.0 * x[0].powi(2) + 2092.0 * x[0] + 60.0;
            let fall = 100.0 * x[0].powi(3) + 500.0 * x[0].powi(2) + 4.0 * x[0] + 20.0;
            vec![branin, damped * rise / fall]
        },
    }
}

fn vehicle_safety() -> Raw {
    Raw {
        name: "vehicle-safety",
        summary: "three goals: mass, acceleration and intrusion of a crash",
        source: "Liao et al. 2008, as in Tanabe and Ishibuchi 2020",
        bounds: cube(5, 1.0, 3.0),
        reference: vec![1_864.720_22, 11.819_939_45, 0.290_399_938_4],
        n_constraints: 0,
        best: 246.816_070_811_87,
        worst: 0.0,
        tiny: false,
        formula: |x| {
            let [a, b, c, d, e] = [x[0], x[1], x[2], x[3], x[4]];
            let mass = 1_640.282_3
                + 2.357_328_5 * a
                + 2.322_003_5 * b
                + 4.568_876_8 * c
                + 7.721_363_3 * d
                + 4.455_950_4 * e;
            let acceleration = 6.585_6 + 1.15 * a - 1.042_7 * b + 0.973_8 * c + 0.836_4 * d - 0.369_5 * a * d
                + 0.086_1 * a * e
                + 0.362_8 * b * d
                - 0.110_6 * a * a
                - 0.343_7 * c * c
                + 0.176_4 * d * d;
            let intrusion = -0.055_1 + 0.018_1 * a + 0.102_4 * b + 0.042_1 * c - 0.007_3 * a * b
                + 0.024 * b * c
                - 0.011_8 * b * d
                - 0.020_4 * c * d
                - 0.008 * c * e
                - 0.024_1 * b * b
                + 0.010_9 * d * d;
            vec![mass, acceleration, intrusion]
        },
    }
}

fn car_side_impact() -> Raw {
    Raw {
        name: "car-side-impact",
        summary: "three goals and a bound on what ten regulations are missed by",
        source: "Jain and Deb 2014, as in Tanabe and Ishibuchi 2020",
        bounds: vec![
            (0.5, 1.5, 0.0),
            (0.45, 1.35, 0.0),
            (0.5, 1.5, 0.0),
            (0.5, 1.5, 0.0),
            (0.875, 2.625, 0.0),
            (0.4, 1.2, 0.0),
            (0.4, 1.2, 0.0),
        ],
        reference: vec![45.487_2, 4.511_4, 13.339_4],
        n_constraints: 1,
        best: 40.5,
        worst: 0.0,
        tiny: false,
        formula: |x| {
            let [a, b, c, d, e, f, g] = [x[0], x[1], x[2], x[3], x[4], x[5], x[6]];
            let mass = 1.98 + 4.9 * a + 6.67 * b + 6.98 * c + 4.01 * d + 1.78 * e + 0.000_01 * f + 2.73 * g;
            let force = 4.72 - 0.5 * d - 0.19 * b * c;
            let pillar = 10.58 - 0.674 * a * b - 0.672_75 * b;
            let door = 16.45 - 0.489 * c * g - 0.843 * e * f;
            let missed = [
                1.16 - 0.371_7 * b * d - 0.009_292_8 * c - 1.0,
                0.261 - 0.015_9 * a * b - 0.064_86 * a - 0.019 * b * g + 0.014_4 * c * e + 0.015_446_4 * f
                    - 0.32,
                0.214 + 0.008_17 * e - 0.045_195 * a - 0.013_516_8 * a + 0.030_99 * b * f - 0.018 * b * g
                    + 0.007_176 * c
                    + 0.023_232 * c
                    - 0.003_64 * e * f
                    - 0.018 * b * b
                    - 0.32,
                0.74 - 0.61 * b - 0.031_296 * c - 0.031_872 * g + 0.227 * b * b - 0.32,
                28.98 + 3.818 * c - 4.2 * a * b + 1.272_96 * f - 2.680_65 * g - 32.0,
                33.86 + 2.95 * c - 5.057 * a * b - 3.795 * b - 3.443_1 * g + 1.457_28 - 32.0,
                46.36 - 9.9 * b - 4.450_5 * a - 32.0,
                force - 4.0,
                pillar - 9.9,
                door - 15.7,
            ];
            vec![mass, force, 0.5 * (pillar + door), missed.iter().copied().fold(f64::MIN, f64::max)]
        },
    }
}

/// A fed-batch of penicillin, hour by hour: yield, time and carbon dioxide. The growth, substrate, acid and temperature balances of
/// Birol et al. (2002) with the constants of Liang and Lai (2021).
fn penicillin() -> Raw {
    Raw {
        name: "penicillin",
        summary: "three goals from a simulated fermentation: yield, carbon dioxide and time",
        source: "Birol, Undey and Cinar 2002; Liang and Lai 2021",
        bounds: vec![
            (60.0, 120.0, 0.0),
            (0.05, 18.0, 0.0),
            (293.0, 303.0, 0.0),
            (0.05, 18.0, 0.0),
            (0.01, 0.5, 0.0),
            (500.0, 700.0, 0.0),
            (5.0, 6.5, 0.0),
        ],
        reference: vec![25.935, 57.612, 935.5],
        n_constraints: 0,
        best: 2_183_455.909_507_436,
        worst: 0.0,
        tiny: false,
        formula: super::penicillin::simulate,
    }
}

fn osyczka() -> Raw {
    Raw {
        name: "osyczka",
        summary: "two goals and six constraints, most of them tight on the front",
        source: "Osyczka and Kundu 1995",
        bounds: vec![
            (0.0, 10.0, 0.0),
            (0.0, 10.0, 0.0),
            (1.0, 5.0, 0.0),
            (0.0, 6.0, 0.0),
            (1.0, 5.0, 0.0),
            (0.0, 10.0, 0.0),
        ],
        reference: vec![0.0, 80.0],
        n_constraints: 6,
        best: 16_780.0,
        worst: 0.0,
        tiny: false,
        formula: |x| {
            let first = 25.0 * (x[0] - 2.0).powi(2)
                + (x[1] - 2.0).powi(2)
                + (x[2] - 1.0).powi(2)
                + (x[3] - 4.0).powi(2)
                + (x[4] - 1.0).powi(2);
            vec![
                -first,
                x.iter().map(|x| x * x).sum(),
                -(x[0] + x[1] - 2.0),
                -(6.0 - x[0] - x[1]),
                -(2.0 - x[1] + x[0]),
                -(2.0 - x[0] + 3.0 * x[1]),
                -(4.0 - (x[2] - 3.0).powi(2) - x[3]),
                -((x[4] - 3.0).powi(2) + x[5] - 4.0),
            ]
        },
    }
}
