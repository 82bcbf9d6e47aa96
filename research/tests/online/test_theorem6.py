from boundit_research.online.theorem6 import (
    make_near_tie_bound,
    make_near_tie_world,
    run_theorem6,
)
from boundit_research.theory import count_ruled_out


def test_the_bound_is_valid_and_rules_an_arm_out() -> None:
    world, bounds = make_near_tie_world(), make_near_tie_bound()

    for key, mean in world.means().items():
        assert bounds[key].lower <= mean <= bounds[key].upper
    assert count_ruled_out(bounds, world.means()) == 1


def test_both_play_the_same_runs() -> None:
    heard = list[tuple[int, int]]()
    found = run_theorem6(runs=5, rounds=30, progress=lambda *at: heard.append(at))

    assert found.policies == ("LinUCB", "LinUCB-PCB")
    assert (found.runs, found.rounds) == (5, 30)
    assert heard[-1] == (5, 5)
