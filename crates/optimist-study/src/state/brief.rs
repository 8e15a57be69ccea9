//! A state without its past: made from a snapshot, which is what ask and tell need of a study and no more.
//!
//! Given: pages that were kept beside the log. Gives: a state that lacks old trials and updates until they are fetched, and the pages
//! to keep next time. Does not know: where pages are kept, or whether they belong to the log, which the storage checks. A page
//! that was made by another version of the program is not used: everything can be folded from the log again.
//!
//! Page 0 is the frame: all but trials and updates. The others, by turns, hold trials as JSON, their encoded points and the
//! optimizer's updates as plain numbers; of the latter two kinds only the last page ever grows.

use std::collections::{BTreeMap, BTreeSet};

use optimist::encode::Encoding;
use optimist::space::Assignment;
use optimist::{ENGINE_VERSION, Outcome};
use serde::{Deserialize, Serialize};

use super::{State, Told, Trials, Update};
use crate::definition::Definition;
use crate::event::Course;
use crate::trial::Trial;

/// Trials on a page. A tell parses a whole page.
const TRIALS: usize = 64;

/// Points on a page, and updates on one: an ask reads all of them.
const NUMBERS: usize = 4096;

/// Bytes of an update: what it is, the trial or how many are planned; and for each outcome a value and its noise. Where there are
/// several outcomes, each also says what it is.
fn update_bytes(n_outcomes: usize) -> usize {
    9 + if n_outcomes == 1 { 16 } else { 17 * n_outcomes }
}

/// The page that says what the others are about.
pub const FRAME: u64 = 0;

/// A page by its number, to be kept.
pub type Page = (u64, Vec<u8>);

/// What a state lacks.
#[derive(Debug, Clone)]
pub(super) struct LeftOut {
    /// How many of the first updates.
    n_updates: usize,
    /// The best trial among those left out, and its value.
    best: Option<(usize, f64)>,
}

/// How far pages go that were kept before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// After how many records they were made.
    pub head: u64,
    n_trials: usize,
    n_updates: usize,
    revision: usize,
}

#[derive(Serialize, Deserialize)]
struct Frame {
    /// The program and the engine that made it.
    made_by: (String, u32),
    definition: Definition,
    engine: u32,
    created_at: u64,
    n_trials: usize,
    n_updates: usize,
    n_counted: usize,
    queue: Vec<Assignment>,
    running: Vec<usize>,
    waiting: Vec<usize>,
    gains: Vec<Option<f64>>,
    best: Option<(usize, f64)>,
    course: Course,
}

fn this_program() -> (String, u32) {
    (env!("CARGO_PKG_VERSION").to_owned(), ENGINE_VERSION)
}

/// From the pages of a snapshot to a state.
impl State {
    /// The state after record `head`, from the frame that was made then; `None` if another program made it.
    pub(crate) fn brief(head: u64, frame: &[u8]) -> Option<Self> {
        let frame: Frame = serde_json::from_slice(frame).ok()?;
        if frame.made_by != this_program() {
            return None;
        }
        Some(Self {
            encoding: Encoding::new(frame.definition.space.clone()),
            definition: frame.definition,
            engine: frame.engine,
            head,
            created_at: frame.created_at,
            trials: Trials::without(frame.n_trials),
            queue: frame.queue.into(),
            running: frame.running.into_iter().collect(),
            waiting: frame.waiting.into_iter().collect(),
            n_counted: frame.n_counted,
            gains: frame.gains.into(),
            updates: Vec::new(),
            left_out: Some(LeftOut { n_updates: frame.n_updates, best: frame.best }),
            revision: 0,
            widenings: Vec::new(),
            course: frame.course,
            notes: BTreeMap::new(), // nobody who asks or tells reads them
        })
    }

    /// Whether it lacks anything.
    pub(crate) fn is_brief(&self) -> bool {
        self.left_out.is_some()
    }

    /// The page that a trial is on, if it is there and left out.
    pub(crate) fn page_of(&self, trial: usize) -> Option<u64> {
        self.trials.is_left_out(trial).then(|| trials_page(trial / TRIALS))
    }

    /// A trial of each page that has to be kept again and is not here.
    pub(crate) fn changed_pages(&self) -> Vec<usize> {
        let pages: BTreeSet<usize> = self.trials.changed().map(|number| number / TRIALS).collect();
        pages.into_iter().map(|page| page * TRIALS).filter(|first| self.trials.is_left_out(*first)).collect()
    }

    /// The first trial that waits.
    pub(crate) fn first_waiting(&self, k: usize) -> Vec<usize> {
        self.waiting.iter().take(k).copied().collect()
    }

    /// Takes in the trials of a page; whether they are such.
    pub(crate) fn fetch(&mut self, page: &[u8]) -> bool {
        let trials: Option<Vec<Trial>> = serde_json::from_slice(page).ok();
        trials.map(|trials| self.trials.fetch(trials)).is_some()
    }

