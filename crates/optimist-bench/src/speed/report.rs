//! What measurements of speed say: goals, tables and figures, as a page in HTML and in Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::goals::{Goal, cost, goals};
use super::{Cores, SpeedRecord, Timing, mean};
use crate::engines;
use crate::figure::{Growth, legend_order};
use crate::report::page::{Block, Cell, Mark, Picture, Table};
use crate::report::{REFERENCE, WriteError, html, markdown, number};

/// What the records of a run say.
pub struct SpeedReport {
    records: Vec<SpeedRecord>,
    notes: Vec<String>,
}

/// Cells that have one of n and d in common.
#[derive(Clone, Copy)]
enum Sweep {
    /// n grows, d is fixed.
    ByN { d: usize },
    /// d grows, n is fixed.
    ByD { n: usize },
}

impl SpeedReport {
    /// Of the last record of each cell; `notes` are what a reader should know besides.
    pub fn new(records: Vec<SpeedRecord>, notes: Vec<String>) -> SpeedReport {
        SpeedReport { records, notes }
    }

    /// The goals, for a terminal: one line each, after a note if several engines were measured.
    pub fn summary(&self) -> String {
        let note = self.mixed_engines().map_or_else(String::new, |note| format!("{note}\n\n"));
        let line = |goal: &Goal| {
            let measured =
                goal.measured.map_or_else(|| "–".to_owned(), |measured| number(measured, measured));
            format!("{:12} {measured:>9} {:7} {}\n", verdict(goal), goal.bound, goal.text)
        };
        note + &goals(&self.records).iter().map(line).collect::<String>()
    }

    /// The page in Markdown, with links to the figures that [`SpeedReport::write`] writes.
    pub fn to_markdown(&self) -> String {
        markdown::render(&self.page())
    }

    /// The page in HTML, with everything it needs inside.
    pub fn to_html(&self) -> String {
        html::render(&self.page())
    }

