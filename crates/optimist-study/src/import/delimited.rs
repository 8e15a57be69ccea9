//! CSV as spreadsheets write it: which character separates the columns, and which one the decimals.
//!
//! Given: a text, and what the user says of it. Gives: a header and rows of texts, each row with its place or what is wrong with
//! it. Nothing is guessed where a guess could be wrong by a factor of a thousand: a number that may be `1,234` or 1234 is refused,
//! and the reason says how to ask for either. Does not know: parameters and values, but for the names of their columns.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::table::Row;
use super::{DecimalMark, ImportOptions};

/// What may separate columns, the likeliest first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// A text table, with numbers as they are written.
pub struct Delimited {
    pub header: Vec<String>,
    /// With their places; a row that is too short or too long says so.
    pub rows: Vec<(String, Result<Row, String>)>,
    pub numbers: Numbers,
    /// What was recognised, if it is not what CSV has everywhere.
    pub dialect: Option<String>,
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbers {
    #[default]
    WithPoints,
    WithCommas,
    /// Some have a comma, and it cannot be known what it means.
    Unclear,
}

impl Delimited {
    /// Reads a table of which the columns that `is_wanted` names count.
    pub fn read(
        text: &str,
        options: &ImportOptions,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        let (declared, text) = declared_separator(text);
        let separator = match options.separator.or(declared) {
            Some(separator) => separator,
            None => likeliest_separator(text, &is_wanted),
        };
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .delimiter(separator)
            .flexible(true)
            .from_reader(text.as_bytes());
        let header: Vec<String> =
            reader.headers().map_err(|error| error.to_string())?.iter().map(str::to_owned).collect();
        if let Some(twice) = (1..header.len()).find(|&i| header[..i].contains(&header[i])) {
            return Err(format!("there are two columns `{}`", header[twice]));
        }
        let n_before = usize::from(declared.is_some());
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            // Spreadsheets leave empty rows behind.
            if record.iter().any(|cell| !cell.is_empty()) {
                let line = record.position().map_or(0, csv::Position::line) as usize + n_before;
                rows.push((format!("line {line}"), row(&header, &record)));
            }
        }
        let wanted = rows.iter().filter_map(|(_, row)| row.as_ref().ok()).flat_map(Row::iter);
        let wanted = wanted.filter(|(column, _)| is_wanted(column)).filter_map(|(_, cell)| cell.as_str());
        let numbers = Numbers::of(wanted, separator, options.decimal);
        let dialect = dialect(separator, numbers);
        Ok(Self { header, rows, numbers, dialect })
    }
}

impl Numbers {
    fn of<'c>(
        cells: impl Iterator<Item = &'c str> + Clone,
        separator: u8,
        asked: Option<DecimalMark>,
    ) -> Self {
        match asked {
            Some(DecimalMark::Point) => return Self::WithPoints,
            Some(DecimalMark::Comma) => return Self::WithCommas,
            None => {}
        }
        let with_commas = || cells.clone().filter(|cell| with_point(cell).is_some());
        let has_points = cells.clone().any(|cell| cell.contains('.') && cell.parse::<f64>().is_ok());
        if with_commas().next().is_none() {
            Self::WithPoints
        } else if has_points || separator == b',' || (separator != b';' && with_commas().all(is_grouped)) {
            Self::Unclear
        } else {
            Self::WithCommas
        }
    }

    /// A number as `str::parse` reads it; other texts as they are.
    pub fn plain(self, text: &str) -> Result<Cow<'_, str>, String> {
        match (self, with_point(text)) {
            (Self::WithCommas, Some(number)) => Ok(Cow::Owned(number)),
            (Self::WithCommas, None) if text.contains('.') && text.parse::<f64>().is_ok() => Err(format!(
                "`{text}` has a point where decimals have a comma; write it with a comma, or use --decimal point"
            )),
            (Self::Unclear, Some(_)) => Err(format!(
                "the comma of `{text}` may separate decimals or thousands; use --decimal comma, or leave out \
                 commas that group digits"
            )),
            _ => Ok(Cow::Borrowed(text)),
        }
    }
}

/// Excel's first line `sep=;`, and what follows it.
fn declared_separator(text: &str) -> (Option<u8>, &str) {
    let declared = text.split_once('\n').and_then(|(first, rest)| {
        let word = first.trim_end_matches('\r').strip_prefix("sep=")?;
        Some((*word.as_bytes().first().filter(|_| word.len() == 1)?, rest))
    });
    declared.map_or((None, text), |(separator, rest)| (Some(separator), rest))
}

