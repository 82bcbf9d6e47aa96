import json

from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.policies.ts import TS
from boundit.bandit.prior.watch import Watch
from boundit.simulation.description import describe_policy, describe_world
from boundit.simulation.worlds import flipped_world, paper_world
from tests.bandit.all_policies import table


def test_a_policy_is_told_by_kind_options_and_bounds() -> None:
    record = describe_policy(LinUCB(alpha=0.5, prior=table(), watch=Watch(plays=4)))

    assert record["kind"] == "LinUCB"
    assert record["options"]["alpha"] == 0.5  # type: ignore[index]
    assert record["prior"]["profile"] == "given"  # type: ignore[index]
    assert record["watch"] == {"alpha": 0.05, "plays": 4}
    assert json.loads(json.dumps(record)) == record


def test_other_bounds_have_another_sum() -> None:
    some, others = (describe_policy(TS(prior=table(width))) for width in (0.1, 0.2))

    assert some["prior"] != others["prior"]
    assert some["options"] == others["options"]


def test_a_warm_start_is_told_by_its_weight() -> None:
    record = describe_policy(LinUCB(warm_start=WarmStart(table(0.0), 10)))

    assert record["options"]["warm_start"]["rows"] == 10  # type: ignore[index]
    assert len(json.dumps(record)) < 600


def test_a_world_is_told_by_name_graph_question_and_tables() -> None:
    paper, weak, strong = map(
        describe_world, (paper_world(), flipped_world(0.5), flipped_world(1))
    )

    assert paper["name"] == "the paper's world"
    assert weak["graph"] == strong["graph"]
    assert weak["tables"] != strong["tables"]
