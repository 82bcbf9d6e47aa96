"""Names of contexts: what all of them share is said once, not with each."""

from collections.abc import Sequence

from boundit.report.text.lettering import format_level
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable


def name_contexts(table: BoundTable, contexts: Sequence[Context]) -> list[str]:
    """Name contexts by the variables that differ between the table's contexts.

    >>> rows = [{"X": 0, "U": u, "V": 1, "lower": 0.1, "upper": 0.2} for u in (0, 1)]
    >>> names = {"outcome": "Y", "treatments": ["X"], "context": ["U", "V"]}
    >>> table = BoundTable.from_rows(rows, outcome_range=(0, 1), **names)
    >>> name_contexts(table, table.contexts), describe_common(table)
    (['U=0', 'U=1'], 'V=1')
    """
    varying = _find_varying(table)
    return [_join_pairs(table, context, varying) or "everyone" for context in contexts]


def describe_common(table: BoundTable) -> str:
    """Write the context variables that have one value in the whole table, as ``V=1``.

    Nothing when the table has one context.
    """
    varying = _find_varying(table)
    fixed = tuple(i for i in range(len(table.context)) if i not in varying)
    return _join_pairs(table, table.contexts[0], fixed)


def _find_varying(table: BoundTable) -> tuple[int, ...]:
    """Find the positions of the context variables that differ between the table's contexts.

    All when there is one context.
    """
    columns = list(zip(*table.contexts, strict=True))
    found = tuple(i for i, column in enumerate(columns) if len(set(column)) > 1)
    return found or tuple(range(len(columns)))


def _join_pairs(table: BoundTable, context: Context, places: tuple[int, ...]) -> str:
    """Write context variables with their values, as ``W=0, Z=1``."""
    return ", ".join(
        f"{format_level(table.context[i])}={format_level(context[i])}" for i in places
    )
