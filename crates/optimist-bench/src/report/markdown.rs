//! A page in Markdown. Figures are links to files.

use std::fmt::Write;

use super::page::{Block, Cell, Mark, Table};

pub(crate) fn render(page: &[Block]) -> String {
    let blocks: Vec<String> = page.iter().map(block).collect();
    blocks.join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Title(text) => format!("# {text}\n"),
        Block::Heading(text) => format!("## {text}\n"),
        Block::Text(text) => format!("{text}\n"),
        Block::List(items) => items.iter().map(|item| format!("- {item}\n")).collect(),
        Block::Table(table) => self::table(table),
        Block::Figure(figure) => format!("![{}]({}.svg)\n", figure.caption, figure.path),
        Block::Picture(picture) => format!("![{}]({}.svg)\n", picture.caption, picture.path),
    }
}

fn table(table: &Table) -> String {
    let mut text =
        format!("| {} |\n|---|{}\n", table.header.join(" | "), "---:|".repeat(table.header.len() - 1));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn cell(cell: &Cell) -> String {
    let text = cell.text.replace('|', "\\|");
    match cell.mark {
        Mark::None => text,
        Mark::Best => format!("**{text}**"),
        Mark::Near => format!("*{text}*"),
    }
}
