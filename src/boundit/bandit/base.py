"""What every policy is: a spec, bounds, statistics, and the calls that all policies share.

A policy owns what is fixed (``BanditSpec``), the bounds it believes (``BoundMonitor``), what
its algorithm has learned (``Statistics``), how many decisions it learned from with the ids of
the last (``LearnedIds``), and a lock that is held during every call, so that it may be shared
between threads. Calls then follow each other in some order; what is learned does not depend on
it but for rounding.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from threading import RLock
from typing import ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.decision import Decision
from boundit.bandit.decision_ids import DecisionIds
from boundit.bandit.errors import (
    BadArm,
    BadObservation,
    BadOption,
    CannotMerge,
    ForeignBounds,
    NeedsArms,
    NotADecision,
)
from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from boundit.bandit.kernels.rng import (
    NO_STREAM,
    NO_STREAMS,
    StreamKey,
    StreamKeys,
    draw_explored,
    draw_many_explored,
)
from boundit.bandit.learned_ids import REMEMBERED, IdStore, LearnedIds
from boundit.bandit.many.decisions import Decisions, ExploredArm
from boundit.bandit.many.rewards import (
    RewardBatch,
    group_decisions,
    list_decisions,
    list_ids,
    read_rewards,
)
from boundit.bandit.many.rows import list_observed, name_row
from boundit.bandit.many.score_batch import ScoreBatch
from boundit.bandit.many.visitors import Visitors, read_ids, read_visitors
from boundit.bandit.options import read_seed, read_share
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.prior.log_refutation import LogRefutation
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Refutation
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import EXPLORED, Scores
from boundit.bandit.serialization import Record, State, open_state, seal_state
from boundit.bandit.spec import Arms, BanditSpec, ContextNames
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.saving.codec import decode, encode


class Statistics(Protocol):
    """What an algorithm has learned and nothing else; ``BasePolicy`` owns one."""

    def take(self, decision: Decision, reward: float) -> None:
        """Learn from the reward of one decision, or raise before anything changes."""
        ...

    def find_features(self, context: Context, arm: Arm) -> tuple[float, ...]:
        """Find the features that an arm is learned by in a context, none where it needs none."""
        ...

    def settings(self) -> Record:
        """Give the options that decide how it learns, such as ``ridge``, as a JSON object."""
        ...

    def fresh(self, spec: BanditSpec) -> Self:
        """Make empty statistics of the same settings for the arms and contexts of ``spec``."""
        ...

    def widen(self, spec: BanditSpec) -> Self:
        """Carry what was learned over to a spec with further arms or levels, or raise."""
        ...

    def join(self, other: Self, shared: Self) -> Self:
        """Add up what two policies learned; gives new statistics.

        What ``shared`` had learned is in both and counts once.
        """
        ...

    def to_record(self) -> object:
        """Write all that was learned for JSON; called by ``BasePolicy.state``."""
        ...

    def restore(self, record: list[list[object]], spec: BanditSpec) -> Self:
        """Read the statistics that ``to_record`` wrote, with the settings of this object."""
        ...


@runtime_checkable
class BatchStatistics(Protocol):
    """Statistics that learn many rewards at once; others learn them in turn."""

    def take_many(self, batch: RewardBatch) -> None:
        """Learn several rewards in their order, or raise before anything changes.

        An error names the row.
        """
        ...


S = TypeVar("S", bound=Statistics)


class BasePolicy(ABC, Generic[S]):
    """A policy without its algorithm, which overrides ``choose`` and two more.

    The constructor of an algorithm reads its own options and hands the three parts on.
    """

    samples: ClassVar[bool] = False
    """Whether ``choose`` draws from the stream of the decision."""

    def __init__(
        self,
        spec: BanditSpec,
        monitor: BoundMonitor,
        statistics: S,
        *,
        seed: int | None = None,
        explore: float = 0.0,
        remember: int | IdStore = REMEMBERED,
    ) -> None:
        self.spec, self.monitor, self.statistics = spec, monitor, statistics
        self.learned_ids = LearnedIds(remember)
        self._seed, self._explore = read_seed(seed), read_share("explore", explore)
        self._draws = self.samples or self._explore > 0
        self.ids, self._lock = DecisionIds(seed), RLock()

    @property
    def sees_numbers(self) -> bool:
        """Whether ``choose`` gets a visitor's numbers where the prior has bins, or the bins."""
        return False

    @abstractmethod
    def options(self) -> Record:
        """Give the algorithm's own options, such as ``alpha`` or ``horizon``, as it took them.

        Those of how it learns are in its statistics, and those that all policies have are
        theirs.
        """

    @abstractmethod
    def choose(
        self, context: Context, ranked_arms: RankedArms, stream_key: StreamKey
    ) -> Scores:
        """Score the arms allowed for one visitor; gives the scores and the arm that won.

        What is drawn comes from ``open_stream(*stream_key)``, and from nothing else, by
        algorithms that say so (``samples``). Every algorithm overrides it.
        """

    def choose_many(
        self,
        context: Context,
        ranked_arms: RankedArms,
        stream_keys: StreamKeys,  # noqa: ARG002, for those that draw
    ) -> ScoreBatch:
        """Score the arms for several visitors of one context, each as ``choose`` would.

        Here for algorithms that draw nothing, and so score once for all; those that draw
        (``samples``) override it.
        """
        return ScoreBatch(self.choose(context, ranked_arms, NO_STREAM))

    @abstractmethod
    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs in compiled code; gives the arm pulled in every run and round.

        None if the policy would refuse some context, arm or feature of the layout. Every
        algorithm overrides it.
        """

    def decide(
        self,
        context: object = (),
        *,
        arms: Arms | None = None,
        id: str | None = None,  # noqa: A002, the word users know
    ) -> Decision:
        """Choose an arm for one visitor; changes nothing but the count that names decisions.

        Gives the ``Decision``: the arm and the reasons. ``arms`` restricts or replaces the arms
        held, for this call. ``id`` names the decision, one of the policy's own count unless
        given. Sampling policies draw from their seed and the id: two visitors are drawn for
        independently, and a retry under the same id gives the same arm as long as nothing was
        learned in between.
        """
        if id is not None and not isinstance(id, str):
            raise BadOption("id", "text", id)
        with self._lock:
            spec, ids, held = self.spec, self.ids, arms is None
            cell = values = spec.read_context(context)
            allowed = (held and spec.arms) or self._find_allowed(arms)
            if spec.bins:
                cell = spec.find_cell(values)
                values = values if self.sees_numbers else cell
            ranked_arms = self.monitor.rank(allowed, cell, held)
            name = ids.make() if id is None else id
            key = ids.key_stream(name) if self._draws else NO_STREAM
            try:
                scores = self.choose(values, ranked_arms, key)
                scores.allowed, scores.spec = allowed, spec
                if self._explore:
                    self._explore_arms(values, scores, key)
            except BaseException:
                ids.count -= id is None
                raise
        return Decision.of(name, scores.arm, values, scores)

    def _find_allowed(self, arms: Arms | None) -> tuple[Arm, ...]:
        """Find the arms of one call: those held, unless others are passed."""
        allowed = self.spec.arms if arms is None else self.spec.read_arms(arms)
        if not allowed:
            raise NeedsArms
        return allowed

    def decide_many(
        self,
        contexts: object,
        ids: Iterable[str] | None = None,
        *,
        arms: Arms | None = None,
    ) -> Decisions:
        """Choose an arm for each of several visitors: the same as ``decide`` one by one.

        With no reward learned in between, and far quicker: visitors of one context are served
        together, so that ``features=`` is asked once for each context. ``contexts`` are a list
        of what ``decide`` takes, a 2-D array, or columns by name (a mapping or a data frame).
        Errors name the row, and then nothing is decided. Gives a sequence of ``Decision``.
        """
        with self._lock:
            allowed = self._find_allowed(arms)
            visitors = read_visitors(self.spec, contexts, sees_numbers=self.sees_numbers)
            n, count = len(visitors.contexts), self.ids.count
            names = self.ids.make_many(n) if ids is None else read_ids(ids, n)
            keys = self.ids.key_streams(names) if self._draws else NO_STREAMS
            members = visitors.split()
            try:
                batches = self._choose_batches(
                    visitors, members, allowed, keys, held=arms is None
                )
                explored = self._explore_many(visitors, batches, keys)
            except BaseException:
                self.ids.count = count
                raise
        return Decisions(names, visitors, members, batches, explored)

    def _choose_batches(
        self,
        visitors: Visitors,
        members: Sequence[Places],
        allowed: tuple[Arm, ...],
        stream_keys: StreamKeys,
        *,
        held: bool,
    ) -> list[ScoreBatch]:
        """Score the arms for the visitors of each context; an error names the first of them.

        ``members`` are their places.
        """
        batches, draws = list[ScoreBatch](), self._draws
        for places, context, cell in zip(
            members, visitors.distinct, visitors.cells, strict=True
        ):
            try:
                ranked_arms = self.monitor.rank(allowed, cell, held=held)
                if len(places) == 1:
                    key = stream_keys.get_key(int(places[0])) if draws else NO_STREAM
                    batch = ScoreBatch(self.choose(context, ranked_arms, key))
                else:
                    keys = stream_keys.pick(places) if draws else stream_keys
                    batch = self.choose_many(context, ranked_arms, keys)
            except BounditError as error:
                raise name_row(error, int(places[0])) from None
            batch.shared.allowed, batch.shared.explore = allowed, self._explore
            batches.append(batch)
        return batches

    def _explore_many(
        self, visitors: Visitors, batches: Sequence[ScoreBatch], stream_keys: StreamKeys
    ) -> dict[int, ExploredArm]:
        """Draw who of several visitors gets another arm, as ``_explore_arms`` would.

        Gives the arms by the visitors' places.
        """
        found = dict[int, ExploredArm]()
        if not self._explore or not batches:
            return found
        allowed = batches[0].shared.allowed
        places = draw_many_explored(*stream_keys, self._explore, len(allowed))
        for i in np.flatnonzero(places >= 0).tolist():
            arm, scores = allowed[places[i]], batches[visitors.groups[i]].shared
            row, context = scores.find_row(arm), visitors.contexts[i]
            features = () if row >= 0 else self.statistics.find_features(context, arm)
            found[i] = ExploredArm(arm, row, features)
        return found

    def _explore_arms(self, context: Context, scores: Scores, stream_key: StreamKey) -> None:
        """With the chance ``explore``, play an arm drawn uniformly from all of the call.

        Also one that bounds rule out.
        """
        scores.explore = self._explore
        place = draw_explored(*stream_key, self._explore, len(scores.allowed))
        if place >= 0:
            arm = scores.allowed[place]
            row = scores.find_row(arm)
            features = () if row >= 0 else self.statistics.find_features(context, arm)
            scores.explore_arm(arm, row, features)

    def adopt(
        self,
        context: object,
        arm: Arm,
        *,
        id: str,  # noqa: A002, the word users know
        branch: str | None = EXPLORED,
        passed: bool = False,
    ) -> Decision:
        """Make the decision that somebody else took, so that its reward can be learned.

        ``branch`` is the part of this algorithm that chose, unless it was a rule of another's;
        ``passed`` says that the arm came with the call and need not be held.
        """
        with self._lock:
            values = self.spec.read_context(context)
            self.spec.require_arm(arm)
            if not passed and arm not in self.spec.held_arms and arm not in self.spec.retired:
                raise BadArm(arm, "it is not held")
            cell = values
            if self.spec.bins and not self.sees_numbers:
                cell = self.spec.find_cell(values)
            features = self.statistics.find_features(cell, arm)
        index = {arm: 0.0} if passed else None
        return Decision(id, arm, values, features, index, propensity=None, branch=branch)

    def check_observed(self, observed: Mapping[str, object]) -> None:
        """Refuse what no round can have shown, as ``learn`` would; nothing is learned."""
        with self._lock:
            self._read(observed)

    def learn(
        self,
        decision: Decision,
        reward: float,
        *,
        observed: Mapping[str, object] | None = None,
    ) -> None:
        """Learn what a decision earned: in any order, late or never; a repeat is a no-op.

        As long as its id is remembered: a repeat that comes after as many other rewards as
        ``remember`` says counts once more. ``observed`` are other variables of that round: the
        policy learns from those that it ``observes``.
        """
        if not isinstance(decision, Decision):
            raise NotADecision(f"{type(decision).__name__} is no decision")
        spec, name = self.spec, decision.id
        if not isinstance(name, str):
            raise NotADecision(f"its id is no text: {name!r}")
        number = spec.read_reward(reward, name)
        try:
            held = decision.arm in spec.held_arms
        except TypeError:
            raise NotADecision("its arm is no tuple of values") from None
        if not held:
            self._require_passed(decision)
        with self._lock:
            spec, ids, monitor = self.spec, self.learned_ids, self.monitor
            context = decision.context
            if decision.reasons.spec is not spec:  # which read the context to decide
                context = spec.read_context(context)
            if spec.bins:
                decision, context = self._find_cell(decision, context)
            if not ids.claim(name):
                return
            try:
                shown = None if observed is None else self._read(observed)
                self.take(decision, number, shown)
            except BaseException as error:
                ids.release(name, error)
                raise
            ids.keep(name)
            if monitor.watch:
                monitor.watch_reward(context, decision.arm, number)

    def _find_cell(self, decision: Decision, context: Context) -> tuple[Decision, Context]:
        """Find the context of the prior that a decision was made in, where it has bins.

        Gives the decision as the policy learns it, too.
        """
        cell = self.spec.find_cell(context)
        return (decision if self.sees_numbers else decision.move_to(cell)), cell

    def learn_many(
        self,
        decisions: Iterable[Decision],
        rewards: Iterable[float],
        *,
        observed: object = None,
    ) -> None:
        """Learn what several decisions earned: the same as ``learn`` one by one, in this order.

        Everything is checked before the first is learned: an error names the row, and then
        nothing has changed. ``decisions`` are what ``decide_many`` gave or any decisions, those
        reloaded too; ``observed`` is a list of what each round showed, or columns by name.
        """
        listed = list_decisions(decisions)
        names, seen = list_ids(listed), list_observed(observed, len(listed))
        with self._lock:
            numbers = read_rewards(self.spec, rewards, listed)
            kinds, places = group_decisions(listed)
            kinds, cells = self._read_kinds(kinds, places, listed)
            new = self.learned_ids.claim_many(names)
            claimed = [name for name, is_new in zip(names, new, strict=True) if is_new]
            if not claimed:
                return
            seen = self.monitor.prior.find_all_bins(seen)
            whole = RewardBatch(kinds, cells, places, numbers, list(range(len(names))), seen)
            batch = whole.keep_new(new)
            try:
                self._require_all_known(batch)
                statistics: object = self.statistics
                if not isinstance(statistics, BatchStatistics):
                    self._learn_in_turn(listed, batch)
                    return
                statistics.take_many(batch)
            except BaseException as error:
                self.learned_ids.release_many(claimed, error)
                raise
            self.learned_ids.keep_many(claimed)
            if self.monitor.watch:
                pairs = zip(batch.places.tolist(), batch.rewards.tolist(), strict=True)
                for i, number in pairs:
                    self.monitor.watch_reward(batch.cells[i], batch.kinds[i].arm, number)

    def _read_kinds(
        self, kinds: list[Decision], places: Places, decisions: Sequence[Decision]
    ) -> tuple[list[Decision], list[Context]]:
        """Check arms and contexts of decisions, one of each kind, and find those of the prior.

        Arms that are not held must have been passed to every decision. Gives the decisions as
        the policy learns them.
        """
        found, cells = list[Decision](), list[Context]()
        moves = self.spec.bins and not self.sees_numbers
        for kind, decision in enumerate(kinds):
            if decision.arm not in self.spec.held_arms:
                self._require_passed_to_all(decisions, np.flatnonzero(places == kind))
            try:
                context = self.spec.read_context(decision.context)
            except BounditError as error:
                raise name_row(error, int(np.argmax(places == kind))) from None
            cell = self.spec.find_cell(context) if self.spec.bins else context
            found.append(decision.move_to(cell) if moves else decision)
            cells.append(cell)
        return found, cells

    def _require_passed_to_all(self, decisions: Sequence[Decision], rows: Places) -> None:
        """Refuse decisions on one arm, not held, unless it was passed to each of them.

        Those of one ``decide_many`` were passed the same.
        """
        for row in (rows[:1] if isinstance(decisions, Decisions) else rows).tolist():
            try:
                self._require_passed(decisions[row])
            except BounditError as error:
                raise name_row(error, row) from None

    def _require_all_known(self, batch: RewardBatch) -> None:
        """Refuse a variable that the policy does not know, in any of several rounds."""
        for row, observed in zip(batch.rows, batch.observed, strict=True):
            try:
                self._require_known(observed)
            except BounditError as error:
                raise name_row(error, row) from None

    def _learn_in_turn(self, decisions: Sequence[Decision], batch: RewardBatch) -> None:
        """Learn rewards one by one, on copies of all that changes until the last is learned."""
        saved = self.statistics, self.monitor, self.learned_ids
        self.statistics, self.monitor, self.learned_ids = (
            deepcopy(self.statistics),
            self.monitor.copy(),
            deepcopy(self.learned_ids),
        )
        try:
            for i, place in enumerate(batch.places.tolist()):
                row, kind, cell = batch.rows[i], batch.kinds[place], batch.cells[place]
                decision, reward = decisions[row].move_to(kind.context), float(batch.rewards[i])
                try:
                    self.take(decision, reward, batch.observed[i])
                except BounditError as error:
                    raise name_row(error, row) from None
                self.learned_ids.keep(decision.id)
                self.monitor.watch_reward(cell, decision.arm, reward)
        except BaseException:
            self.statistics, self.monitor, self.learned_ids = saved
            raise

    def _read(self, observed: Mapping[str, object]) -> Mapping[str, object]:
        """Read what else a round showed, numbers as their bins."""
        self._require_known(observed)
        return self.monitor.prior.find_bins(observed)

    def _require_known(self, observed: object) -> None:
        """Refuse a variable that is none of those the policy learns from, nor of its table.

        A policy that learns from none takes them all.
        """
        if not self.observes or not isinstance(observed, Mapping):
            return
        for name in observed:
            if name not in self.observes and name not in self.list_observable():
                raise BadObservation(name, self.observes)

    def list_observable(self) -> frozenset[str]:
        """List the names that ``observed`` may have; empty where it may have any.

        These are variables that help, and those of the table.
        """
        table = self.monitor.prior.table
        if not self.observes or table is None:
            return frozenset()
        return frozenset((*self.observes, table.outcome, *table.levels, *table.bins))

    def take(
        self,
        decision: Decision,
        reward: float,
        observed: Mapping[str, object] | None,  # noqa: ARG002, for those that learn from it
    ) -> None:
        """Let the statistics learn one reward, or raise before anything changes.

        OAM overrides it, to count explorations too, and Fused, to learn from what else the
        round showed.
        """
        self.statistics.take(decision, reward)

    def _require_passed(self, decision: Decision) -> None:
        """Refuse a decision on an arm that neither the policy holds nor ``decide`` was passed."""
        self.spec.require_arm(decision.arm)
        known = decision.arm in decision.index or decision.arm in self.spec.retired
        if not known and decision.branch != EXPLORED:
            raise BadArm(decision.arm, "it is not held, and was not among those passed")

    def refresh(self, prior: BoundTable, *, arms: Arms | None = None) -> None:
        """Replace the prior bounds by those of another table; what was learned stays.

        New arms are held from now on, with nothing learned of them; arms that the table has no
        more are not played again, and rewards of theirs are still learned. Levels of the
        context are added. Where the arms were given when the policy was made, a table with
        other ones is refused unless ``arms`` says which are held now. Where bounds are watched,
        rewards seen so far may contradict the new ones, which are then dropped.
        """
        if not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        with self._lock:
            old = self.monitor.prior.table
            if old and old.treatments != prior.treatments:
                raise ForeignBounds("treatments", old.treatments, prior.treatments)
            spec = self.spec.follow(prior, old, arms)
            statistics = self.statistics.widen(spec)
            self.monitor.refresh(prior)
            self.spec, self.statistics = spec, statistics

    @property
    def observes(self) -> tuple[str, ...]:
        """The names of the variables that it learns from when ``learn`` is told them."""
        return ()

    @property
    def refutation(self) -> Refutation | LogRefutation | None:
        """What contradicted the prior bounds, once they were dropped for it; else None."""
        return self.monitor.refutation

    @property
    def n_learned(self) -> int:
        """The number of rewards learned so far, those whose ids are forgotten too."""
        return self.learned_ids.n

    def __repr__(self) -> str:
        arms, n = len(self.spec.arms), self.n_learned
        learned = f"{n} reward{'s' * (n != 1)} learned"
        return (
            f"{type(self).__name__}({arms or 'no'} arm{'s' * (arms != 1)}, {learned}, "
            f"{self.monitor.describe()})"
        )

    def fresh(
        self,
        *,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        horizon: int | None = None,
        seed: int | None = None,
    ) -> Self:
        """Make a new policy with the same settings and nothing learned.

        Arms, context names and horizon fill what is unbound; a seed replaces the old one. A
        store of ids is not taken along.
        """
        options = self._list_options()
        if options.get("horizon", 0) is None:
            options["horizon"] = horizon
        if seed is not None:
            options["seed"] = seed
        spec = self.spec.fill(arms, context)
        made = self._build(options, spec, self.monitor.fresh(), self.statistics.fresh(spec))
        made.learned_ids = self.learned_ids.fresh()
        return made

    def play(
        self,
        environment: FiniteEnvironment,
        contexts: Places,
        uniforms: Floats,
        seeds: Seeds,
        observation_uniforms: Floats | None = None,
    ) -> Places | None:
        """Play whole runs of a simulation in compiled code; None if this policy cannot.

        Gives the arm pulled in every run and round, as ``Policy.play`` says. A user's own
        features are asked once for each arm and context.
        """
        if self.monitor.watch:
            return None
        prior = PriorBounds(self.monitor.prior.table)
        layout = BatchLayout.of(self.spec, prior, environment)
        runs = BatchRuns.of(
            contexts, uniforms, seeds, observation_uniforms, explore=self._explore
        )
        return layout and self.play_batch(layout, runs)

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """Make a new policy that has learned what both have; ``since`` is what they share.

        Refused where the ids remembered cannot show that no reward was learned twice.
        """
        for found in (other, self if since is None else since):
            if type(found) is not type(self):
                raise CannotMerge(f"a {type(self).__name__} and a {type(found).__name__}")
        if self._settings() != other._settings():
            raise CannotMerge("the two policies have other settings")
        one, two = self.copy_locked(), other.copy_locked()
        shared = since.copy_locked() if since else self.fresh()
        learned_ids = one.learned_ids.join(two.learned_ids, shared.learned_ids)
        _require_mergeable(one, two)
        monitor = one.monitor.join(two.monitor, shared.monitor)
        statistics = one.statistics.join(two.statistics, _widen_shared(shared, one.spec))
        made = self._build(self._list_options(), one.spec, monitor, statistics)
        made.learned_ids, made.ids = learned_ids, one.ids.join(two.ids)
        return made

    def _list_options(self) -> Record:
        """List the options that the constructor takes, those of the algorithm and of all."""
        return {**self.options(), "seed": self._seed, "explore": self._explore}

    def _settings(self) -> Record:
        """Give all options but the seed: what two policies must share to be merged."""
        options = {**self._list_options(), **self.statistics.settings()}
        return {name: value for name, value in options.items() if name != "seed"}

    def copy_locked(self) -> Self:
        """Copy the whole policy while no other thread can change it.

        The table of bounds is never changed, and would take longest.
        """
        with self._lock:
            table = self.monitor.prior.table
            return deepcopy(self, {id(table): table})

    def state(self) -> State:
        """Write everything but functions as an object that JSON keeps exactly.

        Users keep it to restart from with ``from_state``; also called by ``describe_policy``.
        """
        with self._lock:
            body = {
                "options": {**self._list_options(), **self.statistics.settings()},
                "spec": encode(self.spec),
                "monitor": self.monitor.to_record(),
                "ids": self.ids.to_record(),
                **self.learned_ids.to_record(),
                "statistics": self.statistics.to_record(),
            }
        return seal_state(type(self).__name__, body)

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], *, remember: IdStore | None = None
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        return cls.restore(state, dict, remember)

    @classmethod
    def restore(
        cls,
        state: Mapping[str, object],
        read_options: Callable[[Record], Record],
        remember: IdStore | None,
    ) -> Self:
        """Make a policy of this class from what ``state()`` wrote, or raise ``DamagedState``.

        ``read_options`` turns the options written into those the constructor takes.
        """
        make: Callable[..., Self] = cls
        with open_state(cls.__name__, state) as body:
            options = read_options(body["options"])
            spec = decode(BanditSpec, body["spec"])
            monitor = BoundMonitor.from_record(body["monitor"])
            made = make(**options)
            statistics = made.restore_statistics(body["statistics"], spec, monitor)
            made.spec, made.monitor, made.statistics = spec, monitor, statistics
            made.learned_ids = LearnedIds.restore(body, remember, cls.__name__)
            made.ids.restore(body["ids"])
        return made

    def restore_statistics(
        self,
        record: list[list[object]],
        spec: BanditSpec,
        monitor: BoundMonitor,  # noqa: ARG002, for those that learn by the prior's plan
    ) -> S:
        """Read the statistics that ``state()`` wrote, with the settings of this policy.

        Fused overrides it, as its statistics are counts of a plan that comes with the bounds.
        """
        return self.statistics.restore(record, spec)

    def _build(
        self, options: Record, spec: BanditSpec, monitor: BoundMonitor, statistics: S
    ) -> Self:
        """Make a policy of this class that goes on from given statistics and bounds.

        ``monitor`` holds the bounds, ``spec`` arms and contexts.
        """
        make: Callable[..., Self] = type(self)
        made = make(**options)
        made.spec, made.monitor, made.statistics = spec, monitor, statistics
        return made

    def __getstate__(self) -> dict[str, object]:
        # A lock cannot be copied; a copy is another policy and gets its own.
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _lock=RLock())


def _require_mergeable(one: BasePolicy[S], other: BasePolicy[S]) -> None:
    """Refuse to merge policies with other arms or bounds, or that watch them in other ways."""
    if (one.spec, one.monitor.prior.table) != (other.spec, other.monitor.prior.table):
        raise CannotMerge("the two policies have other arms, contexts, rewards or bounds")
    if one.monitor.watch != other.monitor.watch:
        raise CannotMerge("the two policies watch their bounds in other ways")


def _widen_shared(shared: BasePolicy[S], spec: BanditSpec) -> S:
    """Carry what two policies shared over to the arms and levels they have by now."""
    try:
        return shared.statistics.widen(spec)
    except ForeignBounds:
        raise CannotMerge("since= has other arms, contexts or features") from None
