"""Take the tutorial's pictures from the running page; ``make figures`` does.

``python -m tests.studio.stories.pictures`` writes them to docs/figures. A test tells the same
story, and fails where the tutorial shows a picture that the story does not take.
"""

import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

from tests.report.browser import chromium
from tests.studio.stories.kit import PATIENCE, View, run_studio, visit
from tests.studio.stories.pharmacy import tell_pharmacy

FIGURES = Path(__file__).parents[3] / "docs" / "figures"
VIEW = View(1280, "light")
COLOURS = 160
"""How many colours a picture keeps: enough for the palette, and a third of the size."""


def take_pictures(folder: Path) -> None:
    """Tell the tutorial's story once and leave its pictures in a folder."""
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory() as place,
        chromium() as browser,
        run_studio(Path(place)) as studio,
        visit(browser, studio, VIEW) as visitor,
    ):

        def take(name: str) -> None:
            expect(visitor.find("#status")).not_to_have_text("Saving …")
            shot = Image.open(BytesIO(visitor.page.screenshot(animations="disabled")))
            few = shot.convert("RGB").quantize(
                COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
            few.save(folder / f"{name}.png", optimize=True)

        tell_pharmacy(visitor, take)


if __name__ == "__main__":
    take_pictures(FIGURES)
