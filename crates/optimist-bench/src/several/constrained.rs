//! Problems with one goal and constraints. Constraints of one kind that a trial would report as one number, the worst of them, are
//! told as one here too: a trial has at most eight outcomes, and each needs a model.

use std::f64::consts::PI;

use super::problem::{Problem, Raw};

pub(super) fn problems() -> Vec<Problem> {
    let raws = [
        water_filling(),
        g01(),
        g07(),
        ackley_20(),
        pressure_vessel(),
        welded_beam(),
        speed_reducer(),
        tension_spring(),
        gramacy(),
        mystery(),
        townsend(),
    ];
    let noisy = Problem::from(gramacy()).with_noise("gramacy-noisy", &[0.05, 0.1, 0.1]);
    raws.into_iter().map(Problem::from).chain([noisy]).collect()
}

/// The worst of several constraints.
fn worst(of: &[f64]) -> f64 {
    of.iter().copied().fold(f64::MIN, f64::max)
}

fn water_filling() -> Raw {
    const NOISE: [f64; 8] = [0.3, 0.05, 1.0, 0.2, 0.45, 0.1, 0.7, 0.15];
    Raw {
        name: "water-filling-measured",
        summary: "the power of eight channels, their sum measured; 1 point of 40,000 is feasible",
        source: "parallel Gaussian channels, Cover and Thomas 2006, section 9.4",
        bounds: vec![(0.0, 1.0, 0.0); 8],
        reference: Vec::new(),
        n_constraints: 1,
        best: -2.450_295_915_3,
        worst: 0.0,
        tiny: true,
        formula: |x| {
            let capacity = x.iter().zip(NOISE).map(|(x, noise)| 0.5 * (x / noise).ln_1p()).sum::<f64>();
            vec![-capacity, x.iter().sum::<f64>() - 1.0]
        },
    }
}

fn g01() -> Raw {
    let mut bounds = vec![(0.0, 1.0, 0.0); 13];
    bounds[9..12].fill((0.0, 100.0, 0.0));
    Raw {
        name: "g01-measured",
        summary: "thirteen inputs, nine constraints told as three; the optimum in one of many corners",
        source: "Floudas and Pardalos 1990; g01 of the CEC 2006 competition",
        bounds,
        reference: Vec::new(),
        n_constraints: 3,
        best: -15.0,
        worst: 0.0,
        tiny: true,
        formula: |x| {
            let objective = 5.0 * x[..4].iter().map(|x| x - x * x).sum::<f64>() - x[4..].iter().sum::<f64>();
            let budget = [(0, 1, 9, 10), (0, 2, 9, 11), (1, 2, 10, 11)]
                .map(|(a, b, c, d)| 2.0 * x[a] + 2.0 * x[b] + x[c] + x[d] - 10.0);
            let own = [0, 1, 2].map(|i| -8.0 * x[i] + x[9 + i]);
            let pairs = [0, 1, 2].map(|i| -2.0 * x[3 + 2 * i] - x[4 + 2 * i] + x[9 + i]);
            vec![objective, worst(&budget), worst(&own), worst(&pairs)]
        },
    }
}

