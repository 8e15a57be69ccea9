//! What runs on problems with several outcomes say: how far each optimizer is from the best, and who comes first.
//!
//! A run is judged by its gap: the best hypervolume, or the best value that meets the bounds, less what it has achieved. Gaps differ
//! by powers of ten, so their logs are averaged. A run without a feasible point has the gap of the problem's worst value. Where a run
//! achieved more than was known to be possible, that is the best.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::play::SeveralRecord;
use super::problem::{Group, Problem};
use crate::report::page::probability;
use crate::report::signed_rank_p;

/// The optimizer that all others are compared with.
const REFERENCE: &str = "go-ucb";

/// A gap below this share of the way from worst to best is as good as none.
const LEAST_GAP: f64 = 1e-6;

/// Problems, and the runs on them after some of their trials.
pub struct Standings<'a> {
    problems: &'a [Problem],
    records: &'a [SeveralRecord],
    trials: usize,
}

/// Some of the problems, by what they have in common.
type Kind = (&'static str, fn(&Problem) -> bool);

/// log10 of the gap: its mean over repetitions, and 1.96 standard errors if there are two or more.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gap {
    mean: f64,
    interval: Option<f64>,
}

impl Gap {
    fn text(self, is_least: bool) -> String {
        let mean = if is_least { format!("**{:.2}**", self.mean) } else { format!("{:.2}", self.mean) };
        self.interval.map_or_else(|| mean.clone(), |interval| format!("{mean} ± {interval:.2}"))
    }
}

impl<'a> Standings<'a> {
    /// After `trials` trials; shorter runs are left out.
    pub fn new(problems: &'a [Problem], records: &'a [SeveralRecord], trials: usize) -> Self {
        Self { problems, records, trials }
    }

