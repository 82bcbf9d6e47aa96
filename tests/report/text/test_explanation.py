from boundit.core.formula import Line, StepRecord
from boundit.report.records import PageLine, PathHighlight
from boundit.report.text.explanation import render_blocks
from tests.report.examples import CAVEAT, RULE, small_table


def light_nothing(_: StepRecord) -> None:
    """No page, no graph."""


def test_an_explanation_is_rendered_part_by_part() -> None:
    found = [
        (block.kind, tuple(line.html for line in block.lines))
        for block in render_blocks(small_table().explanation((0, 0), (0,)), str, light_nothing)
    ]

    assert [kind for kind, _ in found] == [
        "text", "text", "claim", "numbers", "head", "steps", "text", "steps", "text", "text",
        "head", "steps",
    ]  # fmt: skip
    assert found[2] == ("claim", (str(RULE.claim),))
    assert found[3] == ("numbers", ("I1=0: 0.2 (40 rows)", "I1=1: 0.3 (60 rows)"))
    assert found[5] == ("steps", tuple(map(str, RULE.steps)))
    assert found[-1] == ("steps", (f"note: {CAVEAT}",))


def test_the_page_says_every_line_that_the_text_says() -> None:
    table = small_table()
    for key in table.bounds:
        blocks = render_blocks(table.explanation(*key), str, light_nothing)
        lines = [line.html for block in blocks for line in block.lines]

        assert lines == [
            line.strip().removeprefix("- ")
            for line in str(table.explanation(*key)).splitlines()
            if line.strip()
        ]


def test_each_line_is_drawn() -> None:
    def shout(line: Line) -> str:
        return str(line).upper()

    *_, last = render_blocks(small_table().explanation((0, 0), (0,)), shout, light_nothing)

    assert last.lines == (PageLine(f"note: {CAVEAT}".upper()),)


def test_steps_alone_are_asked_what_they_light_up() -> None:
    def light(step: StepRecord) -> PathHighlight | None:
        asked.append(step)
        return found if step.between else None

    asked, found = list[StepRecord](), PathHighlight((("Y",), ("S",)), (), ("Y -> S",), "")
    blocks = render_blocks(small_table().explanation((0, 0), (0,)), str, light)

    assert asked == list(RULE.steps)
    lit = [line.html for block in blocks for line in block.lines if line.highlight == found]
    assert lit == [str(RULE.steps[0])]
