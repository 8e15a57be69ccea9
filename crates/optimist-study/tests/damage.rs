//! Damaged SQLite files: never a panic, and never a study that is not what was written without anybody noticing.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use optimist_study::{AskTell, Measurement, Storage, Study, StudyError, StudyFile, Trial, TrialState};
use proptest::prelude::*;

const STUDY: &str = "
    name = 'film'
    direction = 'maximize'
    optimizer.name = 'random'
    parameters.x = { type = 'float', low = 0, high = 1 }
    parameters.kind = { type = 'categorical', choices = ['wet', 'dry'] }";

/// A sound file, closed, of some pages, and the trials in it.
static SOUND: LazyLock<(Vec<u8>, Vec<Trial>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut study =
        Study::create(&Storage::sqlite(&path), StudyFile::parse(STUDY).unwrap().definition).unwrap();
    for i in 0..40 {
        let job = study.ask(Some("anna")).unwrap();
        study.tell(job.trial, Measurement::new(f64::from(i)), None).unwrap();
    }
    let trials = study.state().trials().to_vec();
    drop(study);
    (fs::read(path).unwrap(), trials)
});

/// Does with a file what a user would: looks, verifies, tells. The trials there are, if all of it was without complaint.
fn use_it(bytes: &[u8]) -> Result<Vec<Trial>, StudyError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    fs::write(&path, bytes).unwrap();
    let opened = || Study::open(&Storage::sqlite(&path), "film");
    let looked = opened().and_then(|mut study| {
        study.recommend()?;
        study.leases()?;
        study.verify(|_| ())?;
        Ok(study.state().trials().to_vec())
    });
    let told = opened().and_then(|mut study| study.tell(0, Measurement::new(-1.0), None));
    let trials = looked?;
    told.map(|_| trials)
}

/// What the command would print.
fn message(bytes: &[u8]) -> String {
    use_it(bytes).expect_err("it is damaged").to_string()
}

#[test]
fn a_sound_file_gives_no_complaint() {
    let (bytes, trials) = &*SOUND;
    assert!(bytes.len() > 4 * 4096, "damage must be able to hit inner pages: {}", bytes.len());
    assert_eq!(use_it(bytes).unwrap(), *trials);
}

#[test]
fn a_file_that_was_cut_off_is_named_with_what_to_do() {
    let (bytes, _) = &*SOUND;
    for length in [100, 1000, 4096, 5000, 8192, bytes.len() - 4096, bytes.len() - 1] {
        let message = message(&bytes[..length]);
        assert!(message.contains("a.db") && message.contains("restore a copy"), "{length}: {message}");
    }
    for scrap in [&bytes[..1], &bytes[..99]] {
        assert!(message(scrap).contains("is not a study database"), "{}", message(scrap));
    }
    assert!(message(&[]).contains("is an empty file; restore a copy"), "{}", message(&[]));
}

/// A page that is lost, or in the place of another, is noticed or does not matter.
#[test]
fn pages_that_were_zeroed_or_swapped_are_noticed() {
    let (bytes, trials) = &*SOUND;
    const PAGE: usize = 4096;
    let n = bytes.len() / PAGE;
    let page = |i: usize| i * PAGE..(i + 1) * PAGE;
    let mut damaged = Vec::new();
    for i in 1..n {
        let mut zeroed = bytes.clone();
        zeroed[page(i)].fill(0);
        damaged.push((format!("page {i} zeroed"), zeroed));
        for j in 1..i {
            let mut swapped = bytes.clone();
            swapped[page(i)].copy_from_slice(&bytes[page(j)]);
            swapped[page(j)].copy_from_slice(&bytes[page(i)]);
            damaged.push((format!("pages {j} and {i} swapped"), swapped));
        }
    }
    for (damage, bytes) in damaged {
        if let Ok(found) = use_it(&bytes) {
            assert_eq!(found, *trials, "{damage}");
        }
    }
}

