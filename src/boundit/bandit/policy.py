"""The one interface of every policy, contextual or not, with bounds or without."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.decision import Decision
from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from boundit.bandit.serialization import State
from boundit.bandit.spec import Arms, ContextNames
from boundit.terms.bound_table import BoundTable

if TYPE_CHECKING:
    from boundit.bandit.prior.log_refutation import LogRefutation
    from boundit.bandit.prior.watch import Refutation  # brings Numba


@runtime_checkable
class Policy(Protocol):
    """Decide, act, learn; keep the state, and come back from it.

    A policy may be shared between threads: each call is done as a whole before the next.
    """

    def decide(
        self,
        context: object = (),
        *,
        arms: Arms | None = None,
        id: str | None = None,  # noqa: A002, the word users know
    ) -> Decision:
        """Choose an arm for one visitor; changes nothing but the count that names decisions.

        ``arms`` restricts or replaces the arms held, for this call. ``id`` names the decision,
        one of the policy's own count unless given. What is drawn hangs on seed and id alone.
        """
        ...

    def learn(
        self,
        decision: Decision,
        reward: float,
        *,
        observed: Mapping[str, object] | None = None,
    ) -> None:
        """Learn what a decision earned: in any order, late or never; a repeat is a no-op.

        As long as the policy remembers the decision's id. ``observed`` are other variables as
        they came out in this round. The policy learns from those that it ``observes``; the
        others are ignored.
        """
        ...

    def decide_many(
        self,
        contexts: object,
        ids: Iterable[str] | None = None,
        *,
        arms: Arms | None = None,
    ) -> Sequence[Decision]:
        """Choose an arm for each of several visitors: the same as ``decide`` one by one.

        ``contexts`` are a list of what ``decide`` takes, a 2-D array, or columns by name.
        Errors name the row, and then nothing is decided.
        """
        ...

    def learn_many(
        self,
        decisions: Iterable[Decision],
        rewards: Iterable[float],
        *,
        observed: object = None,
    ) -> None:
        """Learn what several decisions earned: the same as ``learn`` one by one, in this order.

        All or nothing: an error names the row, and then nothing has changed. ``observed`` is a
        list of what each round showed, or columns by name.
        """
        ...

    @property
    def observes(self) -> tuple[str, ...]:
        """The variables that it learns from when ``learn`` is told them."""
        ...

    def refresh(self, prior: BoundTable, *, arms: Arms | None = None) -> None:
        """Replace the prior bounds by those of another table; what was learned stays.

        Its arms are held from now on, or ``arms`` if given.
        """
        ...

    @property
    def refutation(self) -> "Refutation | LogRefutation | None":
        """What contradicted the prior bounds, once they were dropped; needs ``watch``."""
        ...

    def fresh(
        self,
        *,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        horizon: int | None = None,
        seed: int | None = None,
    ) -> Self:
        """Make a new policy with the same settings and nothing learned.

        Arms, context names and horizon fill what is unbound; a seed replaces the old one.
        """
        ...

    def play(
        self,
        environment: FiniteEnvironment,
        contexts: Places,
        uniforms: Floats,
        seeds: Seeds,
        observation_uniforms: Floats | None = None,
    ) -> Places | None:
        """Play whole runs in compiled code; gives the place of every arm pulled, runs x rounds.

        Each run starts from nothing learned, as ``fresh(seed=...)`` does with its seed, and
        pulls what ``decide`` and ``learn`` would, bit for bit. ``contexts`` are places in the
        environment, runs x rounds, as are ``uniforms``, which decide rewards, and
        ``observation_uniforms``, which decide what a round shows besides; where one is nan the
        round shows nothing, as if ``learn`` were not told ``observed``. None if this policy, as
        it is set, plays only through ``decide`` and ``learn`` (it watches its bounds, say).
        """
        ...

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """Make a new policy that has learned what both have.

        ``since`` is what both were copies of when they parted, nothing learned if None.
        """
        ...

    def state(self) -> State:
        """Write everything as an object that JSON keeps exactly.

        Users keep it to restart from with ``from_state``; also called by ``describe_policy``.
        """
        ...

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        ...
