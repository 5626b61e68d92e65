"""Make the help that is installed with the extension: the animator's pages as one HTML file, opened by F1 and Documentation.

    python tools/make_help.py

It has no pictures, so that the zip stays small; links to pages that it does not have are left as text.
"""

import html
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
HELP = ROOT / "twobone_addon" / "interface" / "help.html"
PAGES = (
    "first_bake", "panel", "limbs", "plant_the_feet", "contacts", "retarget", "nudge", "live", "converting", "keys", "reach",
    "planes_and_signs", "audit", "questions", "glossary",
)  # fmt: skip
"""Pages in the order of work."""

STYLE = (
    "body{max-width:46em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif}"
    "td,th{border:1px solid #999;padding:.2em .5em;text-align:left;vertical-align:top}table{border-collapse:collapse}"
    "pre,code{background:#8882}pre{padding:.5em;overflow-x:auto}h1{margin-top:2.5em}"
)
BLOCK = re.compile(r"^(#|\||```|!\[|[-*] |\d+\. )")
ITEM = re.compile(r"^([-*]|\d+\.) ")


def anchor(page: str, heading: str = "") -> str:
    """Name of a page's section within the file, made from its heading as hosts of Markdown make it."""
    slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    return f"{page}--{slug}" if slug else page


def help_page() -> str:
    """The whole file."""
    titles = {page: _lines(page)[0].removeprefix("# ") for page in PAGES}
    contents = "".join(f'<li><a href="#{page}">{html.escape(title)}</a></li>' for page, title in titles.items())
    bodies = "\n".join(_body(page) for page in PAGES)
    head = f'<meta charset="utf-8"><title>Two-Bone IK</title><style>{STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n<ul>{contents}</ul>\n{bodies}\n</body></html>\n'


def _lines(page: str) -> list[str]:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()


def _body(page: str) -> str:
    """One page: headings, tables, lists, code and paragraphs, which is all that our pages have."""
    lines, made = _lines(page), []
    while lines:
        line = lines.pop(0)
        if heading := re.match(r"(#+) (.*)", line):
            level, text = len(heading[1]), heading[2]
            made.append(f'<h{level} id="{anchor(page, text if level > 1 else "")}">{_inline(page, text)}</h{level}>')
        elif line.startswith("```"):
            end = next(number for number, text in enumerate(lines) if text.startswith("```"))
            made.append(f"<pre>{html.escape(chr(10).join(lines[:end]))}</pre>")
            del lines[: end + 1]
        elif line.startswith("|"):
            rows = [line]
            while lines and lines[0].startswith("|"):
                rows.append(lines.pop(0))
            made.append(_table(page, rows))
        elif ITEM.match(line):
            items = [line]
            while lines and (ITEM.match(lines[0]) or lines[0].startswith("  ")):
                following = lines.pop(0)
                items = [*items, following] if ITEM.match(following) else [*items[:-1], f"{items[-1]} {following.strip()}"]
            kind = "ol" if line[0].isdigit() else "ul"
            made.append(f"<{kind}>" + "".join(f"<li>{_inline(page, ITEM.sub('', item))}</li>" for item in items) + f"</{kind}>")
        elif line and not line.startswith("!["):
            while lines and lines[0] and not BLOCK.match(lines[0]):
                line += f" {lines.pop(0)}"
            made.append(f"<p>{_inline(page, line)}</p>")
    return "\n".join(made)


def _table(page: str, rows: list[str]) -> str:
    cells = [re.split(r"(?<!\\)\|", row.strip().strip("|")) for row in rows]
    first, rest = cells[0], cells[2:]
    head = "".join(f"<th>{_inline(page, cell.strip())}</th>" for cell in first)
    body = "".join("<tr>" + "".join(f"<td>{_inline(page, cell.strip())}</td>" for cell in row) + "</tr>" for row in rest)
    return f"<table><tr>{head}</tr>{body}</table>"


def _inline(page: str, text: str) -> str:
    """Code, bold words and links; code is set aside, so that nothing in it is taken for a mark."""
    codes = re.findall(r"`([^`]+)`", text)
    text = html.escape(re.sub(r"`[^`]+`", "\0", text), quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda found: _link(page, found[1], found[2]), text)
    for code in codes:
        text = text.replace("\0", f"<code>{html.escape(code, quote=False)}</code>", 1)
    return text


def _link(page: str, text: str, address: str) -> str:
    if address.startswith("https://"):
        return f'<a href="{address}">{text}</a>'
    other, _, section = address.partition("#")
    name = Path(other).stem if other else page
    return f'<a href="#{anchor(name, section.replace("-", " "))}">{text}</a>' if name in PAGES else text


if __name__ == "__main__":
    HELP.write_text(help_page(), encoding="utf-8", newline="\n")
    print(HELP)
