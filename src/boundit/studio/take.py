"""The command and the Python that repeat what a screen shows, to be taken away."""

import json
import shlex
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from boundit.bounds.options import keep_fitting, list_flags, write_keywords
from boundit.core.errors import BounditError
from boundit.counts.log import read_log
from boundit.graph.text import list_lines
from boundit.studio.ask import list_bound_options, list_data_options
from boundit.studio.claims import write_question
from boundit.studio.drawing import make_draft, without_edges
from boundit.studio.errors import StudioError
from boundit.studio.folder import Folder
from boundit.studio.project import Project

TakePart: TypeAlias = Literal[
    "graph",
    "effect",
    "bound",
    "identify",
    "check",
    "choose",
    "stress",
    "suggest",
    "simulate",
    "report",
]
_COMMANDS = {"report": "bound"}
_NEEDS_QUERY = frozenset(
    {"effect", "bound", "identify", "choose", "stress", "suggest", "simulate", "report"}
)


class TakenPart(Struct, frozen=True):
    """A command for a shell in the folder, or a note why there is none; and Python."""

    command: str | None
    python: str
    note: str | None = None


def take_part(project: Project, part: TakePart, folder: Folder) -> TakenPart:
    """Write the command and the Python that repeat a part of a project."""
    command = write_command(project, part, folder)
    note = None if command else _NO_COMMAND
    return TakenPart(command, write_python(project, part, folder), note)


_NO_COMMAND = "No command says all that is set here; the Python does."


def write_command(project: Project, part: TakePart, folder: Folder) -> str | None:
    """Write the command that repeats a part of a project in its folder; None if none does."""
    _require_parts(project, part)
    if not _fits_flags(project):
        return None
    graph = "; ".join(list_lines(make_draft(without_edges(project))))
    if part == "graph":
        # One name alone would be that of a file.
        alone = graph if set(graph) & set("; ") else f"{graph};"
        return shlex.join(["boundit", "graph", alone])
    if part == "simulate":
        return _write_simulate(project, graph)
    words = ["boundit", _COMMANDS.get(part, part), graph]
    words += [_ask(project)] if part in _NEEDS_QUERY else []
    if part == "identify":
        tables = _list_external_columns(project, folder)
        for names in tables:
            words += ["--external", ",".join(names)]
        return None if "," in "".join(map("".join, tables)) else shlex.join(words)
    words += [str(project.data.file), *list_flags(list_data_options(project))]
    if part != "check":
        words += list_flags(
            {"external": project.settings.external} | list_bound_options(project)
        )
    if part == "effect" and (baseline := project.query.baseline):
        words += ["--baseline", ",".join(map(str, baseline))]
    words += ["--report", "report.html"] if part == "report" else []
    return shlex.join(words)


def _fits_flags(project: Project) -> bool:
    """Tell whether flags can say all names and levels; called by ``write_command``.

    A flag reads ``NODE=VALUE,...``, and levels that look like numbers as numbers.
    """
    data = project.data
    named = [*data.columns, *data.bins, *data.levels, *project.settings.confounding_limit]
    levels = [level for given in data.levels.values() for level in given]
    texts = [level for level in levels if isinstance(level, str)]
    return (
        "=" not in "".join(named)
        and "," not in "".join(texts)
        and not any(map(_is_number, texts))
        and all(text == text.strip() for text in (*texts, *data.columns.values()))
    )


def _is_number(text: str) -> bool:
    """Tell whether a flag would read a text as a number or a truth value."""
    try:
        return isinstance(json.loads(text), int | float)
    except ValueError:
        return not text


def _write_simulate(project: Project, graph: str) -> str | None:
    """Write the command that plays policies; None where it cannot say all that is set."""
    plain = Project()
    data, settings = project.data, project.settings
    if (
        data.levels
        or settings.confidence != plain.settings.confidence
        or settings.selection_rate is not None
    ):
        return None
    how = project.simulate
    words = ["boundit", "simulate", graph, _ask(project), str(data.file)]
    used = list_data_options(project) | {"outcome_range": settings.outcome_range}
    words += list_flags(used)
    words += ["--policies", ",".join(how.policies)]
    words += ["--rounds", str(how.rounds), "--runs", str(how.runs)]
    return shlex.join(words)


def _ask(project: Project) -> str:
    """Write the question, which is there."""
    return write_question(project.query) or ""


def _require_parts(project: Project, part: TakePart) -> None:
    """Refuse a part that the project lacks."""
    asked = project.query
    if part in _NEEDS_QUERY and (asked.outcome is None or not asked.treatments):
        raise StudioError("refused", "mark a treatment and the outcome first", where="query")
    if part not in {"graph", "identify"} and project.data.file is None:
        raise StudioError("refused", "choose a log first", where="data.file")


