"""Policy: a probability for every arm of a context.

An algorithm says three things: which arrays hold what it learned (``make_arrays``), how it scores
the arms of a context (``score``), and what it learns from a reward (``take``). Requests, drawing
the arm, propensities, rewards, batches and whole runs are written here once, and what a policy
keeps in ``base``.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.base import BasePolicy, Open
from boundit.bandit.batches import list_contexts, list_observed, name_row, read_ids
from boundit.bandit.compiled import working_on
from boundit.bandit.decision import EXPLORED, Decision, Decisions, Scores
from boundit.bandit.errors import BadArm, BadObservation, BadOption, NeedsArms, NotADecision
from boundit.bandit.finite import FiniteEnvironment
from boundit.bandit.ids import Floats, Ints, draw_uniform, draw_uniforms, hash_id, hash_ids
from boundit.bandit.options import Arms
from boundit.bandit.runs import ARM, Rounds, can_play, play_runs
from boundit.bandit.spec import read_arms, show
from boundit.core.errors import BounditError
from boundit.results.bound import Arm, Context

_MOST_KEPT = 2**14
"""Of so many contexts the scores are kept until something is learned."""


class Policy(BasePolicy):
    """Decide, act, learn; keep the state, and come back from it.

    A policy may be shared between threads: each call is done as a whole before the next.

    Parameters
    ----------
    prior : BoundTable, optional
        Bounds to start from; arms, context and range of rewards are taken from it.
    arms : list, optional
        Arms, without a prior or where others than its own are meant: scalars, tuples, or
        mappings of names.
    context : list of str or mapping, optional
        Names of the context variables, as a mapping with their levels.
    reward_range : (float, float), optional
        The least and the greatest reward, by default 0 and 1.
    goal : {"max", "min"}, optional
        Whether high or low rewards are better; by default as in the prior, else "max".
    explore : float
        Probability of playing an arm drawn evenly from all of them.
    monitor : float, optional
        A level such as 0.05: rewards test the prior bounds all the time, and bounds that they
        contradict are dropped. The probability of ever dropping right bounds is at most this.
    unknown_levels : {"error", "range"}
        What a level of a context variable outside the domain gets: an error, or the whole range
        of the reward instead of bounds.
    id_window : int or IdStore
        How many ids of learned decisions are remembered, so that a repeated reward counts once;
        or a store of the caller's.
    seed : int, optional
        What draws and ids follow from; random by default.
    """

    # -- what an algorithm overrides ------------------------------------------------------------

    branch: str | None = None
    """The part of the algorithm that scored last, where it has parts."""

    @abstractmethod
    def score(
        self, context: Context, row: int, columns: Ints
    ) -> tuple[int, Floats | None, Floats]:
        """Score the arms of a context, named by their columns.

        Gives the winner's place among them or -1, probabilities or None, and a table with a row
        for each: its score before and after truncation to the bounds.
        """

    @abstractmethod
    def take(self, context: Context, row: int, column: int, reward: float, shown: Any) -> None:
        """Learn one reward of an arm in a context, turned so that more is better."""

    def read_observed(
        self, observed: Mapping[str, object] | None, decision: Decision | None = None
    ) -> Any:
        """Read what ``take`` gets of a round beside its reward, or refuse it."""
        return None

    def find_open(self, context: Context, row: int, columns: Ints) -> Ints:
        """Find the columns that may be played in a context: those that the prior leaves."""
        cell = self.spec.find_cell(context)
        return self.prior.find_open(self.spec, cell, self._arms, columns)

    def lay_out_runs(
        self,
        rows: Ints,
        columns: Ints,
        contexts: Sequence[Context],
        rounds: Rounds,
    ) -> Any:
        """Give the arrays of nothing learned, by the contexts and arms of an environment."""
        arrays, parts = self.make_arrays(), {}
        for name, axes in {"bounds": "ca", **self.axes}.items():
            if hasattr(arrays, name):
                places = np.ix_(*({"c": rows, "a": columns}[axis] for axis in axes))
                parts[name] = np.ascontiguousarray(getattr(arrays, name)[places])
        return arrays._replace(**parts)

    def list_leaves(self, side: Any) -> Ints:
        """Number what a simulated round shows besides, for policies that learn from it."""
        return np.zeros(0, np.int64)

    # -- requests -------------------------------------------------------------------------------

    def decide(
        self,
        context: object = (),
        *,
        arms: Arms | None = None,
        id: str | None = None,  # noqa: A002, the word users know
    ) -> Decision:
        """Choose an arm for one request; changes nothing but the count that names decisions.

        Parameters
        ----------
        context : value, tuple or mapping
            Values of the context variables.
        arms : list, optional
            The arms of this call, instead of those that the policy holds.
        id : str, optional
            The name of the decision, by default one of the policy's own count. What is drawn
            follows from seed and id: a retry under the same id gives the same arm as long as
            nothing was learned in between.

        Returns
        -------
        Decision
        """
        if id is not None and not isinstance(id, str):
            raise BadOption("id", "text", id)
        with self._lock:
            values = self.spec.read_context(context)
            if self._has_cells:
                values = self.spec.find_cell(values)
            scores = self._kept.get(values) if arms is None else None
            if scores is None:
                scores = self._score(values, arms)
            name = self.ids.make() if id is None else id
            if scores.winner >= 0 and not self.explore:
                place, branch = scores.winner, scores.branch
            else:
                place, branch = self._draw(scores, draw_uniform(self.ids.key, hash_id(name)))
        return Decision(name, scores.arms[place], values, place, scores, branch)

    def decide_many(
        self, contexts: object, ids: Iterable[str] | None = None, *, arms: Arms | None = None
    ) -> Decisions:
        """Choose an arm for each of several requests: as ``decide`` one by one, but quicker.

        Each context is scored once. ``contexts`` are a list of what ``decide`` takes, a 2-D
        array, or columns by name (a mapping or a data frame). Errors name the row, and then
        nothing is decided.
        """
        with self._lock:
            held = None if arms is None else self._read_arms(arms)
            places_of, read, scores = dict[Context, int](), list[Context](), list[Scores]()
            groups = list[int]()
            for i, one in enumerate(list_contexts(contexts, self.spec.context)):
                try:
                    values = self._read_context(one)
                    group = places_of.setdefault(values, len(scores))
                    if group == len(scores):
                        kept = self._kept.get(values) if held is None else None
                        scores.append(kept or self._score(values, held))
                except BounditError as error:
                    raise name_row(error, i) from None
                read.append(values)
                groups.append(group)
            n = len(read)
            names = self.ids.make_many(n) if ids is None else read_ids(ids, n)
            found, places = np.array(groups, np.int64), np.empty(n, np.int64)
            explored, uniforms = np.zeros(n, np.bool_), None
            if self.draws or self.explore:
                working_on.name = f"{self._name}.decide_many"
                uniforms = draw_uniforms(self.ids.key, hash_ids(names))
            for group, shared in enumerate(scores):
                members = np.flatnonzero(found == group) if len(scores) > 1 else slice(None)
                if uniforms is None:
                    places[members] = shared.winner
                else:
                    drawn = _draw_many(shared, uniforms[members])
                    places[members], explored[members] = drawn
        return Decisions(names, read, found, scores, places, explored)

    def _read_context(self, given: object) -> Context:
        values = self.spec.read_context(given)
        return self.spec.find_cell(values) if self._has_cells else values

    def _read_arms(self, given: Arms) -> tuple[Arm, ...]:
        found = read_arms(given, self.spec.treatments)
        if not found:
            raise NeedsArms
        for arm in found:
            self.spec.require_arm(arm)
        return found

    def _score(self, context: Context, arms: Arms | None) -> Scores:
        """Score the arms of a context, and keep the result until something is learned."""
        working_on.name = f"{self._name}.decide"
        if arms is not None:
            named = self._read_arms(arms)
            new = sorted((arm for arm in named if arm not in self._columns), key=repr)
            if new:
                return self._copy_with(new)._score(context, named)
            columns = np.array(sorted(self._columns[arm] for arm in named), np.int64)
        else:
            columns = self._held
            if not columns.size:
                raise NeedsArms
        spec = self.spec
        row = self._rows.get(spec.find_cell(context) if spec.bins else context, 0)
        found = self._open.get(row) if arms is None else None
        if found is None:
            found = self._find_open(context, row, columns)
            if arms is None:
                self._open[row] = found
        names, order, open_ = found
        winner, probabilities, table = self.score(context, row, open_)
        branch, turn, treatments = self.branch, spec.turn, spec.treatments
        scores = Scores._make(  # quicker than by names
            (names, order, winner, probabilities, table, treatments, self.explore, branch, turn)
        )
        if arms is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[context] = scores
        return scores

    def _find_open(self, context: Context, row: int, columns: Ints) -> Open:
        """Find the arms of a call, those ruled out last; their places; the columns to score."""
        open_ = self.find_open(context, row, columns)
        names, kept = [self._arms[k] for k in columns], {self._arms[k] for k in open_}
        arms = tuple(sorted(names, key=lambda arm: arm not in kept))
        return arms, tuple(arms.index(arm) for arm in names), open_

    def _draw(self, scores: Scores, uniform: float) -> tuple[int, str | None]:
        """Pick an arm by one uniform number: its first part explores, the rest by probability."""
        n, explore = len(scores.arms), self.explore
        if uniform < explore:
            return scores.order[min(int(uniform / explore * n), n - 1)], EXPLORED
        if scores.probabilities is None:
            return scores.winner, scores.branch
        rest, total = (uniform - explore) / (1.0 - explore), 0.0
        for k, probability in enumerate(scores.probabilities.tolist()):
            total += probability
            if rest < total:
                return k, scores.branch
        return int(scores.probabilities.argmax()), scores.branch

    def adopt(
        self,
        context: object,
        arm: object,
        *,
        id: str,  # noqa: A002, the word users know
        branch: str | None = EXPLORED,
        passed: bool = False,
    ) -> Decision:
        """Make the decision that somebody else took, so that its reward can be learned.

        Parameters
        ----------
        context, arm : value, tuple or mapping
            The request and what was done.
        id : str
            The name of the decision.
        branch : str, optional
            The part of this algorithm that chose, unless it was another's rule.
        passed : bool
            Whether the arm came with the call and need not be held.
        """
        with self._lock:
            values, played = self._read_context(context), self.spec.read_arm(arm)
            if not passed and played not in self.spec.held and played not in self.spec.retired:
                raise BadArm(show(played), "it is not held")
        unknown = np.full(1, np.nan), np.full((int(passed), 2), np.nan)
        reasons = Scores((played,), (0,), -1, *unknown, self.spec.treatments)
        return Decision(id, played, values, 0, reasons, branch)

    # -- rewards --------------------------------------------------------------------------------

    def learn(
        self,
        decision: Decision,
        reward: float,
        *,
        observed: Mapping[str, object] | None = None,
    ) -> None:
        """Learn what a decision earned: in any order, late or never; a repeat counts once.

        Parameters
        ----------
        decision : Decision
            What ``decide`` gave, or what ``Decision.from_json`` reads back.
        reward : float
            A number in the range of rewards.
        observed : mapping, optional
            Other variables as they came out in this round. The policy learns from its
            ``auxiliary_variables``; none is required.
        """
        with self._lock:
            found = self._read_reward(decision, reward, observed)
            if self.learned.claim(found[0]):
                self._take(*found)

    def learn_many(
        self,
        decisions: Iterable[Decision],
        rewards: Iterable[float],
        *,
        observed: object = None,
    ) -> None:
        """Learn what several decisions earned: as ``learn`` one by one, in this order.

        All are checked first: an error names the row, and then nothing has changed. ``observed``
        is a list of what each round showed, or columns by name.
        """
        if not isinstance(decisions, Iterable) or isinstance(decisions, str | bytes | Mapping):
            raise BadOption("decisions", "a list of decisions", decisions)
        listed, numbers = (
            list(decisions),
            list(rewards) if isinstance(rewards, Iterable) else [],
        )
        if len(numbers) != len(listed):
            raise BadOption("rewards", f"one for each of {len(listed)} decisions", rewards)
        shown = list_observed(observed, len(listed))
        with self._lock:
            rows = list[tuple[Any, ...]]()
            for i, (decision, reward, seen) in enumerate(
                zip(listed, numbers, shown, strict=True)
            ):
                try:
                    rows.append(self._read_reward(decision, reward, seen))
                except BounditError as error:
                    raise name_row(error, i) from None
            for found in rows:
                if self.learned.claim(found[0]):
                    self._take(*found)

    def _read_reward(
        self, decision: Decision, reward: object, observed: Mapping[str, object] | None
    ) -> tuple[str, Context, Arm, int | None, int | None, float, Any]:
        """Check all of a reward, so that learning it cannot fail half way; changes nothing."""
        if not isinstance(decision, Decision):
            raise NotADecision(f"{type(decision).__name__} is not a decision")
        if observed is not None and not isinstance(observed, Mapping):
            raise BadObservation(observed)
        name, context, arm = decision.id, decision.context_values, decision.arm_values
        number = self.spec.read_reward(reward, name)
        row, column = self._rows.get(context), self._columns.get(arm)
        if row is None:
            context = self._read_context(context)
        if column is None:
            self.spec.require_arm(arm)
            passed = decision.reasons.arms[: len(decision.reasons.table)]
            if arm not in passed and decision.branch != EXPLORED:
                raise BadArm(show(arm), "it is not held, and was not among those passed")
        return name, context, arm, row, column, number, self.read_observed(observed, decision)

    def _take(
        self,
        id: str,  # noqa: A002
        context: Context,
        arm: Arm,
        row: int | None,
        column: int | None,
        reward: float,
        shown: Any,
    ) -> None:
        working_on.name = f"{self._name}.learn"
        try:
            if row is None:
                row = self._find_row(context)
            if column is None:
                if arm not in self._columns:
                    self._grow((), (arm,))
                column = self._columns[arm]
            self.take(context, row, column, reward, shown)
        except BaseException as error:
            self.learned.release(id, error)
            raise
        self.learned.keep(id)
        self._kept.clear()
        prior = self.prior
        if prior.monitor and prior.note(self.spec, (row, column), self._cell(row), arm, reward):
            self._lay_out_prior()

    def _find_row(self, context: Context) -> int:
        """Find the row of a context that is not in use by its own name; new ones get one."""
        cell = self.spec.find_cell(context)
        if cell not in self._rows:
            self._grow((cell,), ())
        return self._rows[cell]

    # -- whole runs -----------------------------------------------------------------------------

    def play(
        self,
        environment: FiniteEnvironment,
        contexts: Ints,
        uniforms: Floats,
        seeds: NDArray[np.uint64],
        shown_uniforms: Floats | None = None,
        arrivals: tuple[Ints, Ints, Floats] | None = None,
    ) -> Ints | None:
        """Play whole runs in one compiled loop; gives the column of the arm of every round.

        Each run starts from nothing learned, as ``clone(seed=...)`` does with its seed, and
        plays what ``decide`` and ``learn`` would. None where only these can: with ``monitor``,
        for algorithms without compiled loops, for arms that the environment lacks.

        Parameters
        ----------
        environment : FiniteEnvironment
            Contexts, arms and rewards.
        contexts, uniforms : arrays
            Runs x rounds: places in the environment, and the numbers that decide rewards.
        seeds : array
            The seed of each run.
        shown_uniforms : array, optional
            The numbers that decide what a round shows besides; nan: nothing.
        arrivals : (array, array, array), optional
            Late rewards: rounds in the order in which their rewards come, how many have come
            after each round, and default rewards or nan. By default they come at once.
        """
        missing = set(self.spec.arms) - set(environment.arms)
        if self.prior.monitor or missing or not can_play(type(self.arrays)):
            return None
        low, high = self.spec.reward_range
        if environment.values.min() < low or environment.values.max() > high:
            return None
        try:
            met = [self._read_context(one) for one in environment.contexts]
            rounds = self._lay_out_rounds(
                environment, met, contexts, uniforms, seeds, shown_uniforms, arrivals
            )
            rows = np.array([self._find_known_row(one) for one in met], np.int64)
            arrays = self.lay_out_runs(rows, np.arange(len(self._arms)), met, rounds)
        except BounditError:
            return None
        if arrays is None:
            return None
        working_on.name = f"{self._name} in simulations"
        found: Ints = play_runs(arrays, rounds)
        return found & ARM

    def _find_known_row(self, context: Context) -> int:
        return self._rows.get(self.spec.find_cell(context), 0)

    def _lay_out_rounds(
        self,
        environment: FiniteEnvironment,
        met: Sequence[Context],
        contexts: Ints,
        uniforms: Floats,
        seeds: NDArray[np.uint64],
        shown_uniforms: Floats | None,
        arrivals: tuple[Ints, Ints, Floats] | None,
    ) -> Rounds:
        """Write what comes in whole runs by this policy's columns, turned to its goal."""
        place = {arm: k for k, arm in enumerate(environment.arms)}
        arms = np.array([place.get(arm, 0) for arm in self._arms], np.int64)
        open_ = [self._list_open(context) for context in met]
        none = np.zeros((0, 0), np.int64)
        order, due, defaults = arrivals or (none, none, np.zeros((0, 0)))
        side = environment.side_observation
        sees = side is not None and shown_uniforms is not None and self.auxiliary_variables
        turn = self.spec.orient
        return Rounds(
            contexts=np.ascontiguousarray(contexts, np.int64),
            uniforms=np.ascontiguousarray(uniforms, np.float64),
            seeds=np.ascontiguousarray(seeds, np.uint64),
            explore=self.explore,
            random=self.draws or self.explore > 0,
            held=self._held,
            open=np.concatenate(open_),
            starts=np.cumsum([0, *(columns.size for columns in open_)]),
            values=np.array([turn(value) for value in environment.values.tolist()]),
            ends=np.ascontiguousarray(environment.ends[:, arms], np.float64),
            order=np.ascontiguousarray(order, np.int64),
            due=np.ascontiguousarray(due, np.int64),
            defaults=np.ascontiguousarray(
                defaults if self.spec.goal == "max" else turn(0.0) - defaults, np.float64
            ),
            shown_uniforms=np.ascontiguousarray(shown_uniforms) if sees else np.zeros((0, 0)),
            shown=np.ascontiguousarray(side.ends[:, arms])
            if sees and side
            else np.zeros((0, 0, 0, 0)),
            leaves=self.list_leaves(side) if sees else np.zeros(0, np.int64),
        )

    def _list_open(self, context: Context) -> Ints:
        """List the columns that may be played, by decreasing upper bound for index policies."""
        row = self._find_known_row(context)
        found = self.find_open(context, row, self._held)
        if self.draws:
            return found
        return found[np.argsort(-self.prior.bounds[row, found, 1], kind="stable")]


def _draw_many(scores: Scores, uniforms: Floats) -> tuple[Ints, NDArray[np.bool_]]:
    """Pick an arm for several requests of one context, as ``Policy._draw`` does for one."""
    n, explore = len(scores.arms), scores.explore
    explored = uniforms < explore
    if scores.probabilities is None:
        places = np.full(uniforms.size, scores.winner, np.int64)
    else:
        ends = np.cumsum(scores.probabilities)
        rest = (uniforms - explore) / max(1.0 - explore, np.finfo(float).tiny)
        places = np.searchsorted(ends, rest, side="right")
        places[places == ends.size] = scores.probabilities.argmax()
    if explore:
        drawn = np.minimum((uniforms[explored] / explore * n).astype(np.int64), n - 1)
        places[explored] = np.array(scores.order)[drawn]
    return places, explored
