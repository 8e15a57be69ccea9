//! Which tasks share a figure: rows of three, the paper's as the paper has them.

use super::TaskReport;

/// Up to three tasks side by side.
pub(crate) struct Panels<'a> {
    /// What they have in common.
    pub(crate) title: String,
    /// For names of files and links: lower-case words joined by hyphens.
    pub(crate) name: String,
    pub(crate) parts: Vec<&'a TaskReport>,
}

/// The paper's figures: name, title and tasks.
const PAPER: [(&str, &str, [&str; 3]); 4] = [
    ("synthetic", "Synthetic functions", ["f1", "f2", "f3"]),
    ("breast", "Hyper-parameters on Breast-cancer", ["rf-breast", "mlp-breast", "gb-breast"]),
    ("australian", "Hyper-parameters on Australian", ["rf-australian", "mlp-australian", "gb-australian"]),
    ("diabetes", "Hyper-parameters on Diabetes", ["rf-diabetes", "mlp-diabetes", "gb-diabetes"]),
];

/// What the names of tasks end in that are the paper's, but with their true types.
const TYPED: &str = "-typed";

/// Every task once: the paper's figures, the same with typed spaces, then the others in their order.
pub(crate) fn rows_of_three(tasks: &[TaskReport]) -> Vec<Panels<'_>> {
    let figure = |name: &str, title: &str, tasks_of_it: &[String]| {
        let of_figure = |part: &&TaskReport| tasks_of_it.iter().any(|name| name == part.task.name);
        let parts: Vec<&TaskReport> = tasks.iter().filter(of_figure).collect();
        Panels { title: title.to_owned(), name: name.to_owned(), parts }
    };
    let papers = PAPER.iter().map(|(name, title, names)| figure(name, title, &names.map(str::to_owned)));
    let typed = PAPER.iter().map(|(name, title, names)| {
        let names = names.map(|name| format!("{name}{TYPED}"));
        figure(&format!("{name}{TYPED}"), &format!("{title}, true types"), &names)
    });
    let mut rows: Vec<Panels> = papers.chain(typed).filter(|row| !row.parts.is_empty()).collect();

    let is_elsewhere =
        |part: &&TaskReport| rows.iter().flat_map(|row| &row.parts).any(|other| std::ptr::eq(*other, *part));
    let others: Vec<&TaskReport> = tasks.iter().filter(|part| !is_elsewhere(part)).collect();
    let n_rows = others.len().div_ceil(3);
    rows.extend(others.chunks(3).enumerate().map(|(index, parts)| Panels {
        title: format!("Other tasks, {} of {n_rows}", index + 1),
        name: format!("others-{}", index + 1),
        parts: parts.to_vec(),
    }));
    rows
}
