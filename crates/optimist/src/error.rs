//! Errors of this crate.

/// An outcome that cannot be learnt from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TellError {
    /// The value is NaN or infinite.
    #[error("value {y} is not finite; tell a finite value, or tell the trial as failed")]
    NotFinite {
        /// The offending value.
        y: f64,
    },
    /// The noise is NaN, infinite or negative.
    #[error("noise_std {noise_std} must be finite and not negative; leave it out to have it inferred")]
    BadNoise {
        /// The offending standard deviation.
        noise_std: f64,
    },
    /// The point has the wrong number of coordinates.
    #[error("the point has {got} coordinates, the domain has {expected}")]
    WrongDimension {
        /// Coordinates of the domain.
        expected: usize,
        /// Coordinates of the point.
        got: usize,
    },
    /// A coordinate is outside the unit interval.
    #[error("coordinate {index} is {value}; encoded coordinates lie between 0 and 1")]
    OutsideCube {
        /// Which coordinate.
        index: usize,
        /// Its value.
        value: f64,
    },
}
