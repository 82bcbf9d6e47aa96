r"""Which part of a row's error the boxes of its cells get, decided without any reward.

A claim on a whole sum pays for the sum of squares of what its cells weigh, boxes for the sum of
what they weigh, but boxes have exact tails. If one cell of a row outweighs the others, boxes
are narrower. Which it is hangs on how many rows the cells have, and the pilot shows some of
them. Where it leaves doubts, the columns of further rows are looked at. A row that is not
clearly balanced then leaves boxes as much of its error as they need to be hardly wider than if
all of it were theirs: most of it with two cells, little with many.

*What may be read.* Row errors are chosen by columns of the pilot and of the rows looked at, the
part of the error of the first level's boxes by the pilot's alone, never by a reward. Given the
pilot, the first level's boxes read all other rows, and claims read levels before the value off
rows that were not looked at. Given all columns but the reward, and whether a row went to the
pilot, which hangs on no reward, rewards are independent draws of their cells. So boxes of means
may read all rewards, may share a row's part of the error by how many rows their cells have, and
claims may read the rewards of rows that were looked at.

*Several levels before the value*, as of a front door. Rows then share cells of the value, and
each adds to their errors what it has for them. Levels before the value read the rest alone, and
only the pilot's columns say what a row has for each of their cells and for the value's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from boundit.bounds.claims.claim_rules import BOX_SHARE, FEW_CELLS, ClaimPlan
from boundit.bounds.claims.level_form import LevelForm
from boundit.bounds.claims.pilot import SplitRows, SplitSources
from boundit.bounds.claims.read_form import FormReader, smooth_pilot
from boundit.bounds.claims.sum_arrays import SumArrays, widen
from boundit.bounds.confidence import CellErrors
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import P

FEW_SHARE: Final = 0.77
"""Which part of its error a row leaves to boxes; they are then at most 5 percent wider."""
# By rows for each cell: how wide a claim may be expected to be beside boxes. The fewer rows the
# pilot shows of a cell, the surer it must be.
_STEPS: Final = ((200.0, 0.8), (1_000.0, 0.9), (np.inf, 1.02))
_COST: Final = 1.05  # of a pilot, and of scales that it does not choose best
_SHY: Final = 1.5  # by how many standard errors cells are supposed to differ from the pilot's
_EVEN: Final = 0.2  # of a row's part, shared out evenly over its cells
_BEFORE: Final = 0.27, 0.6  # a limit falls by so much when cells double, at most to this part
_AFTER: Final = 0.2, 0.7
_WEIGHTS: Final = 0.25  # what boxes of several weights have of even parts, once there is doubt
_PARTS: Final = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)  # less than which boxes may need
MOST_BOXES: Final = 30_000
"""Up to how many cells of a whole table: an exact interval takes some microseconds."""
# Of sums with several levels before the value, by the pilot's columns:
LEVELS_SHARE: Final = 0.9
"""Which part of its error a row leaves to boxes if one cell may decide it alone."""
_ALONE: Final = 0.4  # which part of all that its cells weigh one then has
_MORE: Final = 4.0  # how many times the error of another row it has: boxes of shared cells
_EFFECT: Final = 0.3  # how much what follows is supposed to differ by what a level draws


@dataclass(frozen=True, eq=False)
class FewCells:
    """How the error is shared out: by intervals of each cell, and what claims on rows have.

    ``look`` is the chance with which columns of further rows should be looked at, for more of
    them would make the choice a better one: 0 if it is clear or they have been, 1 where the log
    is read for nothing but its rewards.
    """

    cells: dict[P, CellErrors]
    row_errors: Floats
    look: float = 0.0


def find_few(plan: ClaimPlan, levels: Mapping[str, int]) -> LevelForm | None:
    """Find the sum whose cells have boxes with errors of their own beside all claims of a plan.

    Of several sums for one number it is one whose strata are drawn at once, if every other's
    value is given all columns of its own: rows of which these were looked at may then speak.
    """
    form, n_cells = plan.rules[0].form, plan.rules[0].count_cells(levels)
    if not isinstance(form, LevelForm):
        return None
    if len(form.levels) != 2:
        alone = len(plan.rules) == 1 and n_cells <= FEW_CELLS
        return form if alone and _is_layered(form) else None
    read = form.last.term.given
    known = all(
        isinstance(each.form, LevelForm) and each.form.last.term.given >= read
        for each in plan.rules
    )
    n_boxes = n_cells * prod(levels[name] for name in form.axes)
    return form if known and n_boxes <= MOST_BOXES and _is_plain(form) else None


def _is_layered(form: LevelForm) -> bool:
    """Tell whether a sum goes over several laws, each read once, and ends in the reward."""
    terms = [level.term for level in form.levels]
    before = frozenset[str]().union(*(term.free for term in terms[:-1]))
    alone = terms[-1].of == {form.outcome} and form.outcome not in before
    once = len(set(terms)) == len(terms) > 2
    return not (form.worst or form.idle) and form.n_folds == 1 and alone and once


def _is_plain(form: LevelForm) -> bool:
    """Tell whether a sum goes over one law of strata and ends in the reward given them."""
    first, last, axes = form.levels[0].term, form.last.term, frozenset(form.axes)
    renamed = any(level.names for level in form.levels)
    alone = last.of == {form.outcome} and form.outcome not in first.free
    spread = last.given == axes | first.of and first.given <= axes and not first.of & axes
    return not (form.worst or form.idle or renamed) and form.n_folds == 1 and alone and spread


def share_few(
    form: LevelForm,
    sources: SplitSources,
    levels: Mapping[str, int],
    workspace: Workspace,
    error: float,
    spent: float,
) -> FewCells:
    """Share the error out over boxes of cells and claims on rows.

    ``spent`` is the part that others have.
    """
    if len(form.levels) == 2:
        return share_cells(form, sources, levels, error, spent)
    return share_levels(FormReader.of(form, sources, levels, workspace), error, spent)


def share_levels(reader: FormReader, error: float, spent: float) -> FewCells:
    """Share the error out over boxes and claims where several levels go before the value."""
    form, sources, n_axes = reader.form, reader.sources, len(reader.form.axes)
    last, pilot = form.last, reader.read_pilot_arrays()
    split = sources.find(last.term)
    seen = split.pilot.marginalize(last.term.given)
    every = NamedArray(
        seen.axes,
        seen.values + split.rewarded[0].marginalize(last.term.given).align(seen.axes),
    )
    ends = reader.layout.cells[-1].axes
    supposed = reader.name(last, smooth_pilot(seen, frozenset(), split)).align(ends)
    weighs = _weigh_levels(pilot, supposed)
    alone = _expect_alone(weighs, n_axes)
    budgets = np.where(alone, _MORE, 1.0)
    budgets *= (1 - spent) * error / budgets.sum()
    parts = budgets * np.where(alone, LEVELS_SHARE, BOX_SHARE)

    expected = [*(_EFFECT * each for each in weighs[:-1]), weighs[-1]]
    shares = _share_cells_of_rows(expected, [*(n.exact for n in pilot.numbers), False], n_axes)
    # Given all columns rewards are independent: these may share what the value's cells have.
    whole = shares[-1].sum(axis=_list_cells(shares[-1], n_axes), keepdims=True)
    every_row = reader.name(last, every).align(ends)
    found, rows = (
        np.broadcast_to(each, shares[-1].shape)
        for each in (reader.read_rest_arrays().weights[-1], every_row)
    )
    shares[-1] = whole * _share_row(found, rows, n_axes)
    cells = dict[P, CellErrors]()
    for level, where, share in zip(form.levels, reader.layout.cells, shares, strict=True):
        errors = NamedArray(where.axes, widen(parts, share.ndim) * share)
        added = errors.marginalize(level.given)
        columns = tuple(level.columns[name] for name in added.axes)
        source = None if level is last else sources.find(level.term).folds[0]
        cells[level.term] = CellErrors(NamedArray(columns, added.values), source)
    return FewCells(cells, budgets - parts)


def _list_cells(values: Floats, n_axes: int) -> tuple[int, ...]:
    """List the axes of cells, after those of the table.

    Called wherever cells of a row are added up.
    """
    return tuple(range(n_axes, values.ndim))


def _weigh_levels(pilot: SumArrays, last_rows: Floats) -> list[Floats]:
    """Expect what the cells of every level weigh in each row, by the pilot's columns."""
    found = list[Floats]()
    for place, where in enumerate(pilot.layout.cells):
        shape = [pilot.settings.sizes[name] for name in where.axes]
        last = place == len(pilot.numbers)
        rows = last_rows if last else pilot.find_rows(place)
        exact = not last and pilot.numbers[place].exact
        weighs = pilot.weights[place] / np.sqrt(np.maximum(rows, 0.5))
        found.append(np.broadcast_to(0.0 if exact else weighs, shape))
    return found


