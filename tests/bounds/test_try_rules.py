"""Rules within limits: what does not fit is left out and named, what fits holds."""

import numpy as np
import pytest

from boundit.bounds.numbers import Ends, Numbers, PlugInNumbers
from boundit.bounds.plan import BoundPlan, plan_sound
from boundit.bounds.rules.chain import Chain
from boundit.bounds.try_rules import try_rules
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.formulas.workspace import Workspace
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.terms.long_work import TimeBudget

GRAPH = parse("Z -> X -> M -> Y; Z -> Y")
PLAN = plan_sound(GRAPH, parse_query("Y | do(X)"))
MODEL = Model(
    GRAPH,
    {
        "Z": ([], 0.4),
        "X": (["Z"], [0.3, 0.6]),
        "M": (["X"], [0.2, 0.9]),
        "Y": (["M", "Z"], [[0.1, 0.5], [0.4, 0.8]]),
    },
)
TRUTH = MODEL.effect(outcomes="Y", treatments="X").at({"Y": 1}).values


def make_numbers(workspace: Workspace) -> Numbers:
    law = MODEL.law()
    return PlugInNumbers(Evaluator(law, [law], workspace))


def test_every_rule_is_heard_of_and_asked() -> None:
    heard: list[tuple[str, int, int]] = []
    found, notes = try_rules(
        make_numbers(Workspace(2**30)),
        PLAN.rules,
        [2],
        lambda *step: heard.append(step),
    )

    assert notes == ()
    assert [done for _, done, _ in heard] == list(range(len(PLAN.rules)))
    assert {step for step, _, _ in heard} == {f"try {p.record.name}" for p in PLAN.rules}
    for ends in found:
        assert (ends.lower - 1e-9 <= TRUTH).all()
        assert (ends.upper + 1e-9 >= TRUTH).all()


def test_rules_too_large_are_named_with_what_would_help() -> None:
    found, notes = try_rules(make_numbers(Workspace(8 * 4 * 5)), PLAN.rules, [2])

    said = [str(note) for note in notes]
    assert said
    assert all("memory_limit" in note for note in said)
    assert any(note.startswith("the rule '") for note in said)
    for ends in found:
        assert (ends.lower - 1e-9 <= TRUTH).all()
        assert (ends.upper + 1e-9 >= TRUTH).all()


def test_rules_that_come_too_late_are_named() -> None:
    found, (note,) = try_rules(make_numbers(Workspace(2**30, TimeBudget(0))), PLAN.rules, [2])

    assert "time_limit" in str(note)
    assert PLAN.rules[0].record.name in str(note) or "more" in str(note)
    assert all((ends.lower == 0).all() and (ends.upper == 1).all() for ends in found)


def test_memory_that_runs_out_all_the_same_loses_one_rule_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run_out(self: Chain, numbers: Numbers, budget: TimeBudget) -> Ends:
        if not self.links:
            raise MemoryError
        return whole(self, numbers, budget)

    whole = Chain.find_ends
    monkeypatch.setattr(Chain, "find_ends", run_out)
    found, notes = try_rules(make_numbers(Workspace(2**30)), PLAN.rules, [2])

    assert [str(note) for note in notes] == [
        "the rule 'exact recovery' was left out: memory ran out"
    ]
    assert np.isclose(max(float(ends.lower.min()) for ends in found), TRUTH.min())


def test_nothing_to_try_is_nothing_found() -> None:
    empty = BoundPlan.of(GRAPH, PLAN.query, "sound", [])
    assert try_rules(make_numbers(Workspace(2**30)), empty.rules, [2]) == ([], ())
