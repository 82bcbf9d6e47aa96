"""Arms, contexts and bound tables as JSON has them, types kept."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

from boundit.terms import bound_file
from boundit.terms.bound_table import BoundTable

Record: TypeAlias = dict[str, Any]
"""What JSON calls an object: text to anything JSON has."""


def spelled_values(values: Iterable[object]) -> list[object]:
    """Spell an arm or a context.

    >>> spelled_values(("A", 1, True))
    ['A', 1, True]
    """
    return [bound_file.encoded(value) for value in values]


def read_values(record: Iterable[object]) -> tuple[object, ...]:
    """Read an arm or a context back."""
    return tuple(map(bound_file.decoded, record))


def spelled_number(number: float) -> float | str:
    """Spell a number; JSON has no infinity of its own.

    >>> spelled_number(0.5), spelled_number(float("inf"))
    (0.5, 'inf')
    """
    return float(number) if math.isfinite(number) else str(float(number))


def spelled_table(table: BoundTable) -> Record:
    """Spell a table of bounds whole, reasons included."""
    return {
        "outcome": table.outcome,
        "treatments": list(table.treatments),
        "context": list(table.context),
        "levels": {name: spelled_values(found) for name, found in table.levels.items()},
        "reward_range": list(map(float, table.reward_range)),
        "profile": table.profile,
        "confidence": table.confidence,
        "caveats": list(table.caveats),
        "rules": [_listed(asdict(rule)) for rule in table.rules.values()],
        "bounds": [
            [spelled_values(arm), spelled_values(context), _listed(asdict(bound))]
            for (arm, context), bound in table.bounds.items()
        ],
    }


def read_table(record: Record) -> BoundTable:
    """Read a table back; whatever does not fit raises KeyError, TypeError or ValueError."""
    low, high = record["reward_range"]
    rules = [bound_file.rule_from(rule) for rule in record["rules"]]
    return BoundTable(
        outcome=str(record["outcome"]),
        treatments=tuple(map(str, record["treatments"])),
        context=tuple(map(str, record["context"])),
        levels={name: read_values(found) for name, found in record["levels"].items()},
        reward_range=(float(low), float(high)),
        bounds={
            (read_values(arm), read_values(context)): bound_file.bound_from(bound)
            for arm, context, bound in record["bounds"]
        },
        rules={rule.name: rule for rule in rules},
        profile=str(record["profile"]),
        confidence=record["confidence"],
        caveats=tuple(map(str, record["caveats"])),
    )


def _listed(fields: Mapping[str, object]) -> Record:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in fields.items()}
