"""What a policy is created with: a strict record, and the policy that it makes."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field, structs, to_builtins

from boundit.bandit.errors import BadArm, UnknownOption
from boundit.bandit.fused.policy import Fused
from boundit.bandit.lin_ts import LinTS
from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.oam.policy import OAM
from boundit.bandit.options import CommonOptions
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB
from boundit.core.errors import BounditError, shorten
from boundit.results import bound_file
from boundit.results.bound_table import BoundTable
from boundit.service.errors import NoSuchPolicy, Unprocessable

Scalar: TypeAlias = str | int | float | bool | None
"""One value of a variable, as JSON has it."""
Values: TypeAlias = Scalar | list[Scalar] | dict[str, Scalar]
"""An arm or a context: a scalar for one variable, a list in order, an object by name."""
Kind: TypeAlias = Literal["Fused", "LinUCB", "UCB", "TS", "LinTS", "OAM"]

KINDS: Mapping[str, type[Policy]] = {
    "Fused": Fused,
    "LinUCB": LinUCB,
    "UCB": UCB,
    "TS": TS,
    "LinTS": LinTS,
    "OAM": OAM,
}
LONGEST_WINDOW = 10 * 366 * 86_400.0
"""Ten years, in seconds."""
NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_NOT_OPTIONS = frozenset(
    CommonOptions.__annotations__.keys() | {"prior", "features", "warm_start"}
)
"""Options that are fields of the configuration, or the service's own, or no JSON."""
_NEED_CONTEXT = frozenset(["LinUCB", "LinTS", "OAM"])
"""Kinds whose features have one length, which the context must be known for."""


class PolicyConfig(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a policy is created with.

    ``kind`` names its class and ``options`` are those of that class, such as ``doubt``.
    ``bounds`` are what ``BoundTable.save`` writes. With ``learn="window"`` a decision is
    learned when its ``window`` (seconds) is over, with what came until then or else the
    ``default_reward``; without a default it then expires. ``learn="immediately"`` learns a
    reward when it comes, which is biased where successes come sooner than their absence.
    Unless it is given, ``learn`` is ``"window"`` where there is a window. ``goal`` is that of
    the bounds unless it is given. ``monitor`` is the level at which rewards test the bounds,
    null for not at all. ``reward_aggregation`` says which of several rewards of one decision
    count. In ``shadow`` mode the caller acts by its own rule. ``retention`` is how many days
    events are kept.
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
    learn: Literal["window", "immediately"] | None = None
    window: float | None = None
    default_reward: float | None = None
    reward_aggregation: Literal["first", "last", "sum"] = "first"
    shadow: bool = False
    unknown_levels: Literal["error", "range"] = "error"
    goal: Literal["max", "min"] | None = None
    monitor: float | None = 0.05
    retention: float | None = None

    @property
    def learns_immediately(self) -> bool:
        """Whether a reward is learned when it comes."""
        return self.learn == "immediately" or (self.learn is None and self.window is None)

    @property
    def warnings(self) -> list[str]:
        """Warnings for the one who creates the policy."""
        found = list[str]()
        if self.learns_immediately:
            found.append(
                "rewards are learned immediately: where successes come sooner than their absence, "
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
    if not NAME.fullmatch(name):
        raise NoSuchPolicy(name)


def check_config(config: PolicyConfig) -> None:
    """Refuse a configuration whose parts make no sense, before a policy is made of it."""
    if not NAME.fullmatch(config.name):
        wanted = "1 to 100 letters, digits, dots, dashes or underscores"
        _refuse("name", wanted, config.name)
    if config.name in {".", ".."}:
        _refuse("name", "no dots alone", config.name)
    if config.seed is not None and not 0 <= config.seed < 2**64:
        _refuse("seed", "a whole number of 64 bits, 0 or more", config.seed)
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
    if config.learn == "immediately" and window is not None:
        _refuse("learn", "'window' where there is a window", config.learn)
    if not config.learns_immediately:
        return
    if config.reward_aggregation != "first":
        wanted = "'first' without a window, as nothing is unlearned"
        _refuse("reward_aggregation", wanted, config.reward_aggregation)
    if config.default_reward is not None:
        _refuse("default_reward", "left out without a window", config.default_reward)


def make_policy(config: PolicyConfig) -> Policy:
    """Make the policy of a configuration that has a seed, or raise ``Unprocessable``.

    It remembers no ids, as the store does.
    """
    check_config(config)
    if refused := sorted(_NOT_OPTIONS & config.options.keys()):
        reason = (
            f"{refused[0]} cannot be given in options; most such options are fields beside them"
        )
        raise Unprocessable(reason, field="$.options")
    try:
        make: Callable[..., Policy] = KINDS[config.kind]
        policy = make(
            **config.options,
            prior=None if config.bounds is None else read_bounds(config.bounds),
            arms=config.arms,
            context=config.context,
            reward_range=config.reward_range,
            seed=config.seed,
            explore=config.explore,
            unknown_levels=config.unknown_levels,
            goal=config.goal,
            monitor=config.monitor,
            id_window=0,
        )
        if config.default_reward is not None:
            policy.spec.read_reward(config.default_reward, "default_reward")
    except UnknownOption as error:
        raise Unprocessable(str(error), field="$.options") from None
    except BadArm as error:
        raise Unprocessable(str(error), field="$.arms") from None
    except BounditError as error:
        if isinstance(error, Unprocessable):
            raise
        raise Unprocessable(str(error), field="$") from None
    if policy.spec.context is None and config.kind in _NEED_CONTEXT:
        reason = f"{config.kind} learns by the numbers of a context: write its names in context"
        raise Unprocessable(f'{reason}, such as ["age"], or [] for none', field="$.context")
    if not policy.spec.arms:
        raise Unprocessable("give the policy arms, or bounds that have some", field="$.arms")
    return policy


def read_bounds(record: Mapping[str, Any]) -> BoundTable:
    """Read a table of bounds as ``BoundTable.save`` writes it, or raise ``Unprocessable``."""

    def refuse(reason: str) -> Unprocessable:
        return Unprocessable(f"not a table of bounds: {reason}", field="$.bounds")

    return BoundTable.from_record(bound_file.open_record(record, refuse), error=refuse)


def describe_config(config: PolicyConfig) -> dict[str, Any]:
    """Write a configuration without its bounds as a JSON object, to be shown and compared."""
    found: dict[str, Any] = to_builtins(structs.replace(config, bounds=None))
    return found


def _refuse(name: str, wanted: str, found: object) -> None:
    """Raise the error of a field that makes no sense."""
    shown = shorten(repr(found), 60)
    raise Unprocessable(f"{name} must be {wanted}, found {shown}", field=f"$.{name}")