def _expect_alone(weighs: Sequence[Floats], n_axes: int) -> NDArray[np.bool_]:
    """Expect of every row whether one of its cells outweighs the others."""
    total, most = np.zeros(()), np.zeros(())
    for each in weighs:
        over = _list_cells(each, n_axes)
        total, most = total + each.sum(axis=over), np.maximum(most, each.max(axis=over))
    found: NDArray[np.bool_] = most > _ALONE * total
    return found


def _share_cells_of_rows(
    weighs: Sequence[Floats], exact: Sequence[bool], n_axes: int
) -> list[Floats]:
    """Share each row's part of the error over its cells of all levels, by what they weigh.

    Cells of an exact law need none.
    """
    total, n_cells = np.zeros(()), 0
    for each, known in zip(weighs, exact, strict=True):
        total = total + each.sum(axis=_list_cells(each, n_axes))
        n_cells += 0 if known else prod(each.shape[n_axes:])
    return [
        np.zeros_like(each)
        if known
        else (1 - _EVEN) * each / widen(np.maximum(total, 1e-300), each.ndim) + _EVEN / n_cells
        for each, known in zip(weighs, exact, strict=True)
    ]


def share_cells(
    form: LevelForm,
    sources: SplitSources,
    levels: Mapping[str, int],
    error: float,
    spent: float,
) -> FewCells:
    """Share the error out over boxes and claims where one level goes before the value."""
    first, last, axes = form.levels[0].term, form.last.term, form.axes
    drawn = tuple(sorted(first.of))
    weights, values = sources.find(first), sources.find(last)
    n_drawn, n_rows, n_given = (
        prod(levels[name] for name in names) for names in (drawn, axes, first.given)
    )
    per_given = 0 if weights.is_exact else 1 if n_drawn == 2 else n_drawn
    n_boxes = n_rows * n_drawn + n_given * per_given

    def read(table: NamedArray) -> Floats:
        return table.align((*axes, *drawn))

    seen = read(values.count_columns(last.given))
    shares = _find_shares(read(weights.count_columns(first.free)) + 0.5, len(axes))
    weighs = _suppose_weights(shares, seen, len(axes))
    ratio = _expect_ratio(weighs, len(axes))
    ratio *= np.sqrt(2 * np.log(2 * n_rows / error)) / -float(ndtri(error / n_boxes / 2))
    whole = read(values.pilot.marginalize(last.given))
    whole = whole + read(values.rewarded[0].marginalize(last.given))
    looked = values.looked is not None
    per_cell = float(whole.sum()) / whole.size
    doubtful = ratio > _find_limit(n_drawn, per_cell, looked=looked)
    needed = _find_needed(weighs, len(axes), error / n_rows, error / n_boxes)
    parts = np.where(doubtful, needed, BOX_SHARE)

    chosen = _WEIGHTS if n_drawn > 2 else FEW_SHARE
    of_weights = (chosen if looked else float(parts.max())) * n_given * per_given / n_boxes
    of_row = (1 - spent - of_weights) * error / n_rows
    found = _find_shares(read(weights.folds[0].marginalize(first.free)), len(axes))
    means = widen(of_row * parts, whole.ndim) * _share_row(found, whole, len(axes))
    given = tuple(sorted(first.given))
    even = np.full([levels[name] for name in given], of_weights * error / n_given)
    cells = {
        first: CellErrors(NamedArray(given, even), weights.undrawn),
        last: CellErrors(NamedArray((*axes, *drawn), means), None),
    }
    may_look = bool(doubtful.any()) and not looked and values is sources.log
    look = _find_look(values, weights, float(whole.sum())) if may_look else 0.0
    return FewCells(cells, of_row * (1 - parts), look)


