//! What every backend must do: one list of facts, checked on each.
//!
//! [`log_contract!`](crate::log_contract) makes a test of each fact. A fact is given a storage with nothing in it, and panics
//! if it does not hold.

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use super::{Appended, Lease, LeaseChange, Log, Storage, StudyId};

/// Tests a backend: a module with a test for each fact of [`log::contract`](crate::log::contract).
///
/// The second argument makes an empty [`Storage`](crate::Storage) and is given the name of the fact; `None` leaves the fact out,
/// where a server that it needs is not there.
///
/// ```
/// use optimist_study::{Storage, log_contract};
///
/// log_contract!(memory, |_fact: &str| Storage::memory());
/// ```
#[macro_export]
macro_rules! log_contract {
    ($backend:ident, $new:expr) => {
        mod $backend {
            #[allow(unused_imports)]
            use super::*;

            $crate::log_contract!(
                @facts $new,
                what_was_appended_is_read_in_order,
                only_one_of_two_that_saw_the_same_head_appends,
                nothing_of_an_append_that_came_too_late_is_kept,
                a_name_is_used_once_until_it_is_deleted,
                a_deleted_study_takes_no_more_records,
                any_text_is_kept,
                a_lease_goes_with_its_records,
                a_lease_runs_out_unless_it_is_renewed_by_its_owner,
                many_at_the_same_time_lose_nothing,
                pages_are_kept_together_or_not_at_all
            );
        }
    };
    (@facts $new:expr, $($fact:ident),*) => {
        $(
            #[test]
            fn $fact() {
                let storage: Option<$crate::Storage> = $new(stringify!($fact)).into();
                if let Some(storage) = storage {
                    $crate::log::contract::$fact(&storage);
                }
            }
        )*
    };
}

/// Records come back as they were appended, to whoever reads from wherever, until the reader says stop.
pub fn what_was_appended_is_read_in_order(storage: &Storage) {
    let mut log = connect(storage);
    let study = log.create("s", "one").unwrap().unwrap();
    assert_eq!(append(&mut *log, study, 1, &["two", "three"]), Appended::Stored);
    assert_eq!(append(&mut *log, study, 3, &["four"]), Appended::Stored);
    let all = [(1, "one"), (2, "two"), (3, "three"), (4, "four")].map(|(seq, body)| (seq, body.to_owned()));
    let mut other = connect(storage);
    assert_eq!(read(&mut *other, study, 0), all);
    assert_eq!(read(&mut *other, study, 2), all[2..]);
    assert_eq!(read(&mut *other, study, 4), []);
    let mut first = Vec::new();
    let stop = &mut |seq, _: &str| {
        first.push(seq);
        ControlFlow::Break(())
    };
    other.read(study, 0, stop).unwrap();
    assert_eq!(first, [1]);
}

/// Of two who append after the same record, one succeeds; the other is told, and can append after it.
pub fn only_one_of_two_that_saw_the_same_head_appends(storage: &Storage) {
    let (mut a, mut b) = (connect(storage), connect(storage));
    let study = a.create("s", "one").unwrap().unwrap();
    assert_eq!(append(&mut *a, study, 1, &["mine"]), Appended::Stored);
    assert_eq!(append(&mut *b, study, 1, &["yours"]), Appended::Moved);
    assert_eq!(append(&mut *b, study, 3, &["from the future"]), Appended::Moved);
    assert_eq!(append(&mut *b, study, 2, &["yours"]), Appended::Stored);
    assert_eq!(read(&mut *a, study, 1), [(2, "mine".to_owned()), (3, "yours".to_owned())]);
}

