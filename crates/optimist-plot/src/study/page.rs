//! The plots as one page that needs no network, and scripts only to sort the trials. Dark where the reader likes it dark.

use super::card::Card;
use super::trials::SCRIPT;
use super::{Plot, PlotKind};
use crate::canvas::{Canvas, colour};
use crate::render;

/// Each colour of a picture, and its twin on a dark page.
const DARK: [(&str, &str); 25] = [
    (colour::INK, "#e6edf3"),
    (colour::FAINT, "#9aa4af"),
    (colour::GRID, "#2b323b"),
    (colour::POINT, "#58a6e0"),
    (colour::BEST, "#ff8c42"),
    (colour::FAILED, "#c8a2d8"),
    (colour::BAND, "#1d3a50"),
    (colour::SERIES[2], "#35c79a"),
    (colour::SERIES[3], "#e7a3c6"),
    (colour::SERIES[4], "#d7b94a"),
    (colour::OFF, "#272d35"),
    (colour::LEVELS[0], "#161f28"),
    (colour::LEVELS[1], "#192836"),
    (colour::LEVELS[2], "#1c3245"),
    (colour::LEVELS[3], "#203e57"),
    (colour::LEVELS[4], "#264c6b"),
    (colour::LEVELS[5], "#2e5d83"),
    (colour::LEVELS[6], "#38709d"),
    (colour::LEVELS[7], "#4586ba"),
    (colour::LEVELS[8], "#58a0da"),
    (colour::RANKS[0], "#39424d"),
    (colour::RANKS[1], "#3d5d78"),
    (colour::RANKS[2], "#4a86b4"),
    (colour::RANKS[3], "#58a6e0"),
    (colour::RANKS[4], "#ff8c42"),
];

/// Rules that give each colour of a picture its twin, for SVG below what `scope` selects.
pub fn dark_rules(scope: &str) -> String {
    let rule = |(light, dark): &(&str, &str)| {
        format!(
            "{scope} svg [fill=\"{light}\"]{{fill:{dark}}} {scope} svg [stroke=\"{light}\"]{{stroke:{dark}}}\n"
        )
    };
    DARK.iter().map(rule).collect()
}

/// A whole page, ready to be saved.
pub fn html(headline: &str, card: &Card, plots: &[Plot], trials: &str) -> String {
    let dark = dark_rules("");
    let headline = escaped(headline);
    let card = card.html();
    // Most studies have no metrics, and those that have none need not be told.
    let is_empty = |plot: &&Plot| plot.kind == PlotKind::Metrics && plot.panels.is_empty() && plots.len() > 1;
    let sections: String = plots.iter().filter(|plot| !is_empty(plot)).map(section).collect();
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{headline}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 1rem; max-width: 70rem; background: #fff; color: #24292f;
  font: 16px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.3rem; }}
h2 {{ font-size: 1.1rem; margin: 2rem 0 0; }}
p {{ margin: .25rem 0 .75rem; max-width: 45rem; }}
.panels {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: .5rem; }}
.panels div {{ overflow-x: auto; }}
.panels .wide {{ grid-column: 1 / -1; }}
@media (min-width: 44rem) {{ .panels .large {{ grid-column: span 2; }} }}
svg {{ display: block; width: 100%; height: auto; }}
.wide svg {{ min-width: 42rem; }}
.scroll {{ overflow: auto; max-height: 40rem; }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .2rem .8rem .2rem 0; text-align: left; white-space: nowrap; }}
.card {{ border: 1px solid #d0d7de; border-radius: 6px; padding: .5rem 1rem; }}
.card table {{ margin: .5rem 0; }}
.card td {{ font-weight: 600; }}
.card th {{ font-weight: 400; }}
.sortable th {{ cursor: pointer; position: sticky; top: 0; background: #fff; }}
.sortable th[aria-sort=ascending]::after {{ content: " ▴"; }}
.sortable th[aria-sort=descending]::after {{ content: " ▾"; }}
.sortable td {{ border-top: 1px solid #e6e8eb; }}
.best td {{ color: #b04a00; font-weight: 600; }}
@media (prefers-color-scheme: dark) {{
  body, .sortable th {{ background: #14181d; color: #e6edf3; }}
  .card {{ border-color: #39424d; }}
  .sortable td {{ border-color: #2b323b; }}
  .best td {{ color: #ff8c42; }}
{dark}}}
</style>
</head>
<body>
<h1>{headline}</h1>
{card}{sections}{trials}<script>
{SCRIPT}</script>
</body>
</html>
"#
    )
}

fn section(plot: &Plot) -> String {
    let panels: String = plot.panels.iter().map(panel).collect();
    let caption = escaped(&plot.caption);
    format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n<p>{caption}</p>\n<div class=\"panels\">\n{panels}</div>\n</section>\n",
        plot.kind.word(),
        plot.title
    )
}

/// A picture that would be illegible when squeezed into a phone is scrolled instead.
fn panel(canvas: &Canvas) -> String {
    let class = match canvas.width {
        700.0.. => " class=\"wide\"",
        500.0.. => " class=\"large\"",
        _ => "",
    };
    format!("<div{class}>{}</div>\n", render::svg(canvas, None))
}

/// Text that is no markup.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_has_a_twin_in_the_dark() {
        let used = [
            colour::INK,
            colour::FAINT,
            colour::GRID,
            colour::POINT,
            colour::BEST,
            colour::FAILED,
            colour::BAND,
            colour::OFF,
        ];
        for used in used.into_iter().chain(colour::RANKS).chain(colour::LEVELS).chain(colour::SERIES) {
            assert!(DARK.iter().any(|(light, _)| *light == used), "{used}");
        }
    }

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
