from boundit.report.text.explanation import blocks
from tests.report.examples import CAVEAT, RULE, small_table


def test_the_parts_of_an_explanation_are_told_apart() -> None:
    text = small_table().explain((0, 0), (0,))
    found = [(block.kind, block.lines) for block in blocks(text, str)]

    assert [kind for kind, _ in found] == [
        "text", "text", "claim", "numbers", "head", "steps", "text", "text", "head", "steps",
    ]  # fmt: skip
    assert found[2] == ("claim", (RULE.claim,))
    assert found[3] == ("numbers", ("I1=0: 0.2 (40 rows)", "I1=1: 0.3 (60 rows)"))
    assert found[5] == ("steps", RULE.steps)
    assert found[-1] == ("steps", (CAVEAT,))


def test_no_line_is_lost() -> None:
    text = small_table().explain((1, 1), (1,))
    lines = [line for block in blocks(text, str) for line in block.lines]

    assert lines == [
        line.strip().removeprefix("- ") for line in text.splitlines() if line.strip()
    ]


def test_each_line_is_typeset() -> None:
    assert blocks("a\nb", str.upper)[1].lines == ("B",)
