"""The command and the Python that repeat what a screen shows, to be taken away."""

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from boundit.core.errors import BounditError
from boundit.counts.log import read_log
from boundit.graph.text import list_lines
from boundit.studio.asked import choose_fitting
from boundit.studio.claims import write_question
from boundit.studio.drawing import make_draft, without_edges
from boundit.studio.errors import RefusedRequest
from boundit.studio.folder import Folder
from boundit.studio.project import Project

TakePart: TypeAlias = Literal[
    "graph", "bound", "identify", "check", "choose", "stress", "suggest", "simulate", "report"
]
_COMMANDS = {"choose": "decide", "report": "bound"}
_NEEDS_QUERY = frozenset(
    {"bound", "identify", "choose", "stress", "suggest", "simulate", "report"}
)


class TakenPart(Struct, frozen=True):
    """A command for a shell in the folder, or a note why there is none; and Python."""

    command: str | None
    python: str
    note: str | None = None


def take_part(project: Project, part: TakePart, folder: Folder) -> TakenPart:
    """Write the command and the Python that repeat a part of a project.

    Called for ``/api/take``.
    """
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
        return shlex.join(["boundit", "graph", "show", alone])
    if part == "simulate":
        return _write_simulate(project, graph)
    words = ["boundit", _COMMANDS.get(part, part), graph]
    words += [_ask(project)] if part in _NEEDS_QUERY else []
    if part == "identify":
        tables = _list_external_columns(project, folder)
        for names in tables:
            words += ["--external", ",".join(names)]
        return None if "," in "".join(map("".join, tables)) else shlex.join(words)
    words += [str(project.data.file), *_list_data_flags(project)]
    if part != "check":
        words += _list_setting_flags(project, part)
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
    words += _list_data_flags(project)
    if settings.outcome_range is not None:
        words += ["--outcome-range", *map(_write_number, settings.outcome_range)]
    words += ["--policies", ",".join(how.policies)]
    words += ["--rounds", str(how.rounds), "--runs", str(how.runs)]
    return shlex.join(words)


def _list_data_flags(project: Project) -> list[str]:
    """List the flags by which the log is read; called by ``write_command``."""
    data, found = project.data, list[str]()
    found += ["--weight", data.weight] if data.weight else []
    for node, column in data.columns.items():
        found += ["--columns", f"{node}={column}"]
    for node, edges in data.bins.items():
        found += ["--bins", f"{node}={','.join(map(_write_number, edges))}"]
    missing = project.settings.missing
    return found if missing == "drop" else [*found, "--missing", missing]


def _list_setting_flags(project: Project, part: TakePart) -> list[str]:
    """List the flags of the settings that differ from the defaults."""
    settings, found = project.settings, list[str]()
    for file in settings.external:
        found += ["--external", file]
    for node, levels in project.data.levels.items():
        found += ["--domain", f"{node}={','.join(map(_write_level, levels))}"]
    if settings.outcome_range is not None:
        found += ["--outcome-range", *map(_write_number, settings.outcome_range)]
    if settings.selection_rate is not None:
        rate = settings.selection_rate
        ends = rate if isinstance(rate, tuple) else (rate,)
        found += ["--selection-rate", ",".join(map(_write_number, ends))]
    if settings.selection_limit is not None:
        found += ["--selection-limit", _write_number(settings.selection_limit)]
    if part != "suggest":
        for edge, limit in settings.confounding_limit.items():
            found += ["--confounding-limit", f"{edge}={_write_number(limit)}"]
    if settings.confidence is None:
        return [*found, "--plug-in"]
    if settings.confidence != Project().settings.confidence:
        found += ["--confidence", _write_number(settings.confidence)]
    return found if settings.inference == "exact" else [*found, "--inference", "approximate"]


def _ask(project: Project) -> str:
    """Write the question, which is there; called for every part that needs one."""
    return write_question(project.query) or ""


def _write_number(number: float) -> str:
    """Write a number so that it is read back as it was; called for every flag with one.

    >>> _write_number(30.0), _write_number(0.1), _write_number(1e-7)
    ('30', '0.1', '1e-07')
    """
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def _write_level(level: object) -> str:
    """Write one level as a flag has it; called by ``_list_setting_flags``."""
    if isinstance(level, bool):
        return "true" if level else "false"
    return repr(level) if isinstance(level, int | float) else str(level)


def _require_parts(project: Project, part: TakePart) -> None:
    """Refuse a part that the project lacks; called by ``write_command``."""
    asked = project.query
    if part in _NEEDS_QUERY and (asked.outcome is None or not asked.treatments):
        raise RefusedRequest("mark an arm and the reward first", where="query")
    if part not in {"graph", "identify"} and project.data.file is None:
        raise RefusedRequest("choose a log first", where="data.file")


