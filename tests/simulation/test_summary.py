"""The pieces of a summary; what a whole result says is in ``test_regret``."""

import json

import numpy as np
import pytest

from boundit.simulation.summary import format_lines, summarize_curves, summarize_final

FINAL = np.random.default_rng(0).exponential(5.0, (3, 30))


def test_differences_are_from_the_first_and_paired() -> None:
    first, second, _ = summarize_final(("a", "b", "c"), FINAL)
    turned, _ = summarize_final(("b", "a"), FINAL[1::-1])

    assert (first.less, first.less_lower, first.less_upper, first.p) == (0, 0, 0, 1)
    assert second.less == pytest.approx(first.mean - second.mean)
    assert (turned.mean, turned.median) == (second.mean, second.median)


def test_a_band_is_a_line_at_each_round() -> None:
    curves = np.stack([FINAL, 2 * FINAL], axis=2)
    found = summarize_curves(("a", "b", "c"), np.array([10, 20]), curves)

    for band, line in zip(found, summarize_final(("a", "b", "c"), 2 * FINAL), strict=True):
        ends = band.lower[1], band.upper[1], band.less_lower[1], band.less_upper[1]
        assert ends == pytest.approx(
            (line.mean_lower, line.mean_upper, line.less_lower, line.less_upper)
        )
        assert (band.median[1], band.q95[1]) == (line.median, line.q95)


def test_a_table_has_a_row_for_each_line() -> None:
    text = format_lines("head", summarize_final(("long name", "b"), FINAL[:2])).splitlines()

    assert text[0] == "head"
    assert text[1].endswith("less than long name")
    assert len({row.index(".") for row in text[2:]}) == 1
    assert (
        format_lines("h", summarize_final(("a",), FINAL[:1])).splitlines()[1].split()[-1]
        == "q95"
    )


def test_what_json_lacks_is_null() -> None:
    (line,) = summarize_final(("a",), FINAL[:1, :1])

    assert line.to_record()["mean_lower"] is None
    assert json.loads(json.dumps(line.to_record(), allow_nan=False))["policy"] == "a"
