//! The questions of `optimist init`: every answer is checked at once, and asked for again if it cannot be.

use std::fmt::Display;
use std::io::{self, BufRead, Write};

use optimist::space::{Kind, Parameter, Space, Value};
use optimist_study::Direction;
use optimist_study::objective::environment_name;

/// What was answered.
#[derive(Debug, PartialEq)]
pub struct Answers {
    /// What the study is called.
    pub name: String,
    /// Which way is better.
    pub direction: Direction,
    /// How many trials.
    pub trials: usize,
    /// What measures a trial; empty if a person does.
    pub command: Vec<String>,
    /// At least one.
    pub parameters: Vec<Parameter>,
}

/// Asks on `to` and reads answers from `from`; `None` if they end too early (Ctrl-D).
pub fn hold(name: &str, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<Option<Answers>> {
    writeln!(
        to,
        "A few questions. Enter accepts the answer in [brackets], Ctrl-D quits without writing anything."
    )?;
    Interview { from, to }.hold(name).or_else(|stop| match stop {
        Stop::EndOfInput => Ok(None),
        Stop::Io(error) => Err(error),
    })
}

struct Interview<'a, R, W> {
    from: &'a mut R,
    to: &'a mut W,
}

/// Why the questions end early.
enum Stop {
    EndOfInput,
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<R: BufRead, W: Write> Interview<'_, R, W> {
    fn hold(&mut self, name: &str) -> Result<Option<Answers>, Stop> {
        let name = self.ask("name of the study", Some(name), |word| not_empty(word, "a name"))?;
        let direction = self.ask(
            "is a larger value better (maximize) or a smaller one (minimize)?",
            Some("maximize"),
            direction,
        )?;
        let command = self.ask("command that measures a trial, such as: python3 train.py --lr={lr}\n(empty if a person measures)", Some(""), command)?;
        let trials = self.ask("trials in all", Some("50"), |word| match word.parse() {
            Ok(trials) if trials > 0 => Ok(trials),
            _ => Err("expected a whole number, 1 or more".to_owned()),
        })?;
        let mut parameters: Vec<Parameter> = Vec::new();
        while let Some(parameter) = self.parameter(&parameters)? {
            parameters.push(parameter);
        }
        Ok(Some(Answers { name, direction, trials, command, parameters }))
    }

    /// One more parameter; `None` if there are enough.
    fn parameter(&mut self, known: &[Parameter]) -> Result<Option<Parameter>, Stop> {
        let (question, default) = match known {
            [] => ("name of the first parameter", None),
            _ => ("name of the next parameter (empty to finish)", Some("")),
        };
        let name = self.ask(question, default, |word| parameter_name(word, known))?;
        if name.is_empty() {
            return Ok(None);
        }
        loop {
            let kind = self.kind(&name)?;
            let parameter = Parameter::new(name.clone(), kind);
            match Space::new(vec![parameter.clone()]) {
                Ok(_) => return Ok(Some(parameter)),
                Err(error) => self.complain(error)?,
            }
        }
    }

    fn kind(&mut self, name: &str) -> Result<Kind, Stop> {
        let types = ["float", "int", "categorical", "bool"];
        let of_type =
            self.ask(&format!("type of {name}: float, int, categorical or bool"), Some("float"), |word| {
                let meant = types.into_iter().find(|known| *known == word);
                meant.ok_or_else(|| "expected float, int, categorical or bool".to_owned())
            })?;
        Ok(match of_type {
            "float" => {
                let low = self.ask("lowest value", None, number::<f64>)?;
                let high = self.ask("highest value", None, number::<f64>)?;
                Kind::Float { low, high, log: self.log(low > 0.0)?, step: self.step()? }
            }
            "int" => {
                let low = self.ask("lowest value", None, number::<i64>)?;
                let high = self.ask("highest value", None, number::<i64>)?;
                Kind::Int { low, high, log: self.log(low > 0)?, step: self.step()? }
            }
            "categorical" => {
                Kind::Categorical { choices: self.ask("choices, separated by commas", None, choices)? }
            }
            _ => Kind::Bool,
        })
    }

    fn log(&mut self, is_possible: bool) -> Result<bool, Stop> {
        if !is_possible {
            return Ok(false);
        }
        self.ask(
            "on a log scale, so that ratios matter (as for a learning rate)? y or n",
            Some("n"),
            |word| match word {
                "y" | "yes" => Ok(true),
                "n" | "no" => Ok(false),
                _ => Err("expected y or n".to_owned()),
            },
        )
    }

    fn step<T: std::str::FromStr>(&mut self) -> Result<Option<T>, Stop> {
        self.ask("step between values (empty for any value)", Some(""), |word| match word {
            "" => Ok(None),
            word => number(word).map(Some),
        })
    }

    /// Asks until the answer can be read.
    fn ask<T>(
        &mut self,
        question: &str,
        default: Option<&str>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Stop> {
        loop {
            match default.filter(|default| !default.is_empty()) {
                Some(default) => write!(self.to, "{question} [{default}]: ")?,
                None => write!(self.to, "{question}: ")?,
            }
            self.to.flush()?;
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                writeln!(self.to)?;
                return Err(Stop::EndOfInput);
            }
            let answer = match (line.trim(), default) {
                ("", Some(default)) => default,
                (answer, _) => answer,
            };
            match read(answer) {
                Ok(answer) => return Ok(answer),
                Err(problem) => self.complain(problem)?,
            }
        }
    }

