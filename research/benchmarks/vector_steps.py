"""What the two vector steps of ``kernels.simd`` gain over loops that numba compiles.

LinUCB's kernels are compiled again with the two steps written as loops: once plainly, and once
with offsets that cannot be negative, which spares numba a question and is the quickest loop we
found. Both keep the eight sums in their order, so every pull must be the same. All take turns
in one process; the ratios are medians over the turns.
"""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from types import FunctionType
from typing import Any

import click
import numpy as np
from numba import njit
from numba.core.registry import CPUDispatcher

from boundit.bandit.kernels.arrays import BatchArrays, Floats
from boundit.bandit.kernels.lin_ucb import decide_lin_ucb, play_lin_ucb
from boundit.bandit.kernels.score_table import (
    COLUMNS,
    LIN_UCB_VERSION,
    POSITION,
    STATISTICS,
    UPPER,
)
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.ridge import Ridge, RidgeStack

TURNS = 15
SIZES = ((8, 4, 4, 10, 15_000), (16, 20, 50, 2, 5000), (64, 20, 50, 1, 3000))
"""Features, arms, contexts, runs and rounds."""
DECISIONS = 200
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(k) for k in range(1, 8))


def sum_rows_plainly(
    out: Floats,
    o: int,
    matrix: Floats,
    at: int,
    stride: int,
    x: Floats,
    start: int,
    twice: int,
    n: int,
) -> None:
    """``simd.sum_rows`` as a loop."""
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        if i == twice:
            s0, s1, s2, s3 = s0 + s0, s1 + s1, s2 + s2, s3 + s3
            s4, s5, s6, s7 = s4 + s4, s5 + s5, s6 + s6, s7 + s7
        w, m = x[start + i], at + i * stride
        s0, s1 = s0 + w * matrix[m], s1 + w * matrix[m + 1]
        s2, s3 = s2 + w * matrix[m + 2], s3 + w * matrix[m + 3]
        s4, s5 = s4 + w * matrix[m + 4], s5 + w * matrix[m + 5]
        s6, s7 = s6 + w * matrix[m + 6], s7 + w * matrix[m + 7]
    out[o], out[o + 1], out[o + 2], out[o + 3] = s0, s1, s2, s3
    out[o + 4], out[o + 5], out[o + 6], out[o + 7] = s4, s5, s6, s7


def subtract_outer_plainly(
    matrix: Floats, at: int, g: Floats, i: int, j: int, s: float
) -> None:
    """``simd.subtract_outer`` as a loop."""
    for k in range(8):
        matrix[at + k] -= g[i] * g[j + k] * s


def sum_rows_unsigned(
    out: Floats,
    o: int,
    matrix: Floats,
    at: int,
    stride: int,
    x: Floats,
    start: int,
    twice: int,
    n: int,
) -> None:
    """The same, with offsets that cannot be negative."""
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(twice):
        w, m = x[np.uint64(start + i)], np.uint64(at + i * stride)
        s0, s1 = s0 + w * matrix[m], s1 + w * matrix[m + _1]
        s2, s3 = s2 + w * matrix[m + _2], s3 + w * matrix[m + _3]
        s4, s5 = s4 + w * matrix[m + _4], s5 + w * matrix[m + _5]
        s6, s7 = s6 + w * matrix[m + _6], s7 + w * matrix[m + _7]
    s0, s1, s2, s3 = s0 + s0, s1 + s1, s2 + s2, s3 + s3
    s4, s5, s6, s7 = s4 + s4, s5 + s5, s6 + s6, s7 + s7
    for i in range(twice, n):
        w, m = x[np.uint64(start + i)], np.uint64(at + i * stride)
        s0, s1 = s0 + w * matrix[m], s1 + w * matrix[m + _1]
        s2, s3 = s2 + w * matrix[m + _2], s3 + w * matrix[m + _3]
        s4, s5 = s4 + w * matrix[m + _4], s5 + w * matrix[m + _5]
        s6, s7 = s6 + w * matrix[m + _6], s7 + w * matrix[m + _7]
    out[o], out[o + 1], out[o + 2], out[o + 3] = s0, s1, s2, s3
    out[o + 4], out[o + 5], out[o + 6], out[o + 7] = s4, s5, s6, s7


def subtract_outer_unsigned(
    matrix: Floats, at: int, g: Floats, i: int, j: int, s: float
) -> None:
    """The same, with offsets that cannot be negative."""
    for k in range(8):
        matrix[np.uint64(at + k)] -= g[i] * g[np.uint64(j + k)] * s