def write_python(project: Project, part: TakePart, folder: Folder) -> str:
    """Write Python that repeats a part of a project in its folder."""
    lines = ["import boundit as bd", "", *_write_graph(project)]
    if part == "graph":
        return "\n".join([*lines, "print(graph)", ""])
    if part in _NEEDS_QUERY:
        lines.append(f"query = {_ask(project)!r}")
    if part == "identify":
        tables = [frozenset(t) for t in _list_external_columns(project, folder)]
        external = f", external={[sorted(t) for t in tables]!r}" if tables else ""
        return "\n".join([*lines, f"print(bd.identify(graph, query{external}))", ""])
    reading = write_keywords(list_data_options(project))
    lines.append(f"log = bd.read_log({project.data.file!r}{reading})")
    if part == "check":
        return "\n".join([*lines, "print(bd.check(graph, log))", ""])
    if part == "simulate":
        return "\n".join([*lines, *_write_play(project)])
    options = _write_options(project, folder)
    if part in {"stress", "suggest"}:
        return "\n".join([*lines, f"print(bd.{part}(graph, query, log{options}))", ""])
    lines.append(f"bounds = bd.derive_bounds(graph, query, log{options})")
    if part == "effect":
        arm = project.query.baseline or ()
        baseline = "" if not arm else repr(arm[0] if len(arm) == 1 else arm)
        lines.append(f"for effect in bounds.effects({baseline}).values():")
        return "\n".join([*lines, "    print(effect)", ""])
    shown = "bounds.choose()" if part == "choose" else "bounds"
    return "\n".join([*lines, f"print({shown})", ""])


def _write_graph(project: Project) -> Iterable[str]:
    """Write the lines that make the graph."""
    said = list_lines(make_draft(without_edges(project)))
    text = "\n".join(said)
    if "\\" in text or '"""' in text or text.endswith('"'):
        return [f"graph = bd.parse_graph({text!r})"]
    return ['graph = bd.parse_graph("""', *said, '""")']


def _write_options(project: Project, folder: Folder) -> str:
    """Write the options of the settings that differ from the defaults."""
    said = write_keywords(list_bound_options(project))
    tables = [
        f"bd.read_log({file!r}{write_keywords(_fit(project, file, folder))})"
        for file in project.settings.external
    ]
    return f"{said}, external=[{', '.join(tables)}]" if tables else said


def _fit(project: Project, file: str, folder: Folder) -> dict[str, Any]:
    """Choose the options that hold for external data."""
    return keep_fitting(list_data_options(project), read_log([str(folder.find(file))]))


def _list_external_columns(project: Project, folder: Folder) -> list[list[str]]:
    """List the variables of each table of everyone."""
    found = list[list[str]]()
    names = {node.name for node in project.graph.nodes}
    for file in project.settings.external:
        try:
            opened = read_log([str(folder.find(file))], **_fit(project, file, folder))
        except BounditError:
            continue  # the bounds say what is wrong with it
        found.append([name for name in opened.columns if name in names])
    return found


def _write_play(project: Project) -> Iterable[str]:
    """Write the lines that play policies in environments that fit the log."""
    how = project.simulate
    names = ("confidence", "selection_rate", "outcome_range", "domain")
    used = list_bound_options(project)
    said = write_keywords({name: used[name] for name in names})
    yield f"environments = bd.fit_environments(graph, query, log, n=5{said})"
    yield "policies = {"
    for name in how.policies:
        yield f"    {name!r}: {_write_policy(name)},"
    yield "}"
    asked = f"rounds={how.rounds}, runs={how.runs}"
    yield f"print(bd.simulate(environments, policies, {asked}))"
    yield ""


_POLICIES = {
    "LinUCB": "bd.LinUCB({})",
    "LinUCB-shared": "bd.LinUCB({}shared=True)",
    "UCB": "bd.UCB({})",
    "TS": "bd.TS({})",
    "LinTS": "bd.LinTS({})",
    "OAM": "bd.OAM({})",
    "Fused": "bd.Fused(prior=environments.bounds)",
    "Fused-trusting": "bd.Fused(prior=environments.bounds, doubt=0.0)",
}


def _write_policy(name: str) -> str:
    """Write the Python that makes a policy by its name."""
    bare = name.removesuffix("-PCB")
    if bare not in _POLICIES:
        raise StudioError("refused", f"there is no policy {name!r}", where="simulate.policies")
    prior = "prior=environments.bounds.intervals_only(), " if bare != name else ""
    return _POLICIES[bare].format(prior).replace(", )", ")")
