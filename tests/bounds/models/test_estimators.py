import sys
from functools import partial
from typing import Any, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from boundit.bounds.models.estimators import (
    ARM,
    EXTERNAL,
    REWARD,
    BadEstimator,
    Learner,
    load_scikit_learn,
)
from boundit.bounds.models.options import ModelKind
from boundit.core.errors import MissingExtra
from tests.bounds.models.examples import Array, CellMeans, Constant

KINDS: tuple[ModelKind, ...] = ("boosting", "forest", "linear")
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(400, 2))
CLASSES = (FEATURES[:, 0] + RNG.normal(size=400) > 0).astype(np.intp)


class Raising(BaseEstimator):  # type: ignore[misc]
    def fit(self, features: Array, target: Array) -> Self:
        del features, target
        raise ValueError("no\n such   matrix")

    def predict_proba(self, features: Array) -> Array:
        return features


class Plain:
    """Looks like a regressor, and is of no library."""

    def fit(self, features: Array, target: Array) -> Self:
        del features, target
        return self

    def predict(self, features: Array) -> Array:
        return np.full(len(features), 0.5)


class Wrong(Constant):
    """Predicts what is no chance, or too few of them."""

    def __init__(self, wrong: str = "nan") -> None:
        self.wrong = wrong

    def predict_proba(self, features: Array) -> Array:
        match self.wrong:
            case "nan":
                return super().predict_proba(features) * np.nan
            case "short":
                return super().predict_proba(features)[:3]
            case "seven":
                return super().predict_proba(features) * 14
            case "negative":
                return super().predict_proba(features) * [-2, 4]
            case "half":
                return super().predict_proba(features) / 2
            case "rounded":
                return super().predict_proba(features) * [0, 2] + [-1e-7, 1e-7]
            case _:
                raise RuntimeError("out of order")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns_classes_and_means(kind: ModelKind) -> None:
    at = np.array([[-1.5, 0.0], [1.5, 0.0]])
    chances = Learner(ARM, None, kind, probabilities=True).predict_classes(
        FEATURES, CLASSES, 3, at
    )
    binary = Learner(REWARD, None, kind, probabilities=True)
    numeric = Learner(REWARD, None, kind, probabilities=False)

    assert chances.sum(axis=1) == pytest.approx(1)
    assert chances[0, 0] > 0.6 < chances[1, 1]
    assert (chances[:, 2] == 0).all()
    for learner in (binary, numeric):
        low, high = learner.predict_means(FEATURES, CLASSES.astype(float), at)
        assert 0 <= low < 0.4 < 0.6 < high <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_of_a_class_or_few_successes_need_no_model(kind: ModelKind) -> None:
    """Estimators that keep rows back fail on a class of one row."""
    arms, rewards = np.zeros(60, dtype=np.intp), np.zeros(60)
    arms[20:], arms[0], rewards[7] = 1, 2, 1.0
    learner = Learner(ARM, None, kind, probabilities=True)
    chances = learner.predict_classes(FEATURES[:60], arms, 4, FEATURES[:5])

    assert chances[:, 2] == pytest.approx(1 / 60)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert (chances[:, 3] == 0).all()
    means = learner.predict_means(FEATURES[:60], rewards, FEATURES[:5])
    assert means == pytest.approx(1.5 / 61)
    assert learner.predict_means(FEATURES[:0], np.ones(0), FEATURES[:1]) == pytest.approx(0.5)
    none = learner.predict_classes(FEATURES[:0], arms[:0], 2, FEATURES[:1])
    assert none.tolist() == [[0, 0]]


def test_a_regressor_may_predict_a_reward_of_zeros_and_ones() -> None:
    learner = Learner(REWARD, LinearRegression(), "linear", probabilities=True)
    found = learner.predict_means(FEATURES, CLASSES.astype(float), 10 * FEATURES)

    assert found.min() == 0
    assert found.max() == 1


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (object(), "the model of the arm in models, object, has no fit"),
        (LinearRegression(), "LinearRegression, has no predict_proba; give a classifier"),
        (LinearSVC(), "LinearSVC, has no predict_proba; give a classifier that has it"),
        (Raising(), "Raising, raised ValueError in fit: no such matrix"),
        (Wrong("nan"), "Wrong, predicted nan or infinity 800 times in 800"),
        (Wrong("short"), "Wrong, predicted an array of shape (3, 2) where (400, 2) was due"),
        (
            Wrong("seven"),
            "Wrong, predicted 7 as a probability; probabilities are between 0 and 1",
        ),
        (Wrong("negative"), "Wrong, predicted -1 as a probability"),
        (Wrong("half"), "predicted probabilities of all classes whose sum is 0.5, not 1"),
        (Wrong("raise"), "Wrong, raised RuntimeError in predict: out of order"),
    ],
)
def test_bad_estimators_give_one_clear_line(estimator: object, said: str) -> None:
    with pytest.raises(BadEstimator) as caught:
        Learner(ARM, estimator, "linear", probabilities=True).predict_classes(
            FEATURES, CLASSES, 2, FEATURES
        )
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.option == "models"


@pytest.mark.parametrize("role", [ARM, REWARD, EXTERNAL])
@pytest.mark.parametrize("wrong", ["nan", "seven", "negative", "half"])
def test_what_is_no_chance_is_refused_in_every_role(role: str, wrong: str) -> None:
    learner = Learner(role, Wrong(wrong), "linear", probabilities=True)
    predict: Any = partial(learner.predict_classes, FEATURES, CLASSES, 2)
    if role == REWARD:
        predict = partial(learner.predict_means, FEATURES, CLASSES.astype(float))
    with pytest.raises(BadEstimator) as caught:
        predict(FEATURES)
    assert f"the model of {role} in models, Wrong, predicted" in str(caught.value)


def test_chances_may_be_off_by_rounding() -> None:
    learner = Learner(ARM, Wrong("rounded"), "linear", probabilities=True)
    found = learner.predict_classes(FEATURES, CLASSES, 2, FEATURES)

    assert found.min() == 0
    assert found.max() == 1


def test_a_classifier_of_rewards_must_tell_chances() -> None:
    """Its classes are no means: they would be taken for rewards of which it is certain."""
    for given in (LinearSVC(), make_pipeline(StandardScaler(), LinearSVC())):
        with pytest.raises(BadEstimator, match=r"the reward in models, .*no predict_proba"):
            Learner(REWARD, given, "linear", probabilities=True)


def test_a_regressor_without_tags_may_predict_rewards() -> None:
    learner = Learner(REWARD, Plain(), "linear", probabilities=True)
    found = learner.predict_means(FEATURES, CLASSES.astype(float), FEATURES[:2])

    assert found.tolist() == [0.5, 0.5]


def test_the_estimator_given_is_never_fitted_itself() -> None:
    given = CellMeans()
    Learner(ARM, given, "linear", probabilities=True).predict_classes(
        FEATURES, CLASSES, 2, FEATURES
    )

    assert not hasattr(given, "classes_")


def test_a_pipeline_is_called_by_its_last_step() -> None:
    piped = make_pipeline(StandardScaler(), LogisticRegression())

    assert Learner(ARM, piped, "linear", probabilities=True).name == "LogisticRegression"
    assert Learner(ARM, Constant(), "linear", probabilities=True).name == "Constant"


def test_the_missing_extra_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    load_scikit_learn()
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"pip install 'boundit\[ml\]'"):
        load_scikit_learn()
