"""Policy: a probability for every arm of a context, and what all algorithms share.

An algorithm says three things: which arrays hold what it learned (``make_arrays``), how it scores
the arms of a context (``score``), and what it learns from a reward (``take``). Everything else is
written here once: requests, drawing the arm, propensities, ids, batches, states, merging,
refreshing, whole runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from os import PathLike
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.batches import list_contexts, list_observed, name_row, read_ids
from boundit.bandit.compiled import working_on
from boundit.bandit.decision import EXPLORED, Decision, Decisions, Scores
from boundit.bandit.draws import Floats, Ints, draw_uniform, draw_uniforms, hash_id, hash_ids
from boundit.bandit.errors import (
    BadArm,
    BadObservation,
    BadOption,
    CannotMerge,
    DamagedState,
    NeedsArms,
    NotADecision,
)
from boundit.bandit.finite import FiniteEnvironment
from boundit.bandit.ids import ID_WINDOW, DecisionIds, IdStore, LearnedIds
from boundit.bandit.options import (
    Arms,
    CommonOptions,
    ContextNames,
    check_options,
    require_common,
)
from boundit.bandit.prior import Prior, Refutation
from boundit.bandit.runs import ARM, Rounds, can_play, play_runs
from boundit.bandit.spec import Spec, read_arms, show
from boundit.bandit.states import (
    find_class,
    open_state,
    read_array,
    read_file,
    seal_state,
    write_array,
    write_file,
)
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.saving.codec import decode, encode

_MOST_KEPT = 2**14
"""Of so many contexts the scores are kept until something is learned."""
Open = tuple[tuple[Arm, ...], tuple[int, ...], Ints]


class Policy(ABC):
    """Decide, act, learn; keep the state, and come back from it.

    A policy may be shared between threads: each call is done as a whole before the next.

    Parameters
    ----------
    prior : BoundTable, optional
        Bounds to start from; arms, context and range of rewards are taken from it.
    arms : list, optional
        Arms, where there is no prior or others than its own are meant: scalars, tuples, or
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

    draws: ClassVar[bool] = False
    """Whether ``score`` gives probabilities; else it names a winner."""
    sees_numbers: ClassVar[bool] = False
    """Whether ``score`` gets a number where the prior has bins, or the name of its bin."""
    axes: Mapping[str, str] = {}
    """The arrays that were learned, with a letter for each leading axis: c contexts, a arms."""
    additive: tuple[str, ...] = ()
    """Those that add up when two policies are merged; ``derive`` makes the others from them."""
    arrays: Any
    """A NamedTuple of all arrays that compiled loops read and write; ``bounds`` are the prior's."""

    def __init__(
        self, prior: BoundTable | None, own: Mapping[str, Any], common: CommonOptions
    ) -> None:
        self._name = type(self).__name__
        require_common(self._name, common, own)
        checked = {name: common.get(name) for name in ("seed", "monitor")}
        checked = check_options({**checked, "explore": common.get("explore", 0.0)})
        self.options = check_options(own)
        self.seed, self.explore = checked["seed"], checked["explore"]
        self.spec = Spec.of(prior, common)
        self.prior = Prior(prior, checked["monitor"])
        self.ids = DecisionIds(self.seed)
        self.learned = LearnedIds(common.get("id_window", ID_WINDOW))
        self._lock = RLock()
        self._start()

    # -- what an algorithm overrides ------------------------------------------------------------

    @abstractmethod
    def make_arrays(self) -> Any:
        """Make the arrays of nothing learned: ``n_rows`` contexts (row 0: all others), all arms."""

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

    def read_observed(self, observed: Mapping[str, object]) -> Any:
        """Read what else a round showed, or refuse it; algorithms that use nothing ignore it."""
        if not isinstance(observed, Mapping):
            raise BadObservation(observed)

    def read_shown(self, decision: Decision, observed: Mapping[str, object] | None) -> Any:  # noqa: ARG002
        """Read what ``take`` gets of a round beside its reward."""
        return None if observed is None else self.read_observed(observed)

    def find_open(self, context: Context, row: int, columns: Ints) -> Ints:  # noqa: ARG002
        """Find the columns that may be played in a context: those that the prior leaves."""
        cell = self.spec.find_cell(context)
        return self.prior.find_open(self.spec, cell, self._arms, columns)

    def rebuild(self) -> None:
        """Work out what is kept beside the arrays: after a state, merging, new arms or contexts."""

    def derive(self) -> None:
        """Work out the arrays that do not add up from those that do, after merging."""

    def merge_rest(self, one: Self, other: Self, shared: Self) -> None:
        """Put together what does not add up entry by entry."""

    def describe_branch(self, row: int) -> str | None:  # noqa: ARG002
        """Name the part of the algorithm that plays a context now."""
        return None

    def lay_out_runs(
        self,
        rows: Ints,
        columns: Ints,
        contexts: Sequence[Context],  # noqa: ARG002, for features
        rounds: Rounds,  # noqa: ARG002, for those that use what else a round shows
    ) -> Any:
        """Give the arrays of nothing learned, by the contexts and arms of an environment."""
        arrays, parts = self.make_arrays(), {}
        for name, axes in {"bounds": "ca", **self.axes}.items():
            if hasattr(arrays, name):
                places = np.ix_(*({"c": rows, "a": columns}[axis] for axis in axes))
                parts[name] = np.ascontiguousarray(getattr(arrays, name)[places])
        return arrays._replace(**parts)

    def list_leaves(self, side: Any) -> Ints:  # noqa: ARG002
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
        working_on.name = self._name
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
        branch, turn, treatments = self.describe_branch(row), spec.turn, spec.treatments
        scores = Scores._make(  # quicker than by names
            (names, order, winner, probabilities, table, treatments, self.explore, branch, turn)
        )
        if arms is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[context] = scores
        return scores

    def _copy_with(self, arms: Iterable[Arm]) -> Self:
        """Make a policy with further arms that has learned the same, for one call."""
        made = copy(self)
        made.prior, made._arms, made._columns = (
            copy(self.prior),
            [*self._arms],
            {**self._columns},
        )
        made._open = {}
        made._grow((), arms)
        return made

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
        return name, context, arm, row, column, number, self.read_shown(decision, observed)

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
        working_on.name = self._name
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

    def _cell(self, row: int) -> Context:
        return self._contexts[row - 1] if row else ("a context without bounds",)

    def _find_row(self, context: Context) -> int:
        """Find the row of a context that is not in use by its own name; new ones get one."""
        cell = self.spec.find_cell(context)
        if cell not in self._rows:
            self._grow((cell,), ())
        return self._rows[cell]

    # -- arms and contexts as rows and columns --------------------------------------------------

    @property
    def n_rows(self) -> int:
        """How many rows arrays have: for row 0, the contexts, and some room for more."""
        return self._room

    def _start(self) -> None:
        """Give rows to the contexts of the prior and columns to the arms; nothing is learned."""
        table, spec = self.prior.table, self.spec
        self._arms: list[Arm] = list(spec.arms)
        self._columns = {arm: k for k, arm in enumerate(self._arms)}
        self._contexts: list[Context] = list(table.contexts) if table else []
        self._rows = {context: i for i, context in enumerate(self._contexts, 1)}
        self._room = len(self._contexts) + 1
        self._hold()
        self._kept: dict[Context, Scores] = {}
        self._open: dict[int, Open] = {}
        self.prior.lay_out(spec, self._contexts, self._arms, self._room)
        self.arrays = self.make_arrays()
        self.rebuild()

    def _hold(self) -> None:
        self._held = np.array([self._columns[arm] for arm in self.spec.arms], np.int64)
        self._has_cells = bool(self.spec.bins) and not self.sees_numbers

    def _lay_out_prior(self) -> None:
        """Write the bounds in force into the arrays."""
        self.prior.lay_out(self.spec, self._contexts, self._arms, self._room)
        self._kept.clear()
        self._open = {}
        if hasattr(self.arrays, "bounds"):
            self.arrays = self.arrays._replace(bounds=self.prior.bounds)

    def _grow(self, contexts: Iterable[Context], arms: Iterable[Arm]) -> None:
        """Append rows and columns; room doubles, so that one costs a constant time on average."""
        n_columns = len(self._arms)
        for context in contexts:
            self._contexts.append(context)
            self._rows[context] = len(self._contexts)
        for arm in arms:
            self._columns[arm] = len(self._arms)
            self._arms.append(arm)
        self._kept = {}
        self._open = {}
        n = len(self._contexts) + 1
        if n <= self._room and len(self._arms) == n_columns:
            return
        self._room = self._room if n <= self._room else 2 * n
        self._make_room()

    def _make_room(self) -> None:
        """Make arrays for all rows and columns, and take over what was learned."""
        self.prior.lay_out(self.spec, self._contexts, self._arms, self._room)
        old, self.arrays = self.arrays, self.make_arrays()
        self.carry(old)
        self.rebuild()

    def carry(self, old: Any) -> None:
        """Take over what was learned into arrays with more room."""
        for name, axes in self.axes.items():
            part = getattr(old, name)
            getattr(self.arrays, name)[tuple(map(slice, part.shape[: len(axes)]))] = part

    def _list_new(self, contexts: Iterable[Context], arms: Iterable[Arm]) -> tuple[Any, Any]:
        """List the contexts and arms that have no row or column yet."""
        new = [c for c in contexts if c not in self._rows]
        return new, [arm for arm in arms if arm not in self._columns]

    # -- what a policy says of itself -----------------------------------------------------------

    @property
    def refutation(self) -> Any:
        """What contradicted the prior bounds, once they were dropped for it; else None."""
        found: Refutation | None = self.prior.refutation
        return found

    @property
    def auxiliary_variables(self) -> tuple[str, ...]:
        """The variables that help if ``learn`` is given them; none is required."""
        return ()

    @property
    def pooling_reason(self) -> str:
        """Why logged rows count together with new rewards, or why they do not."""
        return f"{type(self).__name__} uses bounds alone; Fused counts logged rows too"

    @property
    def n_learned(self) -> int:
        """The number of rewards learned so far."""
        return self.learned.n

    def describe_prior(self) -> str:
        """Say in a few words what the policy started from."""
        table = self.prior.table
        if table is None:
            return "no bounds"
        return f"{len(table.intervals):,} bounds{', refuted' if self.prior.refutation else ''}"

    def __repr__(self) -> str:
        arms, n = len(self.spec.arms), self.n_learned
        contexts = len(self._contexts)
        parts = [f"{arms} arm{'s' * (arms != 1)}"]
        parts += [f"{contexts:,} context{'s' * (contexts != 1)}"] * bool(contexts)
        parts += [f"{n:,} reward{'s' * (n != 1)}", self.describe_prior()]
        return f"<{type(self).__name__}: {', '.join(parts)}>"

    # -- states, copies, merging ----------------------------------------------------------------

    def list_options(self) -> dict[str, Any]:
        """List the options that the constructor takes again: the algorithm's own and two more."""
        return {**self.options, "seed": self.seed, "explore": self.explore}

    def record_options(self) -> dict[str, Any]:
        """Write the options as JSON objects; of a user's function only that there is one."""
        return self.list_options()

    @classmethod
    def read_options(
        cls, record: Mapping[str, Any], functions: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Read what ``record_options`` wrote; functions are given again."""
        return {**record, **functions}

    def state(self) -> dict[str, Any]:
        """Write everything but functions as an object that JSON keeps exactly."""
        with self._lock:
            n, a = len(self._contexts) + 1, len(self._arms)
            places = {"c": slice(1, n), "a": slice(0, a)}
            seen = self.prior.evidence[:n, :a]
            body = {
                "options": self.record_options(),
                "spec": encode(self.spec, Spec),
                "prior": self.prior.record(),
                "ids": self.ids.record(),
                **self.learned.record(),
                "contexts": [encode(one, Context) for one in self._contexts],
                "arms": [encode(one, Arm) for one in self._arms],
                "arrays": self.record_arrays(places),
                "evidence": write_array(seen) if self.prior.monitor else None,
            }
        return seal_state(type(self).__name__, body)

    def record_arrays(self, places: Mapping[str, slice]) -> dict[str, Any]:
        """Write the arrays that were learned, cut to the places of contexts and arms."""
        return {
            name: write_array(getattr(self.arrays, name)[tuple(places[x] for x in axes)])
            for name, axes in self.axes.items()
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Save the policy to a JSON file, whole or not at all; ``Policy.load`` reads it."""
        write_file(path, self.state())

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, id_window: IdStore | None = None, **functions: Any
    ) -> Self:
        """Load a policy that ``save`` wrote; ``Policy.load`` any kind, ``Fused.load`` its own.

        Parameters
        ----------
        path : path
            The file.
        id_window : IdStore, optional
            The store of ids, where the policy had one.
        **functions
            The functions that the policy was made with, such as ``features``: a file has none.
        """
        return cls.from_state(read_file(path, cls.__name__), id_window=id_window, **functions)

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], *, id_window: IdStore | None = None, **functions: Any
    ) -> Self:
        """Make the policy that ``state`` wrote; it goes on bit for bit.

        Functions and a store of ids are given again, as in ``load``.
        """
        kind: Any = cls
        if cls is Policy:
            name = state.get("policy") if isinstance(state, Mapping) else None
            kind = find_class(Policy, name)
            if kind is None or kind is Policy:
                raise DamagedState("a policy", f"no policy is called {name!r}")
        made: Self
        with open_state(kind.__name__, state) as body:
            made = kind(**kind.read_options(body["options"], functions))
            made.spec, made.prior = decode(Spec, body["spec"]), Prior.restore(body["prior"])
            made.learned = LearnedIds.restore(body, id_window)
            made.ids.restore(body["ids"])
            made._start()
            contexts = [decode(Context, one) for one in body["contexts"]]
            arms = [decode(Arm, one) for one in body["arms"]]
            made._grow(*made._list_new(contexts, arms))
            rows = np.array([made._rows[c] for c in contexts], np.int64)
            columns = np.array([made._columns[a] for a in arms], np.int64)
            if made.prior.monitor:
                at = np.ix_(np.array([0, *rows]), columns)
                shape = (rows.size + 1, columns.size, 2)
                made.prior.evidence[at] = read_array(body["evidence"], shape)
            made.restore_arrays(body["arrays"], rows, columns)
            made.rebuild()
        return made

    def restore_arrays(self, record: Mapping[str, Any], rows: Ints, columns: Ints) -> None:
        """Read the arrays of a state into the rows of its contexts and the columns of its arms."""
        places = {"c": rows, "a": columns}
        for name, axes in self.axes.items():
            part = getattr(self.arrays, name)
            shape = (*(places[axis].size for axis in axes), *part.shape[len(axes) :])
            found = read_array(record[name], shape)
            if axes:
                part[np.ix_(*(places[axis] for axis in axes))] = found
            else:
                part[...] = found

    def clone(
        self,
        *,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        horizon: int | None = None,
        reward_range: tuple[float, float] | None = None,
        seed: int | None = None,
    ) -> Self:
        """Make a policy with the same settings and nothing learned.

        Arms, context names, horizon and range fill what the policy was not given; a seed
        replaces the old one. A store of ids is not taken along.
        """
        options = self.list_options()
        if "horizon" in options and options["horizon"] is None:
            options["horizon"] = horizon
        options["seed"] = self.seed if seed is None else seed
        made = type(self)(**options)
        made.spec = self.spec.bind(arms, context, reward_range)
        made.prior = Prior(self.prior.table, self.prior.monitor)
        made.learned = LearnedIds(ID_WINDOW if self.learned.store else self.learned.size)
        made._start()
        return made

    def merge(self, other: Self, *, since: Self | None = None) -> Self:
        """Make a policy that has learned what both have.

        ``since`` is the policy that both were copies of, whose rewards count once; by default
        they had learned nothing. Refused where the ids remembered cannot show that no reward
        was learned twice.
        """
        for found in (other, self if since is None else since):
            if type(found) is not type(self):
                raise CannotMerge(f"a {type(self).__name__} and a {type(found).__name__}")
        one, two = self._copy_locked(), other._copy_locked()
        if {**one.list_options(), "seed": 0} != {**two.list_options(), "seed": 0}:
            raise CannotMerge("the two policies have other options")
        if (one.spec, one.prior.table) != (two.spec, two.prior.table):
            raise CannotMerge("the two policies have other arms, contexts, rewards or bounds")
        if one.prior.monitor != two.prior.monitor:
            raise CannotMerge("the two policies monitor their bounds at other levels")
        shared = one.clone() if since is None else since._copy_locked()
        if shared.spec != one.spec and one.prior.table is not None:
            try:
                shared._follow(one.spec, one.prior.table)
            except BounditError:
                raise CannotMerge("since= has other arms, contexts or features") from None
        made = one._copy_locked()
        made.learned = one.learned.merge(two.learned, shared.learned)
        made.ids.count_past(two.ids)
        made._add_up(one, two, shared)
        return made

    def _add_up(self, one: Self, two: Self, shared: Self) -> None:
        """Learn what two policies have, and what they shared once."""
        for part in (one, two, shared, self):
            for like in (one, two):
                part.match(like)
        self._grow(*self._list_new(two._contexts, two._arms))
        self.arrays, evidence = self.make_arrays(), np.zeros_like(self.prior.evidence)
        start = deepcopy(self.arrays)
        for part, sign in ((one, 1.0), (two, 1.0), (shared, -1.0)):
            rows = np.array([0, *(self._rows[c] for c in part._contexts)], np.int64)
            columns = np.array([self._columns[a] for a in part._arms], np.int64)
            places = {"c": rows, "a": columns}
            for name in self.additive:
                axes = self.axes[name]
                at: Any = np.ix_(*(places[axis] for axis in axes)) if axes else ...
                size = tuple(slice(0, places[axis].size) for axis in axes)
                kept, base = getattr(part.arrays, name)[size], getattr(start, name)[at]
                getattr(self.arrays, name)[at] += sign * (kept - base)
            if self.prior.monitor:
                seen = part.prior.evidence[: rows.size, : columns.size]
                evidence[np.ix_(rows, columns)] += sign * seen
        self.prior.evidence = evidence
        self.merge_rest(one, two, shared)
        self.prior.refutation = one.prior.refutation or two.prior.refutation
        self._judge_all()
        self._lay_out_prior()
        self.derive()
        self.rebuild()

    def match(self, other: Self) -> None:
        """Take the sizes of arrays that are known from requests alone, such as of features."""

    def refresh(self, prior: BoundTable, *, arms: Arms | None = None) -> None:
        """Replace the prior bounds by those of another table; what was learned stays.

        New arms of the table are held from now on. Arms that it lacks are not played again, and
        rewards of theirs are still learned. Levels of the context are added. Where the arms were
        given when the policy was made, a table with other ones is refused unless ``arms`` says
        which are held now. With ``monitor``, rewards so far may refute the new bounds at once.
        """
        if not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        with self._lock:
            self._follow(self.spec.follow(prior, self.prior.table, arms), prior)

    def _follow(self, spec: Spec, prior: BoundTable) -> None:
        """Go on with another table and the arms and levels of a spec."""
        self.spec, self.prior.table, self.prior.refutation = spec, prior, None
        self._grow(*self._list_new(prior.contexts, spec.arms))
        self._hold()
        self._lay_out_prior()
        self._judge_all()
        self._lay_out_prior()
        self.rebuild()

    def _judge_all(self) -> None:
        """Judge the bounds by all rewards so far."""
        if self.prior.monitor and self.prior.binding:
            self.prior.lay_out(self.spec, self._contexts, self._arms, self._room)
            for i, k in np.argwhere(self.prior.evidence[..., 0] > 0).tolist():
                if i and self.prior.judge(self.spec, (i, k), self._cell(i), self._arms[k]):
                    return

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
        working_on.name = f"whole runs of {self._name}"
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

    # -- copies ---------------------------------------------------------------------------------

    def _copy_locked(self) -> Self:
        with self._lock:
            return deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock(), _kept={})


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
