"""SQL that every engine writes alike: quoted names, and the numbers that a GROUP BY adds up."""

from collections.abc import Callable, Sequence

from boundit.counts.cells import GroupBy

AGGREGATE_SQL = {
    "rows": "count(*)",
    "count": "count({})",
    "sum": "sum({})",
    "min": "min({})",
    "max": "max({})",
}
"""How each aggregate of ``choose_aggregates`` is written, with ``{}`` for its column."""


def quote_identifier(name: str) -> str:
    """Put a column's name in the quotes of SQL.

    Called wherever SQL is written, by ``find_first_oddity`` and ``QueryDialect.write_key``
    for two.

    >>> print(quote_identifier('6" pipe'))
    "6"" pipe"
    """
    return '"' + name.replace('"', '""') + '"'


def write_bin(number: str, edges: Sequence[float], kind: str) -> str:
    """Write the number of the bin that a number falls into, null where it is null.

    ``number`` is its SQL, ``kind`` what the database calls a float of 64 bits. Called by
    ``_write_key`` of relations and by ``DatabaseSource._write_query``.

    >>> write_bin("x", [18], "REAL")
    'CASE WHEN x IS NOT NULL THEN CASE WHEN x >= CAST(18.0 AS REAL) THEN 1 ELSE 0 END END'
    """
    passed = (
        f"CASE WHEN {number} >= CAST({float(edge)!r} AS {kind}) THEN 1 ELSE 0 END"
        for edge in edges
    )
    return f"CASE WHEN {number} IS NOT NULL THEN {' + '.join(passed)} END"


def derive_columns(
    plan: GroupBy,
    write_number: Callable[[str], str],
    write_fraction: Callable[[str], str],
) -> dict[str, str]:
    """Write in SQL the numbers to aggregate: weight, reward, their products, flags.

    ``write_number`` writes a column as a float, ``write_fraction`` the fractional part of such
    a number. Called by ``group_relation`` and
    ``DatabaseSource._write_query``.
    """
    columns: dict[str, str] = {}
    if plan.weight:
        weight = write_number(plan.weight)
        columns |= {"weight": weight, "part": write_fraction(weight)}
    if plan.reward:
        reward = write_number(plan.reward)
        columns["reward"] = reward
        times = f"{weight} * " if plan.weight else ""
        columns |= {"once": f"{times}{reward}", "twice": f"{times}{reward} * {reward}"}
        counted = f"CASE WHEN {weight} > 0 THEN {reward} END" if plan.weight else reward
        columns["counted"] = counted
        if plan.weight:
            columns["given"] = f"CASE WHEN {reward} IS NOT NULL THEN {weight} END"
    for i, flag in enumerate(plan.flags):
        columns[f"flag_{i}"] = f"CASE WHEN {write_number(flag)} = 1 THEN 1 END"
    return columns
