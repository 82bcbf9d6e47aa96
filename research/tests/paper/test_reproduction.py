from research.tests.small_reproduction import reproduce_small


def test_every_part_of_the_paper_is_there() -> None:
    found = reproduce_small()

    assert len(found.offline.rows) == 16
    assert found.online.paper.regret.runs == found.online.flip.regret.runs == 3
    assert found.near_tie.rounds == 200
    assert found.seed == found.offline.seed == found.online.seed == 4
