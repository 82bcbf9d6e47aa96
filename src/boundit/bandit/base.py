"""What every policy keeps: options, arms, bounds and arrays; states, copies, merging, refreshing.

Arrays have a row for each context and a column for each arm. A policy says which arrays it has
learned and by which axes they go (``axes``); all else is written here once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from copy import copy, deepcopy
from inspect import isabstract
from os import PathLike
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np

from boundit.bandit.compiled import working_on
from boundit.bandit.errors import BadOption, CannotMerge, DamagedState
from boundit.bandit.ids import ID_WINDOW, DecisionIds, IdStore, Ints, LearnedIds
from boundit.bandit.options import (
    Arms,
    CommonOptions,
    ContextNames,
    check_options,
    require_common,
)
from boundit.bandit.prior import Prior, Refutation
from boundit.bandit.spec import Spec
from boundit.bandit.states import (
    find_class,
    open_state,
    read_array,
    read_file,
    seal_state,
    write_array,
    write_file,
)
from boundit.core.codec import decode, encode
from boundit.core.errors import BounditError
from boundit.core.public_names import mark_renamed
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable

Open = tuple[tuple[Arm, ...], tuple[int, ...], Ints]
"""Arms of a call, those ruled out last; their places in the order of the call; columns to score."""


class BasePolicy(ABC):
    """What a policy keeps; ``Policy`` decides and learns with it."""

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
        checked: dict[str, Any] = {name: common.get(name) for name in ("seed", "monitor")}
        checked = check_options({**checked, "explore": common.get("explore", 0.0)})
        self.options = check_options(own)
        self.seed, self.explore = checked["seed"], checked["explore"]
        self.spec = Spec.of(prior, common)
        self.prior = Prior(prior, checked["monitor"])
        self.ids = DecisionIds(self.seed)
        self.learned = LearnedIds(common.get("id_window", ID_WINDOW))
        self._lock = RLock()
        self._start()

    @abstractmethod
    def make_arrays(self) -> Any:
        """Make the arrays of nothing learned: ``n_rows`` contexts (row 0: all others), all arms."""

    def rebuild(self) -> None:
        """Work out what is kept beside the arrays: after a state, merging, new arms or contexts."""

    def derive(self) -> None:
        """Work out the arrays that do not add up from those that do, after merging."""

    def merge_rest(self, one: Self, other: Self, shared: Self) -> None:
        """Put together what does not add up entry by entry."""

    def match(self, other: Self) -> None:
        """Take the sizes of arrays that are known from requests alone, such as of features."""

    # -- arms and contexts as rows and columns --------------------------------------------------

    @property
    def n_rows(self) -> int:
        """How many rows arrays have: for row 0, the contexts, and some more."""
        return self._room

    @property
    def n_contexts(self) -> int:
        """How many distinct contexts the policy keeps statistics of."""
        return len(self._contexts)

    def knows(self, context: Context) -> bool:
        """Return True if the policy keeps statistics of a context, or of the cell it is in."""
        return self.spec.find_cell(context) in self._rows

    def _start(self) -> None:
        """Give rows to the contexts of the prior and columns to the arms; nothing is learned."""
        working_on.name = self._name
        table, spec = self.prior.table, self.spec
        self._arms: list[Arm] = list(spec.arms)
        self._columns = {arm: k for k, arm in enumerate(self._arms)}
        self._contexts: list[Context] = list(table.contexts) if table else []
        self._rows = {context: i for i, context in enumerate(self._contexts, 1)}
        self._room = len(self._contexts) + 1
        self._hold()
        self._kept: dict[Context, Any] = {}
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
        """Append rows and columns; they double, so that one costs a constant time on average."""
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
        """Take over what was learned into larger arrays."""
        for name, axes in self.axes.items():
            part = getattr(old, name)
            getattr(self.arrays, name)[tuple(map(slice, part.shape[: len(axes)]))] = part

    def _list_new(self, contexts: Iterable[Context], arms: Iterable[Arm]) -> tuple[Any, Any]:
        """List the contexts and arms that have no row or column yet."""
        new = [c for c in contexts if c not in self._rows]
        return new, [arm for arm in arms if arm not in self._columns]

    def _cell(self, row: int) -> Context:
        return self._contexts[row - 1] if row else ("a context without bounds",)

    def _copy_with(self, arms: Iterable[Arm]) -> Self:
        """Make a policy with further arms that has learned the same, for one call."""
        made = copy(self)
        made.prior, made._arms, made._columns = (
            copy(self.prior),
            [*self._arms],
            {**self._columns},
        )
        made._grow((), arms)
        return made

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
        if isabstract(cls):
            name = state.get("policy") if isinstance(state, Mapping) else None
            kind = find_class(cls, name)
            if kind is None:
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
        one, two = deepcopy(self), deepcopy(other)
        if {**one.list_options(), "seed": 0} != {**two.list_options(), "seed": 0}:
            raise CannotMerge("the two policies have other options")
        if (one.spec, one.prior.table) != (two.spec, two.prior.table):
            raise CannotMerge("the two policies have other arms, contexts, rewards or bounds")
        if one.prior.monitor != two.prior.monitor:
            raise CannotMerge("the two policies monitor their bounds at other levels")
        shared = one.clone() if since is None else deepcopy(since)
        if shared.spec != one.spec and one.prior.table is not None:
            try:
                shared._follow(one.spec, one.prior.table)
            except BounditError:
                raise CannotMerge("since= has other arms, contexts or features") from None
        made = deepcopy(one)
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

    def adjust(self, *, explore: float | None = None, monitor: float | None = None) -> None:
        """Go on with other values of ``explore`` and ``monitor``; what was learned stays.

        Bounds are tested by rewards from now on where they were not monitored before. None
        leaves ``explore`` as it is, and ends monitoring.
        """
        checked = check_options({"explore": self.explore if explore is None else explore,
                                 "monitor": monitor})  # fmt: skip
        with self._lock:
            self.explore, self.prior.monitor = checked["explore"], checked["monitor"]
            self._lay_out_prior()

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

    # -- copies ---------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with self._lock:
            made = type(self).__new__(type(self))
            made.__setstate__(deepcopy(self.__getstate__(), memo))
        return made

    def __getstate__(self) -> dict[str, Any]:
        dropped = ("_lock", "_kept", "_open")
        return {name: value for name, value in vars(self).items() if name not in dropped}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock(), _kept={}, _open={})


mark_renamed(
    BasePolicy,
    {
        "fresh": "clone",
        "merged": "merge",
        "observes": "auxiliary_variables",
        "plan_reason": "pooling_reason",
    },
)
