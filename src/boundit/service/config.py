"""What a policy is created with: a strict record, and the policy that it makes."""

import inspect
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field, structs, to_builtins

from boundit.bandit.base import BasePolicy
from boundit.bandit.fused.policy import Fused
from boundit.bandit.oam.policy import OAM
from boundit.bandit.policies.kl_ucb import KLUCB
from boundit.bandit.policies.lin_ts import LinTS
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.policies.ts import TS
from boundit.bandit.policies.ucb import UCB
from boundit.bandit.prior.watch import Watch
from boundit.service.errors import NoSuchPolicy, Unprocessable
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError, shorten
from boundit.terms.saving import bound_file

Scalar: TypeAlias = str | int | float | bool | None
"""One value of a variable, as JSON has it."""
Values: TypeAlias = Scalar | list[Scalar] | dict[str, Scalar]
"""An arm or a context: a scalar for one variable, a list in order, an object by name."""
Kind: TypeAlias = Literal["Fused", "LinUCB", "UCB", "KLUCB", "TS", "LinTS", "OAM"]
AnyPolicy: TypeAlias = BasePolicy[Any]

KINDS: Mapping[str, type[AnyPolicy]] = {
    "Fused": Fused,
    "LinUCB": LinUCB,
    "UCB": UCB,
    "KLUCB": KLUCB,
    "TS": TS,
    "LinTS": LinTS,
    "OAM": OAM,
}
LONGEST_WINDOW = 10 * 366 * 86_400.0
"""Ten years, in seconds."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_OWN_FIELDS = frozenset(
    ["prior", "arms", "context", "reward_range", "seed", "explore", "unseen", "remember"]
)
"""Options of a policy that the configuration has a field of its own for, or sets itself."""
_NEED_CONTEXT = frozenset(["LinUCB", "LinTS", "OAM"])
"""Kinds whose features have one length, which the context must be known for."""
_NO_JSON = frozenset(["features", "warm_start", "propensities", "self"])
"""Options that JSON cannot say, or that the service needs as they are."""


class PolicyConfig(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a policy is created with.

    ``kind`` names its class and ``options`` are those of that class, such as ``doubt``.
    ``bounds`` are what ``BoundTable.save`` writes. With ``learn="window"`` a decision is
    learned when its ``window`` (seconds) is over, with what came until then or else the
    ``default_reward``; without a default it is then not learned. ``learn="at_once"`` learns a
    reward when it comes, which is biased where successes come sooner than their absence.
    Unless it is given, ``learn`` is ``"window"`` where there is a window. ``rewards`` says
    which of several rewards of one decision count. In ``shadow`` mode the caller acts by its
    own rule. ``retention`` is how many days events are kept.
    """

    name: str
    kind: Kind = "Fused"
    options: dict[str, Any] = field(default_factory=dict)
    bounds: dict[str, Any] | None = None
    arms: list[Values] | None = None
    context: list[str] | dict[str, list[Scalar]] | None = None
    reward_range: tuple[float, float] | None = None
    seed: int | None = None
    explore: float = 0.0
    learn: Literal["window", "at_once"] | None = None
    window: float | None = None
    default_reward: float | None = None
    rewards: Literal["first", "last", "sum"] = "first"
    shadow: bool = False
    unseen: Literal["error", "range"] = "error"
    retention: float | None = None

    @property
    def learns_at_once(self) -> bool:
        """Whether a reward is learned when it comes; read by ``_keep``."""
        return self.learn == "at_once" or (self.learn is None and self.window is None)

    @property
    def warnings(self) -> list[str]:
        """What whoever created the policy should know; read by ``show_policy``."""
        found = list[str]()
        if self.learns_at_once:
            found.append(
                "rewards are learned at once: where successes come sooner than their absence, "
                "what is learned is biased until the rest has come; a window avoids that"
            )
        elif self.default_reward is None:
            found.append(
                "a decision without a reward is not learned when its window closes: where a "
                "missing reward means failure, say default_reward"
            )
        return found


def require_name(name: str) -> None:
    """Refuse a name that no policy can have, before a store is asked for it."""
    if not _NAME.fullmatch(name):
        raise NoSuchPolicy(name)


def check_config(config: PolicyConfig) -> None:
    """Refuse a configuration whose parts make no sense, before a policy is made of it."""
    if not _NAME.fullmatch(config.name):
        wanted = "1 to 100 letters, digits, dots, dashes or underscores"
        _refuse("name", wanted, config.name)
    if config.name in {".", ".."}:
        _refuse("name", "no dots alone", config.name)
    if config.seed is not None and not -(2**63) <= config.seed < 2**64:
        _refuse("seed", "a whole number of 64 bits", config.seed)
    if config.retention is not None and not 0 < config.retention <= LONGEST_WINDOW / 86_400:
        _refuse("retention", "a number of days above 0", config.retention)
    _check_learning(config)


