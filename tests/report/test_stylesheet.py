"""One stylesheet for all pages: the palette by name, and nothing that the palette lacks."""

import re

from boundit.report.palette import SHADES
from boundit.report.stylesheet import write_palette, write_stylesheet


def test_every_colour_has_its_name_light_and_dark() -> None:
    light, dark = write_palette().splitlines()

    for name, shade in SHADES.items():
        assert f"--{name}: {shade.light};" in light
        assert f"--{name}: {shade.dark};" in dark
    assert dark.startswith("@media screen"), "paper is light"


def test_parts_use_colours_of_the_palette_and_of_nothing_else() -> None:
    parts = write_stylesheet().removeprefix(write_palette())
    named = set(re.findall(r"var\(--([a-z-]+(?:\d)?)", parts))
    own = set(re.findall(r"--([a-z]+):", parts)) | {"a", "w", "b", "v"}

    assert named - own <= set(SHADES)
    assert not re.findall(r"#[0-9a-f]{3,8}\b", parts)
