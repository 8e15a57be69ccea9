//! Records as links of a chain: each has a checksum of its study, its number, its text and the link before it.
//!
//! So a record that was changed, moved, dropped or taken from another study is noticed by whoever reads past it; and because
//! the storage keeps the number and the link of each study's last record, so is an end that is missing.

use super::StudyId;

/// Where checksums begin.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// The last record of a study that is known: its number and its link. Before the first, both are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    pub seq: u64,
    pub link: i64,
}

/// Follows the chain of one study.
pub struct Chain {
    study: StudyId,
    last: Head,
}

impl Chain {
    /// From behind `last` on.
    pub fn after(study: StudyId, last: Head) -> Self {
        Self { study, last }
    }

    /// The link of the next record; the chain is behind it then.
    pub fn append(&mut self, body: &str) -> Head {
        let seq = self.last.seq + 1;
        self.last = Head { seq, link: link(self.study, seq, self.last.link, body) };
        self.last
    }

    /// Goes past a record that was stored with a link.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn follow(&mut self, stored: Head, body: &str) -> Result<(), String> {
        let expected = self.last.seq + 1;
        if stored.seq != expected {
            return Err(format!(
                "record {expected} of study {} is missing: record {} comes next",
                self.study.0, stored.seq
            ));
        }
        if self.append(body) != stored {
            return Err(format!("record {expected} of study {} is not what was written", self.study.0));
        }
        Ok(())
    }

    /// Compares the end that was reached with the head that the storage kept.
    ///
    /// # Errors
    /// If records are missing at the end.
    pub fn finish(self, head: Head) -> Result<(), String> {
        let Head { seq, link } = self.last;
        if seq < head.seq {
            let (first, study) = (seq + 1, self.study.0);
            return Err(format!("records {first} to {} of study {study} are missing at its end", head.seq));
        }
        if seq == head.seq && link != head.link {
            return Err(format!("record {seq} of study {} is not the last that was written", self.study.0));
        }
        Ok(())
    }
}

/// Tells sound records from damaged ones, where some may be missing.
pub struct IntegrityFilter {
    study: StudyId,
    /// What is stored of the record before, sound or not.
    before: Option<Head>,
}

impl IntegrityFilter {
    /// Before the first record.
    pub fn new(study: StudyId) -> Self {
        Self { study, before: Some(Head::default()) }
    }

    /// Whether the next record that can be read is what was written. If the one before it is missing, nobody can tell, and it
    /// is taken for sound.
    pub fn is_sound(&mut self, stored: Head, body: &str) -> bool {
        let before = self.before.replace(stored).filter(|before| before.seq + 1 == stored.seq);
        before.is_none_or(|before| link(self.study, stored.seq, before.link, body) == stored.link)
    }
}

/// FNV-1a over study, number, the link before and the text.
fn link(study: StudyId, seq: u64, before: i64, body: &str) -> i64 {
    let numbers = [study.0.cast_unsigned(), seq, before.cast_unsigned()];
    let bytes = numbers.into_iter().flat_map(u64::to_le_bytes).chain(body.bytes());
    fnv_1a(bytes)
}

/// The checksum of a page that was made after record `made_after`: with another record in its place it is another.
pub fn seal(study: StudyId, page: u64, made_after: Head, body: &[u8]) -> i64 {
    let numbers = [study.0.cast_unsigned(), page, made_after.seq, made_after.link.cast_unsigned()];
    let (words, rest) = body.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    let hash = numbers.into_iter().chain([body.len() as u64]).chain(words).fold(BASIS, |hash, word| {
        (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15) // a word at a time: pages are large
    });
    hash.cast_signed()
}

/// The checksum of a record of the first format, which knew nothing but its text.
pub fn checksum(body: &str) -> i64 {
    fnv_1a(body.bytes())
}

fn fnv_1a(bytes: impl Iterator<Item = u8>) -> i64 {
    let hash = bytes.fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash.cast_signed()
}

/// The links of records of the first format: number, text and checksum of each, in order. What was damaged before stays
/// visible, and those after it are linked to it.
pub fn upgraded<'r>(study: StudyId, records: impl Iterator<Item = (u64, &'r str, i64)>) -> Vec<Head> {
    let mut last = Head::default();
    let linked = records.map(|(seq, body, sum)| {
        let linked = link(study, seq, last.link, body);
        last = Head { seq, link: if checksum(body) == sum { linked } else { !linked } };
        last
    });
    linked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: StudyId = StudyId(2);

    type Records = Vec<(Head, String)>;

    fn written(bodies: &[&str]) -> (Records, Head) {
        let mut chain = Chain::after(STUDY, Head::default());
        let records: Vec<_> = bodies.iter().map(|body| (chain.append(body), (*body).to_owned())).collect();
        let head = records.last().map_or_else(Head::default, |(head, _)| *head);
        (records, head)
    }

    fn read(study: StudyId, records: &[(Head, String)], head: Head) -> Result<(), String> {
        let mut chain = Chain::after(study, Head::default());
        records.iter().try_for_each(|(stored, body)| chain.follow(*stored, body))?;
        chain.finish(head)
    }

    #[test]
    fn every_kind_of_damage_is_noticed() {
        let (records, head) = written(&["one", "two", "three", "two"]);
        assert_eq!(read(STUDY, &records, head), Ok(()));
        let damaged = |change: &dyn Fn(&mut Records)| {
            let mut damaged = records.clone();
            change(&mut damaged);
            read(STUDY, &damaged, head).expect_err("it is damaged")
        };
        assert!(
            damaged(&|records| records[1].1.push('!'))
                .contains("record 2 of study 2 is not what was written")
        );
        assert!(damaged(&|records| drop(records.remove(1))).contains("record 2 of study 2 is missing"));
        assert!(damaged(&|records| drop(records.pop())).contains("records 4 to 4 of study 2 are missing"));
        assert!(damaged(&|records| records[2].0.link ^= 1).contains("record 3"));
        assert!(
            damaged(&|records| {
                let (two, four) = (records[1].1.clone(), records[3].0.link);
                records[3] = (Head { seq: 4, link: four ^ 4 }, two);
            })
            .contains("record 4")
        );
        assert!(read(StudyId(3), &records, head).is_err(), "records of another study");
        let other = Head { link: !head.link, ..head };
        assert!(read(STUDY, &records, other).unwrap_err().contains("not the last that was written"));
    }

    #[test]
    fn records_of_the_first_format_are_linked_and_their_damage_stays_visible() {
        let bodies = ["one", "two", "three"];
        let upgrade = |sums: [i64; 3]| {
            let records = (1..).zip(bodies).zip(sums).map(|((seq, body), sum)| (seq, body, sum));
            let heads = upgraded(STUDY, records);
            let records: Vec<_> = heads.iter().copied().zip(bodies.map(str::to_owned)).collect();
            read(STUDY, &records, heads[2])
        };
        let sums = bodies.map(checksum);
        assert_eq!(upgrade(sums), Ok(()));
        assert!(upgrade([sums[0], 7, sums[2]]).unwrap_err().contains("record 2 "));
    }
}
