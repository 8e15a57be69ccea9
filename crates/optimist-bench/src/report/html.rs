//! A page in HTML that needs nothing else: styles and figures are part of it, and there are no scripts. It is
//! well-formed XML as well, which is easy to check. Fits phones, paper, day and night.

use std::fmt::Write;

use optimist_plot::lines::Stroke;

use super::TaskReport;
use super::page::{Block, Cell, FigureBlock, Mark, Table};
use crate::figure;

const STYLE: &str = include_str!("style.css");

pub(crate) fn render(page: &[Block]) -> String {
    let body: String = page.iter().map(block).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}<main>\n{body}</main>\n</body>\n</html>\n",
        title(page),
        contents(page),
    )
}

fn title(page: &[Block]) -> String {
    page.iter()
        .find_map(|block| match block {
            Block::Title(text) => Some(escaped(text)),
            _ => None,
        })
        .unwrap_or_default()
}

/// Links to the sections.
fn contents(page: &[Block]) -> String {
    let links: String = page
        .iter()
        .filter_map(|block| match block {
            Block::Heading(text) => Some(format!("<a href=\"#{}\">{}</a>\n", anchor(text), escaped(text))),
            _ => None,
        })
        .collect();
    format!("<nav>\n{links}</nav>\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Title(text) => format!("<h1>{}</h1>\n", escaped(text)),
        Block::Heading(text) => format!("<h2 id=\"{}\">{}</h2>\n", anchor(text), escaped(text)),
        Block::Text(text) => format!("<p>{}</p>\n", with_names(text)),
        Block::List(items) => {
            let items: String = items.iter().map(|item| format!("<li>{}</li>\n", with_names(item))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Table(table) => self::table(table),
        Block::Figure(figure) => self::figure(figure),
        Block::Picture(picture) => {
            let panels: String = picture.panels.iter().map(|svg| format!("<div>{svg}</div>\n")).collect();
            panels_with_legend(&panels, picture.names.iter().map(String::as_str), &picture.caption)
        }
    }
}

fn table(table: &Table) -> String {
    let mut html = String::from("<div class=\"table\"><table>\n<thead><tr>");
    for name in &table.header {
        let _ = write!(html, "<th>{}</th>", escaped(name));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        let cells: String = row.iter().enumerate().map(|(column, cell)| self::cell(column, cell)).collect();
        let _ = writeln!(html, "<tr>{cells}</tr>");
    }
    html.push_str("</tbody></table></div>\n");
    html
}

fn cell(column: usize, cell: &Cell) -> String {
    let text = escaped(&cell.text);
    match (column, cell.mark) {
        (0, _) => format!("<th>{text}</th>"),
        (_, Mark::None) => format!("<td>{text}</td>"),
        (_, Mark::Best) => format!("<td><b>{text}</b></td>"),
        (_, Mark::Near) => format!("<td><i>{text}</i></td>"),
    }
}

/// Panels side by side as far as the screen is wide, and one legend for all.
fn figure(figure: &FigureBlock) -> String {
    let panels: String = figure.parts.iter().map(|part| panel(part, figure)).collect();
    panels_with_legend(&panels, figure.shown.iter().copied(), &figure.caption)
}

fn panels_with_legend<'a>(panels: &str, names: impl Iterator<Item = &'a str>, caption: &str) -> String {
    let legend: String = figure::legend_order(names).into_iter().map(legend_entry).collect();
    format!(
        "<figure>\n<div class=\"panels\">\n{panels}</div>\n<div class=\"legend\">\n{legend}</div>\n\
         <figcaption>{}</figcaption>\n</figure>\n",
        escaped(caption)
    )
}

fn panel(part: &TaskReport, figure: &FigureBlock) -> String {
    format!("<div>{}</div>\n", figure::panel(part, figure.measure, &figure.shown))
}

fn legend_entry(name: &str) -> String {
    let Stroke { colour, width, dashes, .. } = figure::stroke(name);
    let dashes = dashes.map_or_else(String::new, |dashes| format!(" stroke-dasharray=\"{dashes}\""));
    format!(
        "<span><svg width=\"28\" height=\"10\"><line x1=\"0\" y1=\"5\" x2=\"28\" y2=\"5\" stroke=\"{colour}\" \
         stroke-width=\"{width}\"{dashes}/></svg>{}</span>\n",
        escaped(name)
    )
}

/// What a heading is linked by: its words in lower case, joined by hyphens.
fn anchor(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Names in `back quotes` become code.
fn with_names(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(index, part)| match index % 2 {
            1 => format!("<code>{}</code>", escaped(part)),
            _ => escaped(part),
        })
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