/// That under which the header has most of the columns that count, and most columns.
fn likeliest_separator(text: &str, is_wanted: impl Fn(&str) -> bool) -> u8 {
    let score = |separator: u8| {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.trim(csv::Trim::All).delimiter(separator).from_reader(text.as_bytes());
        let header = reader.headers().cloned().unwrap_or_default();
        (header.iter().filter(|column| is_wanted(column)).count(), header.len())
    };
    // Of equals the first, and `max_by_key` gives the last.
    SEPARATORS.into_iter().rev().max_by_key(|separator| score(*separator)).unwrap_or(b',')
}

fn row(header: &[String], record: &csv::StringRecord) -> Result<Row, String> {
    if record.len() != header.len() {
        let cells = match record.len() {
            1 => "1 cell".to_owned(),
            n => format!("{n} cells"),
        };
        return Err(format!("it has {cells}, the header has {}", header.len()));
    }
    Ok(header.iter().zip(record).map(|(name, cell)| (name.clone(), Json::from(cell))).collect())
}

fn dialect(separator: u8, numbers: Numbers) -> Option<String> {
    let columns = match separator {
        b',' => None,
        b'\t' => Some("columns separated by tabs".to_owned()),
        other => Some(format!("columns separated by `{}`", char::from(other))),
    };
    let decimals = (numbers == Numbers::WithCommas).then(|| "decimals by commas".to_owned());
    let parts: Vec<String> = columns.into_iter().chain(decimals).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `1,5e3` as `1.5e3`; nothing else.
fn with_point(text: &str) -> Option<String> {
    let (whole, rest) = text.split_once(',')?;
    let decimals = rest.split(['e', 'E']).next()?;
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = whole.trim_start_matches(['+', '-']);
    if decimals.is_empty() || !are_digits(decimals) || !are_digits(digits) {
        return None;
    }
    let number = format!("{whole}.{rest}");
    number.parse::<f64>().is_ok().then_some(number)
}

/// `1,234`: as one writes thousands.
fn is_grouped(text: &str) -> bool {
    text.split_once(',').is_some_and(|(whole, rest)| {
        rest.len() == 3 && !whole.trim_start_matches(['+', '-']).starts_with('0')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Delimited {
        Delimited::read(text, &ImportOptions::default(), |column| column == "value").unwrap()
    }

    fn cell(table: &Delimited, row: usize) -> Result<String, String> {
        let text = table.rows[row].1.as_ref().unwrap()["value"].as_str().unwrap();
        table.numbers.plain(text).map(Cow::into_owned)
    }

    #[test]
    fn separators_are_recognised_by_the_columns_that_count() {
        for (text, dialect) in [
            ("x,value\n1,2.5", None),
            ("x;value\n1;2,5", Some("columns separated by `;`, decimals by commas")),
            ("a, b, c and d;value\n1;2.5", Some("columns separated by `;`")),
            ("x\tvalue\n1\t2.5", Some("columns separated by tabs")),
            ("sep=|\r\nx|value\n1|2.5", Some("columns separated by `|`")),
        ] {
            let table = read(text);
            assert_eq!(table.dialect.as_deref(), dialect, "{text}");
            assert_eq!(cell(&table, 0).unwrap(), "2.5", "{text}");
        }
        assert_eq!(read("sep=;\nx;value\n1;2").rows[0].0, "line 3");
    }

    #[test]
    fn a_comma_that_may_group_digits_is_not_guessed_at() {
        for text in ["x;value\n1;2,5\n1;3.5", "x,value\n1,\"2,5\"", "x\tvalue\n1\t1,234"] {
            let table = read(text);
            assert!(cell(&table, 0).unwrap_err().contains("--decimal comma"), "{text}");
        }
        assert_eq!(cell(&read("x\tvalue\n1\t0,234"), 0).unwrap(), "0.234");
        let options = ImportOptions { decimal: Some(DecimalMark::Comma), ..ImportOptions::default() };
        let table = Delimited::read("x;value\n1;2,5\n1;3.500", &options, |_| true).unwrap();
        assert_eq!(cell(&table, 0).unwrap(), "2.5");
        assert!(cell(&table, 1).unwrap_err().contains("--decimal point"));
    }

    #[test]
    fn only_numbers_are_touched() {
        for text in ["a,b", "1,", ",", "1,2,3", "--1,5", "1,5 mm", "1,-5", ""] {
            assert_eq!(with_point(text), None, "{text}");
        }
        assert_eq!(with_point("-1,5e-3").as_deref(), Some("-1.5e-3"));
        assert_eq!(with_point(",5").as_deref(), Some(".5"));
    }
}
