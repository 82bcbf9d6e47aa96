"""Two checkouts of boundit side by side: the same work by both, in turns, as ratios.

``python -m research.benchmarks.trees OLD [NEW]`` runs each task ten times in each checkout, one
after the other so that a busy machine slows both alike, and prints the median ratio of new to old;
``--only bounds`` runs the tasks whose names begin so.
It uses public names only, so that it can compare across a change of everything inside.
"""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import click

TURNS = 10
_START = """
import time, warnings
warnings.simplefilter("ignore")
import boundit as bd
world = bd.simulation.paper_environment()
log = world.log(20_000, 1)
exact = bd.derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
def draw(shape, names):  # independent draws, so that every graph fits
    import numpy as np, pandas as pd
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, k, 5_000) for name, k in zip(names.split(), shape)}
    frame = pd.DataFrame(columns).value_counts().reset_index(name="n")
    return bd.read_log(frame, weight="n")
"""
_TASKS = {
    "decide and learn, LinUCB with bounds, 20,000 rounds": """
policy = bd.LinUCB(prior=exact)
contexts = exact.contexts
def run():
    for i in range(20_000):
        policy.learn(policy.decide(contexts[i % len(contexts)]), i % 2)
""",
    "decide and learn, TS with bounds, 20,000 rounds": """
policy = bd.TS(prior=exact, seed=1)
contexts = exact.contexts
def run():
    for i in range(20_000):
        policy.learn(policy.decide(contexts[i % len(contexts)]), i % 2)
""",
    "whole runs, LinUCB with bounds, 50 x 15,000": """
def run():
    bd.simulate(world, {"LinUCB": bd.LinUCB(prior=exact)}, rounds=15_000, runs=50, workers=1)
""",
    "whole runs, OAM with bounds, 2 x 2,000": """
def run():
    bd.simulate(world, {"OAM": bd.OAM(prior=exact)}, rounds=2_000, runs=2, workers=1)
""",
    "bounds, the paper's graph, 20,000 rows": """
def run():
    bd.derive_bounds(world.graph, world.query, log)
""",
    "bounds, an instrument under selection, exact law": """
model = bd.SCM(
    bd.parse_graph("Z -> X -> Y; X <-> Y; X -> [S]"),
    {
        "U": ([], 0.5),
        "Z": ([], 0.4),
        "X": (["Z", "U"], [[0.1, 0.4], [0.6, 0.9]]),
        "Y": (["X", "U"], [[0.2, 0.5], [0.4, 0.8]]),
        "S": (["X"], [0.5, 0.8]),
    },
)
instrument = bd.Environment(model, bd.parse_query("Y | do(X)"))
law = instrument.exact_log()
def run():
    bd.derive_bounds(instrument.graph, instrument.query, law, confidence=None)
""",
    "bounds, a back door of 30 strata, 5,000 rows": """
asked = bd.parse_graph("Z -> X; Z -> Y; X -> Y")
counted = draw([30, 2, 2], "Z X Y")
def run():
    for _ in range(5):
        bd.derive_bounds(asked, "Y | do(X)", counted)
""",
    "bounds, a front door, 5,000 rows": """
asked = bd.parse_graph("X -> M -> Y; X <-> Y")
counted = draw([2, 3, 2], "X M Y")
def run():
    for _ in range(5):
        bd.derive_bounds(asked, "Y | do(X)", counted)
""",
    "bounds, two steps, 5,000 rows": """
asked = bd.parse_graph(
    "Z1 -> X1; Z1 -> Z2; X1 -> Z2; Z1 -> X2; X1 -> X2; Z2 -> X2; Z1 -> Y; X1 -> Y; Z2 -> Y; "
    "X2 -> Y"
)
counted = draw([3, 2, 3, 2, 2], "Z1 X1 Z2 X2 Y")
def run():
    for _ in range(5):
        bd.derive_bounds(asked, "Y | do(X1, X2)", counted)
""",
    "bounds, 20 arms in 10 contexts and 8 strata, 5,000 rows": """
asked = bd.parse_graph("C -> Z; C -> X; C -> Y; Z -> X; Z -> Y; X -> Y")
counted = draw([10, 8, 20, 2], "C Z X Y")
def run():
    for _ in range(5):
        bd.derive_bounds(asked, "Y | do(X), C", counted)
""",
    "bounds, an instrument, 5,000 rows": """
asked = bd.parse_graph("Z -> X -> Y; X <-> Y")
counted = draw([2, 2, 2], "Z X Y")
def run():
    for _ in range(5):
        bd.derive_bounds(asked, "Y | do(X)", counted)
""",
    "bounds, an instrument in 10 strata, 5,000 rows": """
asked = bd.parse_graph("W -> Z -> X -> Y; X <-> Y; W -> X; W -> Y")
counted = draw([10, 2, 2, 2], "W Z X Y")
def run():
    for _ in range(5):
        bd.derive_bounds(asked, "Y | do(X)", counted)
""",
    "bounds, an unknown link, 5,000 rows": """
asked = bd.parse_graph("A -> X; A -> B; A -> Y; X -> Y; B -> Y; B <-> [S]")
counted = draw([10, 3, 2, 2], "A B X Y")
def run():
    for _ in range(5):
        bd.derive_bounds(asked, "Y | do(X)", counted)
""",
    "recover, the paper's graph": """
def run():
    for _ in range(20):
        bd.identify(world.graph, world.query)
""",
}
_END = """
run()
start = time.perf_counter()
run()
print(time.perf_counter() - start)
"""


def compare(old: Path, new: Path, start: str = "") -> None:
    """Print the ratio of every task whose name begins so."""
    for name, task in _TASKS.items():
        if not name.startswith(start):
            continue
        pairs = [(_time(old, task), _time(new, task)) for _ in range(TURNS)]
        ratios = sorted(after / before for before, after in pairs)
        spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        print(f"{median(ratios):5.2f}  ({spread})  {name}")


def _time(tree: Path, task: str) -> float:
    """Seconds that a task takes in one checkout, after one run to warm up."""
    ran = subprocess.run(
        [sys.executable, "-c", _START + task + _END],
        env={**os.environ, "PYTHONPATH": str(tree.resolve() / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ran.stdout)


@click.command()
@click.argument("old", type=click.Path(exists=True, path_type=Path))
@click.argument("new", type=click.Path(exists=True, path_type=Path), default=".")
@click.option("--only", default="", help="The beginning of tasks' names.")
def main(old: Path, new: Path, only: str) -> None:
    """Compare two checkouts."""
    compare(old, new, only)


if __name__ == "__main__":
    main()
