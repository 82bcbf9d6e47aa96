"""The library's options as a shell spells them.

Errors and caveats of the library keep the options that they name as values. Python writes one
``bins={'Age': [...]}``; this is how a shell writes it.
"""

from collections.abc import Mapping
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from boundit.core.message import Caveat, Message, Note, Option, Placeholder

if TYPE_CHECKING:
    from boundit.results.bound_table import BoundTable


def write_with_flags(note: Note) -> str:
    """Write an error or caveat of the library as text, with its options as a shell's flags.

    >>> bins, domain = Option("bins", {"Age": [Placeholder("...")]}), Option("domain")
    >>> write_with_flags(Message("cut it with ", bins, ", or declare others with ", domain))
    'cut it with --bins Age=..., or declare others with --domain'
    """
    if isinstance(note, Caveat):
        return note.spell(spell_flag)
    return note.render(spell_flag) if isinstance(note, Message) else note


def spell_caveats(table: "BoundTable") -> "BoundTable":
    """Give a table of bounds whose caveats write options as flags."""
    spelled = tuple(caveat.spell(spell_flag) for caveat in table.caveats)
    return replace(table, caveats=spelled)


def spell_flag(option: Option) -> str:
    """Write an option with its value as a flag; one that no command has stays Python's.

    >>> low, high = Placeholder("low"), Placeholder("high")
    >>> spell_flag(Option("outcome_range", (low, high))), spell_flag(Option("confidence", None))
    ('--outcome-range LOW HIGH', '--plug-in')
    """
    if option.name not in OPTIONS:
        return str(option)
    if option == Option("confidence", None):
        return "--plug-in"
    match option.value:
        case Mapping() as entries:
            pairs = (quote(f"{name}={_spell_values(of)}") for name, of in entries.items())
            return " ".join(f"{name_flag(option.name)} {pair}" for pair in pairs)
        case tuple(ends):
            return " ".join([name_flag(option.name), *(str(end).upper() for end in ends)])
        case True | Placeholder():
            return name_flag(option.name)
        case value:
            return f"{name_flag(option.name)} {value}"


def name_flag(option: str) -> str:
    """Turn the name of a Python option into that of a command's flag.

    >>> name_flag("time_limit")
    '--time-limit'
    """
    return f"--{option.replace('_', '-')}"


def _spell_values(found: object) -> str:
    """Write the values of one NODE=VALUE entry with commas between them."""
    values = found if isinstance(found, list | tuple) else [found]
    return ",".join(f"{of:g}" if isinstance(of, float) else str(of) for of in values)


OPTIONS = frozenset(
    {
        "adaptive",
        "bins",
        "cluster",
        "columns",
        "confidence",
        "confounding_limit",
        "contexts",
        "domain",
        "estimator",
        "exact",
        "external",
        "goal",
        "graph",
        "inference",
        "least_propensity",
        "level",
        "log",
        "max_condition",
        "memory_limit",
        "missing",
        "models",
        "new",
        "old",
        "optimism",
        "outcome_range",
        "profile",
        "propensity",
        "reward_range",
        "rule",
        "selection_limit",
        "selection_rate",
        "time_limit",
        "weight",
    }
)
"""The options of ``derive_bounds``, ``compare`` and others that a command has as flags."""
