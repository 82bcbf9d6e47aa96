"""Bounds and policies beside release 0.2.0 (``make old``), whole runs beside a loop in C.

Each task runs in a process of either release, in turns, as load comes and goes; a process gives
the best of seven times, and what counts is the median of the ratios of a turn. Times are
microseconds of the processor (a round, a call), so that what others do counts little. Then whole
runs of LinUCB are held against disjoint LinUCB in C (``c_loop.c``, gcc -O3, sizes known to the
compiler), which scores every arm in every round. A part: ``python -m research.benchmarks speed
--only TS``.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import click
import numpy as np
from research.benchmarks.c_loop import NoCompiler, compile_loop

from boundit.bandit.lin_ucb import LinUCB
from boundit.simulation.environments import paper_environment
from tools import ROOT

OLD = ROOT / "build" / "old"
TURNS, ALPHA = 5, 1.0
_START = """
import time, warnings, sys, random, json
warnings.simplefilter("ignore")
import boundit as bd
world = (getattr(bd, "paper_world", None) or bd.simulation.paper_environment)()
log = world.log(10_000, seed=1)
table = bd.derive_bounds(world.graph, world.query, log)
shop = {"arms": [(a, b) for a in (0, 1) for b in (0, 1)], "context": ["U1", "U2"]}
def visit(policy, rounds, observed=None, contexts=((0, 0), (0, 1), (1, 0), (1, 1))):
    draw = random.Random(0)
    coin = lambda: int(draw.random() < .5)
    who = [(draw.choice(contexts), float(coin()), coin()) for _ in range(rounds)]
    start = time.process_time()
    for context, reward, w in who:
        decision = policy.decide(context)
        if observed == "propensities":
            decision.propensities
        if isinstance(observed, str) and observed != "propensities":
            policy.learn(decision, reward, observed={observed: w})
        else:
            policy.learn(decision, reward)
    return (time.process_time() - start) / rounds
def play(policy, runs, rounds=15_000, **options):
    start = time.process_time()
    bd.simulate(world, {"policy": policy}, rounds=rounds, runs=runs, workers=1, **options)
    return (time.process_time() - start) / runs / rounds
identify = getattr(bd, "recover", None) or bd.identify
exact = world.exact_log()
def call(what, times):
    start = time.process_time()
    for _ in range(times):
        what()
    return (time.process_time() - start) / times
def make_large(contexts):
    import numpy as np
    rng = np.random.default_rng(0)
    n = 300 * contexts
    g, q = rng.integers(contexts, size=n), rng.integers(5, size=n)
    u = rng.random(n) < .5
    x = (q + rng.integers(3, size=n)) % 3
    c = (rng.random(n) < .2 + .15 * x + .2 * u + .03 * q).astype(int)
    y = (rng.random(n) < .1 + .4 * c + .2 * u + .03 * q).astype(int)
    kept = rng.random(n) < .4 + .4 * c
    columns = {k: v[kept].tolist() for k, v in dict(g=g, q=q, x=x, c=c, y=y).items()}
    graph = "g -> c; g -> y; q -> x; q -> c; q -> y; x -> c -> y; c <-> y; c -> [S]"
    return bd.Fused(bd.derive_bounds(graph, "y | do(x), g", columns), seed=1)
