from boundit.report.text.explanation import render_blocks
from boundit.terms.formula import Line
from tests.report.examples import CAVEAT, RULE, small_table


def test_an_explanation_is_rendered_part_by_part() -> None:
    found = [
        (block.kind, block.lines)
        for block in render_blocks(small_table().explanation((0, 0), (0,)), str)
    ]

    assert [kind for kind, _ in found] == [
        "text", "text", "claim", "numbers", "head", "steps", "text", "text", "head", "steps",
    ]  # fmt: skip
    assert found[2] == ("claim", (str(RULE.claim),))
    assert found[3] == ("numbers", ("I1=0: 0.2 (40 rows)", "I1=1: 0.3 (60 rows)"))
    assert found[5] == ("steps", tuple(map(str, RULE.steps)))
    assert found[-1] == ("steps", (CAVEAT,))


def test_the_page_says_every_line_that_the_text_says() -> None:
    table = small_table()
    for key in table.bounds:
        blocks = render_blocks(table.explanation(*key), str)
        lines = [line for block in blocks for line in block.lines]

        assert lines == [
            line.strip().removeprefix("- ")
            for line in table.explain(*key).splitlines()
            if line.strip()
        ]


def test_each_line_is_drawn() -> None:
    def shout(line: Line) -> str:
        return str(line).upper()

    *_, last = render_blocks(small_table().explanation((0, 0), (0,)), shout)

    assert last.lines == (CAVEAT.upper(),)
