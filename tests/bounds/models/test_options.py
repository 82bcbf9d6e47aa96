import pytest
from sklearn.linear_model import LogisticRegression

from boundit.bounds.models.options import Models, read_models
from boundit.core.errors import OptionError


def test_a_kind_and_models_are_read() -> None:
    given = Models(kind="forest", folds=3)

    assert read_models(given) is given
    assert read_models("linear") == Models(kind="linear")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("magic", "no 'magic' models; there are boosting, forest, linear"),
        (3, "models must be one of boosting, forest, linear or bd.Models(...), found 3"),
        (object, "an estimator goes into bd.Models(reward=..., arm=...)"),
    ],
)
def test_what_is_no_model_is_refused(given: object, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_models(given)
    assert said in str(caught.value)
    assert caught.value.option == "models"


@pytest.mark.parametrize("role", ["reward", "arm", "external"])
def test_a_class_is_no_estimator(role: str) -> None:
    with pytest.raises(OptionError) as caught:
        Models(**{role: LogisticRegression})
    said = "found the class LogisticRegression; give an instance: LogisticRegression()"
    assert str(caught.value) == f"{role} is an estimator, {said}"
    assert caught.value.option == "models"


@pytest.mark.parametrize(
    "options",
    [
        {"folds": 1},
        {"folds": 2.5},
        {"folds": True},
        {"seed": -1},
        {"least_propensity": 0},
        {"least_propensity": 0.5},
        {"least_propensity": "small"},
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError) as caught:
        Models(**options)  # type: ignore[arg-type]
    assert next(iter(options)) in str(caught.value)
