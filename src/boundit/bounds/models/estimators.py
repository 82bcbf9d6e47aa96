"""Estimators of scikit-learn: those that come with a kind, and those that users give.

The only module that imports scikit-learn, and only when a model is about to be fitted.
"""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.models.options import ModelKind
from boundit.core.errors import BounditError, MissingExtra, OptionError, shorten
from boundit.core.message import Option
from boundit.counts.named_array import Floats


class BadEstimator(OptionError):
    """An estimator that cannot be fitted, or does not predict."""

    def __init__(self, role: str, estimator: object, problem: str) -> None:
        self.role, self.estimator = role, type(estimator).__name__
        super().__init__(
            f"the model of {role} in ", Option("models"), f", {self.estimator}, {problem}"
        )


def load_scikit_learn() -> None:
    """Make sure that scikit-learn is there, or name the extra that brings it."""
    try:
        import sklearn  # noqa: F401, PLC0415, heavy, and an extra
    except ModuleNotFoundError:
        raise MissingExtra("scikit-learn", "ml") from None


@final
class Learner:
    """Fits fresh copies of one estimator and gives the probabilities or means that they predict.

    ``role`` is what it predicts, in the words of a message. With ``probabilities`` it predicts the
    probability of each class, else a mean.
    """

    def __init__(
        self, role: str, given: object, kind: ModelKind, *, probabilities: bool
    ) -> None:
        self.role = role
        self.estimator = (
            make_estimator(kind, probabilities=probabilities) if given is None else given
        )
        if not hasattr(self.estimator, "fit"):
            raise BadEstimator(role, given, "has no fit; give an estimator of scikit-learn")
        self.has_probabilities = hasattr(self.estimator, "predict_proba")
        if (
            probabilities
            and not self.has_probabilities
            and (role != REWARD or _is_classifier(given))
        ):
            problem = "has no predict_proba; give a classifier that has it"
            raise BadEstimator(role, given, problem)
        self.probabilities = probabilities and self.has_probabilities

    @property
    def name(self) -> str:
        """What the estimator is called: the last step of a pipeline, else its class."""
        steps = getattr(self.estimator, "steps", None)
        return type(steps[-1][1] if steps else self.estimator).__name__

    def predict_classes(
        self, features: Floats, classes: NDArray[np.intp], n_classes: int, at: Floats
    ) -> Floats:
        """Fit on some rows and predict the probability of every class at others, a column each.

        A class of few rows has the same probability everywhere.
        """
        rows = np.bincount(classes, minlength=n_classes)
        found = np.tile(rows / max(len(classes), 1), (len(at), 1))
        common = np.flatnonzero(rows >= FEW_ROWS)
        if len(common) < 2:
            return found
        kept = np.isin(classes, common)
        fitted = self._fit(features[kept], classes[kept])
        predicted = self._ask_chances(fitted, at, len(common))
        known = np.asarray(getattr(fitted, "classes_", common), dtype=np.intp)
        found[:, known] = predicted * (kept.sum() / len(classes))
        return found

    def predict_means(self, features: Floats, rewards: Floats, at: Floats) -> Floats:
        """Fit on the rewards of some rows and predict the mean reward at others, in [0, 1].

        Few rewards, or few successes or failures, leave nothing to fit: their mean, drawn a
        little to the middle, stands for all.
        """
        if min(rewards.sum(), (1 - rewards).sum()) < FEW_ROWS:
            return np.full(len(at), (rewards.sum() + 0.5) / (len(rewards) + 1))
        if not self.probabilities:
            fitted = self._fit(features, rewards)
            return self._ask(lambda: fitted.predict(at), (len(at),)).clip(0, 1)
        fitted = self._fit(features, rewards.astype(np.intp))
        return self._ask_chances(fitted, at, 2)[:, 1]

    def _fit(self, features: Floats, target: NDArray[Any]) -> Any:
        """Fit a fresh copy of the estimator, its faults as one line."""
        from sklearn.base import clone  # noqa: PLC0415, heavy, and an extra

        try:
            return clone(self.estimator, safe=False).fit(features, target)
        except Exception as error:
            raise self._explain(error, "fit") from error

    def _ask(self, predict: Callable[[], object], shape: tuple[int, ...]) -> Floats:
        """Ask a fitted estimator for predictions, and refuse what is none."""
        try:
            found = np.asarray(predict(), dtype=np.float64)
        except Exception as error:
            raise self._explain(error, "predict") from error
        if found.shape != shape:
            problem = f"predicted an array of shape {found.shape} where {shape} was due"
            raise BadEstimator(self.role, self.estimator, problem)
        if wrong := int((~np.isfinite(found)).sum()):
            problem = f"predicted nan or infinity {wrong:,} times in {found.size:,}"
            raise BadEstimator(self.role, self.estimator, problem)
        return found

    def _ask_chances(self, fitted: Any, at: Floats, n_classes: int) -> Floats:
        """Ask a fitted estimator for the probability of each class, and refuse what is none."""
        found = self._ask(lambda: fitted.predict_proba(at), (len(at), n_classes))
        wrong = found[(found < -NEARLY) | (found > 1 + NEARLY)]
        if wrong.size:
            problem = (
                f"predicted {wrong[0]:.6g} as a probability; probabilities are between 0 and 1"
            )
            raise BadEstimator(self.role, self.estimator, problem)
        sums = found.sum(axis=1)
        apart = sums[np.abs(sums - 1) > n_classes * NEARLY]
        if apart.size:
            problem = (
                f"predicted probabilities of all classes whose sum is {apart[0]:.6g}, not 1"
            )
            raise BadEstimator(self.role, self.estimator, problem)
        return found.clip(0, 1)

    def _explain(self, error: Exception, doing: str) -> BounditError:
        """Say in one line what an estimator raised."""
        said = shorten(" ".join(str(error).split()), 160)
        problem = f"raised {type(error).__name__} in {doing}: {said}"
        return BadEstimator(self.role, self.estimator, problem)


FEW_ROWS = 8
"""With fewer rows a class, or an arm's reward, has no model: estimators fail on so few."""
NEARLY = 1e-6
"""How far rounding may move a probability that an estimator predicts."""
REWARD = "the reward"
ARM = "the arm"
EXTERNAL = "the external table"


def _is_classifier(estimator: object) -> bool:
    """Tell whether an estimator says that it predicts classes, as those of scikit-learn do."""
    from sklearn.base import is_classifier  # noqa: PLC0415, heavy, and an extra

    try:
        return bool(is_classifier(estimator))
    except (AttributeError, TypeError):  # it has no tags
        return False


def make_estimator(kind: ModelKind, *, probabilities: bool) -> Any:
    """Make the estimator of a kind that predicts probabilities of classes, or else means."""
    from sklearn import ensemble, linear_model  # noqa: PLC0415, heavy, and an extra
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    ending = "Classifier" if probabilities else "Regressor"
    match kind:
        case "boosting":  # as many small trees as rows kept back agree with
            return getattr(ensemble, f"HistGradientBoosting{ending}")(
                learning_rate=0.1,
                max_iter=200,
                max_leaf_nodes=8,
                min_samples_leaf=20,
                l2_regularization=1.0,
                early_stopping=True,
                n_iter_no_change=10,
                validation_fraction=0.15,
                random_state=0,
            )
        case "forest":
            return getattr(ensemble, f"RandomForest{ending}")(
                n_estimators=100, min_samples_leaf=20, max_features=0.5, random_state=0
            )
        case "linear":
            last = (
                linear_model.LogisticRegression(max_iter=1_000)
                if probabilities
                else linear_model.Ridge()
            )
            return make_pipeline(StandardScaler(), last)
