import json
import math
import re
from base64 import b64decode

import numpy as np
import pytest

from boundit.report.pages.bound_view import make_finder
from boundit.report.pages.kept_rows import keep_rows
from boundit.report.pages.row_values import RowValues
from boundit.report.text.blanks import FILLER, FIRST
from boundit.terms.bound_table import BoundTable
from tests.report.examples import large_table, random_table


class Reader:
    """Reads kept rows as the script of a page does, but for the HTML."""

    def __init__(self, table: BoundTable) -> None:
        self.keys = RowValues.of(table).keys
        kept = keep_rows(RowValues.of(table), str, make_finder(None))
        self.data = json.loads(
            kept.write_json(
                lambda row, where: "|".join(
                    (row.arm, where, row.lower, row.upper, row.n, row.by)
                ),
                lambda block: "".join(f"{line.html}\n" for line in block.lines),
                lambda where: where,
            )
        )

    def unpack(self, name: str) -> list[int]:
        return unpack(self.data[name])

    def fill(self, text: str, row: int) -> str:
        def value(match: re.Match[str]) -> str:
            column = self.data["columns"][ord(match[0][0]) - FIRST]
            holder = row if column["by"] == "row" else self.unpack(f"{column['by']}s")[row]
            return str(column["texts"][unpack(column["codes"])[holder]])

        return re.sub(f"[{chr(FIRST)}-{chr(ord(FILLER) - 1)}]{FILLER}*", value, text)

    def show(self, row: int) -> str:
        return self.fill(self.data["rows"][self.unpack("looks")[row]], row)

    def explain(self, row: int) -> str:
        shape = self.data["shapes"][self.unpack("groups")[row]]
        return self.fill("".join(self.data["blocks"][block] for block in shape), row)


def unpack(written: dict[str, str]) -> list[int]:
    plain = np.frombuffer(b64decode(written["base64"]), f"<u{written['bytes']}")
    return [int(code) for code in plain]


def simplify(explanation: str) -> list[str]:
    """The lines without what tells a list from a paragraph."""
    lines = (line.strip().removeprefix("- ") for line in explanation.splitlines())
    return [line for line in lines if line]


@pytest.mark.parametrize("seed", range(4))
def test_every_row_can_be_shown_and_explained_from_what_is_kept(seed: int) -> None:
    table = random_table(seed)
    reader = Reader(table)

    for i in range(0, len(reader.keys), 5):
        (arm,), where = reader.keys[i]
        bound = table.bounds[(arm,), where]
        named, placed, lower, upper, *_ = reader.show(i).split("|")
        assert (named, placed) == (arm, f"C={where[0]}, W={where[1]}")
        assert (lower, upper) == (f"{bound.lower:.3f}", f"{bound.upper:.3f}")
        assert simplify(reader.explain(i)) == simplify(str(table.explanation((arm,), where)))


def test_what_rows_share_is_kept_once() -> None:
    reader = Reader(large_table(arms=10))
    claim = "lies between min/max over I1"

    assert json.dumps(reader.data).count(claim) == 1
    assert len(reader.data["blocks"]) < 50


def test_nothing_that_is_kept_can_end_the_script_it_stands_in() -> None:
    table = random_table(0)
    kept = keep_rows(RowValues.of(table), str, make_finder(None))

    assert "<" not in kept.write_json(lambda *_: "</script>", lambda _: "<!--", None)


@pytest.mark.parametrize("most", [1.0, math.inf])
def test_a_reward_without_a_greatest_value_can_be_shown_too(most: float) -> None:
    rows = [{"Ad": i, "lower": i / 1000, "upper": i / 500} for i in range(300)]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], reward_range=(0, most))

    assert Reader(table).show(7).startswith("7|everyone|0.007|0.014|0|given")