/// Whoever copies a study that is in use may get any part of the write-ahead log with it, or none.
#[test]
fn a_write_ahead_log_that_was_cut_or_damaged_costs_no_trial() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let log = |path: &Path| path.with_file_name("a.db-wal");
    let mut study =
        Study::create(&Storage::sqlite(&path), StudyFile::parse(STUDY).unwrap().definition).unwrap();
    for i in 0..12 {
        let job = study.ask(None).unwrap();
        study.tell(job.trial, Measurement::new(f64::from(i)), None).unwrap();
    }
    let (file, ahead) = (fs::read(&path).unwrap(), fs::read(log(&path)).unwrap());
    assert!(ahead.len() > 4096, "it is in use: {}", ahead.len());
    let cut = [0, 1, 32, 56, 4096, 4152, ahead.len() / 2, ahead.len() - 1, ahead.len()]
        .map(|end| ahead[..end].to_vec());
    let damaged = (0..ahead.len()).step_by(997).map(|at| {
        let mut damaged = ahead.clone();
        damaged[at] ^= 0x5a;
        damaged
    });
    for (n, ahead) in cut.into_iter().chain(damaged).enumerate() {
        let copy = tempfile::tempdir().unwrap();
        let path = copy.path().join("a.db");
        fs::write(&path, &file).unwrap();
        fs::write(log(&path), ahead).unwrap();
        let opened = Study::open(&Storage::sqlite(&path), "film").unwrap();
        assert_eq!(opened.state().trials(), study.state().trials(), "damage {n}");
    }
}

#[test]
fn a_file_that_is_something_else_is_named_with_what_to_do() {
    let (bytes, _) = &*SOUND;
    let other_header = [b"X", &bytes[1..]].concat();
    for file in [b"my notes\n".repeat(100), vec![0; bytes.len()], other_header] {
        let message = message(&file);
        assert!(message.contains("is not a study database, or its beginning is damaged"), "{message}");
    }
}

#[test]
fn an_empty_file_is_told_of_when_a_study_is_begun_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    fs::write(&path, []).unwrap();
    let (said, heard) = std::sync::mpsc::channel();
    let storage =
        Storage::sqlite(Path::new(&path)).with_notify(move |text| said.send(text.to_owned()).unwrap());
    Study::create(&storage, StudyFile::parse(STUDY).unwrap().definition).unwrap();
    let heard: Vec<String> = heard.try_iter().collect();
    assert!(heard.len() == 1 && heard[0].contains("is an empty file; restore a copy"), "{heard:?}");
}

/// How many trials with their values can be saved of a file; `None` if nothing can.
fn saved(bytes: &[u8]) -> Option<usize> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    fs::write(&path, bytes).unwrap();
    let to = Storage::sqlite(folder.path().join("saved.db"));
    let (mut study, _) = Study::salvage(&Storage::sqlite(&path), "film", &to, "film").ok()?;
    assert!(study.verify(|_| ()).is_ok());
    Some(study.state().count(TrialState::Complete))
}

#[test]
fn what_is_on_other_pages_is_saved_whichever_page_is_lost() {
    let (bytes, trials) = &*SOUND;
    const PAGE: usize = 4096;
    let without = |i: usize| {
        let mut zeroed = bytes.clone();
        zeroed[i * PAGE..(i + 1) * PAGE].fill(0);
        saved(&zeroed)
    };
    let mut left: Vec<Option<usize>> = (1..bytes.len() / PAGE).map(without).collect();
    left.sort_unstable();
    assert_eq!(
        left.iter().filter(|left| left.is_none()).count(),
        2,
        "the first record and the way to all: {left:?}"
    );
    assert!(left.iter().flatten().all(|n| n + 15 >= trials.len()), "a page has some records: {left:?}");
}

#[test]
fn what_is_left_of_a_file_that_was_cut_off_is_saved() {
    let (bytes, trials) = &*SOUND;
    let length = bytes.len();
    let left: Vec<usize> = [1, 4096, 2 * 4096].map(|cut| saved(&bytes[..length - cut]).unwrap()).to_vec();
    assert!(left.iter().all(|n| (1..trials.len()).contains(n)) && left[0] >= left[2], "{left:?}");
}