    /// Writes `speed.html`, `speed.md` and the figures of the latter into `folder`, which is there.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        let save = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|error| WriteError { problem: error.to_string(), path })
        };
        save("speed.html", &self.to_html())?;
        save("speed.md", &self.to_markdown())?;
        for cores in self.cores() {
            save(&format!("{}.svg", picture_path(cores)), &Growth::row(&self.charts(cores)))?;
        }
        Ok(())
    }

    fn page(&self) -> Vec<Block<'static>> {
        let mut page = vec![Block::Title("Speed report".into()), Block::Text(machine())];
        page.extend(self.mixed_engines().map(Block::Text));
        if !self.notes.is_empty() {
            page.push(Block::List(self.notes.clone()));
        }
        page.extend(self.goals());
        for cores in self.cores() {
            page.push(Block::Heading(format!("On {cores}")));
            let charts = self.charts(cores);
            page.push(Block::Picture(Picture {
                path: picture_path(cores),
                caption: format!("Milliseconds of a tell with its ask on {cores}"),
                panels: charts.iter().map(Growth::panel).collect(),
                names: self.subjects(cores),
            }));
            for sweep in self.sweeps(cores) {
                page.extend(self.costs(sweep, cores));
            }
        }
        page.extend(self.everything());
        page.extend(how_to_read());
        page
    }

    fn mixed_engines(&self) -> Option<String> {
        engines::mixed(self.records.iter().map(|record| (record.cell.optimizer.as_str(), record.engine)))
    }

    fn goals(&self) -> Vec<Block<'static>> {
        let row = |goal: Goal| {
            let measured =
                goal.measured.map_or_else(Cell::nothing, |measured| Cell::plain(number(measured, measured)));
            let mark = if goal.met == Some(true) { Mark::Best } else { Mark::None };
            let verdict = Cell { text: verdict(&goal).to_owned(), mark };
            vec![Cell::plain(goal.text), Cell::plain(goal.bound), measured, verdict]
        };
        vec![
            Block::Heading("Goals".into()),
            Block::Table(Table {
                header: ["goal", "bound", "measured", "met"].map(str::to_owned).to_vec(),
                rows: goals(&self.records).into_iter().map(row).collect(),
            }),
        ]
    }

    fn cores(&self) -> BTreeSet<Cores> {
        self.records.iter().map(|record| record.cell.cores).collect()
    }

    /// The subjects of the cells, in the order of a legend.
    fn subjects(&self, cores: Cores) -> Vec<String> {
        let cells = self.records.iter().map(|record| &record.cell).filter(|cell| cell.cores == cores);
        let subjects: BTreeSet<String> = cells.map(super::Cell::subject).collect();
        legend_order(subjects.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
    }

    /// What was swept: by n where there are two n or more in the same d, and by d likewise.
    fn sweeps(&self, cores: Cores) -> Vec<Sweep> {
        let (mut by_n, mut by_d) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeMap::<_, BTreeSet<_>>::new());
        for cell in self.records.iter().map(|record| &record.cell).filter(|cell| cell.cores == cores) {
            by_n.entry(cell.d).or_default().insert(cell.n);
            by_d.entry(cell.n).or_default().insert(cell.d);
        }
        // The d of the longest sweep by n; the others only have what sweeps by d have.
        let by_n = by_n.into_iter().max_by_key(|(_, n)| n.len()).map(|(d, _)| Sweep::ByN { d });
        let by_d = by_d.into_iter().filter(|(_, d)| d.len() > 1).map(|(n, _)| Sweep::ByD { n });
        by_n.into_iter().chain(by_d).collect()
    }

    fn charts(&self, cores: Cores) -> Vec<Growth> {
        let chart = |sweep: &Sweep| Growth {
            title: sweep.title(),
            x_label: sweep.label().into(),
            y_label: "ms a tell with its ask".into(),
            curves: self.curves(*sweep, cores),
        };
        self.sweeps(cores).iter().map(chart).collect()
    }

    fn curves(&self, sweep: Sweep, cores: Cores) -> Vec<(String, Vec<(f64, f64)>)> {
        let points = |subject: &str| {
            let sizes = self.sizes(sweep, cores).into_iter();
            sizes.filter_map(|size| Some((size as f64, self.cost(subject, sweep, size, cores)?))).collect()
        };
        let subjects = self.subjects(cores).into_iter();
        let curves = subjects.map(|subject| {
            let points = points(&subject);
            (subject, points)
        });
        curves.filter(|(_, points): &(_, Vec<_>)| !points.is_empty()).collect()
    }

    /// The values of what grows.
    fn sizes(&self, sweep: Sweep, cores: Cores) -> BTreeSet<usize> {
        let cells = self.records.iter().map(|record| &record.cell).filter(|cell| cell.cores == cores);
        match sweep {
            Sweep::ByN { d } => cells.filter(|cell| cell.d == d).map(|cell| cell.n).collect(),
            Sweep::ByD { n } => cells.filter(|cell| cell.n == n).map(|cell| cell.d).collect(),
        }
    }

    fn cost(&self, subject: &str, sweep: Sweep, size: usize, cores: Cores) -> Option<f64> {
        let (n, d) = sweep.cell(size);
        cost(&self.records, subject, n, d, cores)
    }

    /// A table of milliseconds, and how many times those of GO-UCB they are.
    fn costs(&self, sweep: Sweep, cores: Cores) -> Vec<Block<'static>> {
        let sizes = self.sizes(sweep, cores);
        let cell = |subject: &str, size: usize| {
            let Some(ms) = self.cost(subject, sweep, size, cores) else {
                return self.absent(subject, sweep, size, cores);
            };
            let shown = number(ms, ms);
            match self.cost(REFERENCE, sweep, size, cores) {
                Some(ours) if subject != REFERENCE => {
                    let times = ms / ours;
                    Cell::plain(format!("{shown} ({}×)", number(times, times)))
                }
                _ => Cell::plain(shown),
            }
        };
        let rows = self.subjects(cores).into_iter().map(|subject| {
            let cells: Vec<Cell> = sizes.iter().map(|&size| cell(&subject, size)).collect();
            std::iter::once(Cell::plain(subject)).chain(cells).collect()
        });
        let header = sizes.iter().map(|size| format!("{} = {size}", sweep.letter()));
        vec![Block::Table(Table {
            header: std::iter::once(format!("ms, {}", sweep.title())).chain(header).collect(),
            rows: rows.collect(),
        })]
    }

    fn absent(&self, subject: &str, sweep: Sweep, size: usize, cores: Cores) -> Cell {
        let (n, d) = sweep.cell(size);
        let outcome = self.records.iter().find_map(|SpeedRecord { cell, outcome, .. }| {
            (cell.subject() == subject && (cell.n, cell.d, cell.cores) == (n, d, cores)).then_some(outcome)
        });
        match outcome {
            Some(Timing::OverLimit { seconds }) => Cell::plain(format!("> {seconds} s")),
            Some(Timing::Failed { .. }) => Cell::plain("failed"),
            _ => Cell::nothing(),
        }
    }

    /// Every cell with all that is known of it.
    fn everything(&self) -> Vec<Block<'static>> {
        let mut records: Vec<&SpeedRecord> = self.records.iter().collect();
        records.sort_by_key(|SpeedRecord { cell, .. }| (cell.cores, cell.subject(), cell.d, cell.n));
        let row = |SpeedRecord { cell, outcome, .. }: &&SpeedRecord| {
            let mut row = vec![
                Cell::plain(format!("{}, {}", cell.subject(), cell.cores)),
                Cell::plain(cell.n.to_string()),
                Cell::plain(cell.d.to_string()),
            ];
            match outcome {
                Timing::Measured(times) => {
                    let mut pairs = times.pairs_ms(cell.cores).to_vec();
                    pairs.sort_by(f64::total_cmp);
                    let figures = [
                        mean(&pairs),
                        pairs[pairs.len() / 2],
                        pairs[pairs.len() - 1],
                        mean(&times.wall_ms),
                        times.ready_ms / cell.n.max(1) as f64,
                    ];
                    row.extend(figures.map(|ms| Cell::plain(number(ms, ms))));
                    row.push(times.peak_mb.map_or_else(Cell::nothing, |mb| Cell::plain(format!("{mb:.0}"))));
                    row.push(Cell::plain(pairs.len().to_string()));
                }
                Timing::OverLimit { seconds } => {
                    row.push(Cell::plain(format!("> {seconds} s")));
                    row.extend(std::iter::repeat_with(Cell::nothing).take(6));
                }
                Timing::Failed { reason } => {
                    row.push(Cell::plain(format!("failed: {reason}")));
                    row.extend(std::iter::repeat_with(Cell::nothing).take(6));
                }
            }
            row
        };
        let header = [
            "ms",
            "n",
            "d",
            "mean",
            "median",
            "slowest",
            "mean by the clock",
            "to be ready, per point",
            "peak, MB",
            "pairs",
        ];
        vec![
            Block::Heading("Every cell".into()),
            Block::Table(Table {
                header: header.map(str::to_owned).to_vec(),
                rows: records.iter().map(row).collect(),
            }),
        ]
    }
}

