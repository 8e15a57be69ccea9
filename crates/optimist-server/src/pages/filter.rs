//! Filters of trials: a line of conditions, all of which must hold, such as `rate<0.01 layers=3 state=complete oven`.
//!
//! A condition compares a parameter, an outcome (`value` if it has no name), or `state`, `trial`, `worker`, `source` or `seconds`, by `=`, `!=`, `<`, `<=`, `>`, `>=` or
//! `~` (contains). A word on its own must occur in a text of the trial: worker, note, failure reason, standard error or choice. Text with
//! spaces is put in quotes.

use std::cmp::Ordering;

use optimist::space::Value;
use optimist_study::{State, Trial};

/// Fields of a trial that can be compared, unless the study has a parameter or outcome of that name.
pub const FIELDS: [&str; 5] = ["state", "trial", "worker", "source", "seconds"];

/// The longest filter, in bytes.
const MOST_BYTES: usize = 4096;

/// Conditions that a trial must meet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter(Vec<Condition>);

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    Compare { what: What, by: By, with: String },
    Contains(String),
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    Parameter(String),
    Outcome(String),
    Field(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Equal,
    NotEqual,
    Below,
    AtMost,
    Above,
    AtLeast,
    Contains,
}

/// The value that a condition looks at in a trial.
enum Seen<'t> {
    Number(f64),
    Text(std::borrow::Cow<'t, str>),
}

impl Filter {
    /// Parses a line.
    ///
    /// # Errors
    /// If the syntax is wrong, or trials of this study lack a name in it; the message is for users.
    pub fn parse(line: &str, state: &State) -> Result<Self, String> {
        if line.len() > MOST_BYTES {
            return Err(format!("the filter is {} bytes long; at most {MOST_BYTES} are allowed", line.len()));
        }
        words(line)?
            .into_iter()
            .map(|word| Condition::parse(&word, state))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether every trial passes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a trial meets all conditions.
    pub fn passes(&self, trial: &Trial) -> bool {
        self.0.iter().all(|condition| condition.holds(trial))
    }
}

/// A word of the line: pieces with and without quotes. An operator in quotes is text.
type Word = Vec<(char, bool)>;

fn words(line: &str) -> Result<Vec<Word>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), Word::new(), false);
    let mut is_word = false;
    for c in line.chars() {
        match c {
            '"' => (quote, is_word) = (!quote, true),
            c if !quote && (c.is_whitespace() || c == ',') => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push((c, quote));
                is_word = true;
            }
        }
    }
    if quote {
        return Err("unmatched quotation mark; write \"name with spaces\"=3".to_owned());
    }
    if is_word {
        words.push(word);
    }
    Ok(words)
}

impl Condition {
    fn parse(word: &Word, state: &State) -> Result<Self, String> {
        let is_operator = |&(c, quoted): &(char, bool)| !quoted && "=!<>~".contains(c);
        let text = |part: &[(char, bool)]| part.iter().map(|(c, _)| *c).collect::<String>();
        let Some(at) = word.iter().position(is_operator) else {
            return Ok(Self::Contains(text(word).to_lowercase()));
        };
        let length =
            1 + usize::from(word.get(at + 1).is_some_and(|next| *next == ('=', false)) && word[at].0 != '=');
        let operator = text(&word[at..at + length]);
        let by = match &operator[..] {
            "=" => By::Equal,
            "!=" => By::NotEqual,
            "<" => By::Below,
            "<=" => By::AtMost,
            ">" => By::Above,
            ">=" => By::AtLeast,
            "~" => By::Contains,
            _ => return Err(format!("unknown operator `{operator}`; use =, !=, <, <=, >, >= or ~")),
        };
        let (name, with) = (text(&word[..at]), text(&word[at + length..]));
        let what = What::of(&name, state)?;
        if matches!(by, By::Below | By::AtMost | By::Above | By::AtLeast) && with.parse::<f64>().is_err() {
            return Err(format!(
                "`{name}` is compared with `{with}`, which isn't a number; write for example {name}{operator}0.5"
            ));
        }
        Ok(Self::Compare { what, by, with })
    }

    fn holds(&self, trial: &Trial) -> bool {
        match self {
            Self::Contains(word) => texts(trial).any(|text| text.to_lowercase().contains(word)),
            Self::Compare { what, by, with } => match what.of_trial(trial) {
                Some(seen) => seen.compares(*by, with),
                None => *by == By::NotEqual,
            },
        }
    }
}

impl What {
    fn of(name: &str, state: &State) -> Result<Self, String> {
        let space = &state.definition().space;
        if space.get(name).is_some() {
            return Ok(Self::Parameter(name.to_owned()));
        }
        if state.outcomes().names().any(|outcome| outcome == name) {
            return Ok(Self::Outcome(name.to_owned()));
        }
        if let Some(field) = FIELDS.into_iter().find(|field| *field == name) {
            return Ok(Self::Field(field));
        }
        let names: Vec<&str> = space
            .parameters()
            .iter()
            .take(8)
            .map(|parameter| parameter.name.as_str())
            .chain(state.outcomes().names())
            .chain(FIELDS)
            .collect();
        Err(format!("trials have no `{name}`; use {}", names.join(", ")))
    }

