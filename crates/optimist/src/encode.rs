//! Space to unit cube and back.
