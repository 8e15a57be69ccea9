//! How commands show things: lines, tables, points, ages.

use std::borrow::Cow;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use comfy_table::{ColumnConstraint, Table, Width, presets};
use optimist::space::{Assignment, Space};
use optimist_study::view::number::{shown, significant};
use optimist_study::{NamedOutcome, Outcomes};
use serde::Serialize;

/// Prints a text on standard output.
pub fn print(text: impl std::fmt::Display) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{}", plain(&text.to_string()))?;
    Ok(())
}

/// What a terminal shows and does not obey: names, notes and reasons are written by others, and may hold anything.
pub fn plain(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if is_obeyed(c) { format!("\\x{:02x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Prints a remark on standard error, if anybody can still read it: a terminal may be gone.
pub fn say(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{}", plain(&text.to_string()));
}

/// Prints a line of JSON on standard output.
pub fn print_json(object: &impl Serialize) -> anyhow::Result<()> {
    let json = serde_json::to_string(object)?;
    // The others are escaped as it is, and all of them can only be in strings.
    let is_obeyed = |c: char| c.is_control();
    let escaped = |c: char| if is_obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    let json = if json.contains(is_obeyed) { json.chars().map(escaped).collect() } else { json };
    writeln!(std::io::stdout(), "{json}")?;
    Ok(())
}

/// Rows of cells in columns, without lines between them.
pub fn table(rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.add_rows(rows.into_iter().map(plain_cells));
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Cells as they are printed, so that columns are as wide as what is in them.
fn plain_cells(row: Vec<String>) -> Vec<String> {
    row.into_iter().map(|cell| plain(&cell).into_owned()).collect()
}

/// Prints rows of cells in columns, the first the title, without holding more than a few of them at a time: `rows` makes them,
/// and is called twice.
pub fn print_table<I: Iterator<Item = Vec<String>>>(rows: impl Fn() -> I) -> anyhow::Result<()> {
    const PADDING: u16 = 2; // of comfy-table
    let mut widths: Vec<u16> = Vec::new();
    in_blocks(rows(), |table| {
        let found = table.column_max_content_widths();
        widths.resize(widths.len().max(found.len()), 0);
        widths.iter_mut().zip(found).for_each(|(width, found)| *width = found.max(*width));
        Ok(())
    })?;
    let mut out = std::io::stdout().lock();
    in_blocks(rows(), |table| {
        let fixed = |width: &u16| ColumnConstraint::Absolute(Width::Fixed(width + PADDING));
        table.set_constraints(widths.iter().map(fixed));
        for line in table.to_string().lines() {
            writeln!(out, "{}", plain(line.trim_end()))?;
        }
        Ok(())
    })
}

fn in_blocks(
    rows: impl Iterator<Item = Vec<String>>,
    mut each: impl FnMut(&mut Table) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    const BLOCK: usize = 1000;
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.add_rows(rows.by_ref().take(BLOCK).map(plain_cells));
        each(&mut table)?;
    }
    Ok(())
}

/// A point on one line: `lr=0.01 kind=relu`.
pub fn in_short(params: &Assignment) -> String {
    let pairs: Vec<String> = params.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    pairs.join(" ")
}

/// `81.5`, or `accuracy 0.93, latency_ms 12.1`: the values that are known.
pub fn values(outcomes: &Outcomes, value: impl Fn(&str) -> Option<f64>) -> String {
    let shown = outcomes.names().filter_map(|name| Some((name, significant(value(name)?, 6))));
    let shown = shown.map(|(name, value)| if outcomes.is_one() { value } else { format!("{name} {value}") });
    shown.collect::<Vec<_>>().join(", ")
}

/// `VALUE`, or `accuracy=… latency_ms=…`: what `optimist tell` wants.
pub fn what_to_tell(outcomes: &Outcomes) -> String {
    match outcomes.is_one() {
        true => "VALUE".to_owned(),
        false => outcomes.names().map(|name| format!("{name}=…")).collect::<Vec<_>>().join(" "),
    }
}

/// `not feasible: memory_gb must be at most 8`; `None` if no constraint is known to be broken.
pub fn violated(outcomes: &Outcomes, value: impl Fn(&str) -> Option<f64>) -> Option<String> {
    let is_broken = |one: &&NamedOutcome| value(&one.name).is_some_and(|value| !one.aim.allows(value));
    let broken = outcomes.constraints().filter(is_broken);
    let broken: Vec<String> = broken.map(|one| format!("{} must be {}", one.name, one.aim)).collect();
    (!broken.is_empty()).then(|| format!("not feasible: {}", broken.join(", ")))
}

/// A value that may be missing.
pub fn or_dash(text: Option<impl ToString>) -> String {
    text.map_or_else(|| "-".to_owned(), |text| text.to_string())
}

/// The parameters: columns of a table.
pub fn names(space: &Space) -> impl Iterator<Item = &str> {
    space.parameters().iter().map(|parameter| parameter.name.as_str())
}

/// The cells of a point in these columns.
pub fn cells(params: &Assignment, space: &Space) -> impl Iterator<Item = String> {
    names(space).map(|name| or_dash(params.get(name).map(shown)))
}

/// `2.5 s`, `3 min 10 s`, `4 h 5 min`, `12 days`.
pub fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    match (seconds / 86_400, seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, _) => format!("{:.1} s", took.as_secs_f64()),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0 | 1, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, ..) => format!("{days} days"),
    }
}

/// How long ago something was: milliseconds since 1970.
pub fn age(at: u64) -> String {
    let then = UNIX_EPOCH + Duration::from_millis(at);
    let ago = SystemTime::now().duration_since(then).unwrap_or_default();
    match ago.as_secs() {
        seconds @ 0..60 => format!("{seconds} s ago"),
        _ => format!("{} ago", duration(ago)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_shown() {
        assert_eq!(plain("a\tb\nc é"), "a\tb\nc é");
        assert_eq!(plain("\u{1b}[2J\r\u{7}\u{7f}\u{9b}31m"), "\\x1b[2J\\x0d\\x07\\x7f\\x9b31m");
    }

    #[test]
    fn what_terminals_obey_does_not_shift_columns() {
        let rows = [["a\u{1b}[31m", "1"], ["b", "2"]].map(|row| row.map(str::to_owned).to_vec());
        let table = table(rows.to_vec());
        let widths: Vec<usize> = table.lines().map(|line| line.chars().count()).collect();
        assert!(widths.len() == 2 && widths[0] == widths[1], "{table}");
    }

    #[test]
    fn durations_have_the_units_that_people_would_use() {
        let cases = [
            (0, "0.0 s"),
            (75, "1 min 15 s"),
            (3600, "1 h 0 min"),
            (90_000, "25 h 0 min"),
            (864_000, "10 days"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(duration(Duration::from_secs(seconds)), expected);
        }
    }
}