fn g07() -> Raw {
    Raw {
        name: "g07",
        summary: "ten coordinates, eight constraints told as four; 3 points of a million are feasible",
        source: "Hock and Schittkowski 1981; g07 of the CEC 2006 competition",
        bounds: vec![(-10.0, 10.0, 0.0); 10],
        reference: Vec::new(),
        n_constraints: 4,
        best: 24.306_209_068_179_5,
        worst: 1500.0,
        tiny: true,
        formula: |x| {
            let at = |i: usize| x[i - 1];
            let square = |i: usize, centre: f64| (at(i) - centre).powi(2);
            let objective = at(1).powi(2) + at(2).powi(2) + at(1) * at(2) - 14.0 * at(1) - 16.0 * at(2)
                + square(3, 10.0)
                + 4.0 * square(4, 5.0)
                + square(5, 3.0)
                + 2.0 * square(6, 1.0)
                + 5.0 * at(7).powi(2)
                + 7.0 * square(8, 11.0)
                + 2.0 * square(9, 10.0)
                + square(10, 7.0)
                + 45.0;
            let linear = [
                -105.0 + 4.0 * at(1) + 5.0 * at(2) - 3.0 * at(7) + 9.0 * at(8),
                10.0 * at(1) - 8.0 * at(2) - 17.0 * at(7) + 2.0 * at(8),
                -8.0 * at(1) + 2.0 * at(2) + 5.0 * at(9) - 2.0 * at(10) - 12.0,
            ];
            let first = [
                3.0 * square(1, 2.0) + 4.0 * square(2, 3.0) + 2.0 * at(3).powi(2) - 7.0 * at(4) - 120.0,
                5.0 * at(1).powi(2) + 8.0 * at(2) + square(3, 6.0) - 2.0 * at(4) - 40.0,
            ];
            let second = [
                at(1).powi(2) + 2.0 * square(2, 2.0) - 2.0 * at(1) * at(2) + 14.0 * at(5) - 6.0 * at(6),
                0.5 * square(1, 8.0) + 2.0 * square(2, 4.0) + 3.0 * at(5).powi(2) - at(6) - 30.0,
            ];
            let last = -3.0 * at(1) + 6.0 * at(2) + 12.0 * square(9, 8.0) - 7.0 * at(10);
            vec![objective, worst(&linear), worst(&first), worst(&second), last]
        },
    }
}

fn ackley_20() -> Raw {
    Raw {
        name: "ackley-20",
        summary: "twenty coordinates, feasible in half a ball that hardly any point lies in",
        source: "Eriksson and Poloczek 2021, with 20 coordinates",
        bounds: vec![(-5.0, 10.0, 0.0); 20],
        reference: Vec::new(),
        n_constraints: 2,
        best: 0.0,
        worst: 20.0,
        tiny: true,
        formula: |x| {
            let n = x.len() as f64;
            let square = x.iter().map(|x| x * x).sum::<f64>();
            let waves = x.iter().map(|x| (2.0 * PI * x).cos()).sum::<f64>();
            let ackley = 20.0 + 1f64.exp() - 20.0 * (-0.2 * (square / n).sqrt()).exp() - (waves / n).exp();
            vec![ackley, x.iter().sum(), square.sqrt() - 5.0]
        },
    }
}

fn pressure_vessel() -> Raw {
    Raw {
        name: "pressure-vessel",
        summary: "two thicknesses in steps of a sixteenth of an inch, radius and length",
        source: "Kannan and Kramer 1994",
        bounds: vec![
            (0.0625, 6.1875, 0.0625),
            (0.0625, 6.1875, 0.0625),
            (10.0, 200.0, 0.0),
            (10.0, 240.0, 0.0),
        ],
        reference: Vec::new(),
        n_constraints: 3,
        best: 5_850.383_06,
        worst: 50_000.0,
        tiny: false,
        formula: |x| {
            let [shell, head, radius, length] = [x[0], x[1], x[2], x[3]];
            let cost = 0.622_4 * shell * radius * length
                + 1.778_1 * head * radius * radius
                + 3.166_1 * shell * shell * length
                + 19.84 * shell * shell * radius;
            let volume = PI * radius * radius * length + 4.0 / 3.0 * PI * radius.powi(3);
            vec![cost, -shell + 0.019_3 * radius, -head + 0.009_54 * radius, 1_296_000.0 - volume]
        },
    }
}

