"""What a result says of its numbers, and that a file gives back all of them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from boundit.core.errors import CannotWrite, UnreadableFile
from boundit.simulation import regret
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.regret import Regret
from boundit.simulation.summary import Line


def result(runs: int = 40, seed: int = 0) -> Regret:
    """Three policies: the second 2 better than the first in every run, the third alike."""
    rng = np.random.default_rng(seed)
    base = rng.exponential(10.0, (runs, 5)).cumsum(axis=1)
    noise = rng.normal(0, 1, (runs, 1))
    curves = np.stack([base, base - 2, base + noise * np.linspace(0.1, 1, 5)])
    at = np.array([1, 25, 50, 75, 100])
    settings = {"policies": {name: {"kind": name} for name in ("a", "b", "c")}}
    return Regret(("a", "b", "c"), at, curves, {"somewhere": runs}, seed, "1.0", settings)


def margin(line: Line) -> float:
    """Half of the interval of a difference."""
    return (line.less_upper - line.less_lower) / 2


def test_a_line_has_mean_median_and_paired_difference() -> None:
    found = result()
    first, second, third = found.summary()
    final = found.curves[:, :, -1]

    assert second.mean == final[1].mean()
    assert second.median == np.median(final[1])
    assert second.median_lower < second.median < second.median_upper
    assert second.q95 == np.quantile(final[1], 0.95)
    assert np.isnan(second.q95_upper)
    low, high = stats.t.interval(0.95, 39, final[1].mean(), stats.sem(final[1]))
    assert (second.mean_lower, second.mean_upper) == pytest.approx((low, high))
    assert second.error == pytest.approx((high - low) / 2)
    assert (first.less, margin(first), first.p) == (0, 0, 1)
    assert (second.less, margin(second)) == pytest.approx((2, 0))
    gap = final[0] - final[2]
    assert (third.less, third.p) == pytest.approx((gap.mean(), stats.ttest_1samp(gap, 0)[1]))


def test_a_correction_widens_intervals_and_raises_chances() -> None:
    found = result()
    plain, holm, bonferroni = (
        found.summary(correction=c)[2] for c in ("none", "holm", "bonferroni")
    )

    assert margin(plain) < margin(holm) == margin(bonferroni)
    assert plain.p <= holm.p <= bonferroni.p == pytest.approx(min(1, 2 * plain.p))
    with pytest.raises(InvalidSimulation, match="correction"):
        found.summary(correction="scheffe")  # type: ignore[arg-type]


def test_a_drawn_band_is_where_the_first_would_have_to_be_to_be_no_different() -> None:
    """Around each curve the paired margin; the first curve is what the others are held to."""
    found = result()
    first, *others = found.make_curves()

    assert (first.low, first.high) == ((), ())
    for curve, line in zip(others, found.summary()[1:], strict=True):
        assert curve.low[-1] == pytest.approx(line.mean - margin(line))
        assert curve.high[-1] == pytest.approx(line.mean + margin(line))
        assert (curve.name, curve.at[-1]) == (line.policy, 100)


def test_rows_and_frame_hold_the_curves() -> None:
    found = result()
    rows, frame = found.rows(), found.frame()

    assert len(rows) == 15
    assert rows[4]["policy"] == "a"
    assert rows[4]["round"] == 100
    assert frame["mean"].tolist() == [row["mean"] for row in rows]
    assert list(frame.columns[:3]) == ["policy", "round", "mean"]


def test_other_policies_may_be_compared_with() -> None:
    found = result()
    (first, other) = found.only("b", "a").summary()

    assert (first.policy, first.less) == ("b", 0)
    assert other.less == pytest.approx(-2)
    assert found.only("b").settings == {"policies": {"b": {"kind": "b"}}}
    with pytest.raises(InvalidSimulation, match="one of a, b, c"):
        found.only("z")


def test_the_text_is_a_table() -> None:
    lines = str(result()).splitlines()

    assert lines[0].startswith("somewhere: 40 runs of 100 rounds, seed 0")
    assert lines[1].split() == ["policy", "mean", "median", "q95", "less", "than", "a"]
    assert [line.split()[0] for line in lines[2:]] == ["a", "b", "c"]
    assert lines[3].endswith("+2.00 [2.00, 2.00]")


def test_one_run_has_numbers_and_no_intervals() -> None:
    one = result(runs=1)

    assert np.isnan(one.summary()[0].mean_lower)
    assert "[" not in str(one)


def test_a_file_gives_everything_back(tmp_path: Path) -> None:
    found, path = result(), tmp_path / "regret.npz"
    found.save(path)
    again = Regret.load(path)

    assert np.array_equal(again.curves, found.curves)
    assert np.array_equal(again.at, found.at)
    assert (again.policies, again.environments, again.seed) == (
        found.policies,
        found.environments,
        0,
    )
    assert (again.version, again.settings) == ("1.0", found.settings)
    assert str(again) == str(found)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_curves_are_drawn_into_a_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"regret.{suffix}"
    result().plot(path)

    assert path.stat().st_size > 2_000


def test_a_record_of_several_environments_has_each_and_the_worst() -> None:
    found = replace(result(), environments={"here": 15, "there": 25})
    record = json.loads(json.dumps(found.record()))
    means = {part.environment: float(part.final("b").mean()) for part in found.split()}

    assert found.environment == record["environment"] == "2 environments"
    assert [each["runs"] for each in record["environments"]] == [15, 25]
    worst = record["worst"]["b"]
    assert means[worst["environment"]] == worst["mean"] == max(means.values())
    assert f"b: {worst['mean']:,.1f} in {worst['environment']}" in str(found)


def saved(folder: Path) -> Path:
    path = folder / "regret.npz"
    result(8).save(path)
    return path


def test_no_byte_can_be_changed_unnoticed(tmp_path: Path) -> None:
    """Whatever is hit (zip, array, head), the file is refused or nothing of it has changed."""
    path = saved(tmp_path)
    whole, rng, refused, found = path.read_bytes(), np.random.default_rng(0), 0, result(8)
    for place in rng.choice(len(whole), 250, replace=False):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        path.write_bytes(broken)
        try:
            again = Regret.load(path)
        except InvalidSimulation:
            refused += 1
        else:
            assert (again.settings, again.environments) == (found.settings, found.environments)
            assert np.array_equal(again.curves, found.curves)
    assert refused > 120


def test_a_number_changed_by_hand_shows(tmp_path: Path) -> None:
    path = saved(tmp_path)
    with np.load(path) as parts:
        found = {name: parts[name] for name in parts.files}
    found["curves"] = found["curves"] + 1e-12
    np.savez(path, allow_pickle=True, **found)

    with pytest.raises(InvalidSimulation, match="It was changed after it was saved"):
        Regret.load(path)


def test_other_files_and_versions_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    whole = path.read_bytes()
    monkeypatch.setattr(regret, "VERSION", 3)
    with pytest.raises(InvalidSimulation, match="format version 2, this release reads 3"):
        Regret.load(path)
    for size in (0, 1, 50, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(
            InvalidSimulation, match=r"is not a saved simulation\. It cannot be"
        ):
            Regret.load(path)
    np.savez(path, allow_pickle=True, at=np.arange(3))
    with pytest.raises(InvalidSimulation, match="It cannot be read"):
        Regret.load(path)
    with pytest.raises(CannotWrite, match="cannot write"):
        result().save(tmp_path / "nowhere" / "regret.npz")
    with pytest.raises(UnreadableFile):
        Regret.load(tmp_path / "none.npz")