    fn complain(&mut self, problem: impl Display) -> Result<(), Stop> {
        Ok(writeln!(self.to, "  {problem}")?)
    }
}

fn not_empty(word: &str, expected: &str) -> Result<String, String> {
    if word.is_empty() { Err(format!("expected {expected}")) } else { Ok(word.to_owned()) }
}

fn direction(word: &str) -> Result<Direction, String> {
    match word {
        "maximize" | "max" | "larger" => Ok(Direction::Maximize),
        "minimize" | "min" | "smaller" => Ok(Direction::Minimize),
        _ => Err("expected maximize or minimize".to_owned()),
    }
}

fn parameter_name(word: &str, known: &[Parameter]) -> Result<String, String> {
    if word.is_empty() && known.is_empty() {
        return Err("expected a name: a study needs at least one parameter".to_owned());
    }
    // Objectives are given parameters by these names, too.
    let same = known.iter().find(|other| environment_name(&other.name) == environment_name(word));
    match same.filter(|_| !word.is_empty()) {
        Some(other) => {
            Err(format!("`{}` already exists; names must differ in letters or digits", other.name))
        }
        None => Ok(word.to_owned()),
    }
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    let kind = if word.parse::<f64>().is_ok() { "a whole number" } else { "a number" };
    word.parse().map_err(|_| format!("expected {kind}, got `{word}`"))
}

fn choices(word: &str) -> Result<Vec<Value>, String> {
    let choices: Vec<Value> =
        word.split(',').map(str::trim).filter(|word| !word.is_empty()).map(Value::from).collect();
    if choices.is_empty() {
        Err("expected at least one choice, such as: relu, tanh".to_owned())
    } else {
        Ok(choices)
    }
}

/// Words as a shell would split them, for simple quotes.
fn command(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() { Err("expected a closing quote".to_owned()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::init::template;
    use optimist_study::StudyFile;

    fn answered(lines: &[&str]) -> (Option<Answers>, String) {
        let mut asked = Vec::new();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let answers = hold("film", &mut text.as_bytes(), &mut asked).unwrap();
        (answers, String::from_utf8(asked).unwrap())
    }

    #[test]
    fn what_is_answered_is_what_the_study_file_says() {
        let (answers, _) = answered(&[
            "",
            "minimize",
            "sh -c 'echo {lr} \"a\\b\"'",
            "30",
            "lr",
            "",
            "1e-5",
            "1",
            "y",
            "",
            "n layers",
            "int",
            "1",
            "9",
            "n",
            "2",
            "kind",
            "categorical",
            "relu, tanh",
            "fast",
            "bool",
            "",
        ]);
        let text = template::study(&answers.unwrap());
        let definition = StudyFile::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).definition;
        assert_eq!(
            (definition.name.as_str(), definition.outcomes.one_direction()),
            ("film", Some(Direction::Minimize))
        );
        assert_eq!(definition.plan.trials, 30);
        assert_eq!(definition.plan.objective.unwrap().command, ["sh", "-c", "echo {lr} \"a\\b\""]);
        let expected = [
            Parameter::new("lr", Kind::Float { low: 1e-5, high: 1.0, log: true, step: None }),
            Parameter::new("n layers", Kind::Int { low: 1, high: 9, log: false, step: Some(2) }),
            Parameter::new("kind", Kind::Categorical { choices: vec!["relu".into(), "tanh".into()] }),
            Parameter::new("fast", Kind::Bool),
        ];
        assert_eq!(definition.space.parameters(), expected);
    }

    #[test]
    fn a_wrong_answer_is_asked_for_again() {
        let (answers, asked) = answered(&[
            "", "sideways", "max", "'open", "", "none", "3", "", "x", "flaot", "int", "1.5", "9", "1", "",
            "", "int", "1", "9", "", "", "x", "",
        ]);
        let answers = answers.unwrap();
        assert_eq!((answers.command.len(), answers.trials, answers.parameters.len()), (0, 3, 1));
        for complaint in [
            "expected maximize or minimize",
            "expected a closing quote",
            "expected a whole number, 1 or more",
            "expected a name: a study needs at least one parameter",
            "expected float, int, categorical or bool",
            "expected a whole number, got `1.5`",
            "low 9 is above high 1; swap the bounds",
            "`x` already exists",
        ] {
            assert!(asked.contains(complaint), "{complaint} in\n{asked}");
        }
        let text = template::study(&answers);
        assert!(StudyFile::parse(&text).unwrap().definition.plan.objective.is_none(), "{text}");
    }

    #[test]
    fn the_end_of_input_ends_the_questions_wherever_it_comes() {
        let lines = ["", "", "true", "5", "x", "float", "0", "1", "", ""];
        for n in 0..lines.len() {
            let text = lines[..n].iter().map(|line| format!("{line}\n")).collect::<String>();
            assert_eq!(hold("s", &mut text.as_bytes(), &mut Vec::new()).unwrap(), None, "after {n} answers");
        }
    }
}
