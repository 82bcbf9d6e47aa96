import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from boundit.bounds.models.folds import assign_folds


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 60))
def test_every_fold_has_as_many_rows_of_each_arm_as_can_be(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, 3, n)
    folds = assign_folds(arms, None, k, rng)

    for arm in range(3):
        sizes = np.bincount(folds[arms == arm], minlength=k)
        assert sizes.max() - sizes.min() <= 1


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_clusters_stay_together(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 12, 50)
    folds = assign_folds(np.zeros(50, dtype=np.int64), clusters, k, rng)

    for cluster in range(12):
        assert len(set(folds[clusters == cluster].tolist())) <= 1