    /// Tables: gaps by problem, mean ranks by group and by kind, wins and losses, times.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        for group in [Group::Multi, Group::Constrained] {
            let problems: Vec<&Problem> = self
                .problems
                .iter()
                .filter(|problem| problem.group == group && self.is_played(problem))
                .collect();
            if problems.is_empty() {
                continue;
            }
            let _ = writeln!(text, "## {}, {} trials\n", group.name(), self.trials);
            self.write_gaps(&mut text, &problems);
            let kinds: [Kind; 5] = [
                ("all", |_| true),
                ("noisy", Problem::is_noisy),
                ("without noise", |problem| !problem.is_noisy()),
                ("three goals", |problem| problem.goals.maximized().len() > 2),
                ("tiny feasible part", |problem| problem.tiny),
            ];
            let kinds: Vec<(&str, Vec<&Problem>)> = kinds
                .into_iter()
                .map(|(name, is)| (name, problems.iter().copied().filter(|problem| is(problem)).collect()))
                .filter(|(_, problems): &(_, Vec<&Problem>)| !problems.is_empty())
                .collect();
            self.write_ranks(&mut text, &kinds);
            self.write_duels(&mut text, &problems);
        }
        text
    }

    fn is_played(&self, problem: &Problem) -> bool {
        !self.names(&[problem]).is_empty()
    }

    /// The optimizers that played any of these problems.
    fn names(&self, problems: &[&Problem]) -> BTreeSet<&'a str> {
        let records = problems.iter().flat_map(|problem| self.runs(problem));
        records.map(|record| record.optimizer.as_str()).collect()
    }

    fn runs<'s>(&'s self, problem: &'s Problem) -> impl Iterator<Item = &'a SeveralRecord> + 's {
        let is_long = |record: &&SeveralRecord| record.achieved.len() >= self.trials;
        self.records.iter().filter(|record| record.problem == problem.name).filter(is_long)
    }

    /// The best that is known of a problem, or that any of its runs achieved: the largest hypervolumes of some are not known.
    fn best(&self, problem: &Problem) -> f64 {
        let records = self.records.iter().filter(|record| record.problem == problem.name);
        records.filter_map(|record| record.achieved.last()).copied().fold(problem.best, f64::max)
    }

    /// log10 of the gap of a run.
    fn log_gap(&self, problem: &Problem, record: &SeveralRecord) -> f64 {
        let scale = problem.best - problem.worst;
        (self.best(problem) - record.achieved[self.trials - 1]).max(LEAST_GAP * scale).log10()
    }

    fn gap(&self, problem: &Problem, optimizer: &str) -> Option<Gap> {
        let runs = self.runs(problem).filter(|record| record.optimizer == optimizer);
        let logs: Vec<f64> = runs.map(|record| self.log_gap(problem, record)).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let interval = (logs.len() > 1).then(|| 1.96 * (variance / n).sqrt());
        (!logs.is_empty()).then_some(Gap { mean, interval })
    }

    fn write_gaps(&self, text: &mut String, problems: &[&Problem]) {
        let names = self.names(problems);
        let _ = writeln!(
            text,
            "| log10 of the gap | {} |",
            names.iter().copied().collect::<Vec<_>>().join(" | ")
        );
        let _ = writeln!(text, "|---|{}", "--:|".repeat(names.len()));
        for problem in problems {
            let gaps: Vec<Option<Gap>> = names.iter().map(|name| self.gap(problem, name)).collect();
            let least = gaps.iter().flatten().map(|gap| gap.mean).fold(f64::INFINITY, f64::min);
            let cell =
                |gap: &Option<Gap>| gap.map_or_else(|| "–".to_owned(), |gap| gap.text(gap.mean == least));
            let cells: Vec<String> = gaps.iter().map(cell).collect();
            let _ = writeln!(text, "| {} | {} |", problem.name, cells.join(" | "));
        }
        text.push('\n');
    }

    /// Mean ranks among the optimizers that played every problem. Slow ones that played a sample are ranked with the others in a table
    /// of its own, over the problems that everybody played.
    fn write_ranks(&self, text: &mut String, kinds: &[(&str, Vec<&Problem>)]) {
        let all = kinds.first().map_or(&[][..], |(_, problems)| problems);
        let everybody = self.names(all);
        let thorough: BTreeSet<&str> =
            everybody.iter().copied().filter(|name| all.iter().all(|p| self.has_played(p, name))).collect();
        if !thorough.is_empty() {
            self.write_ranks_of(text, kinds, &thorough);
        }
        if thorough != everybody {
            let shared: Vec<(&str, Vec<&Problem>)> = kinds
                .iter()
                .map(|(kind, problems)| {
                    let by_all =
                        |problem: &&&Problem| everybody.iter().all(|name| self.has_played(problem, name));
                    (*kind, problems.iter().filter(by_all).copied().collect())
                })
                .filter(|(_, problems): &(_, Vec<&Problem>)| !problems.is_empty())
                .collect();
            if !shared.is_empty() {
                let _ = writeln!(text, "On the problems that everybody played:\n");
                self.write_ranks_of(text, &shared, &everybody);
            }
        }
    }

    fn write_ranks_of(&self, text: &mut String, kinds: &[(&str, Vec<&Problem>)], names: &BTreeSet<&str>) {
        let header: Vec<String> =
            kinds.iter().map(|(kind, problems)| format!("{kind} ({})", problems.len())).collect();
        let _ = writeln!(text, "| mean rank | {} | ask, ms |", header.join(" | "));
        let _ = writeln!(text, "|---|{}--:|", "--:|".repeat(kinds.len()));
        let all = kinds.first().map_or(&[][..], |(_, problems)| problems);
        let mut rows: Vec<(&str, Vec<f64>)> = names
            .iter()
            .map(|name| {
                (*name, kinds.iter().map(|(_, problems)| self.mean_rank(problems, name, names)).collect())
            })
            .collect();
        rows.sort_by(|a, b| a.1[0].total_cmp(&b.1[0]));
        for (name, ranks) in rows {
            let ranks: Vec<String> = ranks.iter().map(|rank| format!("{rank:.2}")).collect();
            let _ = writeln!(text, "| {name} | {} | {:.0} |", ranks.join(" | "), self.median_ask(all, name));
        }
        text.push('\n');
    }

    fn has_played(&self, problem: &Problem, name: &str) -> bool {
        self.runs(problem).any(|record| record.optimizer == name)
    }

    /// The mean place of `name` among `names`, by the mean gap on each problem.
    fn mean_rank(&self, problems: &[&Problem], name: &str, names: &BTreeSet<&str>) -> f64 {
        let rank = |problem: &&Problem| {
            let own = self.gap(problem, name).map_or(f64::INFINITY, |gap| gap.mean);
            let others: Vec<f64> =
                names.iter().filter_map(|other| Some(self.gap(problem, other)?.mean)).collect();
            let less = others.iter().filter(|gap| **gap < own).count() as f64;
            let equal = others.iter().filter(|gap| **gap == own).count() as f64;
            less + 0.5 * (equal + 1.0)
        };
        problems.iter().map(rank).sum::<f64>() / problems.len() as f64
    }

    fn median_ask(&self, problems: &[&Problem], name: &str) -> f64 {
        let runs = problems.iter().flat_map(|problem| self.runs(problem));
        let mut times: Vec<f64> = runs
            .filter(|record| record.optimizer == name)
            .flat_map(|record| record.ask_ms.iter().copied())
            .collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Run against run of the same repetition, with the same first points and the same noise.
    fn write_duels(&self, text: &mut String, problems: &[&Problem]) {
        let names = self.names(problems);
        if !names.contains(REFERENCE) {
            return;
        }
        let _ = writeln!(text, "| {REFERENCE} against | runs won | tied | lost | p |");
        let _ = writeln!(text, "|---|--:|--:|--:|--:|");
        for other in names.into_iter().filter(|name| *name != REFERENCE) {
            let differences: Vec<f64> =
                problems.iter().flat_map(|problem| self.differences(problem, other)).collect();
            let count = |is: fn(&f64) -> bool| differences.iter().filter(|difference| is(difference)).count();
            let p = signed_rank_p(&differences).map_or_else(|| "–".to_owned(), probability);
            let (won, tied, lost) = (count(|d| *d > 0.0), count(|d| *d == 0.0), count(|d| *d < 0.0));
            let _ = writeln!(text, "| {other} | {won} | {tied} | {lost} | {p} |");
        }
        text.push('\n');
    }

    /// By how much the other's log gap is larger, run by run.
    fn differences(&self, problem: &Problem, other: &str) -> Vec<f64> {
        let of = |name: &str| -> BTreeMap<(usize, u64), f64> {
            let runs = self.runs(problem).filter(|record| record.optimizer == name);
            runs.map(|record| ((record.rep, record.seed), self.log_gap(problem, record))).collect()
        };
        let (ours, theirs) = (of(REFERENCE), of(other));
        ours.into_iter().filter_map(|(run, gap)| Some(theirs.get(&run)? - gap)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::several::select;

    fn run(problem: &str, optimizer: &str, achieved: f64) -> SeveralRecord {
        SeveralRecord {
            problem: problem.to_owned(),
            optimizer: optimizer.to_owned(),
            achieved: vec![achieved],
            ..SeveralRecord::default()
        }
    }

    /// The row of an optimizer in the nth table of ranks.
    fn row(text: &str, table: usize, optimizer: &str) -> String {
        let table = text.split("| mean rank |").nth(table + 1).unwrap().split("\n\n").next().unwrap();
        table
            .lines()
            .find(|line| line.starts_with(&format!("| {optimizer} |")))
            .unwrap_or_default()
            .to_owned()
    }

    #[test]
    fn a_gap_has_an_interval_if_there_are_two_runs() {
        let problems = select(&["zdt1"]).unwrap();
        let mut records = vec![run("zdt1", "random", 1.0)];
        let gap =
            |records: &[SeveralRecord]| Standings::new(&problems, records, 1).gap(&problems[0], "random");
        assert_eq!(gap(&records).unwrap().interval, None);
        records.push(SeveralRecord { rep: 1, ..run("zdt1", "random", 2.0) });
        assert!(gap(&records).unwrap().interval > Some(0.0));
    }

    #[test]
    fn who_achieves_more_than_was_known_is_the_measure_for_the_others() {
        let problems = select(&["zdt1"]).unwrap();
        let known = problems[0].best;
        let gap = |achieved: [f64; 2]| {
            let records = [run("zdt1", "go-ucb", achieved[0]), run("zdt1", "random", achieved[1])];
            Standings::new(&problems, &records, 1).gap(&problems[0], "random").unwrap().mean
        };
        assert!((gap([known, known - 1.0]) - 0.0).abs() < 1e-12);
        assert!((gap([known + 9.0, known - 1.0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn who_played_a_sample_is_ranked_on_the_sample_and_changes_no_other_rank() {
        let problems = select(&["zdt1", "zdt2"]).unwrap();
        let records = [
            run("zdt1", "go-ucb", 2.0),
            run("zdt1", "random", 1.0),
            run("zdt1", "botorch:gp-ei", 3.0),
            run("zdt2", "go-ucb", 1.0),
            run("zdt2", "random", 2.0),
        ];
        let text = Standings::new(&problems, &records, 1).to_markdown();
        assert!(row(&text, 0, "go-ucb").starts_with("| go-ucb | 1.50 |"), "{text}");
        assert_eq!(row(&text, 0, "botorch:gp-ei"), "", "{text}");
        assert!(row(&text, 1, "botorch:gp-ei").starts_with("| botorch:gp-ei | 1.00 |"), "{text}");
        assert!(row(&text, 1, "go-ucb").starts_with("| go-ucb | 2.00 |"), "{text}");
    }
}