/// Neither its records nor its leases.
pub fn nothing_of_an_append_that_came_too_late_is_kept(storage: &Storage) {
    let mut log = connect(storage);
    let study = log.create("s", "one").unwrap().unwrap();
    assert_eq!(append(&mut *log, study, 1, &["two"]), Appended::Stored);
    let claim = LeaseChange::Claim { trial: 0, owner: "me".to_owned(), lasts: Duration::from_secs(60) };
    assert_eq!(log.append(study, 1, &["late".to_owned()], &[claim]).unwrap(), Appended::Moved);
    assert_eq!(read(&mut *log, study, 1), [(2, "two".to_owned())]);
    assert_eq!(log.leases(study).unwrap(), []);
}

/// And studies are listed by name; ids are never used again.
pub fn a_name_is_used_once_until_it_is_deleted(storage: &Storage) {
    let mut log = connect(storage);
    let [b, a] = ["b", "a"].map(|name| log.create(name, "one").unwrap().unwrap());
    assert_eq!(log.create("a", "other").unwrap(), None);
    let names = |log: &mut Box<dyn Log>| -> Vec<(String, StudyId)> {
        log.studies().unwrap().into_iter().map(|entry| (entry.name, entry.id)).collect()
    };
    assert_eq!(names(&mut log), [("a".to_owned(), a), ("b".to_owned(), b)]);
    assert!(log.delete(a).unwrap());
    assert!(!log.delete(a).unwrap());
    let again = log.create("a", "anew").unwrap().unwrap();
    assert!(again != a && again != b);
    assert_eq!(read(&mut *log, again, 0), [(1, "anew".to_owned())]);
    assert_eq!(read(&mut *log, b, 0).len(), 1);
}

/// Not even if there is a new one of its name.
pub fn a_deleted_study_takes_no_more_records(storage: &Storage) {
    let mut log = connect(storage);
    let study = log.create("s", "one").unwrap().unwrap();
    log.delete(study).unwrap();
    log.create("s", "anew").unwrap().unwrap();
    assert_eq!(append(&mut *log, study, 1, &["late"]), Appended::Gone);
    assert_eq!(read(&mut *log, study, 0), []);
    assert_eq!(log.leases(study).unwrap(), []);
}

/// Long, empty, and with every kind of character.
pub fn any_text_is_kept(storage: &Storage) {
    let mut log = connect(storage);
    let long = "é∞\u{1F600}'\"\\;--\n\t".repeat(20_000);
    let study = log.create(&long[..100], &long).unwrap().unwrap();
    assert_eq!(append(&mut *log, study, 1, &["", " "]), Appended::Stored);
    let kept = [(1, long.clone()), (2, String::new()), (3, " ".to_owned())];
    assert_eq!(read(&mut *log, study, 0), kept);
    assert_eq!(log.studies().unwrap()[0].name, long[..100]);
}

/// It is claimed, taken over and released with the records that say so.
pub fn a_lease_goes_with_its_records(storage: &Storage) {
    let mut log = connect(storage);
    let study = log.create("s", "one").unwrap().unwrap();
    let claim = |trial, owner: &str| {
        let owner = owner.to_owned();
        LeaseChange::Claim { trial, owner, lasts: Duration::from_secs(60) }
    };
    let body = ["x".to_owned()];
    log.append(study, 1, &body, &[claim(0, "me"), claim(1, "you")]).unwrap();
    log.append(study, 2, &body, &[LeaseChange::Release { trial: 1 }, claim(0, "them")]).unwrap();
    let lease = Lease { trial: 0, owner: "them".to_owned(), has_expired: false };
    assert_eq!(connect(storage).leases(study).unwrap(), [lease]);
}

