from itertools import combinations

import pytest

from boundit.report.palette import (
    SERIES,
    SHADES,
    blend_shades,
    use_color,
)

TEXT = ("ink", "muted", "accent", "miss", "good", "warn")


def luminance(color: str) -> float:
    """As WCAG 2 defines it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("ground", ["paper", "raised"])
def test_words_can_be_read_light_and_dark(side: int, ground: str) -> None:
    """WCAG 2, 1.4.3: text needs a contrast of 4.5."""
    for name in TEXT:
        assert contrast(SHADES[name][side], SHADES[ground][side]) >= 4.5, name


@pytest.mark.parametrize("side", [0, 1])
def test_marks_can_be_seen_light_and_dark(side: int) -> None:
    """WCAG 2, 1.4.11: graphics need a contrast of 3; names beside curves are text."""
    for name in (*SERIES, "treatment", "context", "outcome", "selection"):
        assert contrast(SHADES[name][side], SHADES["paper"][side]) >= 4.5, name


@pytest.mark.parametrize("ground", ["#ffffff", "#111111", "#1f1f1f"])
def test_blends_can_be_seen_on_any_ground_of_a_notebook(ground: str) -> None:
    """WCAG 2, 1.4.11; the grounds are those of JupyterLab and VS Code."""
    for name in SHADES:
        assert contrast(blend_shades(name), ground) >= 3, name


def seen(color: str, matrix: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    rgb = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return tuple(sum(m * c for m, c in zip(row, rgb, strict=True)) for row in matrix)


def test_the_first_four_series_differ_for_common_color_deficiencies() -> None:
    """Machado, Oliveira and Fernandes (2009), full protanopia and deuteranopia."""
    protan = ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052))
    deutan = ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969))
    for matrix in (protan, deutan):
        for one, other in combinations(SERIES[:4], 2):
            a, b = (seen(SHADES[name].light, matrix) for name in (one, other))
            assert sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 > 0.12


def test_colors_are_variables_with_the_light_color_to_fall_back_on() -> None:
    assert use_color("ink") == f"var(--ink, {SHADES['ink'].light})"
