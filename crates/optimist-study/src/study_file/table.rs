//! Reading TOML tables key by key, so that every mistake has a place and none hides another.
//!
//! Keys are taken from a [`Table`] one at a time. What was asked for is what is known: when the
//! table is finished, every key left over is unknown, and its nearest spelling is among the asked.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Duration;

use optimist::space::Value;
use optimist::spelling::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Problem, alternatives};
use crate::worker::MAX_WORKERS;

/// A table of the file, of which keys can be taken.
pub struct Table<'t> {
    /// As messages call it: "the study", "`[objective]`", "parameter `lr`".
    title: String,
    /// Where missing keys are reported.
    span: Range<usize>,
    /// Not yet taken, in the order of the file.
    entries: Vec<Entry<'t>>,
    asked: Vec<&'static str>,
    missing: Vec<(&'static str, String)>,
}

/// A key and its value.
#[derive(Clone, Copy)]
pub struct Entry<'t> {
    /// With its place.
    pub key: &'t Spanned<std::borrow::Cow<'t, str>>,
    /// With its place.
    pub value: &'t Spanned<DeValue<'t>>,
}

/// A type that a key may have.
pub trait FromToml: Sized {
    /// What to write, as "expected ..." says it.
    const EXPECTED: &'static str;
    /// `None` if the value has another type or is out of range.
    fn from_toml(value: &DeValue<'_>) -> Option<Self>;
}

impl<'t> Table<'t> {
    /// All of `table`; `span` is where its missing keys are reported.
    pub fn new(title: impl Into<String>, span: Range<usize>, table: &'t DeTable<'t>) -> Self {
        Self { title: title.into(), span, entries: entries(table), asked: Vec::new(), missing: Vec::new() }
    }

    /// The value of `key` as it stands in the file.
    pub fn take(&mut self, key: &'static str) -> Option<Entry<'t>> {
        self.asked.push(key);
        let index = self.entries.iter().position(|entry| entry.name() == key)?;
        Some(self.entries.remove(index))
    }

    /// The value of a key that may be left out; `None` also if it is wrong, which is then a problem.
    pub fn optional<T: FromToml>(&mut self, key: &'static str, problems: &mut Vec<Problem>) -> Option<T> {
        let entry = self.take(key)?;
        self.read(&entry, problems)
    }

    /// The value of a key that was taken.
    pub fn read<T: FromToml>(&self, entry: &Entry<'_>, problems: &mut Vec<Problem>) -> Option<T> {
        let value = T::from_toml(entry.value.get_ref());
        if value.is_none() {
            problems.push(self.wrong_type(entry, T::EXPECTED));
        }
        value
    }

    /// The value of a key that must be there.
    pub fn required<T: FromToml>(&mut self, key: &'static str, problems: &mut Vec<Problem>) -> Option<T> {
        self.require(key, T::EXPECTED);
        self.optional(key, problems)
    }

    /// The meaning of a key whose value is one of a few words.
    pub fn one_of<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        problems: &mut Vec<Problem>,
    ) -> Option<T> {
        let entry = self.take(key)?;
        let spellings = || words.iter().map(|(word, _)| *word);
        let expected = alternatives(spellings());
        let Some(written) = entry.value.get_ref().as_str() else {
            problems.push(self.wrong_type(&entry, &expected));
            return None;
        };
        let meaning = words.iter().find(|(word, _)| *word == written).map(|(_, meaning)| *meaning);
        if meaning.is_none() {
            let message = format!("`{key}` of {} cannot be `{written}`", self.title);
            problems.push(
                Problem::new(entry.value.span(), message, format!("expected {expected}"))
                    .suggest(written, spellings()),
            );
        }
        meaning
    }

    /// The table under `key`.
    pub fn table(
        &mut self,
        key: &'static str,
        title: impl Into<String>,
        problems: &mut Vec<Problem>,
    ) -> Option<Table<'t>> {
        let entry = self.take(key)?;
        let table = entry.table(title);
        if table.is_none() {
            problems.push(self.wrong_type(&entry, "a table"));
        }
        table
    }

    /// Whether `key` is there and was not taken.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.name() == key)
    }

    /// Notes that `key` must be there; `expected` says what to write if it is not.
    pub fn require(&mut self, key: &'static str, expected: &str) {
        if !self.has(key) {
            self.missing.push((key, expected.to_owned()));
        }
    }

    /// Reports keys that nobody asked for, and required ones that are not there.
    pub fn finish(self, problems: &mut Vec<Problem>) {
        let mut misspelt = Vec::new();
        for entry in &self.entries {
            let message = format!("unknown key `{}` in {}", entry.name(), self.title);
            let expected = format!("expected {}", alternatives(self.asked.iter().copied()));
            let asked = || self.asked.iter().copied();
            problems.push(Problem::new(entry.key.span(), message, expected).suggest(entry.name(), asked()));
            misspelt.extend(nearest(entry.name(), asked()));
        }
        for (key, expected) in self.missing {
            // A misspelt key is one mistake, not two.
            if !misspelt.contains(&key) {
                let message = format!("{} has no `{key}`", self.title);
                let expected = format!("expected `{key}`, {expected}");
                problems.push(Problem::new(self.span.clone(), message, expected));
            }
        }
    }

    /// All keys that were not taken, for a table whose keys the user names.
    pub fn into_entries(self) -> Vec<Entry<'t>> {
        self.entries
    }

    fn wrong_type(&self, entry: &Entry<'_>, expected: &str) -> Problem {
        let message =
            format!("`{}` of {} cannot be {}", entry.name(), self.title, describe(entry.value.get_ref()));
        Problem::new(entry.value.span(), message, format!("expected {expected}"))
    }
}