"""
CALL = {
    "identify, the paper's graph": "call(lambda: identify(world.graph, world.query), n // 100)",
    "bounds, exact distribution": (
        "call(lambda: bd.derive_bounds(world.graph, world.query, exact, confidence=None), n // 400)"
    ),
    "bounds, 10,000 points": (
        "call(lambda: bd.derive_bounds(world.graph, world.query, log), n // 400)"
    ),
}
DECIDE = {
    "UCB": "visit(bd.UCB(**shop, seed=1), n)",
    "UCB-PCB": "visit(bd.UCB(prior=table, seed=1), n)",
    "LinUCB": "visit(bd.LinUCB(**shop, seed=1), n)",
    "LinUCB-PCB": "visit(bd.LinUCB(prior=table, seed=1), n)",
    "TS": "visit(bd.TS(**shop, seed=1), n, 'propensities')",
    "LinTS": "visit(bd.LinTS(**shop, seed=1), n, 'propensities')",
    "Fused, w observed": "visit(bd.Fused(prior=table, seed=1), n, 'I1')",
    "Fused, rewards alone": "visit(bd.Fused(prior=table, seed=1), n // 4, 'propensities')",
}
PLAY = {
    "UCB": "play(bd.UCB(horizon=15_000), 20)",
    "LinUCB": "play(bd.LinUCB(), 20)",
    "UCB-PCB": "play(bd.UCB(prior=table, horizon=15_000), 20)",
    "LinUCB-PCB": "play(bd.LinUCB(prior=table), 20)",
    "TS": "play(bd.TS(), 2)",
    "LinTS": "play(bd.LinTS(), 2)",
    "Fused, w observed": "play(bd.Fused(prior=table), 1, observed=1.0)",
}
LARGE = """
policy = make_large({contexts})
contexts = tuple((i,) for i in range({contexts}))
visit(policy, 50, {observed!r}, contexts)
spent = visit(policy, 400, {observed!r}, contexts)
start = time.process_time()
text = json.dumps(policy.state())
again = type(policy).from_state(json.loads(text))
print(json.dumps([spent, len(text), time.process_time() - start]))
"""


def ask(code: str, *, old: bool = False) -> Any:
    """Run code in a process of one release; it prints JSON."""
    # Without PYTHONPATH: 0.2.0 would import what it names.
    command = [OLD / ".venv/bin/python", "-E"] if old else [sys.executable]
    ran = subprocess.run(
        [*command, "-c", code], capture_output=True, text=True, check=False, cwd="/"
    )
    if ran.returncode:
        raise click.ClickException(ran.stderr.strip().splitlines()[-1])
    return json.loads(ran.stdout.strip().splitlines()[-1])


def compare(label: str, task: str, turns: int) -> None:
    """Print microseconds of both releases and the median ratio."""
    code = f"{_START}n = 400\n{task}\nn = 2_000\nprint(min({task} for _ in range(7)))"
    pairs = [(ask(code), ask(code, old=True)) for _ in range(turns)]
    new, old = (1e6 * median(times) for times in zip(*pairs, strict=True))
    ratio = median(one / other for one, other in pairs)
    click.echo(f"{label:<40}{new:>10.2f}{old:>10.2f}{ratio:>8.2f}")


def compare_with_c(
    label: str, policy: LinUCB, turns: int, runs: int = 100, rounds: int = 15_000
) -> None:
    """Print how many rounds a second are played, ours as a share of the loop in C."""
    finite = paper_environment().finite
    x = np.array([[[1.0, *c, *a] for a in finite.arms] for c in finite.contexts])
    rng = np.random.default_rng(0)
    visitors = rng.integers(len(finite.contexts), size=(runs, rounds))
    uniforms, seeds = rng.random((runs, rounds)), np.arange(runs, dtype=np.uint64)
    free = np.full_like(finite.means, np.inf)
    with tempfile.TemporaryDirectory() as folder:
        loop = compile_loop(Path(folder), x, finite.means, free, alpha=ALPHA)
        calls: list[Callable[[], object]] = [
            partial(loop, visitors, uniforms),
            partial(policy.play, finite, visitors, uniforms, seeds),
        ]
        same = np.mean(calls[0]() == calls[1]())
        times = [[_time(call) for call in calls] for _ in range(turns)]
    share = median(c / ours for c, ours in times)
    click.echo(
        f"{label:<40}{share:>9.0%} of the loop in C, {same:.1%} of the arms are the same"
    )


def _time(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start


@click.command()
@click.option("--turns", default=TURNS)
@click.option("--only", default="", help="Tasks whose names begin so.")
def measure(turns: int, only: str) -> None:
    """Print the tables."""
    if not (OLD / ".venv").exists():
        raise click.ClickException("release 0.2.0 is missing; run make old")
    titles = {"calls, us": CALL, "decide and learn, us": DECIDE, "whole runs, us a round": PLAY}
    for title, tasks in titles.items():
        click.echo(f"{title:<40}{'now':>10}{'0.2.0':>10}{'ratio':>8}")
        for name, task in tasks.items():
            if name.startswith(only):
                compare(name, task, turns)
        click.echo()
    if "Fused".startswith(only):
        click.echo(
            "Fused, 3 arms                            us a round   state, MB   written and read, s"
        )
        for contexts in (3, 500):
            for observed in ("c", "propensities"):
                task = LARGE.format(contexts=contexts, observed=observed)
                found = [ask(_START + task) for _ in range(turns)]
                spent, size, seconds = (median(each) for each in zip(*found, strict=True))
                said = "w observed" if observed == "c" else "rewards alone"
                label = f"{contexts} contexts, {said}"
                click.echo(
                    f"{label:<40}{1e6 * spent:>11.0f}{size / 1e6:>12.2f}{seconds:>14.2f}"
                )
    if "LinUCB".startswith(only):
        try:
            compare_with_c(
                "\nwhole runs of LinUCB",
                LinUCB(arms=paper_environment().finite.arms, alpha=ALPHA),
                turns,
            )
        except NoCompiler:
            click.echo("  there is no gcc, so no loop in C to compare with", err=True)


def run(options: Sequence[str] = ()) -> None:
    """Print the tables."""
    measure.main(list(options), standalone_mode=False)
