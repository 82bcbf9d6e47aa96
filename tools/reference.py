"""The reference, written from what the code says of itself: docstrings, signatures, --help."""

import dataclasses
import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import click

import boundit
import boundit.service.http.app  # declares the operations
from boundit.cli.main import app
from boundit.service.http.openapi import write_document

_PYTHON_HEAD = """\
# Python reference

On this page you look up every public name of boundit: how it is called, and what it gives
back. It is written from the docstrings, whose examples are run by the tests. Import as
`import boundit as bd`.
"""
_GLANCE_HEAD = """\
# The API at a glance

On this page you see all public names of boundit, a line each; the links go to [the
reference](python.md). Import as `import boundit as bd`.
"""
_CLI_HEAD = """\
# Command line reference

On this page you look up every command: it is what `--help` prints. Errors are one line on
standard error. For completion in a shell, add `eval "$(_BOUNDIT_COMPLETE=bash_source boundit)"` to
`~/.bashrc` (zsh: `zsh_source`).
"""
_HTTP_HEAD = """\
# HTTP reference

On this page you look up every operation of the [service](../guides/service.md), as its own
`/openapi.json` declares it.
"""
_CHAPTERS: dict[str, str] = {
    "graph": "Causal graphs",
    "estimand": "Identification",
    "counts": "Data",
    "bounds": "Bounds",
    "checks": "Graph tests",
    "bandit": "Policies",
    "decisions": "Decisions and sensitivity analysis",
    "service": "Decision service",
    "simulation": "Simulation",
    "report": "Reports",
    "results": "Results",
    "core": "Values shared by all packages",
}
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_EXAMPLE = re.compile(r"^>>> .*\n(?:.*\S.*\n)*", re.MULTILINE)


def write_python_page() -> str:
    """Write one entry for each public name, by package."""
    homes: dict[str, list[str]] = {package: [] for package in _CHAPTERS}
    for name in list_public_names():
        homes[attrgetter(name)(boundit).__module__.split(".")[1]].append(name)
    parts = [_PYTHON_HEAD]
    for package, names in homes.items():
        if names:
            parts.append(f"## {_CHAPTERS.get(package, package)}\n")
            parts += [_write_entry(name, attrgetter(name)(boundit)) for name in names]
    return "\n".join(parts)


