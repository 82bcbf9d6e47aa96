"""Policy: a probability for every arm of a context, and what all algorithms share.

An algorithm says three things: how it scores the arms of a context (`score`), what it learns from a reward (`take`),
and which arrays hold what it learned (`arrays`). Everything else is written here once: reading requests, drawing the
arm, propensities, ids, batches, states, merging, refreshing, whole runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from threading import RLock
from typing import Any, ClassVar, Self, TypedDict, Unpack

import numpy as np
from boundit.terms.bound import Arm, Context, Value
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError

from boundit.bandit.compiled import announce, is_ready
from boundit.bandit.decision import EXPLORED, Decision, Decisions, Scores
from boundit.bandit.draws import Floats, Ints, draw_uniform, draw_uniforms, hash_id, hash_ids
from boundit.bandit.errors import BadArm, BadOption, CannotMerge, InvalidPolicy, InvalidStep
from boundit.bandit.ids import REMEMBERED, DecisionIds, IdStore, LearnedIds
from boundit.bandit.options import check_options
from boundit.bandit.prior import Prior, Refutation, Watch
from boundit.bandit.runs import Rounds, play_runs
from boundit.bandit.spec import Spec, Unseen, read_arms
from boundit.bandit.states import open_state, read_body, seal_state

_MOST_KEPT = 2**14


class CommonOptions(TypedDict, total=False):
    """The options that every policy has."""

    prior: BoundTable | None
    arms: Iterable[object] | None
    context: Sequence[str] | Mapping[str, Sequence[Value]] | None
    reward_range: tuple[float, float] | None
    watch: bool | Watch
    remember: int | IdStore
    unseen: Unseen
    seed: int | None
    explore: float


class Policy(ABC):
    """What every policy is. `draws` says that `score` gives probabilities; else it names a winner."""

    draws: ClassVar[bool] = False
    axes: Mapping[str, str] = {}
    """The arrays that were learned, with a letter for each leading axis: c contexts, a arms. They are saved."""
    additive: tuple[str, ...] = ()
    """Those of them that add up when two policies are merged; the others are derived from these."""
    arrays: Any
    """A NamedTuple of all arrays that the compiled loops read and write."""

    def __init__(self, own: Mapping[str, Any], common: CommonOptions) -> None:
        self.options = check_options(own)
        self.explore = check_options({"explore": common.get("explore", 0.0)})["explore"]
        self.seed = check_options({"seed": common.get("seed")})["seed"]
        prior = common.get("prior")
        self.spec = Spec.of(
            prior, common.get("arms"), common.get("context"), common.get("reward_range"), common.get("unseen", "error")
        )
        self.prior = Prior(prior, common.get("watch", False))
        self.ids, self.learned = DecisionIds(self.seed), LearnedIds(common.get("remember", REMEMBERED))
        self._lock = RLock()
        self._start()

    # -- what an algorithm overrides -------------------------------------------------------------------------------

    @abstractmethod
    def make_arrays(self) -> Any:
        """Make the arrays of a policy that has learned nothing, for `n_rows` contexts and all arms."""

    @abstractmethod
    def score(self, context: Context, row: int, columns: Ints) -> tuple[int, Floats | None, Floats, Floats]:
        """Score the arms of a context: the winner's place or -1, probabilities or None, index, index without bounds."""

    @abstractmethod
    def take(self, context: Context, row: int, column: int, reward: float, observed: Any) -> None:
        """Learn one reward of an arm in a context; what cannot be learned was refused by `read_observed`."""

    def read_observed(self, observed: Mapping[str, object] | None) -> Any:
        """Read what else a round showed, or refuse it; algorithms that use nothing ignore it."""
        return None

    def rebuild(self) -> None:
        """Work out again what is kept beside the arrays: after reading a state, merging, or new arms and contexts."""

    def derive(self) -> None:
        """Work out the arrays that do not add up from those that do, after merging."""

    def lay_out_runs(self, rows: Ints, columns: Ints, contexts: Sequence[Context], rounds: Rounds) -> Any:
        """The arrays of nothing learned, by the contexts and arms of a simulated world."""
        arrays = self.make_arrays()
        parts = {"bounds": take_axes(self.prior.bounds, "ca", rows, columns)} if hasattr(arrays, "bounds") else {}
        for name, axes in self.axes.items():
            parts[name] = take_axes(getattr(arrays, name), axes, rows, columns)
        return arrays._replace(**parts)

    # -- requests --------------------------------------------------------------------------------------------------

    def decide(self, context: object = (), *, arms: Iterable[object] | None = None, id: str | None = None) -> Decision:
        """Choose an arm for one request. Changes nothing but the count that names decisions."""
        if id is not None and not isinstance(id, str):
            raise BadOption("id", "text", id)
        with self._lock:
            values = self.spec.read_context(context)
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
        self, contexts: Iterable[object], ids: Iterable[str] | None = None, *, arms: Iterable[object] | None = None
    ) -> Decisions:
        """Choose an arm for each of several requests: as `decide` one by one, with each context scored once."""
        with self._lock:
            group_of: dict[Context, int] = {}
            read, groups = self.spec.read_context, list[int]()
            for i, one in enumerate(contexts):
                try:
                    groups.append(group_of.setdefault(read(one), len(group_of)))
                except BounditError as error:
                    raise name_row(error, i) from None
            held = read_arms(arms) if arms is not None else None
            scores = [(self._kept.get(c) if held is None else None) or self._score(c, held) for c in group_of]
            names = self.ids.make_many(len(groups)) if ids is None else list(ids)
            if len(names) != len(groups):
                raise BadOption("ids", f"{len(groups)} ids", names)
            found, places = np.array(groups, np.int64), np.empty(len(names), np.int64)
            explored = np.zeros(len(names), np.bool_)
            random = self.draws or self.explore
            uniforms = draw_uniforms(self.ids.key, hash_ids(names)) if random else None
            for group, one in enumerate(scores):
                members = np.flatnonzero(found == group) if len(scores) > 1 else slice(None)
                if uniforms is None:
                    places[members] = one.winner
                else:
                    places[members], explored[members] = _draw_many(one, uniforms[members], self.explore)
        return Decisions(names, list(group_of), found, scores, places, explored)

    def _score(self, context: Context, arms: Iterable[object] | None) -> Scores:
        """Score the arms of a context, and keep the result until something is learned."""
        row = self._rows.get(context, 0)
        columns = self._held if arms is None else self._find_columns(arms)
        if not columns.size:
            raise InvalidPolicy("there are no arms to choose from: give the policy arms=[...] or prior=, or pass arms=[...]")
        found = self._open.get(row) if arms is None else None
        if found is None:
            found = self._find_open(context, row, columns)
            if arms is None and row and not (self.prior.watch and self.prior.watch.plays):
                self._open[row] = found
        names, order, open_ = found
        winner, probabilities, index, free = self.score(context, row, open_)
        scores = Scores(names, order, winner, probabilities, index, free, self.explore, self.describe_branch(row))
        if arms is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[context] = scores
        return scores

    def _find_open(self, context: Context, row: int, columns: Ints) -> tuple[tuple[Arm, ...], tuple[int, ...], Ints]:
        """The arms of a call, those ruled out last; where each arm of the call then stands; the columns to score."""
        open_ = self.prior.find_open(context, row, self._arms, columns)
        names = [self._arms[k] for k in columns]
        kept = {self._arms[k] for k in open_}
        arms = tuple(sorted(names, key=lambda arm: arm not in kept))
        return arms, tuple(arms.index(arm) for arm in names), open_

    def _draw(self, scores: Scores, uniform: float) -> tuple[int, str | None]:
        """Pick an arm by one uniform number: the first part, `explore`, evenly; the rest by probability."""
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

    def describe_branch(self, row: int) -> str | None:
        return None

    def _find_columns(self, arms: Iterable[object]) -> Ints:
        """Find the columns of the arms of one call, those held first; new ones get a column."""
        given = read_arms(arms)
        for arm in given:
            self.spec.require_arm(arm)
            if arm not in self._columns:
                self._grow((), (arm,))
        return np.array(sorted(self._columns[arm] for arm in given), np.int64)

    # -- rewards ---------------------------------------------------------------------------------------------------

    def learn(self, decision: Decision, reward: float, *, observed: Mapping[str, object] | None = None) -> None:
        """Learn what a decision earned: in any order, late or never; a repeat is ignored while its id is known."""
        if not isinstance(decision, Decision):
            raise InvalidStep(f"learn takes a Decision, or what Decision.from_json reads; found {type(decision).__name__}")
        with self._lock:
            number = self.spec.read_reward(reward, decision.id)
            context, row, column = self._find_pair(decision)
            shown = None if observed is None else self.read_observed(observed)
            if self.learned.claim(decision.id):
                self._take(decision.id, context, row, column, number, shown)

    def learn_many(
        self,
        decisions: Iterable[Decision],
        rewards: Iterable[float],
        *,
        observed: Sequence[Mapping[str, object] | None] | None = None,
    ) -> None:
        """Learn several rewards in this order. All are checked first: an error names the row, and nothing changed."""
        listed, numbers, rows = list(decisions), list(rewards), list[tuple[Any, ...]]()
        shown = [None] * len(listed) if observed is None else list(observed)
        if not len(listed) == len(numbers) == len(shown):
            raise InvalidStep("decisions, rewards and observed differ in number")
        with self._lock:
            for i, (decision, reward, seen) in enumerate(zip(listed, numbers, shown, strict=True)):
                try:
                    number = self.spec.read_reward(reward, decision.id)
                    read = None if seen is None else self.read_observed(seen)
                    rows.append((decision.id, *self._find_pair(decision), number, read))
                except BounditError as error:
                    raise name_row(error, i) from None
            for one in rows:
                if self.learned.claim(one[0]):
                    self._take(*one)

    def _find_pair(self, decision: Decision) -> tuple[Context, int, int]:
        """Find the row and column of a decision; a context or a passed arm that is new gets one."""
        context = decision.context
        row = self._rows.get(context)
        if row is None:
            context = self.spec.read_context(context)
            row = self._find_row(context)
        column = self._columns.get(decision.arm)
        if column is None:
            self.spec.require_arm(decision.arm)
            if decision.arm not in decision.scores.arms:
                raise BadArm(decision.arm, "it is neither held nor was it passed")
            self._grow((), (decision.arm,))
            column = self._columns[decision.arm]
        return context, row, column

    def _take(self, id: str, context: Context, row: int, column: int, reward: float, shown: Any) -> None:
        try:
            self.take(context, row, column, reward, shown)
        except BaseException:
            self.learned.release(id)
            raise
        self.learned.keep(id)
        self._kept.clear()
        if self.prior.watch and self.prior.note(row, column, context, self._arms[column], reward):
            self._lay_out_prior()

    def _find_row(self, context: Context) -> int:
        """The row of a context that a reward came from."""
        if context not in self._rows:
            self._grow((context,), ())
        return self._rows[context]

    def adopt(self, context: object, arm: Arm, *, id: str, branch: str | None = EXPLORED) -> Decision:
        """Make the decision that a person or another policy took, so that its reward can be learned."""
        with self._lock:
            values = self.spec.read_context(context)
            self.spec.require_arm(arm)
        blank = np.full(1, np.nan)
        return Decision(id, arm, values, 0, Scores((arm,), (0,), -1, blank, blank, blank), branch)

    # -- arms and contexts as rows and columns -----------------------------------------------------------------------

    def _start(self) -> None:
        """Give rows to the contexts of the prior (row 0 is every other context) and columns to the arms."""
        table = self.prior.table
        self._arms: list[Arm] = list(self.spec.arms)
        self._columns = {arm: k for k, arm in enumerate(self._arms)}
        self._contexts: list[Context] = list(table.contexts) if table else []
        self._rows = {context: i for i, context in enumerate(self._contexts, 1)}
        self._kept: dict[Context, Scores] = {}
        self._hold()
        self._lay_out_prior()
        self.arrays = self.make_arrays()
        self.rebuild()

    def _hold(self) -> None:
        self._held_arms = self.spec.arms
        self._held = np.array([self._columns[arm] for arm in self._held_arms], np.int64)

    def _lay_out_prior(self) -> None:
        self.prior.lay_out(self._contexts, self._arms)
        self._kept.clear()
        self._open: dict[int, tuple[tuple[Arm, ...], tuple[int, ...], Ints]] = {}

    @property
    def n_rows(self) -> int:
        return len(self._contexts) + 1

    def _grow(self, contexts: Iterable[Context], arms: Iterable[Arm]) -> None:
        """Append rows and columns; room doubles, so that a context costs a constant time on average."""
        for context in contexts:
            self._contexts.append(context)
            self._rows[context] = len(self._contexts)
        for arm in arms:
            self._columns[arm] = len(self._arms)
            self._arms.append(arm)
        rows, columns = self.prior.bounds.shape[:2]
        if self.n_rows > rows or len(self._arms) > columns:
            room = self.n_rows if self.n_rows <= rows else 2 * self.n_rows
            fresh, old = self._make_with_room(room), self.arrays
            for name, axes in self.axes.items():
                target, part = getattr(fresh, name), getattr(old, name)
                target[tuple(slice(0, n) for n in part.shape[: len(axes)])] = part
            self.arrays = fresh
            self.rebuild()

    def _make_with_room(self, rows: int) -> Any:
        spare = [("spare", i) for i in range(rows - self.n_rows)]
        self.prior.lay_out([*self._contexts, *spare], self._arms)
        return self.make_arrays()

    # -- states, copies, merging ---------------------------------------------------------------------------------------

    @property
    def refutation(self) -> Refutation | None:
        """What contradicted the prior bounds, once they were dropped for it."""
        return self.prior.refutation

    @property
    def observes(self) -> tuple[str, ...]:
        """The variables that help if `learn` is given them; none is required."""
        return ()

    @property
    def n_learned(self) -> int:
        return self.learned.n

    def list_options(self) -> dict[str, Any]:
        return {**self.options, "seed": self.seed, "explore": self.explore}

    def state(self) -> dict[str, Any]:
        """Write everything but functions as an object that JSON keeps exactly."""
        with self._lock:
            return seal_state(self)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, remember: IdStore | None = None, **functions: Any) -> Self:
        """Make the policy that `state()` wrote, also one of release 0.2.0. Functions and stores are given again."""
        with open_state(cls.__name__, state) as body:
            found = read_body(body)
            made = cls(**{**found.options, **functions})
            made.spec, made.prior, made.learned = found.spec, found.prior, LearnedIds.restore(body, remember)
            made.ids.restore(body["ids"])
            made._start()
            made._grow([c for c in found.contexts if c not in made._rows], [a for a in found.arms if a not in made._columns])
            made.prior.lay_out(made._contexts, made._arms)
            made.arrays = made.make_arrays()
            rows = np.array([made._rows[c] for c in found.contexts], np.int64)
            columns = np.array([made._columns[a] for a in found.arms], np.int64)
            if made.prior.watch and found.evidence is not None:
                made.prior.evidence[np.ix_(rows, columns)] = found.evidence
            made.restore_arrays(found.arrays, rows, columns)
        return made

    def restore_arrays(self, record: Mapping[str, Any], rows: Ints, columns: Ints) -> None:
        places = {"c": rows, "a": columns}
        for name, axes in self.axes.items():
            part = getattr(self.arrays, name)
            shape = (*(places[axis].size for axis in axes), *part.shape[len(axes) :])
            part[np.ix_(*(places[axis] for axis in axes))] = np.array(record[name], np.float64).reshape(shape)
        self.rebuild()

    def fresh(
        self,
        *,
        arms: Iterable[object] | None = None,
        context: Any = None,
        horizon: int | None = None,
        seed: int | None = None,
    ) -> Self:
        """Make a policy with the same settings and nothing learned; what is unbound takes the given values."""
        options = self.list_options()
        if "horizon" in options and options["horizon"] is None:
            options["horizon"] = horizon
        options["seed"] = self.seed if seed is None else seed
        made = type(self)(**options)
        made.spec, made.prior = self.spec.bind(arms, context), Prior(self.prior.table, self.prior.watch or False)
        made.learned = LearnedIds(REMEMBERED if self.learned.store is not None else self.learned.size)
        made._start()
        return made

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """Make a policy that has learned what both have; `since` is what they shared, and counts once."""
        if type(other) is not type(self) or self.list_options() | {"seed": 0} != other.list_options() | {"seed": 0}:
            raise CannotMerge("the two policies differ in kind or options")
        if (self.spec.arms, self.prior.table, self.prior.watch) != (other.spec.arms, other.prior.table, other.prior.watch):
            raise CannotMerge("the two policies have other arms or bounds")
        shared = since or self.fresh()
        made = deepcopy(self)
        made.learned = self.learned.merge(other.learned, shared.learned)
        made._grow([c for c in other._contexts if c not in made._rows], [a for a in other._arms if a not in made._columns])
        made.arrays = made.make_arrays()
        start = deepcopy(made.arrays)
        for part, sign in ((self, 1.0), (other, 1.0), (shared, -1.0)):
            rows = np.array([0, *(made._rows[c] for c in part._contexts)], np.int64)
            columns = np.array([made._columns[a] for a in part._arms], np.int64)
            places = {"c": rows, "a": columns}
            for name in self.additive:
                axes, mine, base = self.axes[name], getattr(made.arrays, name), getattr(start, name)
                at = np.ix_(*(places[axis] for axis in axes))
                kept = getattr(part.arrays, name)[tuple(slice(0, places[axis].size) for axis in axes)]
                mine[at] += sign * (kept - base[at])
            if made.prior.watch:
                if part is self:
                    made.prior.evidence[:] = 0.0
                made.prior.evidence[np.ix_(rows, columns)] += sign * part.prior.evidence[: rows.size, : columns.size]
        made.merge_rest(self, other, shared)
        made.prior.refutation = self.refutation or other.refutation
        made._lay_out_prior()
        made.derive()
        made.rebuild()
        return made

    def merge_rest(self, one: Self, other: Self, shared: Self) -> None:
        """Put together what does not add up entry by entry."""

    def refresh(self, prior: BoundTable, *, arms: Iterable[object] | None = None) -> None:
        """Replace the prior bounds; what was learned stays. Rewards so far may refute the new bounds at once."""
        if not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        with self._lock:
            self.spec = self.spec.follow(prior, arms)
            self.prior.table, self.prior.refutation = prior, None
            self._grow(
                [c for c in prior.contexts if c not in self._rows], [a for a in self.spec.arms if a not in self._columns]
            )
            self._hold()
            self._lay_out_prior()
            if self.prior.watch:
                pairs = ((i, k) for i in range(1, self.n_rows) for k in range(len(self._arms)))
                if any(self.prior.judge(i, k, self._contexts[i - 1], self._arms[k]) for i, k in pairs):
                    self._lay_out_prior()
            self.rebuild()

    def play(
        self, environment: Any, contexts: Ints, uniforms: Floats, seeds: Any, shown_uniforms: Floats | None = None, arrivals: Any = None
    ) -> Ints | None:
        """Play whole runs in one compiled loop; gives the arm of every run and round. None if it would refuse some."""
        try:
            met = [self.spec.read_context(one) for one in environment.contexts]
        except BounditError:
            return None
        if self.prior.watch or set(self.spec.arms) - set(environment.arms):
            return None
        rounds = Rounds.of(self, environment, met, contexts, uniforms, seeds, shown_uniforms, arrivals)
        rows = np.array([self._rows.get(one, 0) for one in met], np.int64)
        arrays = self.lay_out_runs(rows, np.arange(len(self._arms)), met, rounds)
        if arrays is None:
            return None
        if is_ready(play_runs):
            return play_runs(arrays, rounds)
        with announce(f"whole runs of {type(self).__name__}"):
            return play_runs(arrays, rounds)

    def __repr__(self) -> str:
        n, bounds = self.n_learned, len(self.prior.table.bounds) if self.prior.table else 0
        refuted = ", refuted" if self.prior.refutation else ""
        return f"{type(self).__name__}({len(self.spec.arms)} arms, {n:,} rewards learned, {bounds or 'no'} bounds{refuted})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock(), _kept={})


def take_axes(part: Floats, axes: str, rows: Ints, columns: Ints) -> Floats:
    places = {"c": rows, "a": columns}
    return np.ascontiguousarray(part[np.ix_(*(places[axis] for axis in axes))])


def name_row(error: BounditError, row: int) -> BounditError:
    """Say in an error of a batch which row it is about."""
    error.args = (f"row {row}: {error}",)
    return error


def _draw_many(scores: Scores, uniforms: Floats, explore: float) -> tuple[Ints, Any]:
    """`Policy._draw` for several requests of one context at once."""
    n, explored = len(scores.arms), uniforms < explore
    if scores.probabilities is None:
        places = np.full(uniforms.size, scores.winner, np.int64)
    else:
        ends = np.cumsum(scores.probabilities)
        places = np.searchsorted(ends, (uniforms - explore) / (1.0 - explore), side="right")
        places[places == ends.size] = scores.probabilities.argmax()
    if explore:
        drawn = np.minimum((uniforms[explored] / explore * n).astype(np.int64), n - 1)
        places[explored] = np.array(scores.order)[drawn]
    return places, explored


__all__ = ["CommonOptions", "Policy", "Unpack"]
