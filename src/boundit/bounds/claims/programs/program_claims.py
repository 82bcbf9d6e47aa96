r"""Claims on ends of response-type programs: multipliers from the pilot make them means.

Multipliers that are feasible prove an end at the true law, whichever they are. Those that the
pilot likes best turn the end of a program into a mean of what its law draws, and a sum of such
ends over strata into a sum of levels. Where a row's end is that of one program, several vectors
share its error, each by how likely it is to be best; and where one counts some kinds of rows,
their share has an exact interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final, final

import numpy as np
from numpy.random import Generator

from boundit.bounds.claims.cell_claims import bound_cells
from boundit.bounds.claims.explain_claim import ClaimCells
from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.claims.pilot import PILOT_SEED, SplitSources
from boundit.bounds.claims.pilot_choice import PilotChoice
from boundit.bounds.claims.programs.dual_vectors import (
    DualFinder,
    DualVectors,
    PilotLaw,
    make_natural_vectors,
    may_pool,
    rank_vectors,
)
from boundit.bounds.claims.programs.program_form import ProgramForm
from boundit.bounds.claims.programs.program_numbers import (
    SCENARIO,
    ProgramPilot,
    ProgramReader,
    ProgramRest,
    ScaledVectors,
)
from boundit.bounds.claims.read_form import PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.bounds.proof import Place
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.terms.sampling import EndSampling

MOST_RANKS: Final = 4
"""How many vectors of multipliers share the error of one end."""
_DRAWS = 5  # laws near the pilot's at which multipliers are looked for
_MOST_SOLVED = 4000  # programs, beyond which multipliers are those of one law
_WINS = 64  # laws near the pilot's at which it is seen which multipliers are best
_LARGE = 700.0  # minus the logarithm of a chance that is as good as none


@dataclass(frozen=True, eq=False)
class ProgramChoice:
    """What the pilot chose for one end: how each vector's sum pays, and with which error.

    ``log_shares`` are logarithms of one over each vector's part of the error of every row,
    infinite for a vector without any.
    """

    predicted: Floats
    choices: tuple[PilotChoice | None, ...]
    log_shares: tuple[Floats, ...]


@final
class RankClaims:
    """Claims by one vector of multipliers at each place, in the scale of the reward."""

    def __init__(self, scaled: ScaledVectors, pilot: PilotNumbers, rest: RestNumbers) -> None:
        self.scaled, self.pilot, self.rest = scaled, pilot, rest
        self.counts_rows = pilot.arrays.layout.worst == () and len(pilot.arrays.numbers) == 1
        self.only_counts = self.counts_rows and bool(scaled.counted.all())
        self._sum: SumClaims | None = None

    @property
    def sum(self) -> SumClaims:
        """Claims on the sum of levels. Made once; read by ``RankClaims``."""
        if self._sum is None:
            self._sum = SumClaims(self.pilot, self.rest)
        return self._sum

    def choose(self, log_error: Floats) -> tuple[PilotChoice | None, Floats]:
        """Choose how the sum pays, and predict the lower end, from the pilot alone."""
        choice = None if self.only_counts else self.sum.choose(log_error, upper=False)
        last = self.pilot.last
        hits = last.rows * last.mean
        value = self._bound(
            None if choice is None else choice.predicted, hits, last.rows, log_error
        )
        return choice, value

    def bound(self, choice: PilotChoice | None, log_error: Floats) -> Floats:
        """Bound the lower end on the rest."""
        value = None
        if choice is not None:
            value = self.sum.bound_value(choice, log_error, upper=False)
        last = self.rest.last
        return self._bound(value, last.rows * last.mean, last.rows, log_error)

    def _bound(
        self, value: Floats | None, hits: Floats, rows: Floats, log_error: Floats
    ) -> Floats:
        """Put ends of sums and of counted shares together, in the scale of the reward.

        Which of the two a row has is said by its multipliers alone.
        """
        scaled = self.scaled
        if not self.counts_rows or not scaled.counted.any():
            assert value is not None
            return scaled.base + scaled.length * value
        weights = self.pilot.arrays.weights[-1]
        n_axes = len(self.pilot.arrays.layout.axes)
        over = tuple(range(n_axes, weights.ndim))
        active = np.where(weights > 0, 1.0, 0.0)
        hits, rows = ((active * each).sum(axis=over) for each in (hits, rows))
        shares = bound_cells(hits, rows, log_error, upper=False)
        if value is not None:
            shares = np.where(scaled.counted, shares, value)
        return scaled.base + scaled.length * shares


@final
class ProgramEnd:
    """Claims on one end by several vectors of multipliers, for the reward or one minus it."""

    def __init__(
        self,
        pilot: ProgramPilot,
        rest: ProgramRest,
        law: PilotLaw,
        ranks: Sequence[DualVectors],
    ) -> None:
        self.reader = pilot.reader
        self._moves = self._move(law, ranks) if len(ranks) > 1 else []
        scaled = [self.reader.scale(vectors) for vectors in ranks]
        self.ranks = [
            RankClaims(each, pilot.number(each), rest.number(each)) for each in scaled
        ]

    def _move(self, law: PilotLaw, ranks: Sequence[DualVectors]) -> list[Floats]:
        """Move what every vector proves to laws that the pilot might as well have come from."""
        drawn = law.draw(_WINS, np.random.default_rng([PILOT_SEED, 2]))
        laws = np.concatenate([law.shares[None], drawn])
        values = [self.reader.weigh_laws(each, laws, law.rows) for each in ranks]
        return [each[1:] - each[0] for each in values]

    def choose(self, log_error: Floats) -> ProgramChoice:
        """Choose on the pilot which vectors share the error of a row, and how they pay."""
        layout = self.reader.layout
        wide = _add_axes(log_error, len(layout.axes))
        found = [rank.choose(wide) for rank in self.ranks]
        log_shares = self._share_error([end for _, end in found])
        if len(self.ranks) > 1:
            found = [
                rank.choose(np.minimum(wide + each, _LARGE))
                for rank, each in zip(self.ranks, log_shares, strict=True)
            ]
        predicted = np.max(np.stack(np.broadcast_arrays(*(end for _, end in found))), axis=0)
        return ProgramChoice(
            self._take_worst(predicted),
            tuple(choice for choice, _ in found),
            tuple(log_shares),
        )

    def _share_error(self, ends: Sequence[Floats]) -> list[Floats]:
        """Share a row's error out by how often each vector is best, for all the pilot can tell.

        ``ends`` are those expected at the pilot's law; at laws that the pilot might as well
        have come from they move as what the vectors prove does.
        """
        if len(self.ranks) == 1:
            return [np.zeros(())]
        expected = np.stack(np.broadcast_arrays(*ends))
        shape = expected.shape[1:]
        moved = np.stack(
            [np.broadcast_to(each, (len(each), *shape)) for each in self._moves], axis=1
        )
        best = (expected + moved).argmax(axis=1)
        wins = np.stack([(best == i).sum(axis=0) for i in range(len(ends))])
        shares = (wins + 1) / (len(best) + len(ends))
        return [np.asarray(-np.log(share)) for share in shares]

    def bound(self, choice: ProgramChoice, log_error: Floats) -> Floats:
        """Bound the lower end of every row on the rest."""
        wide = _add_axes(log_error, len(self.reader.layout.axes))
        ends = [
            rank.bound(chosen, np.minimum(wide + each, _LARGE))
            for rank, chosen, each in zip(
                self.ranks, choice.choices, choice.log_shares, strict=True
            )
        ]
        return self._take_worst(np.max(np.stack(np.broadcast_arrays(*ends)), axis=0))

    def explain(self, place: Place, boxes: str | None) -> EndSampling | None:
        """Say why chance moves this end of a row, by the multipliers that the pilot likes best.

        None where the worst of unknown variables is taken of whole ends.
        """
        best, reader = self.ranks[0], self.reader
        if len(reader.layout.axes) > len(place):
            return None
        last = best.rest.last
        cells = ClaimCells(
            reader.form.form,
            best.rest.arrays,
            last.rows,
            last.mean,
            best.scaled.length,
            (SCENARIO, reader.program.outer),
        )
        return cells.explain(place, upper=False, boxes=boxes)

    def _take_worst(self, ends: Floats) -> Floats:
        """Take the least over unknown variables that are axes; only that one must hold."""
        n_axes = len(self.reader.form.form.axes)
        over = tuple(range(n_axes, ends.ndim))
        return np.clip(ends.min(axis=over) if over else ends, 0.0, 1.0)


def _add_axes(values: Floats, n_axes: int) -> Floats:
    """Show numbers of rows with axes of length 1 behind, for unknown variables."""
    return values.reshape(values.shape + (1,) * (n_axes - values.ndim))


def find_ranks(
    reader: ProgramReader, pilot: ProgramPilot, law: PilotLaw, workspace: Workspace
) -> tuple[list[DualVectors], list[DualVectors]] | Unmet:
    """Find multipliers for both ends of every place on the pilot, the best first.

    Places that are summed have one vector each.
    """
    layout = reader.program
    if layout.spec.is_natural:
        return (
            [make_natural_vectors(layout, upper=False)],
            [make_natural_vectors(layout, upper=True)],
        )
    draws = min(_DRAWS if reader.is_flat else 0, _MOST_SOLVED // (2 * prod(reader.shape)))
    rng = np.random.default_rng([PILOT_SEED, 1])
    budget, shared = workspace.budget, not reader.is_flat
    finder = DualFinder(layout, law, budget=budget, rng=rng, draws=draws, shared=shared)
    found = finder.find_vectors()
    if found is None:
        return Unmet("the program has too many response types")
    weights = None if reader.is_flat else reader.weigh_places(pilot)
    most = MOST_RANKS if reader.is_flat else 1
    lower, upper = (rank_vectors(each, law, reader.shape, weights, most) for each in found)
    if reader.is_flat and may_pool(layout.spec):
        lower.append(make_natural_vectors(layout, upper=False))
        upper.append(make_natural_vectors(layout, upper=True))
    return lower, upper


@final
class ProgramClaims:
    """Claims on a rule that ends in a response-type program, for all rows of a table.

    ``choose`` asks the pilot alone; ``bound`` reads the rest under what was chosen.
    """

    def __init__(self, lower: ProgramEnd, upper: ProgramEnd) -> None:
        self._ends = lower, upper

    def choose(self, log_error: Floats, *, upper: bool) -> ProgramChoice:
        """Choose all that is free for one end of all rows, and predict it."""
        found = self._ends[upper].choose(log_error)
        if not upper:
            return found
        return replace(found, predicted=1 - found.predicted)

    def bound(self, choice: ProgramChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows, each missing with chance ``exp(-log_error)``."""
        found = self._ends[upper].bound(choice, log_error)
        return 1 - found if upper else found

    def explain(
        self, place: Place, *, upper: bool, boxes: str | None = None
    ) -> EndSampling | None:
        """Say why chance moves an end of the row at a place: the rows behind its multipliers."""
        return self._ends[upper].explain(place, boxes)


def make_program_claims(
    form: ProgramForm,
    sources: SplitSources,
    levels: Mapping[str, int],
    workspace: Workspace,
    rng: Generator,
) -> ProgramClaims | Unmet:
    """Make claims on a rule that ends in a program, or say which condition is not met.

    ``sources`` are cut into as many folds as the form needs. Multipliers are looked for on the
    pilot alone; ``rng`` draws the order of bets.
    """
    split = sources.find(form.law)
    if split.is_exact:
        return Unmet("the law of the program is exact")
    if not split.pilot.binary or split.pilot.outcome is None:
        return Unmet("a program with a reward of more than two values")
    reader = ProgramReader(form, sources, levels, workspace)
    law = reader.read_law()
    pilot = reader.read_pilot(law)
    ranks = find_ranks(reader, pilot, law, workspace)
    if isinstance(ranks, Unmet):
        return ranks
    rest = reader.read_rest(rng)
    lower, upper = (ProgramEnd(pilot, rest, law, each) for each in ranks)
    return ProgramClaims(lower, upper)