fn welded_beam() -> Raw {
    Raw {
        name: "welded-beam",
        summary: "four dimensions, six constraints, three of them tight",
        source: "Rao 1996, as in Coello Coello 2000",
        bounds: vec![(0.125, 2.0, 0.0), (0.1, 10.0, 0.0), (0.1, 10.0, 0.0), (0.1, 2.0, 0.0)],
        reference: Vec::new(),
        n_constraints: 6,
        best: 1.724_852_308_6,
        worst: 10.0,
        tiny: false,
        formula: |x| {
            const LOAD: f64 = 6000.0;
            const REACH: f64 = 14.0;
            let [weld, run, height, width] = [x[0], x[1], x[2], x[3]];
            let cost = 1.104_71 * weld * weld * run + 0.048_11 * height * width * (REACH + run);
            let arm = (0.25 * run * run + 0.25 * (weld + height).powi(2)).sqrt();
            let moment = LOAD * (REACH + 0.5 * run);
            let inertia =
                2.0 * (2f64.sqrt() * weld * run * (run * run / 12.0 + 0.25 * (weld + height).powi(2)));
            let (direct, bent) = (LOAD / (2f64.sqrt() * weld * run), moment * arm / inertia);
            let shear = (direct * direct + direct * bent * run / arm + bent * bent).sqrt();
            let bending = 6.0 * LOAD * REACH / (width * height * height);
            let deflection = 4.0 * LOAD * REACH.powi(3) / (30e6 * height.powi(3) * width);
            let buckling = 4.013 * 30e6 * (height * height * width.powi(6) / 36.0).sqrt() / (REACH * REACH)
                * (1.0 - height / (2.0 * REACH) * (30e6_f64 / (4.0 * 12e6)).sqrt());
            vec![
                cost,
                shear - 13_600.0,
                bending - 30_000.0,
                weld - width,
                0.104_71 * weld * weld + 0.048_11 * height * width * (REACH + run) - 5.0,
                deflection - 0.25,
                LOAD - buckling,
            ]
        },
    }
}

#[expect(clippy::approx_constant, reason = "the literature has four digits of a quarter of π")]
fn speed_reducer() -> Raw {
    Raw {
        name: "speed-reducer",
        summary: "seven inputs, one of them a number of teeth; eleven constraints told as four",
        source: "Golinski 1970, as in Lemonge et al. 2010",
        bounds: vec![
            (2.6, 3.6, 0.0),
            (0.7, 0.8, 0.0),
            (17.0, 28.0, 1.0),
            (7.3, 8.3, 0.0),
            (7.8, 8.3, 0.0),
            (2.9, 3.9, 0.0),
            (5.0, 5.5, 0.0),
        ],
        reference: Vec::new(),
        n_constraints: 4,
        best: 2_996.348_164_968_6,
        worst: 6_000.0,
        tiny: true,
        formula: |x| {
            let [face, module, teeth, first, second, thin, thick] =
                [x[0], x[1], x[2], x[3], x[4], x[5], x[6]];
            let weight =
                0.785_4 * face * module * module * (3.333_3 * teeth * teeth + 14.933_4 * teeth - 43.093_4)
                    - 1.508 * face * (thin * thin + thick * thick)
                    + 7.477_7 * (thin.powi(3) + thick.powi(3))
                    + 0.785_4 * (first * thin * thin + second * thick * thick);
            let teeth_hold = [
                27.0 / (face * module * module * teeth) - 1.0,
                397.5 / (face * module * module * teeth * teeth) - 1.0,
            ];
            let shafts_hold = [
                1.93 * first.powi(3) / (module * teeth * thin.powi(4)) - 1.0,
                1.93 * second.powi(3) / (module * teeth * thick.powi(4)) - 1.0,
            ];
            let stress = |length: f64, torque: f64, width: f64, limit: f64| {
                ((745.0 * length / (module * teeth)).powi(2) + torque).sqrt() / (limit * width.powi(3)) - 1.0
            };
            let stresses = [stress(first, 16.9e6, thin, 110.0), stress(second, 157.5e6, thick, 85.0)];
            let shapes = [
                module * teeth / 40.0 - 1.0,
                5.0 * module / face - 1.0,
                face / (12.0 * module) - 1.0,
                (1.5 * thin + 1.9) / first - 1.0,
                (1.1 * thick + 1.9) / second - 1.0,
            ];
            vec![weight, worst(&teeth_hold), worst(&shafts_hold), worst(&stresses), worst(&shapes)]
        },
    }
}

