from boundit.core.formula import StepRecord
from boundit.report.records import PathHighlight
from boundit.report.text.explanation import render_blocks
from tests.report.examples import RULE, small_table


def light_nothing(_: StepRecord) -> None:
    """No page, no graph."""


def test_an_explanation_is_rendered_part_by_part() -> None:
    found = [
        (block.kind, tuple(line.html for line in block.lines))
        for block in render_blocks(small_table().explain((0, 0), (0,)), str, light_nothing)
    ]

    assert [kind for kind, _ in found] == [
        "text", "head", "text", "head", "claim", "head", "numbers", "head", "steps", "head",
        "text",
    ]  # fmt: skip
    assert found[4] == ("claim", (str(RULE.claim),))
    assert found[6] == ("numbers", ("I1=0: 0.2 (40 rows)", "I1=1: 0.3 (60 rows)"))
    assert found[8] == ("steps", tuple(map(str, RULE.steps)))


def test_steps_alone_are_asked_what_they_light_up() -> None:
    def light(step: StepRecord) -> PathHighlight | None:
        asked.append(step)
        return found if step.between else None

    asked, found = list[StepRecord](), PathHighlight((("Y",), ("S",)), (), ("Y -> S",), "")
    blocks = render_blocks(small_table().explain((0, 0), (0,)), str, light)

    assert asked == list(RULE.steps)
    lit = [line.html for block in blocks for line in block.lines if line.highlight == found]
    assert lit == [str(RULE.steps[0])]