def _find_look(values: SplitRows, weights: SplitRows, rows: float) -> float:
    """Find with which chance further rows of a log should be looked at.

    All of them where it is read for its rewards alone.
    """
    if values.is_exact:
        return 0.0
    return choose_look(rows) if weights is values else 1.0


def choose_look(rows: float) -> float:
    """Choose with which chance the columns of a row are looked at, where the pilot has doubts.

    >>> choose_look(1_000), choose_look(50_000)
    (0.1, 0.04)
    """
    return min(0.1, 0.03 + 500 / max(rows, 1.0))


def _find_limit(n_cells: int, per_cell: float, *, looked: bool) -> float:
    """Find how wide a claim may be expected to be beside boxes for a row to be left to it.

    A sum of many cells has a claim that is far narrower, unless one of them outweighs the
    others: it may then be doubted early, and boxes need little. Sooner before more rows are
    ``looked`` at than after.
    """
    most = next(limit for rows, limit in _STEPS if per_cell < rows)
    slope, least = _AFTER if looked else _BEFORE
    return most * max(least, 1 - slope * log2(max(n_cells, 2) / 2))


def _find_shares(counts: Floats, n_axes: int) -> Floats:
    """Find the shares of what is drawn, of counts with the table's axes before."""
    over = _list_cells(counts, n_axes)
    found: Floats = counts / np.maximum(counts.sum(axis=over, keepdims=True), 1e-300)
    return found


