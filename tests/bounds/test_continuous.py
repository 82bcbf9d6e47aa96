"""A measurement where a category is meant is refused alike, with a context and without."""

import numpy as np
import pytest

import boundit as bd


@pytest.mark.parametrize("question", ["Y | do(X)", "Y | do(X), C", "Y | do(X), Z"])
@pytest.mark.parametrize(
    "graph",
    [
        "Z -> X; Z -> Y; X -> Y; C -> Y",
        "Z -> X; Z -> Y; X -> Y; C -> X; C -> Y; X <-> Y",
        "Z -> X; Z -> Y; X -> Y; C -> Y; Y -> [S]",
    ],
)
def test_a_continuous_covariate_is_refused_whatever_the_context(
    graph: str, question: str
) -> None:
    rng = np.random.default_rng(1)
    c, x, y = rng.integers(2, size=(3, 400))
    log = {"Z": rng.normal(size=400), "C": c, "X": x, "Y": y}

    with pytest.raises(bd.BounditError, match=r"^'Z' looks continuous.*bins=\{'Z'"):
        bd.derive_bounds(graph, question, log)


@pytest.mark.parametrize("question", ["Y | do(X)", "Y | do(X), C", "Y | do(X), C, B"])
@pytest.mark.parametrize("kept_by", ["X", "Z"])
def test_many_continuous_covariates_are_refused_whatever_the_context(
    kept_by: str, question: str
) -> None:
    """With a context more of them are needed than one rule goes over: no reason to be silent."""
    graph = f"Z = {{D, E, F, G, C, B}}; Z -> X -> Y; Z -> Y; {kept_by} -> [S]"
    rng = np.random.default_rng(1)
    categories = {name: rng.integers(2, size=400) for name in "CBXY"}
    log = {**categories, **{name: rng.normal(size=400) for name in "DEFG"}}

    with pytest.raises(bd.BounditError, match=r"^'[DEFG]' looks continuous.*bins="):
        bd.derive_bounds(graph, question, log)
