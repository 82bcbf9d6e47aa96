"""The formulas that the claims are tried on."""

from tests.bounds.claims.levels import Level, LevelForm


def make_back_door(rewards: tuple[float, ...] = (0.0, 1.0), strata: int = 2) -> LevelForm:
    """Make ``sum_z P(z) E[Y | z, x]`` at the arm 1."""
    sizes = {"z": strata, "x": 2, "y": len(rewards)}
    return LevelForm((Level("z"), Level("y", ("z", "x"))), {"x": 1}, sizes, rewards)


def make_back_door_in_context() -> LevelForm:
    """Make ``sum_z P(z | c) E[Y | c, z, x]`` at the arm 1 in the context 1."""
    levels = (Level("z", ("c",)), Level("y", ("c", "z", "x")))
    return LevelForm(levels, {"x": 1, "c": 1}, dict.fromkeys("czxy", 2))


def make_front_door() -> LevelForm:
    """Make ``sum_m,x' P(x') P(m | x) E[Y | x', m]`` at the arm 1."""
    sizes = {"x": 2, "m": 2, "y": 2}
    levels = (Level("x'"), Level("m", ("x",)), Level("y", ("x'", "m")))
    return LevelForm(levels, {"x": 1}, sizes)


def make_two_step() -> LevelForm:
    """Make ``sum_z,w P(z) P(w | z, x) E[Y | z, x, w, v]`` at the arms 1, 1."""
    sizes = dict.fromkeys("zxwvy", 2)
    levels = (Level("z"), Level("w", ("z", "x")), Level("y", ("z", "x", "w", "v")))
    return LevelForm(levels, {"x": 1, "v": 1}, sizes)


def make_joint_share() -> LevelForm:
    """Make ``sum_z P(z) P(x | z) E[Y | z, x]`` at the arm 1: a factor at a fixed value."""
    sizes = {"z": 2, "x": 2, "y": 2}
    levels = (Level("z"), Level("x", ("z",)), Level("y", ("z", "x")))
    return LevelForm(levels, {"x": 1}, sizes)