def _check_learning(config: PolicyConfig) -> None:
    """Refuse a way to learn that makes no sense: without a window nothing can be unlearned."""
    window = config.window
    if window is not None and not 0 < window <= LONGEST_WINDOW:
        _refuse("window", "seconds above 0, up to ten years", window)
    if config.learn == "window" and window is None:
        _refuse("window", "given in seconds where learn is 'window'", window)
    if config.learn == "at_once" and window is not None:
        _refuse("learn", "'window' where there is a window", config.learn)
    if not config.learns_at_once:
        return
    if config.rewards != "first":
        _refuse("rewards", "'first' without a window, as nothing is unlearned", config.rewards)
    if config.default_reward is not None:
        _refuse("default_reward", "left out without a window", config.default_reward)


def make_policy(config: PolicyConfig) -> AnyPolicy:
    """Make the policy of a configuration that has a seed, or raise ``Unprocessable``.

    It remembers no ids, as the store does.
    """
    check_config(config)
    allowed = _list_options(config.kind)
    for name in config.options:
        if name not in allowed:
            shown = ", ".join(allowed)
            reason = f"{config.kind} has no option {shorten(repr(name), 40)}; it has {shown}"
            raise Unprocessable(reason, where="$.options")
    try:
        make: Callable[..., AnyPolicy] = KINDS[config.kind]
        policy = make(
            **_read_options(config),
            prior=None if config.bounds is None else read_bounds(config.bounds),
            arms=None if config.arms is None else _read_arms(config),
            context=config.context,
            reward_range=config.reward_range,
            seed=config.seed,
            explore=config.explore,
            unseen=config.unseen,
            remember=0,
        )
        if config.default_reward is not None:
            policy.spec.read_reward(config.default_reward, "default_reward")
    except BounditError as error:
        if isinstance(error, Unprocessable):
            raise
        raise Unprocessable(str(error), where="$") from None
    if policy.spec.context is None and config.kind in _NEED_CONTEXT:
        reason = f"{config.kind} learns by the numbers of a context: write its names in context"
        raise Unprocessable(f'{reason}, such as ["age"], or [] for none', where="$.context")
    if not policy.spec.arms:
        raise Unprocessable("give the policy arms, or bounds that have some", where="$.arms")
    return policy


@cache
def _list_options(kind: str) -> tuple[str, ...]:
    """List the options of a kind of policy that a configuration may set."""
    names = inspect.signature(KINDS[kind]).parameters
    return tuple(name for name in names if name not in _OWN_FIELDS | _NO_JSON)


def _read_options(config: PolicyConfig) -> dict[str, Any]:
    """Read the options of the policy's class; ``watch`` may be an object of its fields."""
    found = dict(config.options)
    watch = found.get("watch")
    if isinstance(watch, Mapping):
        known = {"alpha", "plays"}
        if not known >= watch.keys():
            reason = "watch has alpha and plays, or is true or false"
            raise Unprocessable(reason, where="$.options.watch")
        found["watch"] = Watch(**watch)
    for name, value in found.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise Unprocessable(f"{name} must be finite", where=f"$.options.{name}")
    return found


def _read_arms(config: PolicyConfig) -> list[object]:
    """Read the arms of a configuration: scalars, lists, or objects by the table's treatments."""
    names = config.bounds.get("treatments") if config.bounds else None
    return [read_arm_values(arm, names) for arm in config.arms or ()]


def read_arm_values(arm: Values, names: Any) -> object:
    """Read one arm as JSON has it into what policies take: a tuple, or a scalar as it is.

    An object needs the ``names`` of the treatments.
    """
    if isinstance(arm, dict):
        if not isinstance(names, list | tuple) or set(names) != arm.keys():
            known = ", ".join(map(str, names or ())) or "none, so give a list"
            reason = f"an arm has the treatments {known}; found {', '.join(arm)}"
            raise Unprocessable(shorten(reason, 200), where="$.arms")
        return tuple(arm[name] for name in names)
    return tuple(arm) if isinstance(arm, list) else arm


def read_bounds(record: Mapping[str, Any]) -> BoundTable:
    """Read a table of bounds as ``BoundTable.save`` writes it, or raise ``Unprocessable``."""

    def refuse(reason: str) -> Unprocessable:
        return Unprocessable(f"these are no bounds: {reason}", where="$.bounds")

    return BoundTable.from_record(bound_file.open_record(record, refuse), error=refuse)


def describe_config(config: PolicyConfig) -> dict[str, Any]:
    """Write a configuration without its bounds as a JSON object, to be shown and compared."""
    found: dict[str, Any] = to_builtins(structs.replace(config, bounds=None))
    return found


def _refuse(name: str, wanted: str, found: object) -> None:
    """Raise the error of a field that makes no sense."""
    shown = shorten(repr(found), 60)
    raise Unprocessable(f"{name} must be {wanted}, found {shown}", where=f"$.{name}")