    fn of_trial<'t>(&self, trial: &'t Trial) -> Option<Seen<'t>> {
        let text = |text: &'t str| Some(Seen::Text(text.into()));
        match self {
            Self::Parameter(name) => trial.params.get(name).map(|value| match value {
                Value::Float(number) => Seen::Number(*number),
                other => match other.as_f64() {
                    Some(number) => Seen::Number(number),
                    None => Seen::Text(other.to_string().into()),
                },
            }),
            Self::Outcome(name) => trial.value_of(name).map(Seen::Number),
            Self::Field("trial") => Some(Seen::Number(trial.number as f64)),
            Self::Field("seconds") => trial.seconds.map(Seen::Number),
            Self::Field("state") => text(trial.state.word()),
            Self::Field("source") => text(trial.source.word()),
            Self::Field(_) => trial.worker.as_deref().and_then(text),
        }
    }
}

impl Seen<'_> {
    fn compares(&self, by: By, with: &str) -> bool {
        let order = match (self, with.parse::<f64>()) {
            (Self::Number(number), Ok(with)) => number.partial_cmp(&with),
            (Self::Number(_), Err(_)) => None,
            (Self::Text(text), _) => Some((**text).cmp(with)),
        };
        match by {
            By::Equal => order == Some(Ordering::Equal),
            By::NotEqual => order != Some(Ordering::Equal),
            By::Below => order == Some(Ordering::Less),
            By::AtMost => order.is_some_and(Ordering::is_le),
            By::Above => order == Some(Ordering::Greater),
            By::AtLeast => order.is_some_and(Ordering::is_ge),
            By::Contains => match self {
                Self::Number(number) => number.to_string().contains(with),
                Self::Text(text) => text.to_lowercase().contains(&with.to_lowercase()),
            },
        }
    }
}

/// The texts of a trial that a word on its own is searched for in.
fn texts(trial: &Trial) -> impl Iterator<Item = &str> {
    let notes = trial.measurements.iter().filter_map(|measured| measured.note.as_deref());
    let failure = trial.failure.as_ref();
    let reasons = failure.map(|failure| failure.reason.as_str());
    let stderr = failure.and_then(|failure| failure.stderr.as_deref());
    let choices = trial.params.iter().filter_map(|(_, value)| match value {
        Value::Text(text) => Some(&text[..]),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => None,
    });
    trial.worker.as_deref().into_iter().chain(notes).chain(reasons).chain(stderr).chain(choices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_study::{Measurement, Storage, Study, StudyFile};

    fn study() -> Study {
        let text = "direction = 'minimize'
            parameters.rate = { type = 'float', low = 0.1, high = 1.0 }
            parameters.gas = { type = 'categorical', choices = ['argon', 'dry air'] }";
        let mut study =
            Study::create(&Storage::memory(), StudyFile::parse(text).unwrap().definition).unwrap();
        for (rate, gas) in [(0.25, "argon"), (0.5, "dry air"), (1.0, "argon")] {
            study
                .enqueue(&[("rate", Value::from(rate)), ("gas", Value::from(gas))].into_iter().collect())
                .unwrap();
            study.ask(Some("Anna")).unwrap();
        }
        study
            .tell(0, Measurement { note: Some("second oven".into()), ..Measurement::new(3.0) }, None)
            .unwrap();
        study.tell(1, Measurement::new(-2.0), None).unwrap();
        study
    }

    fn passing(line: &str) -> Vec<usize> {
        let study = study();
        let filter = Filter::parse(line, study.state()).unwrap();
        study.state().trials().iter().filter(|trial| filter.passes(trial)).map(|trial| trial.number).collect()
    }

    #[test]
    fn conditions_compare_parameters_and_fields() {
        let cases: [(&str, &[usize]); 12] = [
            ("", &[0, 1, 2]),
            ("rate<0.5", &[0]),
            ("rate<=0.5, rate>0.25", &[1]),
            ("gas=argon", &[0, 2]),
            ("gas=\"dry air\"", &[1]),
            ("gas~AIR", &[1]),
            ("gas!=argon", &[1]),
            ("value>=-2 value<3", &[1]),
            ("state=running", &[2]),
            ("worker=Anna trial>1", &[2]),
            ("value!=3", &[1, 2]),
            ("OVEN", &[0]),
        ];
        for (line, expected) in cases {
            assert_eq!(passing(line), expected, "{line}");
        }
    }

    #[test]
    fn invalid_filters_say_what_is_wrong() {
        let study = study();
        for (line, part) in [
            ("speed<3", "trials have no `speed`; use rate, gas, value"),
            ("rate<fast", "`fast`, which isn't a number; write for example rate<0.5"),
            ("rate!3", "unknown operator `!`"),
            ("gas=\"dry", "unmatched quotation mark"),
        ] {
            let error = Filter::parse(line, study.state()).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
