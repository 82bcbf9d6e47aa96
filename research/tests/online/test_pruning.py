from boundit.simulation.environments import paper_environment
from boundit_research.online.pruning import count_pruned


def test_jointly_more_arms_are_out_and_with_the_rate_all_but_the_best() -> None:
    """3.8 on the paper's model: 16 pairs, four of them best."""
    printed, apart, joint, known = count_pruned(paper_environment())

    assert printed.of == 16
    assert (printed.pairs, apart.pairs, joint.pairs, known.pairs) == (8, 0, 8, 12)