fn tension_spring() -> Raw {
    Raw {
        name: "tension-spring",
        summary: "wire, coil and number of turns; 2 % is feasible",
        source: "Arora 1989, as in Coello Coello 2000",
        bounds: vec![(0.05, 1.0, 0.0), (0.25, 1.3, 0.0), (2.0, 15.0, 0.0)],
        reference: Vec::new(),
        n_constraints: 4,
        best: 0.012_665_232_788_3,
        worst: 1.0,
        tiny: false,
        formula: |x| {
            let [wire, coil, turns] = [x[0], x[1], x[2]];
            vec![
                (turns + 2.0) * coil * wire * wire,
                1.0 - coil.powi(3) * turns / (71_785.0 * wire.powi(4)),
                (4.0 * coil * coil - wire * coil) / (12_566.0 * (coil * wire.powi(3) - wire.powi(4)))
                    + 1.0 / (5_108.0 * wire * wire)
                    - 1.0,
                1.0 - 140.45 * wire / (coil * coil * turns),
                (wire + coil) / 1.5 - 1.0,
            ]
        },
    }
}

fn gramacy() -> Raw {
    Raw {
        name: "gramacy",
        summary: "a slope in a feasible part with holes",
        source: "Gramacy et al. 2016",
        bounds: vec![(0.0, 1.0, 0.0); 2],
        reference: Vec::new(),
        n_constraints: 2,
        best: 0.599_788,
        worst: 2.0,
        tiny: false,
        formula: |x| {
            let wave = (2.0 * PI * (x[0] * x[0] - 2.0 * x[1])).sin();
            vec![x[0] + x[1], 1.5 - x[0] - 2.0 * x[1] - 0.5 * wave, x[0] * x[0] + x[1] * x[1] - 1.5]
        },
    }
}

fn mystery() -> Raw {
    Raw {
        name: "mystery",
        summary: "a valley cut by a wavy bound",
        source: "Sasena, Papalambros and Goovaerts 2002",
        bounds: vec![(0.0, 5.0, 0.0); 2],
        reference: Vec::new(),
        n_constraints: 1,
        best: -1.174_274_8,
        worst: 30.0,
        tiny: false,
        formula: |x| {
            let objective = 2.0
                + 0.01 * (x[1] - x[0] * x[0]).powi(2)
                + (1.0 - x[0]).powi(2)
                + 2.0 * (2.0 - x[1]).powi(2)
                + 7.0 * (0.5 * x[0]).sin() * (0.7 * x[0] * x[1]).sin();
            vec![objective, -(x[0] - x[1] - PI / 8.0).sin()]
        },
    }
}

fn townsend() -> Raw {
    Raw {
        name: "townsend",
        summary: "waves in a heart",
        source: "Townsend 2014",
        bounds: vec![(-2.25, 2.5, 0.0), (-2.5, 1.75, 0.0)],
        reference: Vec::new(),
        n_constraints: 1,
        best: -2.023_988_4,
        worst: 3.0,
        tiny: false,
        formula: |x| {
            let (a, b) = (x[0], x[1]);
            let waves = -((a - 0.1) * b).cos().powi(2) - a * (3.0 * a + b).sin();
            let t = a.atan2(b);
            let edge =
                2.0 * t.cos() - 0.5 * (2.0 * t).cos() - 0.25 * (3.0 * t).cos() - 0.125 * (4.0 * t).cos();
            vec![waves, a * a + b * b - edge * edge - (2.0 * t.sin()).powi(2)]
        },
    }
}
