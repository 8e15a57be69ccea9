//! Notes: untrusted Markdown, rendered as safe HTML.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Options, Parser};

/// Renders Markdown as HTML without scripts, styles, forms or images.
pub fn html(text: &str) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, Parser::new_ext(text, options));
    let mut cleaner = ammonia::Builder::default();
    cleaner
        .rm_tags(["img"]) // an image would tell its server who reads the note
        .url_schemes(["http", "https", "mailto"].into())
        .link_rel(Some("noopener noreferrer nofollow"));
    PreEscaped(cleaner.clean(&html).to_string())
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn markdown_is_shown_and_markup_is_not_obeyed() {
        let shown = html("**bold** [link](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |").0;
        assert!(shown.contains("<strong>bold</strong>") && shown.contains("<td>2</td>"), "{shown}");
        assert!(shown.contains("rel=\"noopener noreferrer nofollow\""), "{shown}");
        for text in [
            "<script>alert(1)</script>",
            "<b onclick=alert(1)>x</b>",
            "[x](javascript:alert(1))",
            "<a href=\" javascript:alert(1)\">x</a>",
            "![x](https://example.org/seen.png)",
            "<svg><script>alert(1)</script></svg>",
            "<form action=/x><button>x</button></form>",
            "<p style=\"position:fixed\">x</p>",
        ] {
            let shown = html(text).0.to_lowercase();
            for danger in ["<script", "onclick", "javascript:", "<img", "<form", "style="] {
                assert!(!shown.contains(danger), "{text}: {shown}");
            }
        }
    }
}
