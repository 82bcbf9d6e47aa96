"""The option ``models``: which models predict rewards and arms, and how rows are shared out."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from boundit.core.errors import OptionError, shorten
from boundit.core.message import Option

ModelKind: TypeAlias = Literal["boosting", "forest", "linear"]
"""The models that come with the extra ``ml``."""
MOST_FOLDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Which models predict rewards and arms for each row, and how rows are shared out.

    ``kind`` are ``"boosting"`` (trees one after another), ``"forest"`` or ``"linear"``
    (logistic or ridge regression). ``reward``, ``arm`` and ``external`` are estimators of
    scikit-learn that take the place of that kind: for the reward given the covariates, for the
    probability of each arm, and of whether a row is of the external table rather than of
    the log. Rows are predicted by models that saw only the other ``folds``. Where an arm is
    chosen with a probability below ``least_propensity``, its reward may be anything. The folds are
    drawn by the ``seed``.

    >>> Models(kind="linear", folds=10).folds
    10
    """

    kind: ModelKind = "boosting"
    reward: object = None
    arm: object = None
    external: object = None
    folds: int = 5
    least_propensity: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a kind that is none, and numbers that cannot be meant."""
        if self.kind not in get_args(ModelKind):
            raise OptionError(
                f"no {self.kind!r} models; there are {', '.join(get_args(ModelKind))}, and any "
                "estimator of scikit-learn in bd.Models(reward=..., arm=...)",
                option="models",
            )
        for role in ("reward", "arm", "external"):
            _refuse_class(getattr(self, role), role)
        _require_whole(self.folds, "folds", 2, MOST_FOLDS)
        _require_whole(self.seed, "seed", 0, 2**32 - 1)
        least = self.least_propensity
        if not isinstance(least, int | float) or not 0 < least < 0.5:
            raise OptionError(
                f"least_propensity must be between 0 and 0.5, found {least!r}", option="models"
            )


def read_models(given: object) -> Models:
    """Read the option ``models``: the name of a kind, or ``Models``.

    >>> read_models("linear").kind
    'linear'
    """
    match given:
        case Models():
            return given
        case str():
            return Models(kind=given)  # type: ignore[arg-type]
        case _:
            found = shorten(repr(given), 60)
            raise OptionError(
                Option("models"),
                f" must be one of {', '.join(get_args(ModelKind))} or bd.Models(...), found "
                f"{found}; an estimator goes into bd.Models(reward=..., arm=...)",
            )


def _refuse_class(given: object, role: str) -> None:
    """Refuse a class where an estimator is due."""
    if isinstance(given, type):
        name = given.__name__
        raise OptionError(
            f"{role} is an estimator, found the class {name}; give an instance: {name}()",
            option="models",
        )


def _require_whole(found: object, name: str, least: int, most: int) -> None:
    """Refuse anything but a whole number in a range."""
    whole = isinstance(found, int) and not isinstance(found, bool)
    if not whole or not least <= found <= most:  # type: ignore[operator]
        raise OptionError(
            f"{name} must be a whole number from {least} to {most:,}, found {found!r}",
            option="models",
        )
