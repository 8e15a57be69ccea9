//! Searches that GO-UCB is judged against.
