//! Suggestions for misspelt names.

/// The candidate whose spelling is most similar to `typed`, if any is close enough. Case does not matter.
///
/// ```
/// use optimist::spelling::nearest;
///
/// assert_eq!(nearest("Momentun", ["learning_rate", "momentum"]), Some("momentum"));
/// assert_eq!(nearest("depth", ["learning_rate", "momentum"]), None);
/// ```
pub fn nearest<'c>(typed: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    /// A threshold on the Jaro-Winkler similarity, in which a common prefix counts more: `max` is close enough to `maximize`.
    const CLOSE_ENOUGH: f64 = 0.75;
    let typed = typed.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&typed, &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity >= CLOSE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_spelling_is_offered_only_when_it_is_near() {
        let names = ["learning_rate", "momentum", "lr"];
        assert_eq!(nearest("learnign_rate", names), Some("learning_rate"));
        assert_eq!(nearest("Momentun", names), Some("momentum"));
        assert_eq!(nearest("depth", names), None);
    }

    #[test]
    fn abbreviations_and_typing_errors_are_recognised_but_strangers_are_not() {
        assert_eq!(nearest("max", ["maximize", "minimize"]), Some("maximize"));
        assert_eq!(nearest("Minimise", ["maximize", "minimize"]), Some("minimize"));
        assert_eq!(nearest("banana", ["maximize", "minimize"]), None);
    }
}
