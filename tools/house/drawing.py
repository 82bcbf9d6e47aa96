"""A drawing of the house: its rooms, their sub-rooms, and what passes through each doorway.

Everything in it is read off the imports: a room stands above those it imports from, and its box
says what it takes in from each of them, the names first that most of its files import.
"""

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap

from tools.house.source import PACKAGE, ROOT

_SHOWN = 4
"""How many names a doorway shows."""
_WIDTH, _LEFT, _LINE, _CHARS = 960, 150, 17, 96


@dataclass(frozen=True, slots=True)
class Room:
    """A folder of the package: what it is for, its files, its sub-rooms, what it takes in."""

    name: str
    purpose: str
    files: int
    folders: Mapping[str, tuple[int, str]]
    takes: Mapping[str, tuple[str, ...]]


def read_rooms(package: Path = PACKAGE) -> list[Room]:
    """Read the rooms of the package, the lowest of the import contract first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name for layer in reversed(layers) for name in re.findall(r"\w+", layer)]
    folders = [package / name for name in names if (package / name).is_dir()]
    return [_read_room(folder, _read_doorways(folder)) for folder in folders]


def _list_folders(folder: Path) -> list[Path]:
    """List the packages inside a folder."""
    return sorted(path.parent for path in folder.glob("*/__init__.py"))


def _read_room(folder: Path, doorways: Mapping[str, Counter[str]]) -> Room:
    """Read one room, given what it imports from which other; called by ``read_rooms``."""
    below = {
        each.name: (_count_files(each), _read_purpose(each)) for each in _list_folders(folder)
    }
    takes = {room: _choose_names(names) for room, names in doorways.items()}
    return Room(folder.name, _read_purpose(folder), _count_files(folder), below, takes)


def _read_purpose(folder: Path) -> str:
    """Read the first paragraph of a package's docstring."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "")


def _count_files(folder: Path) -> int:
    """Count the modules that stand in a folder itself."""
    return sum(path.name != "__init__.py" for path in folder.glob("*.py"))


def _choose_names(names: Counter[str]) -> tuple[str, ...]:
    """Choose the names that a doorway shows: classes first, then those of most files."""
    ranked = sorted(names, key=lambda name: (not _is_class(name), -names[name], name))
    rest = len(ranked) - _SHOWN
    return (*ranked[:_SHOWN], *((f"{rest} more",) if rest > 0 else ()))


def _is_class(name: str) -> bool:
    """Tell whether a name is written as classes are; called by ``_choose_names``."""
    return name[0].isupper() and not name.isupper()


def _read_doorways(folder: Path) -> dict[str, Counter[str]]:
    """Count, for each other room, in how many files of a room each of its names is imported."""
    found = defaultdict[str, Counter[str]](Counter)
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boundit."):
                room = str(node.module).split(".")[1]
                if room != folder.name:
                    found[room].update({alias.name for alias in node.names})
    return dict(sorted(found.items()))


def draw_house(rooms: list[Room]) -> str:
    """Draw the rooms as SVG, the ground at the bottom, an arc for every doorway."""
    parts, middles, top = list[str](), dict[str, float](), 20.0
    for room in reversed(rooms):
        lines = _write_room(room)
        height = 34 + _LINE * len(lines)
        parts.append(_draw_room(room, lines, top, height))
        middles[room.name] = top + 16
        top += height + 12
    arcs = [
        _draw_arc(middles[room.name], middles[other])
        for room in rooms
        for other in room.takes
        if other in middles
    ]
    return _SVG.format(width=_WIDTH, height=round(top + 6), body="\n".join([*arcs, *parts]))


def _write_room(room: Room) -> list[tuple[str, str]]:
    """Write the lines of a room, each with its style; called by ``draw_house``."""
    lines = [("purpose", line) for line in wrap(room.purpose, _CHARS)]
    if room.files:
        beside = " beside its folders" if room.folders else ""
        lines.append(("folder", f"{_say_files(room.files)}{beside}"))
    for name, (files, purpose) in room.folders.items():
        text = f"{name}/ {_say_files(files)}: {purpose}"
        lines += [("folder", line) for line in wrap(text, _CHARS, subsequent_indent="    ")]
    for other, names in room.takes.items():
        text = f"from {other}: {', '.join(names)}"
        lines += [("door", line) for line in wrap(text, _CHARS, subsequent_indent="    ")]
    return lines


def _say_files(count: int) -> str:
    """Say how many files there are; called by ``_write_room``."""
    return f"{count} file{'s' * (count != 1)}"


def _draw_room(room: Room, lines: list[tuple[str, str]], top: float, height: float) -> str:
    """Draw the box of a room; called by ``draw_house``."""
    width = _WIDTH - _LEFT - 20
    left, first = _LEFT + 14, top + 42
    texts = [
        f'<text x="{left}" y="{first + _LINE * i:g}" class="{kind}">{escape(line)}</text>'
        for i, (kind, line) in enumerate(lines)
    ]
    box = f'<rect x="{_LEFT}" y="{top:g}" width="{width}" height="{height:g}" rx="6"/>'
    name = f'<text x="{_LEFT + 14}" y="{top + 22:g}" class="name">{room.name}</text>'
    return "\n".join([box, name, *texts])


def _draw_arc(start: float, end: float) -> str:
    """Draw a doorway from a room to one below it; called by ``draw_house``."""
    reach = min(_LEFT - 24, 14 + (end - start) / 9)
    x, start, end = _LEFT - 4, start + 4, end - 4
    bent = x - reach
    curve = f"M {x} {start:g} C {bent:g} {start:g} {bent:g} {end:g} {x} {end:g}"
    head = f"M {x - 6} {end - 4:g} L {x} {end:g} L {x - 6} {end + 4:g}"
    return f'<path d="{curve}"/><path d="{head}"/>'


_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>The rooms of boundit and what passes between them</title>
<style>
svg {{ font: 13px system-ui, sans-serif; color: #1d2733; background: #fff }}
rect {{ fill: #f3f5f8; stroke: #8794a5 }}
path {{ fill: none; stroke: #8794a5; opacity: .6 }}
text {{ fill: currentColor; white-space: pre }}
.name {{ font-weight: 700; font-size: 16px }}
.folder {{ font-family: ui-monospace, monospace; fill: #1f5fa8 }}
.door {{ fill: #556273 }}
@media (prefers-color-scheme: dark) {{
svg {{ color: #e6ebf2; background: #14181d }}
rect {{ fill: #1f262e; stroke: #5d6b7c }}
path {{ stroke: #5d6b7c }}
.folder {{ fill: #8fc1ff }}
.door {{ fill: #a5b1c0 }}
}}
</style>
{body}
</svg>
"""