def _suppose_weights(shares: Floats, rows: Floats, n_axes: int) -> Floats:
    """Suppose what the interval of each cell of a row weighs, by the pilot's columns.

    The pilot's ``rows`` are few: the cell that seems to weigh most is supposed to have fewer
    than it shows, the others more.
    """
    over = _list_cells(rows, n_axes)
    first = shares / np.sqrt(rows + 0.5)
    sign = np.where(first >= first.max(axis=over, keepdims=True), -1.0, 1.0)
    supposed = np.maximum(rows + sign * _SHY * np.sqrt(rows), 0.0) + 0.5
    found: Floats = shares / np.sqrt(supposed)
    return found


def _expect_ratio(weighs: Floats, n_axes: int) -> Floats:
    """Expect the root of a row's sum of squares beside its sum, the cost of a pilot added."""
    over = _list_cells(weighs, n_axes)
    found: Floats = _COST * np.sqrt((weighs**2).sum(axis=over)) / weighs.sum(axis=over)
    return found


def _find_needed(weighs: Floats, n_axes: int, of_row: float, even: float) -> Floats:
    """Find the least part of a row's error with which boxes are as narrow as with even ones.

    Few cells of a row weigh most of it and get most of its part, so that of many cells boxes
    need little.
    """
    over = _list_cells(weighs, n_axes)
    within = weighs / weighs.sum(axis=over, keepdims=True)
    n_cells = prod(weighs.shape[n_axes:])
    within_even = (1 - _EVEN) * within + _EVEN / n_cells
    found = np.full(weighs.shape[:n_axes], FEW_SHARE)
    for part in sorted(_PARTS, reverse=True) if n_cells > 2 else ():
        widths = -(within * ndtri(part * of_row * within_even / 2)).sum(axis=over)
        found = np.where(widths <= -ndtri(even / 2), part, found)
    return found


def _share_row(shares: Floats, rows: Floats, n_axes: int) -> Floats:
    """Share a row's part of the error over the cells that were seen, by what each weighs."""
    over = _list_cells(rows, n_axes)
    seen = (rows > 0).astype(np.float64)
    weighs = seen * shares / np.sqrt(np.maximum(rows, 1.0)) + 1e-9 * seen
    total = np.maximum(weighs.sum(axis=over, keepdims=True), 1e-300)
    even = seen / np.maximum(seen.sum(axis=over, keepdims=True), 1.0)
    found: Floats = (1 - _EVEN) * weighs / total + _EVEN * even
    return found
