import importlib
import json
import pkgutil

import pytest

import boundit.bounds
from boundit.bounds.contrasts.shared_unknown import SharedUnknown
from boundit.bounds.rules.rule import BoundRule
from boundit.cli.main import main
from boundit.simulation.policies import FUSED, KINDS
from boundit_research.audits.ablation import NOTHING, AblationReport, measure_ablation


@pytest.fixture(scope="module")
def report() -> AblationReport:
    return measure_ablation(12, seed=1)


def test_every_rule_contrast_and_policy_has_its_line(report: AblationReport) -> None:
    for module in pkgutil.walk_packages(boundit.bounds.__path__, "boundit.bounds."):
        importlib.import_module(module.name)

    for kind, base in (("rule", BoundRule), ("contrast", SharedUnknown)):
        classes = {one.__name__ for one in list_below(base)}
        assert {part for of, part in report.tallies if of == kind} >= classes > set()
    policies = {part for of, part in report.tallies if of == "policy"}
    assert policies == {NOTHING, *KINDS, *FUSED}


def list_below(base: type) -> list[type]:
    own: list[type] = base.__subclasses__()
    return [*own, *(one for each in own for one in list_below(each))]


def test_what_is_left_out_widens_rows_and_what_is_not_used_changes_nothing(
    report: AblationReport,
) -> None:
    whole = report.tallies["", NOTHING]
    chain = report.tallies["rule", "Chain"]

    assert (report.models, whole.wider, whole.used) == (12, 0, 12 - report.refuted)
    assert chain.wider > 0
    assert chain.mean_width > whole.mean_width
    for (kind, _), tally in report.tallies.items():
        assert tally.rows == whole.rows
        if not tally.used:
            assert (tally.width, tally.ruled_out, tally.regret) == (
                *(whole.width, whole.ruled_out),
                whole.regret,
            )
        if kind == "policy":
            assert tally.wider == 0


def test_it_prints_a_line_for_each_part_and_repeats_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    few = ["audit", "--of", "ablation", "--models", "2"]
    shown = list[str]()
    for arguments in (few, [*few, "--json"], [*few, "--json"]):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 0
        shown.append(capsys.readouterr().out)
    parts = json.loads(shown[1])["tallies"]

    assert shown[1] == shown[2]
    assert len(shown[0].splitlines()) == len(parts) + 3
    assert "\nrule ReweightedChain " in shown[0]
