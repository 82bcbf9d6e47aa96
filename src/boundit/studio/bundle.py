"""The page in three files: its document, one script of all modules, one style sheet."""

import gzip
import json
import re
from functools import cache
from html import escape
from pathlib import Path

from boundit.report.palette import write_palette

PAGE = Path(__file__).with_name("page")
STYLES = ("studio.css", "drawing.css")
TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_IMPORT = re.compile(
    r'^import (\{[^}]*\}|\w+) from "\./([\w.]+)"(?: with \{[^}]*\})?;\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.MULTILINE)
_WORD = re.compile(r"\{\{([\w.]+)\}\}")


@cache
def pack_page(name: str) -> tuple[bytes, str] | None:
    """Write a file of the page, packed, with its type; None for a name that the page lacks."""
    match name:
        case "index.html":
            words = json.loads((PAGE / "words.json").read_text("utf-8"))
            document = (PAGE / name).read_text("utf-8")
            text = _WORD.sub(lambda found: escape(words[found[1]]), document)
        case "page.js":
            text = join_modules("main.js")
        case "page.css":
            text = write_palette() + "".join((PAGE / of).read_text("utf-8") for of in STYLES)
        case "icon.svg":
            text = (PAGE / name).read_text("utf-8")
        case _:
            return None
    return gzip.compress(text.encode(), mtime=0), TYPES[Path(name).suffix]


def join_modules(first: str) -> str:
    """Join a module and all that it imports into one; each keeps names of its own."""
    parts, under_way = dict[str, str](), list[str]()

    def add(name: str) -> None:
        if name in under_way:
            raise ValueError(f"modules import each other: {', '.join([*under_way, name])}")
        if name in parts:
            return
        text = (PAGE / name).read_text("utf-8")
        if name.endswith(".json"):
            parts[name] = (
                f"const {_variable(name)} = {json.dumps(json.loads(text), ensure_ascii=False)};\n"
            )
            return
        under_way.append(name)
        text = _COMMENT.sub("", text)
        for _, other in _IMPORT.findall(text):
            add(other)
        under_way.pop()
        exports = ", ".join(_EXPORT.findall(text))
        text = _IMPORT.sub(
            lambda found: f"const {_rename(found[1])} = {_variable(found[2])};\n", text
        )
        text = re.sub(r"^[ \t]+", "", _EXPORT.sub("", text), flags=re.MULTILINE)
        parts[name] = (
            f"const {_variable(name)} = (() => {{\n{text}return {{ {exports} }};\n}})();\n"
        )

    add(first)
    return "".join(parts.values())


def _variable(name: str) -> str:
    return f"module_{re.sub(r'[^a-z]', '_', name)}"


def _rename(names: str) -> str:
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)
