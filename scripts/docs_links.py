"""What the site shows differently from the files in docs/: links that leave docs/, the list of decisions, offline search.

A link to a file of the repository works in a checkout. The site doesn't have the file and shows its name instead; a
file that doesn't exist is an error. So is a broken link in the pages outside docs/, such as README.md, which MkDocs never sees.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.exceptions import PluginError

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")
SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"></script>')
EXTERNAL = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=["']?https?://[^>]*>""")
ANY_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)


def on_pre_build(config: Any, **_: Any) -> None:
    """Checks the links of pages outside docs/; called by MkDocs before it builds."""
    root = Path(config["docs_dir"]).resolve().parent
    pages = [page for pattern in ("*.md", "crates/*/README.md", ".github/**/*.md") for page in root.glob(pattern)]
    broken = [f"{page.relative_to(root)}: {link}" for page in sorted(pages) for link in broken_links(page)]
    if broken:
        raise PluginError("broken links:\n" + "\n".join(broken))


def broken_links(page: Path) -> list[str]:
    """Links of a page whose file or heading doesn't exist."""
    broken = []
    for link in ANY_LINK.finditer(FENCED.sub("", page.read_text())):
        path, anchor = link[1], link[2]
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link[0].removeprefix("]"))
    return broken


def anchors(page: Path) -> set[str]:
    """The headings of a page as the ends of its addresses."""
    titles = HEADING.findall(FENCED.sub("", page.read_text()))
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in titles}


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Replaces links to files outside docs/ by their names; called by MkDocs for each page."""
    docs = Path(config["docs_dir"]).resolve()
    folder = (docs / PurePosixPath(page.file.src_uri)).parent

    def shown(link: re.Match[str]) -> str:
        text, target = link[1], (folder / link[2]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        if not target.exists():
            raise PluginError(f"{page.file.src_uri}: {link[2]} is not in the repository")
        name = f"`{target.relative_to(docs.parent)}`"
        return name if text.strip("`") in name else f"{text} ({name})"

    markdown = LINK.sub(shown, markdown)
    return markdown + decisions(docs) if page.file.src_uri == "decisions/index.md" else markdown


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Has the page load nothing from elsewhere; called by MkDocs for each page that it has made."""
    shim = "../" * page.url.count("/") + "assets/offline-search.js"
    output = SHIM.sub(f'<script src="{shim}"></script>', output)
    if elsewhere := EXTERNAL.search(output):
        raise PluginError(f"{page.file.src_uri}: the page would load {elsewhere[0]}")
    return output


def on_post_template(output_content: str, **_: Any) -> str:
    """The page for addresses that don't exist is only seen on a server, where search needs no shim; called by MkDocs."""
    return SHIM.sub("", output_content)


def decisions(docs: Path) -> str:
    """The decisions as a list, by the first lines of their files."""
    files = sorted((docs / "decisions").glob("[0-9]*.md"))
    titles = ((file.name, file.read_text().partition("\n")[0].removeprefix("# ")) for file in files)
    return "\n" + "".join(f"* [{title}]({name})\n" for name, title in titles)
