//! Mistakes in a study file, shown the way a compiler shows them: place, line, caret, advice.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::path::{Path, PathBuf};

use optimist::spelling::nearest;

/// The text of a study file and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFile {
    /// As the user wrote it.
    pub path: PathBuf,
    /// The whole file.
    pub text: String,
}

impl SourceFile {
    /// The name of the file without its ending.
    pub fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// One mistake in a study file, with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Byte range of the offending key or value.
    pub span: Range<usize>,
    /// What is wrong, naming the key.
    pub message: String,
    /// What was expected there; shown beside the caret.
    pub expected: String,
    /// What to do about it, such as the nearest valid spelling.
    pub help: Option<String>,
}

/// A study file that cannot be run, with every mistake found in it.
#[derive(Debug, thiserror::Error)]
pub enum StudyFileError {
    /// There is no such file, or it may not be read, or is not text.
    #[error("cannot read the study file {}: {reason}; give the path of a TOML file", path.display())]
    Unreadable {
        /// As the user wrote it.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// The file was read and makes no sense in at least one place.
    #[error("{}", Rendered { file, problems })]
    Wrong {
        /// What was read.
        file: Box<SourceFile>,
        /// Never empty; in the order of the file.
        problems: Vec<Problem>,
    },
}

impl Problem {
    /// A mistake at `span`.
    pub fn new(span: Range<usize>, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { span, message: message.into(), expected: expected.into(), help: None }
    }

    /// Adds "did you mean" if a candidate is spelled much like `word`.
    pub fn suggest<'c>(mut self, word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Self {
        self.help = nearest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"));
        self
    }

    /// Adds advice, shown on a line of its own.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// `a`, `b` or `c`.
pub fn alternatives<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

struct Rendered<'a> {
    file: &'a SourceFile,
    problems: &'a [Problem],
}

impl Display for Rendered<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                write!(f, "\n\nerror: ")?;
            }
            show(f, &self.file.path, &self.file.text, problem)?;
        }
        if self.problems.len() > 1 {
            write!(f, "\n\n{} mistakes in {}", self.problems.len(), self.file.path.display())?;
        }
        Ok(())
    }
}

fn show(f: &mut Formatter<'_>, path: &Path, text: &str, problem: &Problem) -> fmt::Result {
    let excerpt = Excerpt::of(&problem.span, text);
    let number = excerpt.line_number.to_string();
    let gutter = " ".repeat(number.len());
    writeln!(f, "{}", problem.message)?;
    writeln!(
        f,
        "{gutter}--> {}:{}:{}",
        path.display(),
        excerpt.line_number,
        excerpt.before.chars().count() + 1
    )?;
    writeln!(f, "{gutter} |")?;
    writeln!(f, "{number} | {}", excerpt.line)?;
    // Tabs are kept so that the caret stands below its text whatever the width of a tab.
    let indent: String = excerpt.before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    write!(
        f,
        "{gutter} | {indent}{} {}",
        "^".repeat(excerpt.marked.chars().count().max(1)),
        problem.expected
    )?;
    if let Some(help) = &problem.help {
        write!(f, "\n{gutter} = help: {help}")?;
    }
    Ok(())
}

/// The line on which a span starts, cut into what is before the span, the span, and the rest.
struct Excerpt<'t> {
    line_number: usize,
    line: &'t str,
    before: &'t str,
    marked: &'t str,
}

impl<'t> Excerpt<'t> {
    fn of(span: &Range<usize>, text: &'t str) -> Self {
        let start = floor_char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = floor_char_boundary(text, span.end).clamp(start, line_end);
        Self {
            line_number: text[..start].matches('\n').count() + 1,
            line: text[line_start..line_end].trim_end_matches('\r'),
            before: &text[line_start..start],
            marked: &text[start..end],
        }
    }
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, problems: Vec<Problem>) -> String {
        let file = Box::new(SourceFile { path: "s.toml".into(), text: text.into() });
        StudyFileError::Wrong { file, problems }.to_string()
    }

    #[test]
    fn the_caret_stands_below_the_offending_text() {
        let text = "name = \"é\"\n\tdirecton = 1\n";
        let start = text.find("directon").unwrap();
        let problem = Problem::new(start..start + 8, "unknown key `directon`", "expected `direction`")
            .suggest("directon", ["direction", "seed"]);
        let expected = "unknown key `directon`\n --> s.toml:2:2\n  |\n2 | \tdirecton = 1\n  | \t^^^^^^^^ expected `direction`\n  = help: did you mean `direction`?";
        assert_eq!(rendered(text, vec![problem]), expected);
    }

    #[test]
    fn a_span_over_several_lines_or_past_the_end_is_clipped_to_its_first_line() {
        let shown = rendered("a = [\n1,\n]", vec![Problem::new(4..100, "m", "e")]);
        assert!(shown.contains("1 | a = [\n  |     ^ e"), "{shown}");
        let shown = rendered("", vec![Problem::new(7..9, "m", "e")]);
        assert!(shown.contains("s.toml:1:1"), "{shown}");
    }
}
