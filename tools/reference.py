"""The reference, written from what the code says of itself: docstrings, signatures, --help."""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Sequence

import click

import boundit
from boundit.cli.main import app

_PYTHON_HEAD = """\
# Python reference

On this page you look up every public name of boundit: how it is called, and what it gives
back. It is written from the docstrings, whose examples are run by the tests. Import as
`import boundit as bd`.
"""
_CLI_HEAD = """\
# Command line reference

On this page you look up every command: it is what `--help` prints. Shell completion:
`boundit completion --help`. Errors are one line on standard error.
"""
_CHAPTERS: dict[str, str] = {
    "graph": "Graphs: what is assumed",
    "estimand": "Estimands: what can be known exactly",
    "counts": "Logs: what was logged",
    "bounds": "Bounds: what can be bounded",
    "checks": "Checks: does the log contradict the graph?",
    "bandit": "Policies: how to act",
    "simulation": "Simulation: worlds whose truth is known",
    "report": "Reports: what to tell",
    "terms": "Values every part shares",
}
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_EXAMPLE = re.compile(r"^>>> .*\n(?:.*\S.*\n)*", re.MULTILINE)


def python_page() -> str:
    """One entry for each name in ``boundit.__all__``, by room."""
    homes: dict[str, list[str]] = {room: [] for room in _CHAPTERS}
    for name in boundit.__all__:
        homes.setdefault(getattr(boundit, name).__module__.split(".")[1], []).append(name)
    parts = [_PYTHON_HEAD]
    for room, names in homes.items():
        if names:
            parts.append(f"## {_CHAPTERS.get(room, room)}\n")
            parts += [_entry(name, getattr(boundit, name)) for name in names]
    return "\n".join(parts)


def cli_page() -> str:
    """What ``--help`` prints, of every command."""
    return "\n".join([_CLI_HEAD, *_commands(app, ["boundit"])])


def _entry(name: str, found: object) -> str:
    parts = [
        f"### `{name}`\n",
        _signature(name, found),
        as_markdown(inspect.getdoc(found) or ""),
    ]
    if inspect.isclass(found):
        parts += list(_members(found))
    return "\n".join(parts) + "\n"


def _members(owner: type) -> Iterator[str]:
    """The public methods and properties that a class defines itself."""
    fields = (
        {f.name for f in dataclasses.fields(owner)} if dataclasses.is_dataclass(owner) else ()
    )
    for name, value in vars(owner).items():
        member = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if name.startswith("_") or name in fields or not inspect.getdoc(member):
            continue
        if isinstance(member, property):
            head = f"#### `.{name}`\n"
        elif inspect.isfunction(member):
            owner_said = owner.__name__ if isinstance(value, classmethod) else ""
            head = f"#### `{owner_said}.{name}()`\n\n{_signature(name, getattr(owner, name))}"
        else:
            continue
        yield f"{head}\n{as_markdown(inspect.getdoc(member) or '')}"


def _signature(name: str, found: object) -> str:
    if not callable(found) or _is_error(found) or getattr(found, "_is_protocol", False):
        return ""
    signature = inspect.signature(found)
    kept = [p for p in signature.parameters.values() if p.name != "self"]
    shown = str(signature.replace(parameters=kept))
    inside, _, gives = shown.rpartition(" -> ") if " -> " in shown else (shown, "", "")
    text = f"{name}{_plain(inside)}"
    if len(text) > 88:
        text = f"{name}(\n" + "".join(f"    {_plain(str(p))},\n" for p in _starred(kept)) + ")"
    answer = f" -> {_plain(gives)}" if gives and not inspect.isclass(found) else ""
    return f"```text\n{text}{answer}\n```\n"


def _starred(parameters: Sequence[inspect.Parameter]) -> Iterator[str]:
    """Parameters one by one, with the star that makes the rest keywords."""
    before = True
    for parameter in parameters:
        if before and parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            before = False
            yield "*"
        yield str(parameter)


def _plain(text: str) -> str:
    """Leave out of type names where they live."""
    text = re.sub(r"\b(?:boundit|collections\.abc|typing|numpy)(?:\.\w+)*\.(?=\w)", "", text)
    return re.sub(r"<function <lambda> at 0x\w+>", "...", text).replace("'", '"')


def _is_error(found: object) -> bool:
    return inspect.isclass(found) and issubclass(found, BaseException)


def as_markdown(docstring: str) -> str:
    """Turn a numpy-style docstring into Markdown.

    >>> print(as_markdown("Add ``a`` up."), end="")
    Add `a` up.
    """
    text = docstring + "\n"
    text = re.sub(r"^\.\. math:: (.+)$", r"```text\n\1\n```", text, flags=re.MULTILINE)
    text = re.sub(r":math:`([^`]+)`", r"`\1`", text)
    head, *sections = re.split(_SECTION, text)
    parts = [_paragraphs(head).strip()]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        listed = title in {"Parameters", "Raises", "Returns"}
        shown = _definitions(body) if listed else _paragraphs(body)
        parts.append(f"**{title}**\n\n{shown.strip()}")
    return "\n\n".join(parts) + "\n"


def _definitions(body: str) -> str:
    """Names at the margin, what they mean indented below."""
    lines: list[str] = []
    for line in body.strip("\n").splitlines():
        if line and not line.startswith(" "):
            lines.append(f"- `{line}`:")
        elif line.strip():
            lines.append(f"  {_ticks(line.strip())}")
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> str:
    """Fence the examples, and write code as Markdown does."""
    pieces, end = [], 0
    for match in _EXAMPLE.finditer(text):
        pieces += [_ticks(text[end : match.start()]), f"```python\n{match[0]}```\n"]
        end = match.end()
    return "".join([*pieces, _ticks(text[end:])])


def _ticks(text: str) -> str:
    return re.sub(r"(?<!`)``(?!`)", "`", text)


def _commands(command: click.Command, path: list[str]) -> Iterator[str]:
    context = click.Context(command, info_name=" ".join(path), terminal_width=96)
    context.help_option_names = ["-h", "--help"]
    mark = "##" if len(path) < 3 else "###"
    yield f"{mark} `{' '.join(path)}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from _commands(command.commands[name], [*path, name])
