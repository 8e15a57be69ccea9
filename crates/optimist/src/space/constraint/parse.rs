//! Reading constraints: tokens, products, sums, and one comparison.
//!
//! Problems are texts that say what was wrong and what to do; the constraint they are about is added by the caller.

use super::Relation;

/// One side of a comparison.
#[derive(Default)]
pub(super) struct Side {
    pub(super) terms: Vec<(String, f64)>,
    pub(super) constant: f64,
}

/// The two sides of a constraint and what stands between them.
pub(super) fn comparison(text: &str) -> Result<(Side, Relation, Side), String> {
    let tokens = tokens(text)?;
    let is_relation = |token: &Token| matches!(token, Token::Relation(_));
    let mut places = (0..tokens.len()).filter(|&i| is_relation(&tokens[i]));
    let Some(place) = places.next() else {
        return Err("it has no comparison; use `<=`, `>=` or `=`".to_owned());
    };
    if places.next().is_some() {
        return Err("it has two comparisons; write two constraints".to_owned());
    }
    let Token::Relation(relation) = tokens[place] else { unreachable!("it was found as one") };
    let left = Parser { tokens: &tokens[..=place], at: 0 }.side()?;
    let right = Parser { tokens: &tokens, at: place + 1 }.side()?;
    Ok((left, relation, right))
}

/// Whether a name can stand without backticks.
pub(super) fn is_plain(name: &str) -> bool {
    let starts = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    starts && name.chars().all(is_in_name)
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    /// `+`, `-`, `*` or `/`.
    Operator(char),
    Relation(Relation),
}

impl Token {
    fn text(&self) -> String {
        match self {
            Token::Number(number) => number.to_string(),
            Token::Name(name) => name.clone(),
            Token::Operator(operator) => operator.to_string(),
            Token::Relation(relation) => relation.to_string(),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '+' | '-' | '*' | '/' => (Token::Operator(first), 1),
            '`' => {
                let (name, _) =
                    rest[1..].split_once('`').ok_or("a name in backticks does not end; close it")?;
                (Token::Name(name.to_owned()), name.len() + 2)
            }
            c if c.is_ascii_digit() || c == '.' => number(rest)?,
            c if c.is_alphabetic() || c == '_' => {
                let length = rest.find(|c| !is_in_name(c)).unwrap_or(rest.len());
                (Token::Name(rest[..length].to_owned()), length)
            }
            _ => relation(rest)?,
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Digits, a point and an exponent; an `e` without digits after it is not part of the number.
fn number(text: &str) -> Result<(Token, usize), String> {
    let digits =
        |from: usize| text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |n| from + n);
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent_end = digits(end + 1 + sign);
        end = if exponent_end > end + 1 + sign { exponent_end } else { end };
    }
    let number = text[..end].parse().map_err(|_| format!("`{}` is not a number", &text[..end]))?;
    Ok((Token::Number(number), end))
}

fn relation(text: &str) -> Result<(Token, usize), String> {
    const RELATIONS: [(&str, Relation); 8] = [
        ("<=", Relation::AtMost),
        ("=<", Relation::AtMost),
        ("≤", Relation::AtMost),
        (">=", Relation::AtLeast),
        ("=>", Relation::AtLeast),
        ("≥", Relation::AtLeast),
        ("==", Relation::Equal),
        ("=", Relation::Equal),
    ];
    if let Some((word, relation)) = RELATIONS.iter().find(|(word, _)| text.starts_with(word)) {
        return Ok((Token::Relation(*relation), word.len()));
    }
    Err(match text.chars().next() {
        Some(strict @ ('<' | '>')) => {
            format!("`{strict}` is not known, bounds are included; use `{strict}=`")
        }
        Some(parenthesis @ ('(' | ')')) => format!("`{parenthesis}` is not known; multiply out"),
        other => {
            let other = other.map(String::from).unwrap_or_default();
            format!("`{other}` is not known; use names, numbers, `+`, `-`, `*`, `/` and `<=`, `>=` or `=`")
        }
    })
}

/// Reads from `at`; a comparison ends a side.
struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl Parser<'_> {
    /// Products with signs between them.
    fn side(&mut self) -> Result<Side, String> {
        let mut side = Side::default();
        loop {
            let mut sign = 1.0;
            while let Some(Token::Operator(operator @ ('+' | '-'))) = self.tokens.get(self.at) {
                sign *= if *operator == '-' { -1.0 } else { 1.0 };
                self.at += 1;
            }
            match self.product()? {
                (Some(name), factor) => side.terms.push((name, sign * factor)),
                (None, number) => side.constant += sign * number,
            }
            match self.tokens.get(self.at) {
                None | Some(Token::Relation(_)) => return Ok(side),
                Some(Token::Operator('+' | '-')) => {}
                Some(_) => return Err(self.expected("`+`, `-`, `*`, `/` or a comparison")),
            }
        }
    }

    /// Numbers and at most one name with `*` and `/` between them, or a number right before a name.
    fn product(&mut self) -> Result<(Option<String>, f64), String> {
        let (mut name, mut factor): (Option<String>, f64) = (None, 1.0);
        let mut divides = false;
        loop {
            match (self.tokens.get(self.at), &name) {
                (Some(Token::Number(number)), _) if divides && *number == 0.0 => {
                    return Err("it divides by zero; divide by another number".to_owned());
                }
                (Some(Token::Number(number)), _) if divides => factor /= number,
                (Some(Token::Number(number)), _) => factor *= number,
                (Some(Token::Name(other)), _) if divides => {
                    return Err(format!("`{other}` is divided by; divide by numbers only"));
                }
                (Some(Token::Name(other)), Some(name)) => {
                    return Err(format!("`{name}` times `{other}` is not linear; multiply by numbers only"));
                }
                (Some(Token::Name(only)), None) => name = Some(only.clone()),
                (_, _) => return Err(self.expected("a name or a number")),
            }
            self.at += 1;
            let after_number = matches!(self.tokens[self.at - 1], Token::Number(_));
            match self.tokens.get(self.at) {
                Some(Token::Operator(operator @ ('*' | '/'))) => {
                    divides = *operator == '/';
                    self.at += 1;
                }
                Some(Token::Name(_)) if after_number => divides = false,
                _ => return Ok((name, factor)),
            }
        }
    }

    fn expected(&self, what: &str) -> String {
        let after = match self.at.checked_sub(1) {
            Some(before) => format!("after `{}`", self.tokens[before].text()),
            None => "at the beginning".to_owned(),
        };
        let got = self.tokens.get(self.at).map(|token| format!(", got `{}`", token.text()));
        format!("expected {what} {after}{}", got.unwrap_or_default())
    }
}
