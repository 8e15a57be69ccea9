"""What the site shows differently from the files in docs/: links that leave docs/, and the list of decisions.

A link to a file of the repository can be followed on a checkout. The site does not have the file and shows its name instead; a
file that does not exist is an error.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Replaces links to files outside docs/ by their names; called by MkDocs for each page."""
    docs = Path(config["docs_dir"]).resolve()
    folder = (docs / PurePosixPath(page.file.src_uri)).parent

    def shown(link: re.Match[str]) -> str:
        text, target = link[1], (folder / link[2]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        if not target.exists():
            raise FileNotFoundError(f"{page.file.src_uri}: {link[2]} is not in the repository")
        name = f"`{target.relative_to(docs.parent)}`"
        return name if text.strip("`") in name else f"{text} ({name})"

    markdown = LINK.sub(shown, markdown)
    return markdown + decisions(docs) if page.file.src_uri == "decisions/index.md" else markdown


def decisions(docs: Path) -> str:
    """The decisions as a list, by the first lines of their files."""
    files = sorted((docs / "decisions").glob("[0-9]*.md"))
    titles = ((file.name, file.read_text().partition("\n")[0].removeprefix("# ")) for file in files)
    return "\n" + "".join(f"* [{title}]({name})\n" for name, title in titles)