impl Sweep {
    fn title(self) -> String {
        match self {
            Sweep::ByN { d } => format!("by n at d = {d}"),
            Sweep::ByD { n } => format!("by d at n = {n}"),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Sweep::ByN { .. } => "observations n",
            Sweep::ByD { .. } => "dimension d",
        }
    }

    fn letter(self) -> char {
        match self {
            Sweep::ByN { .. } => 'n',
            Sweep::ByD { .. } => 'd',
        }
    }

    /// n and d of a cell of this size.
    fn cell(self, size: usize) -> (usize, usize) {
        match self {
            Sweep::ByN { d } => (size, d),
            Sweep::ByD { n } => (n, size),
        }
    }
}

fn verdict(goal: &Goal) -> &'static str {
    match goal.met {
        Some(true) => "met",
        Some(false) => "missed",
        None => "not measured",
    }
}

fn picture_path(cores: Cores) -> String {
    match cores {
        Cores::One => "speed-one-core".into(),
        Cores::All => "speed-all-cores".into(),
    }
}

/// What the report was made on.
fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("On {model}, {cores} cores.")
}

fn how_to_read() -> Vec<Block<'static>> {
    let facts = [
        "An optimizer is told n noisy values of a smooth function at uniform points of [0, 1]^d. Then each figure is the mean \
         over up to 64 pairs, fewer where they take seconds or n is small, of telling it the value at its last suggestion and asking \
         for the next. A number in brackets is how many times that of `go-ucb` it is, for the same n and d.",
        "On one core the figure is time on the processor, all threads together: other programs on the machine change it \
         little. The process is held on one core, and libraries of peers are told to use one thread. On all cores the figure is \
         the time by the clock, to which other programs add: our own optimizers go through the same pairs up to five times, \
         and each pair counts with its fastest; peers go once. Time on the processor is always that of the first time.",
        "`> 60 s`: no suggestion within the limit. –: not measured, since something smaller was over the limit or failed. \
         `To be ready` is the time from an empty optimizer to its first suggestion, by the clock, for each of the n points; the \
         start of a peer's Python is in it. Each cell has a process of its own, whose peak of memory it is; of a peer that of \
         its Python.",
        "Optimizers that work in generations or at checkpoints have many cheap pairs and a few dear ones: see the median and \
         the slowest. Others draw their first points at random, HEBO d + 1 of them, and a few milliseconds say nothing then.",
    ];
    vec![Block::Heading("How to read this".into()), Block::List(facts.map(str::to_owned).to_vec())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speed::{Cell as SpeedCell, Outcomes, Times};

    fn record(optimizer: &str, n: usize, d: usize, outcome: Timing) -> SpeedRecord {
        let cell =
            SpeedCell { optimizer: optimizer.to_owned(), n, d, outcomes: Outcomes::One, cores: Cores::One };
        SpeedRecord { cell, outcome, engine: None }
    }

    fn measured(ms: f64) -> Timing {
        let times = Times { wall_ms: vec![9.0; 3], cpu_ms: vec![ms; 3], ready_ms: 50.0, peak_mb: Some(12.4) };
        Timing::Measured(times)
    }

    fn report() -> SpeedReport {
        let records = vec![
            record("go-ucb", 10, 20, measured(2.0)),
            record("go-ucb", 100, 20, measured(4.0)),
            record("skopt", 10, 20, measured(300.0)),
            record("skopt", 100, 20, Timing::OverLimit { seconds: 60.0 }),
            record("go-ucb", 10, 5, measured(1.0)),
            record("go-ucb", 1_000, 20, measured(4.0)),
            record("hebo", 10, 20, Timing::Failed { reason: "a | b <c>".into() }),
        ];
        SpeedReport::new(records, vec!["`hebo` is old.".into()])
    }

    #[test]
    fn tables_have_times_their_ratios_to_go_ucb_and_what_was_too_slow() {
        let text = report().to_markdown();
        for line in [
            "| ms, by n at d = 20 | n = 10 | n = 100 | n = 1000 |",
            "| go-ucb | 2.000 | 4.000 | 4.000 |",
            "| skopt | 300.0 (150.0×) | > 60 s | – |",
            "| hebo | failed | – | – |",
            "| ms, by d at n = 10 | d = 5 | d = 20 |",
            "| go-ucb, one core | 10 | 20 | 2.000 | 2.000 | 2.000 | 9.000 | 5.000 | 12 | 3 |",
            "- `hebo` is old.",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn the_page_needs_nothing_else_and_figures_are_written_for_the_other() {
        let folder = tempfile::tempdir().unwrap();
        report().write(folder.path()).unwrap();
        let page = std::fs::read_to_string(folder.path().join("speed.html")).unwrap();
        assert_eq!(page.matches("<svg viewBox").count(), 2, "by n and by d");
        assert!(page.contains("failed: a | b &lt;c&gt;"));
        assert!(folder.path().join("speed-one-core.svg").exists());
    }

    #[test]
    fn a_report_that_mixes_engines_says_so_first() {
        let of = |n, engine| SpeedRecord { engine, ..record("go-ucb", n, 20, measured(2.0)) };
        let report = SpeedReport::new(vec![of(10, None), of(100, Some(11))], vec![]);
        let note =
            "This report mixes engines: engine unknown: `go-ucb` (1 record); engine 11: `go-ucb` (1 record).";
        assert!(report.summary().starts_with(note), "{}", report.summary());
        let page = report.to_markdown();
        assert!(page.find(note).unwrap() < page.find("\n## ").unwrap(), "{page}");
    }

    #[test]
    fn a_terminal_is_shown_the_goals() {
        let summary = report().summary();
        assert_eq!(summary.lines().count(), goals(&[]).len());
        assert!(summary.lines().all(|line| line.starts_with("not measured")), "{summary}");
    }
}
