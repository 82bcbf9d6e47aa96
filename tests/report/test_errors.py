import pytest

from boundit.report.errors import CannotDraw, NothingToDraw, UnevenCurve, UnknownSuffix


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            UnknownSuffix("regret.jpg", (".png", ".svg")),
            "cannot tell from 'regret.jpg' how to save a figure; "
            "its name must end in .png or .svg",
        ),
        (
            NothingToDraw("the table has no rows"),
            "there is nothing to draw: the table has no rows",
        ),
        (
            UnevenCurve("UCB", (3, 2)),
            "the curve 'UCB' has 3, 2 values; its places and heights must be equally many",
        ),
    ],
)
def test_messages_say_what_would_work(error: CannotDraw, message: str) -> None:
    assert str(error) == message
