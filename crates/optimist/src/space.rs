//! What the user may vary: names, bounds, choices.
