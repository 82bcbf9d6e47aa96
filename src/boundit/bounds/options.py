"""The options of ``derive_bounds`` and its companions, declared once.

Each is a key of a ``TypedDict`` with its type, default, help and how text says it. The keyword
arguments of functions, the flags of commands, the fields of the studio and what messages and
generated code call an option are all made of this list.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import wraps
from math import isfinite
from shlex import quote
from textwrap import fill, indent
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from boundit.bounds.models.options import ModelKind, Models
from boundit.core.errors import BounditError
from boundit.core.long_work import Progress
from boundit.core.message import Option, Placeholder
from boundit.core.public_names import OPTIONS as RENAMED
from boundit.core.public_names import RenamedOption
from boundit.results.bound import Goal
from boundit.results.sampling import Inference

if TYPE_CHECKING:
    from boundit.counts.log import Log

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


def read_number(text: str) -> float:
    """Read a number; ``nan`` is none."""
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if found != found:
        msg = f"{text!r} is not a number."
        raise ValueError(msg)
    return found


def read_numbers(text: str) -> list[float]:
    """Read the edges of bins."""
    return [read_number(part) for part in text.split(",")]


def read_rate(text: str) -> float | tuple[float, ...]:
    """Read a share, or a range of it as two numbers with a comma between."""
    found = read_numbers(text)
    return found[0] if len(found) == 1 else tuple(found)


def read_probability(text: str) -> float | None:
    """Read a probability, or ``none``."""
    return None if text.lower() == "none" else read_number(text)


def read_levels(text: str) -> list[object]:
    """Read the values of a variable as a log has them: numbers, true or false, else text."""
    return [_read_level(part) for part in text.split(",")]


def _read_level(text: str) -> object:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float) and isfinite(found) else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is said of an option beside its name and type.

    ``help`` is one sentence for every interface, ``details`` what Python's reference adds.
    ``label`` is the name on the studio's page. ``metavar`` is what the flag takes, ``read``
    how the text becomes a value, and ``keyed`` marks flags ``NAME=VALUE`` that together make
    a mapping. Options without a flag are for Python alone.
    """

    default: object
    help: str
    type: Any = None
    details: str = ""
    label: str = ""
    metavar: str = ""
    read: Callable[[str], object] = str
    keyed: bool = False
    repeated: bool = False
    words: int = 1
    flag: bool = True

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that the type allows, where it names them."""
        kinds = [self.type, *get_args(self.type)]
        return tuple(
            of for kind in kinds if get_origin(kind) is Literal for of in get_args(kind)
        )


class DataOptions(TypedDict, total=False):
    """How a log is read: the options of ``read_log``."""

    columns: Annotated[
        Mapping[str, str] | None,
        Declared(
            default=None,
            help="Column that holds a node, where its name differs.",
            label="the matching of columns",
            metavar="NODE=COLUMN",
            keyed=True,
        ),
    ]
    bins: Annotated[
        Mapping[str, Sequence[float]] | None,
        Declared(
            default=None,
            help="Edges that cut a numeric column into bins, as in Age=18,30,50.",
            label="bins",
            metavar="NODE=EDGE,...",
            read=read_numbers,
            keyed=True,
        ),
    ]
    missing: Annotated[
        Literal["drop", "level", "error"],
        Declared(
            default="drop",
            help="Rows with missing values: drop them, make missing a level, or refuse the log.",
            label="missing values",
        ),
    ]
    weight: Annotated[
        str | None,
        Declared(
            default=None,
            help="Column that says how many rows a row stands for, in every file that has it.",
            label="the weight",
            metavar="COLUMN",
        ),
    ]
    exact: Annotated[
        bool,
        Declared(
            default=False,
            help="The weights are exact probabilities, without sampling error.",
            label="exact probabilities",
        ),
    ]
    adaptive: Annotated[
        bool | None,
        Declared(
            default=None,
            help="The log was written by a policy that learned meanwhile.",
            label="an adaptive log",
        ),
    ]


class SourceOptions(TypedDict, total=False):
    """Data beside the log."""

    external: Annotated[
        Iterable[object],
        Declared(
            default=(),
            help="Unselected data of some of the variables: a population table or a survey.",
            details="A list of anything that ``read_log`` takes.",
            label="external data",
            metavar="FILE",
            repeated=True,
        ),
    ]


class AssumptionOptions(TypedDict, total=False):
    """What is assumed beside the graph."""

    selection_rate: Annotated[
        float | tuple[float, float] | None,
        Declared(
            default=None,
            help="Share of the population that was logged: a number or a range.",
            details="As in ``0.4`` or ``(0.3, 0.6)``.",
            label="the selection rate",
            metavar="RATE[,RATE]",
            read=read_rate,
        ),
    ]
    selection_limit: Annotated[
        float | None,
        Declared(
            default=None,
            help="Each stratum was logged 1/G to G times as often as average.",
            label="the selection limit",
            metavar="G",
            read=read_number,
        ),
    ]
    confounding_limit: Annotated[
        Mapping[str, float] | None,
        Declared(
            default=None,
            help="Largest factor by which the hidden cause of an edge changes the odds of "
            "treatment.",
            details="By edges of the graph, as in ``{'X <-> Y': 1.5}``: given all that was "
            "observed before the treatment. An edge without an entry has no limit.",
            label="the confounding limit",
            metavar="'X <-> Y=LIMIT'",
            read=read_number,
            keyed=True,
        ),
    ]
    domain: Annotated[
        Mapping[str, Sequence[object]] | None,
        Declared(
            default=None,
            help="All values of a variable, where selection could hide some.",
            details="As in ``{'Opened': [0, 1]}``; logged values need not be repeated.",
            label="the domain",
            metavar="NODE=VALUE,...",
            read=read_levels,
            keyed=True,
        ),
    ]
    outcome_range: Annotated[
        tuple[float, float] | None,
        Declared(
            default=None,
            help="Lowest and highest possible outcome; only a 0/1 outcome needs none.",
            label="the range of the outcome",
            metavar="LOW HIGH",
            read=read_number,
            words=2,
        ),
    ]


class InferenceOptions(TypedDict, total=False):
    """How sampling error is allowed for."""

    confidence: Annotated[
        float | None,
        Declared(
            default=0.95,
            help="Probability that all intervals contain the true values; none for plug-in "
            "estimates.",
            details="It holds for all intervals together. None neglects sampling error; exact "
            "probabilities and ``profile='paper'`` have none.",
            label="the confidence",
            metavar="P|none",
            read=read_probability,
        ),
    ]
    inference: Annotated[
        Inference,
        Declared(
            default="exact",
            help="Exact: valid at every sample size; approximate: narrower, for large samples.",
            details="Approximate ones need some dozen rows of every arm in the strata that "
            "matter, and are not for policies that drop arms.",
            label="the inference",
        ),
    ]
    models: Annotated[
        ModelKind | Models | None,
        Declared(
            default=None,
            help="With approximate inference: predict outcome and treatment by models instead "
            "of counting strata.",
            details="``'boosting'``, ``'forest'``, ``'linear'`` or ``bd.Models``. Covariates may "
            "then be many, and numbers without bins. Needs the extra ``ml``.",
            label="models",
        ),
    ]
    cluster: Annotated[
        str | None,
        Declared(
            default=None,
            help="Column whose equal values mark rows of one unit, such as a user.",
            details="It need not be in the graph. Units are then independent, not rows. Exact "
            "inference counts each unit once, and refuses it where its rows differ in a column "
            "that is read.",
            label="the cluster",
            metavar="COLUMN",
        ),
    ]


class BoundOptions(SourceOptions, AssumptionOptions, InferenceOptions, total=False):
    """Sources, assumptions, inference and direction of bounds."""

    goal: Annotated[
        Goal,
        Declared(
            default="max",
            help="Whether a higher or a lower outcome is better.",
            details="Choices, policies and what is ruled out follow it; no number changes its "
            "sign.",
            label="the goal",
        ),
    ]


class SearchOptions(TypedDict, total=False):
    """How rules are searched for."""

    max_condition: Annotated[
        int,
        Declared(
            default=3,
            help="Most variables that a rule may condition on.",
            label="how many variables a rule conditions on",
            flag=False,
        ),
    ]
    profile: Annotated[
        Literal["sound", "paper"],
        Declared(
            default="sound",
            help="All rules that are valid, intersected, or the printed method, which can miss "
            "the truth.",
            label="the profile",
            flag=False,
        ),
    ]


class RunOptions(TypedDict, total=False):
    """How long and in how much memory a function may run, and who hears of it."""

    time_limit: Annotated[
        float | None,
        Declared(
            default=None,
            help="Time for everything; intervals found by then are valid.",
            details="Caveats say what was left out. A pass over the log that has begun is not "
            "broken off.",
            label="the time limit",
            metavar="SECONDS",
            read=read_number,
        ),
    ]
    memory_limit: Annotated[
        int | str | None,
        Declared(
            default=None,
            help="Memory for counts and arrays, such as 2GB; a quarter of the machine's by "
            "default.",
            details="What would not fit is left out beforehand, with a caveat. An engine that "
            "holds the log has memory of its own.",
            label="the memory limit",
            metavar="SIZE",
        ),
    ]
    progress: Annotated[
        Progress | bool | None,
        Declared(
            default=None,
            help="True for a bar on stderr, or a function of (message, done, total).",
            flag=False,
        ),
    ]


class Options(BoundOptions, RunOptions, total=False):
    """The options of every function that derives bounds from a log."""


class DeriveOptions(BoundOptions, SearchOptions, RunOptions, total=False):
    """The options of ``derive_bounds``."""


def list_options(options: type) -> dict[str, Declared]:
    """The declarations of a ``TypedDict``, by name."""
    hints = get_type_hints(options, include_extras=True)
    return {
        name: replace(hint.__metadata__[0], type=hint.__origin__)
        for name, hint in hints.items()
    }


DATA = list_options(DataOptions)
OPTIONS: Mapping[str, Declared] = DATA | list_options(DeriveOptions)
"""Every option that logs, bounds and what is made of them share."""


def complete(options: Mapping[str, object]) -> dict[str, Any]:
    """Add the defaults of the options of ``derive_bounds`` that are not given."""
    return {name: of.default for name, of in OPTIONS.items() if name not in DATA} | dict(
        options
    )


class UnknownOption(BounditError, TypeError):
    """A keyword that a function does not have."""

    def __init__(self, function: str, name: str, known: Iterable[str]) -> None:
        near = get_close_matches(name, [*known], n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"help({function}) lists what it has."
        super().__init__(f"{function} has no option {name!r}. {hint}")


def accept_options(function: Callable[_Asked, _Answer]) -> Callable[_Asked, _Answer]:
    """Spell out the ``**options`` of a function in its signature and docstring.

    Unknown keywords are refused, old names with the new one.
    """
    declared = function.__annotations__["options"].__args__[0]
    listed = list_options(declared)
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.name != "options"]
    added = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=of.default, annotation=of.type
        )
        for name, of in listed.items()
    ]
    known = [p.name for p in (*own, *added) if p.kind is inspect.Parameter.KEYWORD_ONLY]

    @wraps(function)
    def ask(*args: _Asked.args, **options: _Asked.kwargs) -> _Answer:
        for name in options:
            if name in RENAMED:
                raise RenamedOption(function.__name__, name)
            if name not in known and name not in signature.parameters:
                raise UnknownOption(function.__name__, name, known)
        return function(*args, **options)

    ask.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    ask.__doc__ = _spell_out(inspect.getdoc(function) or "", listed)
    return ask


def _spell_out(doc: str, listed: Mapping[str, Declared]) -> str:
    """Replace the entry ``**options`` of a docstring by one for each option."""
    entries = list[str]()
    for name, of in listed.items():
        kind = of.type.__name__ if isinstance(of.type, type) else str(of.type)
        kind = re.sub(r"\b[a-z_.]+\.(?=[A-Z])", "", kind)
        text = fill(f"{of.help} {of.details}".rstrip(), 92)
        entries.append(f"{name} : {kind}, default {of.default!r}\n{indent(text, '    ')}\n")
    return re.sub(
        r"^\*\*options\n( .*\n)*", lambda _: "".join(entries), f"{doc}\n", flags=re.MULTILINE
    )


def name_flag(option: str) -> str:
    """Turn the name of an option into that of a command's flag.

    >>> name_flag("time_limit")
    '--time-limit'
    """
    return f"--{option.replace('_', '-')}"


def list_changed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out options that have their default, and empty ones."""
    return {
        name: value
        for name, value in options.items()
        if value != OPTIONS[name].default
        and (value or name == "confidence" or (value == 0 and value is not False))
    }