impl<'t> Entry<'t> {
    /// The key's name.
    pub fn name(&self) -> &'t str {
        self.key.get_ref()
    }

    /// The value as a table, its missing keys reported at the key; `None` if it is something else.
    pub fn table(&self, title: impl Into<String>) -> Option<Table<'t>> {
        let table = self.value.get_ref().as_table()?;
        Some(Table::new(title, self.key.span(), table))
    }
}

/// What `table` holds, in the order of the file.
pub fn entries<'t>(table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
    let mut entries: Vec<Entry<'t>> = table.iter().map(|(key, value)| Entry { key, value }).collect();
    entries.sort_by_key(|entry| entry.key.span().start);
    entries
}

/// How a message names a value that is out of place.
fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string {text:?}"),
        DeValue::Integer(number) => format!("the integer {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => format!("`{value}`"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(items) if items.is_empty() => "an empty list".to_owned(),
        DeValue::Array(_) => "this list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

impl FromToml for String {
    const EXPECTED: &'static str = "a string";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl FromToml for bool {
    const EXPECTED: &'static str = "`true` or `false`";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        value.as_bool()
    }
}

impl FromToml for i64 {
    const EXPECTED: &'static str = "a whole number";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        let integer = value.as_integer()?;
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }
}

impl FromToml for u64 {
    const EXPECTED: &'static str = "a whole number, 0 or more";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        i64::from_toml(value)?.try_into().ok()
    }
}

impl FromToml for NonZeroUsize {
    const EXPECTED: &'static str = "a whole number, 1 or more";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        NonZeroUsize::new(i64::from_toml(value)?.try_into().ok()?)
    }
}

/// How many trials to measure at the same time.
pub struct Workers(pub usize);

impl FromToml for Workers {
    const EXPECTED: &'static str =
        "a whole number from 1 to 1000; `optimist worker` adds more, here or on other machines";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        NonZeroUsize::from_toml(value).filter(|n| n.get() <= MAX_WORKERS).map(|n| Self(n.get()))
    }
}

impl FromToml for f64 {
    const EXPECTED: &'static str = "a number";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Float(number) => number.as_str().parse().ok(),
            other => i64::from_toml(other).map(|number| number as f64),
        }
    }
}

/// A number that is neither infinite nor NaN.
pub struct Finite(pub f64);

impl FromToml for Finite {
    const EXPECTED: &'static str = "a finite number";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        f64::from_toml(value).filter(|number| number.is_finite()).map(Self)
    }
}

/// A number above 0.
pub struct Positive(pub f64);

impl FromToml for Positive {
    const EXPECTED: &'static str = "a finite number above 0";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        Finite::from_toml(value).filter(|number| number.0 > 0.0).map(|number| Self(number.0))
    }
}

impl FromToml for Duration {
    const EXPECTED: &'static str = "a number of seconds above 0";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        Duration::try_from_secs_f64(f64::from_toml(value)?).ok().filter(|duration| !duration.is_zero())
    }
}

impl FromToml for Value {
    const EXPECTED: &'static str = "a string, a number, `true` or `false`";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::String(text) => Some(Value::Text(text.to_string())),
            DeValue::Boolean(value) => Some(Value::Bool(*value)),
            DeValue::Integer(_) => i64::from_toml(value).map(Value::Int),
            DeValue::Float(_) => f64::from_toml(value).map(Value::Float),
            _ => None,
        }
    }
}

/// The choices of a categorical parameter.
impl FromToml for Vec<Value> {
    const EXPECTED: &'static str = "a list of strings, numbers or booleans such as [\"relu\", \"tanh\"]";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        value.as_array()?.iter().map(|item| Value::from_toml(item.get_ref())).collect()
    }
}

/// A command: a program and its arguments.
impl FromToml for Vec<String> {
    const EXPECTED: &'static str =
        "a list of strings, the program first, such as [\"python3\", \"train.py\"]";
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        let words: Option<Self> =
            value.as_array()?.iter().map(|item| String::from_toml(item.get_ref())).collect();
        words.filter(|words| words.first().is_some_and(|program| !program.is_empty()))
    }
}