#[test]
fn a_study_that_is_no_longer_listed_or_whose_head_is_nonsense_is_saved() {
    for damage in ["DELETE FROM studies", "UPDATE studies SET head = 1 << 60"] {
        assert_eq!(saved(&changed(damage)), Some(SOUND.1.len()), "{damage}");
    }
    // Who looks for the last record must not look for ever.
    let mut bytes = changed("UPDATE studies SET head = 1 << 60");
    let record = bytes.windows(20).rposition(|text| text.starts_with(br#"{"v":1,"seq":7"#)).unwrap();
    let page = record / 4096;
    bytes[page * 4096..(page + 1) * 4096].fill(0);
    assert!(saved(&bytes).is_none_or(|n| n < SOUND.1.len()));
}

/// A file with what an SQL statement does to it.
fn changed(statement: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    fs::write(&path, &SOUND.0).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let _ = connection.execute_batch(statement); // a key that is there already stays where it is
    drop(connection);
    fs::read(&path).unwrap()
}

#[test]
fn the_log_of_another_study_is_not_taken_for_the_one_that_was_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let storage = Storage::sqlite(&path);
    let mut asked = None;
    for (name, seed) in [("film", 1), ("brew", 2)] {
        let text = format!("seed = {seed}\n{}", STUDY.replace("film", name));
        let mut study = Study::create(&storage, StudyFile::parse(&text).unwrap().definition).unwrap();
        asked.get_or_insert(study.ask(None).unwrap().params);
    }
    let swapped = "UPDATE studies SET name = 'x' WHERE id = 1; UPDATE studies SET name = 'film' WHERE id = 2;
                   UPDATE studies SET name = 'brew' WHERE id = 1";
    rusqlite::Connection::open(&path).unwrap().execute_batch(swapped).unwrap();
    for error in [Study::open(&storage, "film").err(), AskTell::open(&storage, "film").err()] {
        let error = error.expect("it is another study").to_string();
        assert!(error.contains("is damaged: what is listed as study `film` is study `brew`"), "{error}");
    }
    let (saved, _) = Study::salvage(&storage, "film", &Storage::memory(), "film").unwrap();
    assert_eq!(saved.state().trials()[0].params, asked.unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn keys_that_were_changed_are_noticed_or_change_nothing(
        seq in 1..82_u64, column in prop::sample::select(vec!["study", "seq"]), bit in 0..62
    ) {
        let flip = format!("UPDATE linked SET {column} = ({column} | (1 << {bit})) - ({column} & (1 << {bit})) WHERE seq = {seq}");
        if let Ok(found) = use_it(&changed(&flip)) {
            prop_assert!(found == SOUND.1, "{flip}: trials changed and nobody noticed");
        }
    }

    #[test]
    fn heads_and_links_that_were_changed_are_noticed_or_change_nothing(
        (table, column) in prop::sample::select(vec![("studies", "head"), ("studies", "link"), ("linked", "link"), ("studies", "id")]),
        bit in 0..62, seq in 1..82_u64
    ) {
        let place = if table == "linked" { format!("WHERE seq = {seq}") } else { String::new() };
        let flip = format!("UPDATE {table} SET {column} = ({column} | (1 << {bit})) - ({column} & (1 << {bit})) {place}");
        if let Ok(found) = use_it(&changed(&flip)) {
            prop_assert!(found == SOUND.1, "{flip}: trials changed and nobody noticed");
        }
    }

    #[test]
    fn flipped_bytes_are_noticed_or_change_nothing(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..12)
    ) {
        let (bytes, trials) = &*SOUND;
        let mut damaged = bytes.clone();
        flips.iter().for_each(|(at, flip)| damaged[at.index(bytes.len())] ^= flip);
        match use_it(&damaged) {
            Ok(found) => prop_assert!(found == *trials, "trials changed and nobody noticed"),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
