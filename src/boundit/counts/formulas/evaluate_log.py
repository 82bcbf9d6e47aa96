"""The numbers of an identified effect, from logs as users have them."""

from collections.abc import Iterable

from boundit.counts.formulas.evaluate import evaluate
from boundit.counts.named_array import NamedArray
from boundit.counts.read import read_log
from boundit.estimand.language.expression import find_variables
from boundit.estimand.recovery.derivation import Identification
from boundit.terms.errors import InvalidQuery
from boundit.terms.names import sort_names


def evaluate_identified(
    found: Identification, log: object, external: Iterable[object]
) -> NamedArray:
    """Compute the formula of an identified effect; without selection the log is the population.

    Each table is counted by those variables of the formula that it has.
    """
    if found.expression is None:
        raise InvalidQuery(f"there is no formula to evaluate: {found}")
    names = find_variables(found.expression)
    sources = [read_log(of) for of in (log, *external)]
    logged, *tables = (of.count(sort_names(names & {*of.columns})) for of in sources)
    return evaluate(
        found.expression, logged, external=tables if found.selected else [logged, *tables]
    )
