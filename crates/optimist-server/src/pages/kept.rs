//! What pages cache from one request to the next.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use optimist_plot::study::Plots;
use optimist_study::log::StudyId;

use super::advice::Advice;
use super::background::Background;
use crate::problem::Problem;
use crate::studies::lock;

/// Parts are redrawn after this long even without a new record, since leases expire without one.
const FRESH: Duration = Duration::from_secs(2);

/// The most pages whose parts are cached.
const MOST_PARTS: usize = 256;

/// A study, and the parameters of its contour if somebody chose them.
type Drawing = (StudyId, Option<(usize, usize)>);

/// A cached text; `None` before it is first drawn.
type Slot<V> = Arc<Mutex<Option<Text<V>>>>;

/// The caches of all pages; cheap to clone.
#[derive(Clone, Default)]
pub struct Kept {
    /// The optimizer's advice on each study.
    pub advice: Arc<Background<StudyId, Advice>>,
    /// Plots of each study's model.
    pub plots: Arc<Background<Drawing, Plots>>,
    /// Live parts by study and address; their version is the last record of the log and that of the advice.
    pub parts: Arc<Drawn<(StudyId, String), (u64, u64)>>,
}

/// Texts that are drawn once for all who ask at the same time.
pub struct Drawn<K, V> {
    slots: Mutex<HashMap<K, Slot<V>>>,
}

struct Text<V> {
    version: V,
    at: Instant,
    text: Arc<str>,
}

impl<K, V> Default for Drawn<K, V> {
    fn default() -> Self {
        Self { slots: Mutex::default() }
    }
}

impl<K: Eq + Hash, V: PartialEq> Drawn<K, V> {
    /// The text in this version, drawn by `draw` unless it is cached.
    ///
    /// # Errors
    /// Whatever `draw` returns.
    pub fn get(
        &self,
        key: K,
        version: V,
        draw: impl FnOnce() -> Result<String, Problem>,
    ) -> Result<String, Problem> {
        let slot = {
            let mut slots = lock(&self.slots);
            if slots.len() >= MOST_PARTS {
                slots.clear();
            }
            slots.entry(key).or_default().clone()
        };
        let mut known = lock(&slot);
        if let Some(text) = known.as_ref().filter(|text| text.version == version && text.at.elapsed() < FRESH)
        {
            return Ok(text.text.to_string());
        }
        let text = draw()?;
        *known = Some(Text { version, at: Instant::now(), text: text.as_str().into() });
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_drawn_once() {
        let drawn = Drawn::<u8, u64>::default();
        let draw = |version, text: &str| drawn.get(1, version, || Ok(text.to_owned())).unwrap();
        assert_eq!(draw(7, "first"), "first");
        assert_eq!(draw(7, "not drawn"), "first");
        assert_eq!(draw(8, "second"), "second");
    }
}
