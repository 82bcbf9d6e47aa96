"""What the method achieves, said with the numbers that were computed."""

from research.tests.small_reproduction import reproduce_small

from boundit_research.paper.achieved import describe_achieved


def test_the_verdict_counts_bounds_that_hold_and_printed_ones_that_miss() -> None:
    found = reproduce_small()
    missed = sum(row.truth not in row.ours for row in found.offline.rows)
    printed = sum(row.printed_misses for row in found.offline.rows)
    n = len(found.offline.rows)

    assert describe_achieved(found)[0] == (
        f"Bounds from the biased log hold the truth in {n - missed} of {n} cases; those the "
        f"paper prints miss it in {printed}."
    )


def test_regrets_of_both_worlds_and_the_claims_are_told() -> None:
    found = reproduce_small()
    answer = describe_achieved(found)

    for played in (found.online.paper.own_logs, found.online.flip.own_logs):
        for line in played.summary()[:3]:
            assert f"{line.mean:,.1f}" in answer[1]
    holding = sum(claim.judgement == "holds" for claim in found.claims)
    assert f"Of {len(found.claims)}: {holding} holds, " in answer[3]
