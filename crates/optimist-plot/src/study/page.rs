//! The plots as one page that needs nothing else: no network, no scripts. Dark where the reader likes it dark.

use super::Plot;
use crate::canvas::{Canvas, colour};
use crate::render;

/// Each colour of a picture, and its twin on a dark page.
const DARK: [(&str, &str); 12] = [
    (colour::INK, "#e6edf3"),
    (colour::FAINT, "#9aa4af"),
    (colour::GRID, "#2b323b"),
    (colour::POINT, "#58a6e0"),
    (colour::BEST, "#ff8c42"),
    (colour::FAILED, "#c8a2d8"),
    (colour::BAND, "#1d3a50"),
    (colour::RANKS[0], "#39424d"),
    (colour::RANKS[1], "#3d5d78"),
    (colour::RANKS[2], "#4a86b4"),
    (colour::RANKS[3], "#58a6e0"),
    (colour::RANKS[4], "#ff8c42"),
];

/// The page.
pub fn html(headline: &str, plots: &[Plot]) -> String {
    let dark: String = DARK
        .iter()
        .map(|(light, dark)| {
            format!("  svg [fill=\"{light}\"]{{fill:{dark}}} svg [stroke=\"{light}\"]{{stroke:{dark}}}\n")
        })
        .collect();
    let headline = escaped(headline);
    let sections: String = plots.iter().map(section).collect();
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
.panels {{ display: flex; flex-wrap: wrap; gap: .5rem; }}
.panels div {{ max-width: 100%; overflow-x: auto; }}
svg {{ display: block; max-width: 100%; height: auto; }}
svg.wide {{ max-width: none; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #14181d; color: #e6edf3; }}
{dark}}}
</style>
</head>
<body>
<h1>{headline}</h1>
{sections}</body>
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
    let svg = render::svg(canvas, None);
    let svg = if canvas.width > 700.0 { svg.replacen("<svg ", "<svg class=\"wide\" ", 1) } else { svg };
    format!("<div>{svg}</div>\n")
}

fn escaped(text: &str) -> String {
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
        ];
        for used in used.into_iter().chain(colour::RANKS) {
            assert!(DARK.iter().any(|(light, _)| *light == used), "{used}");
        }
    }

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
