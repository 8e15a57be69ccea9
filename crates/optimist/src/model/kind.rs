//! The families of this crate by name, and makers of families.

use std::sync::Arc;

use serde::Deserialize;

use super::Family;
use super::anova::{Anova, DEGREE};
use super::fourier::Fourier;
use super::matern::Matern;
use super::mlp::{Activation, Mlp};
use super::sum::Sum;
use crate::encode::{AxisKind, Domain};

/// Cosines and sines of the `fourier` family: enough to carry a few dozen local bumps. 64 made no difference to regret on 27 tasks, and
/// 1,024 none for the better on six real ones (docs/results/log.md); the cost of an ask grows with them.
const FEATURES: usize = 128;

/// A family of this crate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FamilyKind {
    /// w_0 + w·x.
    Linear,
    /// A series in each coordinate.
    Additive,
    /// All polynomials of degree two.
    Quadratic,
    /// A series in each coordinate, and products of pairs.
    Anova,
    /// Random Fourier features: local bumps.
    Fourier,
    /// `anova` for the trend and `fourier` for what it leaves.
    #[serde(rename = "anova+fourier")]
    AnovaFourier,
    /// A Gaussian process with a Matérn kernel: smooth functions of few coordinates.
    Matern,
    /// A multi-layer perceptron; the paper's is one layer of 25 sigmoids.
    Mlp,
}

/// Layers of the `mlp` family.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
    /// The activation function of every unit.
    pub activation: Activation,
}

impl Default for Layers {
    fn default() -> Self {
        Self { hidden: vec![25], activation: Activation::Sigmoid }
    }
}

impl FamilyKind {
    /// The name in study files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Additive => "additive",
            Self::Quadratic => "quadratic",
            Self::Anova => "anova",
            Self::Fourier => "fourier",
            Self::AnovaFourier => "anova+fourier",
            Self::Matern => "matern",
            Self::Mlp => "mlp",
        }
    }

    /// A maker of the family on the columns of a domain.
    pub(crate) fn maker(&self, domain: &Domain, layers: &Layers) -> FamilyMaker {
        let (kind, domain, layers) = (self.clone(), domain.clone(), layers.clone());
        FamilyMaker::new(self.name(), move || kind.build(&domain, &layers))
    }

    /// The family on the columns of a domain. A column with few values gets no more powers than it can tell apart.
    pub(crate) fn build(&self, domain: &Domain, layers: &Layers) -> Box<dyn Family> {
        let d_x = domain.dimension();
        let anova = |degree: usize, interactions: bool| {
            Anova::with_degrees(degrees(domain).map(|most| degree.min(most)).collect(), interactions)
        };
        match self {
            Self::Linear => Box::new(anova(1, false)),
            Self::Additive => Box::new(anova(DEGREE, false)),
            Self::Quadratic => Box::new(anova(2, true)),
            Self::Anova => Box::new(anova(DEGREE, true)),
            Self::Fourier => Box::new(Fourier::new(d_x, FEATURES, 0)),
            Self::AnovaFourier => {
                let bumps = Fourier::residual(d_x, FEATURES, 0);
                Box::new(Sum::new(vec![Box::new(anova(DEGREE, true)), Box::new(bumps)]))
            }
            Self::Matern => Box::new(Matern::new(d_x)),
            Self::Mlp => Box::new(Mlp::new(d_x, &layers.hidden, layers.activation)),
        }
    }
}

/// Makes a new family for each fit, at the centres of its hyper-priors.
#[derive(Clone)]
pub struct FamilyMaker {
    /// The name of the family, as users see it.
    pub name: String,
    make: Arc<dyn Fn() -> Box<dyn Family> + Send + Sync>,
}

impl FamilyMaker {
    /// `make` is called once for each fit.
    pub fn new(name: &str, make: impl Fn() -> Box<dyn Family> + Send + Sync + 'static) -> Self {
        Self { name: name.to_owned(), make: Arc::new(make) }
    }

    /// A new instance of the family.
    pub fn make(&self) -> Box<dyn Family> {
        (self.make)()
    }
}

/// The highest useful power of each column.
fn degrees(domain: &Domain) -> impl Iterator<Item = usize> {
    domain.axes().iter().flat_map(|axis| {
        let degree = match &axis.kind {
            AxisKind::Real => DEGREE,
            AxisKind::Grid(grid) => grid.count().saturating_sub(1).clamp(1, DEGREE),
            AxisKind::OneHot => 1,
        };
        std::iter::repeat_n(degree, axis.columns.len())
    })
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::Error;

    use super::*;

    #[test]
    fn every_name_reads_back_as_its_kind() {
        use FamilyKind::{Additive, Anova, AnovaFourier, Fourier, Linear, Matern, Mlp, Quadratic};
        for kind in [Linear, Additive, Quadratic, Anova, Fourier, AnovaFourier, Matern, Mlp] {
            let read: Result<FamilyKind, Error> = FamilyKind::deserialize(kind.name().into_deserializer());
            assert_eq!(read, Ok(kind));
        }
    }
}
