//! wip
use crate::TellError;
use crate::acquisition::{self, Effort, Frame, Region};
use crate::confidence::{Confidence, Round};
use crate::encode::{AxisKind, Domain};
use crate::evidence::{self, Data, Learning, Linearization};
use crate::history::History;
use crate::model::Family;
use crate::model::anova::Anova;
use crate::optimizer::{Observation, Optimizer, Outcome, Recommendation, Rng};
use crate::trust_region::TrustRegion;

#[derive(Debug, Clone)]
/// s
pub struct Settings {
    /// n
    pub explore: usize,
    /// k
    pub kappa: f64,
    /// t
    pub trust: Option<TrustRegion>,
    /// w
    pub warp_std: Option<f64>,
    /// st
    pub max_steps: usize,
    /// e
    pub effort: Effort,
    /// r
    pub robust: bool,
}

/// g
pub struct GoUcb {
    history: History,
    settings: Settings,
    frame: Frame,
}

impl GoUcb {
    /// n
    pub fn new(domain: Domain, settings: Settings) -> Self {
        let frame = Frame::symmetric(domain.dimension());
        Self { history: History::new(domain), settings, frame }
    }
    fn family(&self) -> Box<dyn Family> {
        let mut degrees = Vec::new();
        for a in self.history.domain().axes() {
            match &a.kind {
                AxisKind::Real => degrees.push(crate::knob("DEG",6.0) as usize),
                AxisKind::Grid(g) => degrees.push(6.min(g.count().max(2) - 1)),
                AxisKind::OneHot => degrees.extend(vec![1; a.columns.len()]),
            }
        }
        let d = degrees.len();
        let a = Anova::with_degrees(degrees, true);
        let m = crate::knob("FOUR", 0.0) as usize;
        if m > 0 {
            return Box::new(crate::model::sum::Sum::new(vec![Box::new(a), Box::new(crate::model::fourier::Fourier::new(d, m, 0))]));
        }
        Box::new(a)
    }
}

impl Optimizer for GoUcb {
    fn ask(&mut self, rng: &mut Rng) -> Vec<f64> {
        let obs = self.history.observations();
        if obs.len() < self.settings.explore {
            let x = self.history.domain().sample(rng);
            self.history.propose(x.clone());
            return x;
        }
        let ys: Vec<f64> = obs
            .iter()
            .filter_map(|o| match o.outcome {
                Outcome::Value { y, .. } => Some(y),
                _ => None,
            })
            .collect();
        let (c, s) = if self.settings.robust {
            let mut v = ys.clone();
            v.sort_by(f64::total_cmp);
            let q = |p: f64| v[((v.len() - 1) as f64 * p).round() as usize];
            let iqr = (q(0.75) - q(0.25)) / 1.349;
            let mean = ys.iter().sum::<f64>() / ys.len() as f64;
            let sd = (ys.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / ys.len() as f64).sqrt();
            (q(0.5), iqr.max(0.3 * sd) + 1e-12)
        } else {
            let mean = ys.iter().sum::<f64>() / ys.len() as f64;
            let sd = (ys.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / ys.len() as f64).sqrt();
            (mean, sd + 1e-12)
        };
        let rows: Vec<Vec<f64>> = obs.iter().map(|o| self.frame.apply(&o.x)).collect();
        let d = self.frame.low.len();
        let data = Data {
            x: crate::linalg::Matrix::from_rows(d, rows.iter().map(Vec::as_slice)),
            y: ys.iter().map(|y| (y - c) / s).collect(),
            known_noise_var: vec![0.0; ys.len()],
        };
        let mut family = self.family();
        let n_w = family.n_weights();
        let at = Linearization { w: vec![0.0; n_w], offsets: vec![] };
        let (learnt, _ev) = evidence::learn(
            &mut *family,
            &data,
            &at,
            None,
            Learning { warp_std: self.settings.warp_std, max_steps: self.settings.max_steps },
        )
        .unwrap();
        let r = evidence::residuals(&data, &at, learnt.warp);
        let nv = evidence::noise_variances(&data, learnt.noise_std);
        let ball = Confidence::with_rounds(
            family,
            vec![0.0; n_w],
            (0..r.len()).map(|i| Round { w: &at.w, x: data.x.row(i), residual: r[i], noise_var: nv[i] }),
        );
        let mut region = Region::whole(self.history.domain());
        let best = ys.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
        let top = obs[best].x.clone();
        if let Some(t) = &self.settings.trust {
            let half = t.half_width(self.settings.explore, ys.iter().map(|y| Some(*y)));
            for j in 0..d {
                region.lower[j] = (top[j] - half).max(0.0);
                region.upper[j] = (top[j] + half).min(1.0);
            }
        }
        let x = acquisition::argmax(
            &ball,
            self.settings.kappa,
            &self.frame,
            &region,
            &[top],
            |x| self.history.is_taken(x),
            self.settings.effort,
            rng,
        );
        let x = x.unwrap_or_else(|| self.history.domain().sample(rng));
        self.history.propose(x.clone());
        x
    }
    fn tell(&mut self, o: Observation) -> Result<(), TellError> {
        self.history.tell(o)
    }
    fn withdraw(&mut self, x: &[f64]) {
        self.history.withdraw(x)
    }
    fn recommend(&self) -> Option<Recommendation> {
        self.history.best()
    }
}