def write_python(project: Project, part: TakePart, folder: Folder) -> str:
    """Write Python that repeats a part of a project in its folder; called by ``take_part``."""
    lines = ["import boundit as bd", "", *_write_graph(project)]
    if part == "graph":
        return "\n".join([*lines, "print(graph)", ""])
    if part in _NEEDS_QUERY:
        lines.append(f"query = {_ask(project)!r}")
    if part == "identify":
        tables = [frozenset(t) for t in _list_external_columns(project, folder)]
        external = f", external={[sorted(t) for t in tables]!r}" if tables else ""
        return "\n".join([*lines, f"print(bd.identify(graph, query{external}))", ""])
    lines.append(f"log = bd.read_log({project.data.file!r}{_write_reading(project)})")
    if part == "check":
        return "\n".join([*lines, "print(bd.check(graph, log))", ""])
    if part == "simulate":
        return "\n".join([*lines, *_write_play(project)])
    options = _write_options(project, part, folder)
    if part in {"stress", "suggest"}:
        return "\n".join([*lines, f"print(bd.{part}(graph, query, log{options}))", ""])
    lines.append(f"bounds = bd.derive_bounds(graph, query, log{options})")
    shown = "bounds.choose()" if part == "choose" else "bounds"
    return "\n".join([*lines, f"print({shown})", ""])


def _write_graph(project: Project) -> Iterable[str]:
    """Write the lines that make the graph; called by ``write_python``."""
    said = list_lines(make_draft(without_edges(project)))
    text = "\n".join(said)
    if "\\" in text or '"""' in text or text.endswith('"'):
        return [f"graph = bd.parse_graph({text!r})"]
    return ['graph = bd.parse_graph("""', *said, '""")']


def _write_reading(project: Project) -> str:
    """Write the options by which the log is read; called by ``write_python``."""
    data = project.data
    given = {
        "columns": data.columns or None,
        "bins": {node: list(edges) for node, edges in data.bins.items()} or None,
        "weight": data.weight,
        "missing": None if project.settings.missing == "drop" else project.settings.missing,
    }
    return _write_given(given)


def _write_given(given: Mapping[str, object]) -> str:
    """Write options that are given as arguments; called for every call in Python."""
    return "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)


def _write_options(project: Project, part: TakePart, folder: Folder) -> str:
    """Write the options of the settings that differ from the defaults."""
    settings = project.settings
    options: dict[str, object] = {
        "inference": None if settings.inference == "exact" else settings.inference,
        "selection_rate": settings.selection_rate,
        "selection_limit": settings.selection_limit,
        "confounding_limit": (settings.confounding_limit or None)
        if part != "suggest"
        else None,
        "outcome_range": settings.outcome_range,
        "domain": {n: list(levels) for n, levels in project.data.levels.items()} or None,
    }
    said = _write_given(options)
    if settings.confidence != Project().settings.confidence:
        said = f", confidence={settings.confidence!r}{said}"
    tables = [
        f"bd.read_log({file!r}{_write_given(_fit(project, file, folder))})"
        for file in settings.external
    ]
    return f"{said}, external=[{', '.join(tables)}]" if tables else said


def _fit(project: Project, file: str, folder: Folder) -> dict[str, Any]:
    """Choose the options that hold for a table of everyone; called by ``_write_options``."""
    opened = read_log([str(folder.find(file))], missing=project.settings.missing)
    found = choose_fitting(project, opened) or {"missing": project.settings.missing}
    if found["missing"] == "drop":
        found["missing"] = None
    if found.get("bins"):
        found["bins"] = {node: list(edges) for node, edges in found["bins"].items()}
    return found


def _list_external_columns(project: Project, folder: Folder) -> list[list[str]]:
    """List the variables of each table of everyone; called by ``write_python``."""
    found = list[list[str]]()
    names = {node.name for node in project.graph.nodes}
    for file in project.settings.external:
        try:
            options = {n: of for n, of in _fit(project, file, folder).items() if of is not None}
            opened = read_log([str(folder.find(file))], **options)
        except BounditError:
            continue  # the bounds say what is wrong with it
        found.append([name for name in opened.columns if name in names])
    return found


def _write_play(project: Project) -> Iterable[str]:
    """Write the lines that play policies in environments that fit the log."""
    settings, how = project.settings, project.simulate
    options: dict[str, object] = {
        "selection_rate": settings.selection_rate,
        "outcome_range": settings.outcome_range,
        "domain": {n: list(levels) for n, levels in project.data.levels.items()} or None,
    }
    said = _write_given(options)
    if settings.confidence != Project().settings.confidence:
        said = f", confidence={settings.confidence!r}{said}"
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
    """Write the Python that makes a policy by its name; called by ``_write_play``."""
    bare = name.removesuffix("-PCB")
    if bare not in _POLICIES:
        raise RefusedRequest(f"there is no policy {name!r}", where="simulate.policies")
    prior = "prior=environments.bounds.intervals_only(), " if bare != name else ""
    return _POLICIES[bare].format(prior).replace(", )", ")")
