//! Pictures that cannot be had.

use std::path::PathBuf;

/// A picture that cannot be drawn or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The ending of the file name is not one of a known format.
    #[error(
        "cannot tell the format of {}; use a name that ends in .svg, .png or .html", file.display()
    )]
    UnknownFormat {
        /// The file that was asked for.
        file: PathBuf,
    },
    /// The plotting crate cannot make a PNG of it.
    #[error("cannot draw the picture: {problem}; try a file name that ends in .svg")]
    Png {
        /// What it says.
        problem: String,
    },
    /// The file cannot be written.
    #[error("cannot write the picture to {}", file.display())]
    Write {
        /// The file that was asked for.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
