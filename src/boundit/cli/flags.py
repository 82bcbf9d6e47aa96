"""The library's options as a shell spells them.

Errors and caveats of the library keep the options that they name as values. Python writes one
``bins={'Age': [...]}``; this is how a shell writes it.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from boundit.bounds.options import spell_flag as write_flag
from boundit.core.message import Caveat, Message, Note, Option

if TYPE_CHECKING:
    from boundit.results.bound_table import BoundTable


def write_with_flags(note: Note) -> str:
    """Write an error or caveat of the library as text, with its options as a shell's flags.

    >>> bins, domain = Option("bins", {"Age": ["..."]}), Option("domain")
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
    """Write an option with its value as a flag; one that no command has stays Python's."""
    return write_flag(option) if option.name in OPTIONS else str(option)


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
        "rule",
        "selection_limit",
        "selection_rate",
        "time_limit",
        "weight",
    }
)
"""The options of ``derive_bounds``, ``compare`` and others that a command has as flags."""
