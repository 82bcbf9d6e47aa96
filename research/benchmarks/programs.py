"""What a linear program costs as response types grow: the instrument, level by level.

``Z -> X -> Y, X <-> Y`` with ``k`` levels of Z and X has ``k^k 2^k`` joint response types. Ours
keeps one column for each pair of runs that the data or the question can tell apart, and starts
each arm's program from the last one's answer. Beside it the same columns, solved from scratch
for every end by scipy's HiGHS.
"""

from functools import partial

import numpy as np
from research.benchmarks.clock import seconds
from scipy.optimize import linprog

from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.rules.find_response_programs import SearchBudget, find_response_programs
from boundit.bounds.rules.response_program import ProgramLayout, ResponseProgram, solve_program
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import NamedArray
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.solver import Solver
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.terms.long_work import TimeBudget

INSTRUMENT = parse("Z -> X -> Y; X <-> Y")
ASKED = Question(frozenset("Y"), frozenset("X"))
LEVELS = (2, 3, 4, 5)


def run() -> None:
    print(f"{'instrument':<14}{'types':>12}{'columns':>9}{'ms, all arms':>14}{'scipy':>8}")
    for k in LEVELS:
        spec, numbers = _instrument(k)
        layout = ProgramLayout(spec, numbers.levels)
        columns = _columns(layout)
        ours = seconds(partial(solve_program, layout, numbers, TimeBudget(None)))
        theirs = seconds(partial(_from_scratch, layout, numbers)) if columns else None
        ratio = "-" if theirs is None else f"{theirs / ours:.1f}x"
        shown = f"{columns:,}" if columns else "parted"
        print(f"{k} levels{'':<6}{k**k * 2**k:>12,}{shown:>9}{ours * 1e3:>14.1f}{ratio:>8}")


def _instrument(k: int) -> tuple[ResponseProgram, PlugInNumbers]:
    """The instrument with random laws, ``k`` levels of Z and X."""
    found = find_response_programs(
        INSTRUMENT, ASKED, Solver(INSTRUMENT), SearchBudget(INSTRUMENT)
    )
    spec = max(found, key=lambda one: len(one.varied))
    model = draw_model(INSTRUMENT, np.random.default_rng(k), levels=(k,))
    law = model.log().align(("Z", "X", "Y"))
    tossed = np.stack([law[..., 0], law[..., 1:].sum(axis=-1)], axis=-1)
    named = NamedArray(("Z", "X", "Y"), tossed)
    return spec, PlugInNumbers(Evaluator(named, [named]))


def _columns(layout: ProgramLayout) -> int:
    """How many columns the program of one arm has; 0 if it is parted."""
    types = layout.list_types(layout.arms[:1], range(len(layout.outer)), layout.most)
    return 0 if types is None else types.n_types


def _from_scratch(layout: ProgramLayout, numbers: PlugInNumbers) -> None:
    """Solve the same columns anew for both ends of every arm."""
    law, inside = layout.read_law(numbers)[0][0], layout.spec.inside
    for arm in layout.arms:
        types = layout.list_types([arm], range(len(layout.outer)), layout.most)
        assert types is not None
        cells = [types.find_cells(scenario, inside) for scenario in range(len(layout.outer))]
        rows = [(scenario == cell) for scenario in cells for cell in range(law.shape[1])]
        aimed = (types.find_cells(len(layout.outer), ["Y"]) == 1).astype(float)
        for sign in (1, -1):
            linprog(sign * aimed, A_eq=np.array(rows, float), b_eq=law.ravel(), method="highs")