    /// Takes in the updates that were left out, and gives the encoded points of the first trials; `page` gives pages. `None` if
    /// they are not what they should be.
    pub(crate) fn recall(&mut self, mut page: impl FnMut(u64) -> Option<Vec<u8>>) -> Option<Vec<Vec<f64>>> {
        let (n_trials, d) = (self.trials.n_left_out(), self.encoding.domain().dimension());
        let mut points = Vec::with_capacity(n_trials);
        for i in 0..n_trials.div_ceil(NUMBERS) {
            let page = page(points_page(i))?;
            let wanted = (n_trials - points.len()).min(NUMBERS);
            let numbers = page.get(..wanted * d * 8)?;
            points.extend(numbers.chunks_exact((d * 8).max(1)).map(floats));
        }
        let n_updates = self.left_out.as_ref().map_or(0, |left_out| left_out.n_updates);
        let mut updates = Vec::with_capacity(n_updates + self.updates.len());
        let row_bytes = update_bytes(self.outcomes().all().len());
        for i in 0..n_updates.div_ceil(NUMBERS) {
            let page = page(updates_page(i))?;
            let wanted = (n_updates - updates.len()).min(NUMBERS);
            let rows = page.get(..wanted * row_bytes)?.chunks_exact(row_bytes);
            updates.extend(rows.map(read_update).collect::<Option<Vec<_>>>()?);
        }
        updates.append(&mut self.updates);
        self.updates = updates;
        if let Some(left_out) = &mut self.left_out {
            left_out.n_updates = 0;
        }
        Some(points)
    }

    /// The best trial that was observed, the first of equals, and its value (0 if there is no goal); `None` in the place of an answer if that takes trials
    /// that are left out.
    pub(crate) fn best_value(&self) -> Option<Option<(usize, f64)>> {
        let before = self.left_out.as_ref().and_then(|left_out| left_out.best);
        if let Some((number, value)) = before
            && !self.trials.is_left_out(number)
            && self.merit(self.trials.get(number)?).is_none_or(|now| self.is_better(value, now))
        {
            return None; // it became worse, and any of those left out may be the best now
        }
        let loaded = self.trials.loaded().filter_map(|trial| Some((trial.number, self.merit(trial)?)));
        let best = before.into_iter().chain(loaded).reduce(|best, next| {
            let is_first = next.1 == best.1 && next.0 < best.0;
            if self.is_better(next.1, best.1) || is_first { next } else { best }
        });
        Some(best)
    }
}

/// From a state to the pages of a snapshot.
impl State {
    /// How far pages would go that are made now.
    pub(crate) fn extent(&self) -> Extent {
        let n_left_out = self.left_out.as_ref().map_or(0, |left_out| left_out.n_updates);
        let n_updates = n_left_out + self.updates.len();
        Extent { head: self.head, n_trials: self.n_trials(), n_updates, revision: self.revision }
    }

    /// The pages to keep now: those that changed since others were kept, or all. `page` gives pages as they were kept. `None` if that
    /// takes something that is left out.
    pub(crate) fn pages(
        &self,
        kept: Option<Extent>,
        mut page: impl FnMut(u64) -> Option<Vec<u8>>,
    ) -> Option<Vec<Page>> {
        let kept = kept.filter(|kept| kept.revision == self.revision);
        let mut pages = vec![(FRAME, serde_json::to_vec(&self.frame()?).ok()?)];
        let changed: BTreeSet<usize> = match kept {
            Some(_) => self.trials.changed().map(|number| number / TRIALS).collect(),
            None => (0..self.n_trials().div_ceil(TRIALS)).collect(),
        };
        for i in changed {
            let numbers = i * TRIALS..((i + 1) * TRIALS).min(self.n_trials());
            let trials: Option<Vec<&Trial>> = numbers.map(|number| self.trials.get(number)).collect();
            pages.push((trials_page(i), serde_json::to_vec(&trials?).ok()?));
        }
        let row_bytes = self.encoding.domain().dimension() * 8;
        let point = |number| {
            let x = self.encoding.encode(&self.trials.get(number)?.params).ok()?;
            Some(x.iter().flat_map(|x| x.to_le_bytes()).collect())
        };
        let n_before = kept.map_or(0, |kept| kept.n_trials);
        pages.extend(grown(n_before, self.n_trials(), row_bytes, points_page, point, &mut page)?);
        let Extent { n_updates, .. } = self.extent();
        let n_left_out = n_updates - self.updates.len();
        let row_bytes = update_bytes(self.outcomes().all().len());
        let update =
            |number: usize| Some(write_update(self.updates.get(number.checked_sub(n_left_out)?)?, row_bytes));
        let n_before = kept.map_or(0, |kept| kept.n_updates);
        pages.extend(grown(n_before, n_updates, row_bytes, updates_page, update, &mut page)?);
        Some(pages)
    }