def write_glance_page() -> str:
    """Write a table of the public names of each package, with the first sentence of each."""
    homes: dict[str, list[str]] = {package: [] for package in _CHAPTERS}
    for name in boundit.__all__:
        found = getattr(boundit, name)
        if not inspect.ismodule(found):
            homes[found.__module__.split(".")[1]].append(name)
    parts = [_GLANCE_HEAD]
    for package, names in homes.items():
        if names:
            rows = [f"| {_link_entry(name)} | {_find_first_sentence(name)} |" for name in names]
            table = ["| Name | What it is for |", "|---|---|", *rows]
            parts.append(f"## {_CHAPTERS[package]}\n\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


def _link_entry(name: str) -> str:
    """Link a name to its entry in the reference."""
    return f"[`bd.{name}`](python.md#{name.lower()})"


def _find_first_sentence(name: str) -> str:
    """Find what a public name is for: the first sentence of its docstring, fit for a table."""
    text = convert_to_markdown(inspect.getdoc(getattr(boundit, name)) or "").strip()
    first = re.split(r"(?<=[.:;])\s", " ".join(text.split("\n\n")[0].split()))[0]
    return first.rstrip(".:;").replace("|", "\\|")


def list_public_names() -> list[str]:
    """List what users import: names of boundit, and names of its packages behind a dot."""
    packages = [
        package for package in _CHAPTERS if hasattr(getattr(boundit, package), "__all__")
    ]
    inner = [
        f"{package}.{name}"
        for package in packages
        for name in getattr(boundit, package).__all__
    ]
    return [*boundit.__all__, *inner]


def write_cli_page() -> str:
    """Write what ``--help`` prints, of every command."""
    return "\n".join([_CLI_HEAD, *_write_commands(app, ["boundit"])])


def write_http_page() -> str:
    """Write every operation of the service: parameters, fields of the body, answers."""
    document = write_document(boundit.__version__)
    schemas = document["components"]["schemas"]
    parts = [_HTTP_HEAD]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            lines = [f"## `{method.upper()} {path}`\n", f"`{operation['operationId']}`. "]
            lines[1] += f"{operation['summary']}\n"
            lines += [
                f"- `{of['name']}` ({of['in']}{'' if of.get('required') else ', optional'})"
                for of in operation["parameters"]
            ]
            body = operation.get("requestBody", {}).get("content", {})
            for content in body.values():
                lines += _write_fields(schemas[content["schema"]["$ref"].rpartition("/")[2]])
            answers = ", ".join(map(str, operation["responses"]))
            parts.append("\n".join([*lines, f"\nAnswers: {answers}.\n"]))
    return "\n".join(parts)


def _write_fields(schema: Mapping[str, Any]) -> Iterator[str]:
    """Write what a body is, and its fields."""
    yield f"\nBody: {convert_to_markdown(inspect.cleandoc(schema.get('description', '')))}"
    for name, field in schema.get("properties", {}).items():
        needed = name in schema.get("required", ())
        kinds = [of.get("type", "object") for of in field.get("anyOf", [field])]
        default = "required" if needed else f"default {json.dumps(field.get('default'))}"
        yield f"- `{name}` ({' or '.join(dict.fromkeys(map(str, kinds)))}, {default})"


def _write_entry(name: str, found: object) -> str:
    parts = [
        f"### `{name}`\n",
        _write_signature(name, found),
        convert_to_markdown(inspect.getdoc(found) or ""),
    ]
    if inspect.isclass(found):
        parts += list(_write_members(found))
    return "\n".join(parts) + "\n"


def _write_members(owner: type) -> Iterator[str]:
    """Write the public methods and properties that a class defines itself."""
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
            prefix = owner.__name__ if isinstance(value, classmethod) else ""
            signature = _write_signature(name, getattr(owner, name))
            head = f"#### `{prefix}.{name}()`\n\n{signature}"
        else:
            continue
        yield f"{head}\n{convert_to_markdown(inspect.getdoc(member) or '')}"


def _write_signature(name: str, found: object) -> str:
    if not callable(found) or _is_error(found) or getattr(found, "_is_protocol", False):
        return ""
    signature = inspect.signature(found)
    kept = [p for p in signature.parameters.values() if p.name != "self"]
    shown = str(signature.replace(parameters=kept))
    inside, _, gives = shown.rpartition(" -> ") if " -> " in shown else (shown, "", "")
    text = f"{name}{_simplify_annotation(inside)}"
    if len(text) > 88:
        text = (
            f"{name}(\n"
            + "".join(f"    {_simplify_annotation(str(p))},\n" for p in _star_parameters(kept))
            + ")"
        )
    answer = (
        f" -> {_simplify_annotation(gives)}" if gives and not inspect.isclass(found) else ""
    )
    return f"```text\n{text}{answer}\n```\n"


def _star_parameters(parameters: Sequence[inspect.Parameter]) -> Iterator[str]:
    """List parameters, with the star that makes the rest keywords."""
    before = True
    for parameter in parameters:
        if before and parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            before = False
            yield "*"
        yield str(parameter)


def _simplify_annotation(text: str) -> str:
    """Leave out of type names where they live."""
    text = re.sub(r"\b(?:boundit|collections\.abc|typing|numpy)(?:\.\w+)*\.(?=\w)", "", text)
    text = re.sub(r"\*<class '(\w+)'>", r"\1", text)  # options by name, of a TypedDict
    return re.sub(r"<function <lambda> at 0x\w+>", "...", text).replace("'", '"')


def _is_error(found: object) -> bool:
    return inspect.isclass(found) and issubclass(found, BaseException)


def convert_to_markdown(docstring: str) -> str:
    """Turn a numpy-style docstring into Markdown.

    >>> print(convert_to_markdown("Add ``a`` up."), end="")
    Add `a` up.
    """
    text = docstring + "\n"
    text = re.sub(r"^\.\. math:: (.+)$", r"```text\n\1\n```", text, flags=re.MULTILINE)
    text = re.sub(r":math:`([^`]+)`", r"`\1`", text)
    head, *sections = re.split(_SECTION, text)
    parts = [_join_paragraphs(head).strip()]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        listed = title in {"Parameters", "Raises", "Returns"}
        shown = _write_definitions(body) if listed else _join_paragraphs(body)
        parts.append(f"**{title}**\n\n{shown.strip()}")
    return "\n\n".join(parts) + "\n"


def _write_definitions(body: str) -> str:
    """Write names at the margin, what they mean indented below."""
    lines: list[str] = []
    for line in body.strip("\n").splitlines():
        if line and not line.startswith(" "):
            lines.append(f"- `{line}`:")
        elif line.strip():
            lines.append(f"  {_convert_ticks(line.strip())}")
    return "\n".join(lines) + "\n"


def _join_paragraphs(text: str) -> str:
    """Fence the examples, and write code as Markdown does."""
    pieces, end = [], 0
    for match in _EXAMPLE.finditer(text):
        pieces += [_convert_ticks(text[end : match.start()]), f"```python\n{match[0]}```\n"]
        end = match.end()
    return "".join([*pieces, _convert_ticks(text[end:])])


def _convert_ticks(text: str) -> str:
    return re.sub(r"(?<!`)``(?!`)", "`", text)


def _write_commands(command: click.Command, path: list[str]) -> Iterator[str]:
    context = click.Context(command, info_name=" ".join(path), terminal_width=96)
    context.help_option_names = ["-h", "--help"]
    mark = "##" if len(path) < 3 else "###"
    shown = command.get_help(context).partition("\n\nAdded by installed packages:")[0]
    yield f"{mark} `{' '.join(path)}`\n\n```text\n{shown}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from _write_commands(command.commands[name], [*path, name])