def keep_fitting(options: Mapping[str, Any], table: "Log") -> dict[str, Any]:
    """Keep those options of a log that hold for external data too: they name its columns."""
    kinds = table.source.kinds
    columns = {n: of for n, of in (options.get("columns") or {}).items() if of in kinds}
    bins = {
        node: edges
        for node, edges in (options.get("bins") or {}).items()
        if (kind := kinds.get(columns.get(node, node))) is not None and kind.may_be_summed
    }
    weight = options["weight"] if options.get("weight") in kinds else None
    fitting = {"columns": columns, "bins": bins, "weight": weight}
    if weight is None:
        fitting["exact"] = False
    return list_changed(dict(options) | fitting | {"adaptive": None})


def write_keywords(options: Mapping[str, object]) -> str:
    """Write options as further arguments of a call in Python.

    >>> write_keywords({"confidence": None, "domain": {"X": (0, 1)}, "bins": {}})
    ", confidence=None, domain={'X': [0, 1]}"
    """
    plain = {
        name: {k: list(v) if isinstance(v, tuple) else v for k, v in value.items()}
        if isinstance(value, Mapping)
        else value
        for name, value in list_changed(options).items()
    }
    return "".join(f", {name}={value!r}" for name, value in plain.items())


def list_flags(options: Mapping[str, object]) -> list[str]:
    """List the words by which a shell says options.

    >>> list_flags({"bins": {"Age": [18, 30.5]}, "outcome_range": (0, 5.0), "goal": "max"})
    ['--bins', 'Age=18,30.5', '--outcome-range', '0', '5']
    """
    found = list[str]()
    for name, value in list_changed(options).items():
        flag, of = name_flag(name), OPTIONS[name]
        if value is True:
            found.append(flag)
        elif of.keyed:
            found += [
                word for k, v in value.items() for word in (flag, f"{k}={write_value(v)}")
            ]
        elif of.repeated:
            found += [word for each in value for word in (flag, str(each))]
        else:
            found += [flag, *map(write_value, value if of.words > 1 else [value])]
    return found


def write_value(value: object) -> str:
    """Write a value as a flag takes it.

    >>> write_value(30.0), write_value(1e-7), write_value([True, "a"]), write_value(None)
    ('30', '1e-07', 'true,a', 'none')
    """
    match value:
        case list() | tuple():
            return ",".join(map(write_value, value))
        case bool() | None:
            return str(value).lower()
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return str(value)


def spell_flag(option: Option) -> str:
    """Write an option of a message as a flag; one that has none stays Python's.

    >>> low, high = Placeholder("low"), Placeholder("high")
    >>> spell_flag(Option("outcome_range", (low, high))), spell_flag(Option("confidence", None))
    ('--outcome-range LOW HIGH', '--confidence none')
    """
    flag, value = name_flag(option.name), option.value
    match value:
        case Mapping():
            return " ".join(
                f"{flag} {quote(f'{k}={write_value(v)}')}" for k, v in value.items()
            )
        case tuple():
            return " ".join([flag, *(write_value(end).upper() for end in value)])
        case True | Placeholder():
            return flag
        case _:
            return f"{flag} {write_value(value)}"