    /// The pages are kept.
    pub(crate) fn forget_changes(&mut self) {
        self.trials.forget_changes();
    }

    fn frame(&self) -> Option<Frame> {
        let Extent { n_trials, n_updates, .. } = self.extent();
        Some(Frame {
            made_by: this_program(),
            definition: self.definition.clone(),
            engine: self.engine,
            created_at: self.created_at,
            n_trials,
            n_updates,
            n_counted: self.n_counted,
            queue: self.queue.iter().cloned().collect(),
            running: self.running.iter().copied().collect(),
            waiting: self.waiting.iter().copied().collect(),
            gains: self.gains.iter().copied().collect(),
            best: self.best_value()?,
            course: self.course,
        })
    }
}

fn trials_page(i: usize) -> u64 {
    1 + 3 * i as u64
}

fn points_page(i: usize) -> u64 {
    2 + 3 * i as u64
}

fn updates_page(i: usize) -> u64 {
    3 + 3 * i as u64
}

/// The pages of rows `n_before` to `n`, of which the first may have been kept in part.
fn grown(
    n_before: usize,
    n: usize,
    row_bytes: usize,
    number: impl Fn(usize) -> u64,
    row: impl Fn(usize) -> Option<Vec<u8>>,
    page: &mut impl FnMut(u64) -> Option<Vec<u8>>,
) -> Option<Vec<Page>> {
    let mut pages = Vec::new();
    for i in n_before / NUMBERS..n.div_ceil(NUMBERS) {
        let (first, end) = (i * NUMBERS, ((i + 1) * NUMBERS).min(n));
        let n_kept = n_before.saturating_sub(first);
        let mut bytes = match n_kept {
            0 => Vec::new(),
            _ => page(number(i))?.get(..n_kept * row_bytes)?.to_vec(),
        };
        for place in first + n_kept..end {
            bytes.extend(row(place)?);
        }
        pages.push((number(i), bytes));
    }
    Some(pages)
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).filter_map(|bytes| Some(f64::from_le_bytes(bytes.try_into().ok()?))).collect()
}

fn write_update(update: &Update, row_bytes: usize) -> Vec<u8> {
    let (kind, number) = match update {
        Update::Proposed { trial } => (0, *trial),
        Update::Told { trial, outcome: Told::One(outcome) } => (kind_of(outcome), *trial),
        Update::Told { trial, outcome: Told::Several(_) } => (6, *trial),
        Update::Withdrawn { trial } => (4, *trial),
        Update::Planned { trials } => (5, *trials),
    };
    let mut bytes = vec![kind];
    bytes.extend((number as u64).to_le_bytes());
    match update {
        Update::Told { outcome: Told::One(outcome), .. } => bytes.extend(numbers_of(outcome)),
        Update::Told { outcome: Told::Several(outcomes), .. } => {
            for outcome in outcomes {
                bytes.push(kind_of(outcome));
                bytes.extend(numbers_of(outcome));
            }
        }
        _ => {}
    }
    bytes.resize(row_bytes, 0);
    bytes
}

fn kind_of(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Value { noise_std: None, .. } => 1,
        Outcome::Value { noise_std: Some(_), .. } => 2,
        Outcome::Failed => 3,
    }
}

/// The value and its noise.
fn numbers_of(outcome: &Outcome) -> impl Iterator<Item = u8> {
    let (y, noise_std) = match *outcome {
        Outcome::Value { y, noise_std } => (y, noise_std.unwrap_or(0.0)),
        Outcome::Failed => (0.0, 0.0),
    };
    [y, noise_std].into_iter().flat_map(f64::to_le_bytes)
}

fn read_update(bytes: &[u8]) -> Option<Update> {
    let trial = u64::from_le_bytes(bytes.get(1..9)?.try_into().ok()?);
    let trial = usize::try_from(trial).ok()?;
    let several = || -> Option<Box<[Outcome]>> {
        bytes.get(9..)?.chunks_exact(17).map(|row| read_outcome(row[0], &row[1..])).collect()
    };
    Some(match *bytes.first()? {
        0 => Update::Proposed { trial },
        kind @ 1..=3 => Update::Told { trial, outcome: Told::One(read_outcome(kind, bytes.get(9..)?)?) },
        4 => Update::Withdrawn { trial },
        5 => Update::Planned { trials: trial },
        6 => Update::Told { trial, outcome: Told::Several(several()?) },
        _ => return None,
    })
}

fn read_outcome(kind: u8, numbers: &[u8]) -> Option<Outcome> {
    let numbers = floats(numbers);
    let (y, std) = (*numbers.first()?, *numbers.get(1)?);
    match kind {
        1 => Some(Outcome::Value { y, noise_std: None }),
        2 => Some(Outcome::Value { y, noise_std: Some(std) }),
        3 => Some(Outcome::Failed),
        _ => None,
    }
}