def compile_loop(loop: Callable[..., Any], *, inline: bool) -> Any:
    """Compile as ``kernels.compile`` does, but keep nothing on disk."""
    return njit(nogil=True, error_model="numpy", forceinline=inline)(loop)


def replace_steps(kernel: Any, steps: dict[str, Any], done: dict[str, Any]) -> Any:
    """Compile a kernel, and all that it calls, with other steps in the place of ours."""
    source = kernel.py_func
    if source.__qualname__ not in done:
        names = dict(source.__globals__)
        for name in source.__code__.co_names:
            if isinstance(names.get(name), CPUDispatcher):
                names[name] = replace_steps(names[name], steps, done)
        loop = FunctionType(source.__code__, names | steps, source.__name__)
        inline = bool(kernel.targetoptions.get("forceinline"))
        done[source.__qualname__] = compile_loop(loop, inline=inline)
    return done[source.__qualname__]


def make_input(d: int, arms: int, contexts: int, runs: int, rounds: int) -> dict[str, Any]:
    """Random features and means, a model for each arm, no bounds."""
    rng = np.random.default_rng(d)
    stack = RidgeStack(d, room=arms)
    for _ in range(arms):
        stack.push(Ridge.make_untrained(d, 1.0))
    arm = np.tile(np.arange(arms), contexts)
    table = np.zeros((arm.size, COLUMNS))
    table[:, STATISTICS], table[:, POSITION] = arm * stack.block, arm
    table[:, UPPER] = np.inf
    batch = BatchArrays(
        np.arange(contexts + 1) * arms,
        rng.random(arm.size),
        arm,
        rng.integers(contexts, size=(runs, rounds)),
        rng.random((runs, rounds)),
        np.zeros(runs, np.uint64),
        0.0,
        np.arange(arm.size).reshape(contexts, arms),
    )
    x = pad_rows(rng.normal(size=(arm.size, d)) / np.sqrt(d)).ravel()
    return {"models": stack.models, "x": x, "table": table, "batch": batch, "arms": arms}


def decide_often(decide: Any, given: dict[str, Any], d: int) -> list[tuple[int, int]]:
    """Decide in the first context, many times, every arm being scored anew each time."""
    n = given["arms"]
    x, table = given["x"][: given["x"].size // len(given["table"]) * n], given["table"][:n]
    found = []
    for _ in range(DECISIONS):
        table[:, LIN_UCB_VERSION] = -1.0
        found.append(decide(given["models"], x, table, d, 1.0, False))
    return found


def take_turns(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Compare the answers, then time all in turns: each as a multiple of the first."""
    answers = [np.asarray(call()) for call in calls.values()]
    if not all(np.array_equal(answers[0], other) for other in answers):
        raise AssertionError("the loops do not give what the vector steps do")
    times = np.empty((TURNS, len(calls)))
    for turn in range(TURNS):
        for i, call in enumerate(calls.values()):
            started = perf_counter()
            call()
            times[turn, i] = perf_counter() - started
    ratios = np.median(times / times[:, :1], axis=0)
    return dict(zip(calls, ratios.tolist(), strict=True))


def run() -> None:
    """Print how many times longer the loops take."""
    loops = {
        "plain loop": (sum_rows_plainly, subtract_outer_plainly),
        "unsigned offsets": (sum_rows_unsigned, subtract_outer_unsigned),
    }
    plays, decides = {"vector steps": play_lin_ucb}, {"vector steps": decide_lin_ucb}
    for name, (add, subtract) in loops.items():
        steps = {
            "sum_rows": compile_loop(add, inline=True),
            "subtract_outer": compile_loop(subtract, inline=True),
        }
        done: dict[str, Any] = {}
        plays[name] = replace_steps(play_lin_ucb, steps, done)
        decides[name] = replace_steps(decide_lin_ucb, steps, done)
    click.echo("LinUCB with loops in the place of vector steps: multiples of its time")
    click.echo(f"{'':<40}" + "".join(f"{name:>20}" for name in loops))
    for d, arms, contexts, runs, rounds in SIZES:
        given = make_input(d, arms, contexts, runs, rounds)
        start = given["models"], given["x"], given["table"], d, 1.0, False, given["batch"]
        whole = take_turns({name: partial(play, *start) for name, play in plays.items()})
        single = take_turns(
            {name: partial(decide_often, one, given, d) for name, one in decides.items()}
        )
        for label, ratios in (("whole runs", whole), ("decisions", single)):
            said = f"{label}, d = {d}, {arms} arms"
            click.echo(f"{said:<40}" + "".join(f"{ratios[name]:>19.2f}x" for name in loops))


if __name__ == "__main__":
    run()