/// Leases that are not there and leases of others are left alone.
pub fn a_lease_runs_out_unless_it_is_renewed_by_its_owner(storage: &Storage) {
    let mut log = connect(storage);
    let study = log.create("s", "one").unwrap().unwrap();
    let claims = [0, 1, 2].map(|trial| LeaseChange::Claim {
        trial,
        owner: "me".to_owned(),
        lasts: Duration::from_millis(1),
    });
    log.append(study, 1, &["x".to_owned()], &claims).unwrap();
    let long = Duration::from_secs(60);
    log.renew(study, &[0, 7], "me", long).unwrap();
    log.renew(study, &[1], "you", long).unwrap();
    thread::sleep(Duration::from_millis(20));
    let leases = log.leases(study).unwrap();
    assert_eq!(leases.iter().map(|lease| lease.trial).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(leases.iter().map(|lease| lease.has_expired).collect::<Vec<_>>(), [false, true, true]);
}

/// Each on a connection of its own.
pub fn many_at_the_same_time_lose_nothing(storage: &Storage) {
    const N_WRITERS: usize = 4;
    const N_RECORDS: usize = 25;
    let write = |writer: usize| {
        let mut log = connect(storage);
        let created = log.create("s", "one").unwrap();
        let study = created.unwrap_or_else(|| log.studies().unwrap()[0].id);
        let mut head = 1;
        for n in 0..N_RECORDS {
            let body = format!("{writer}/{n}");
            while append(&mut *log, study, head, &[&body]) == Appended::Moved {
                head = read(&mut *log, study, 0).len() as u64;
            }
            head += 1;
        }
        (study, created.is_some())
    };
    let written: Vec<(StudyId, bool)> = thread::scope(|scope| {
        let writers: Vec<_> = (0..N_WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(written.iter().filter(|(_, created)| *created).count(), 1);
    let records = read(&mut *connect(storage), written[0].0, 1);
    let numbers: Vec<u64> = records.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (2..=1 + (N_WRITERS * N_RECORDS) as u64).collect::<Vec<_>>());
    for writer in 0..N_WRITERS {
        let own = records.iter().filter(|(_, body)| body.starts_with(&format!("{writer}/")));
        let expected = (0..N_RECORDS).map(|n| format!("{writer}/{n}"));
        assert!(own.map(|(_, body)| body).eq(expected.collect::<Vec<_>>().iter()));
    }
}

/// A storage need not keep any; one that does gives back what it was given, and of two who saw the same snapshot takes one.
pub fn pages_are_kept_together_or_not_at_all(storage: &Storage) {
    let mut log = connect(storage);
    let study = log.create("s", "one").unwrap().unwrap();
    append(&mut *log, study, 1, &["two", "three"]);
    let long: Vec<u8> = (0..100_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let is_kept = log.keep(study, 2, None, &[(0, b"frame".to_vec()), (7, long.clone())]).unwrap();
    let page = |number| connect(storage).page(study, number).unwrap();
    if !is_kept {
        assert_eq!(page(0), None);
        return;
    }
    assert_eq!((page(0), page(7), page(1)), (Some((2, b"frame".to_vec())), Some((2, long.clone())), None));
    assert!(!log.keep(study, 3, Some(1), &[(0, b"late".to_vec()), (7, Vec::new())]).unwrap());
    assert!(log.keep(study, 3, Some(2), &[(0, b"later".to_vec())]).unwrap());
    assert_eq!((page(0), page(7)), (Some((3, b"later".to_vec())), Some((2, long))));
    assert!(!log.keep(study, 9, Some(3), &[(0, b"of a record that is not there".to_vec())]).unwrap());
    log.delete(study).unwrap();
    assert_eq!(page(0), None);
}

fn connect(storage: &Storage) -> Box<dyn Log> {
    storage.connect().unwrap()
}

fn read(log: &mut dyn Log, study: StudyId, after: u64) -> Vec<(u64, String)> {
    let mut records = Vec::new();
    log.read(study, after, &mut |seq, body| {
        records.push((seq, body.to_owned()));
        ControlFlow::Continue(())
    })
    .unwrap();
    records
}

fn append(log: &mut dyn Log, study: StudyId, head: u64, bodies: &[&str]) -> Appended {
    let bodies: Vec<String> = bodies.iter().map(|body| (*body).to_owned()).collect();
    log.append(study, head, &bodies, &[]).unwrap()
}
