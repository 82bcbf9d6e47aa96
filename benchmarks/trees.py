"""Two checkouts of boundit side by side: the same work by both, in turns, as ratios.

``python -m benchmarks.trees OLD [NEW]`` runs each task ten times in each checkout, one after
the other so that a busy machine slows both alike, and prints the median ratio of new to old.
It uses public names only, so that it can compare across a change of everything inside.
"""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

TURNS = 10
_START = """
import time, warnings
warnings.simplefilter("ignore")
import boundit as bd
world = bd.paper_world()
log = world.log(20_000, 1)
exact = bd.derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
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
model = bd.Model(
    bd.parse_graph("Z -> X -> Y; X <-> Y; X -> [S]"),
    {
        "U": ([], 0.5),
        "Z": ([], 0.4),
        "X": (["Z", "U"], [[0.1, 0.4], [0.6, 0.9]]),
        "Y": (["X", "U"], [[0.2, 0.5], [0.4, 0.8]]),
        "S": (["X"], [0.5, 0.8]),
    },
)
instrument = bd.World(model, bd.parse_query("Y | do(X)"))
law = instrument.exact_log()
def run():
    bd.derive_bounds(instrument.graph, instrument.query, law, confidence=None)
""",
    "recover, the paper's graph": """
def run():
    for _ in range(20):
        bd.recover(world.graph, world.query)
""",
}
_END = """
run()
start = time.perf_counter()
run()
print(time.perf_counter() - start)
"""


def compare(old: Path, new: Path) -> None:
    """Print the ratio of every task."""
    for name, task in _TASKS.items():
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


if __name__ == "__main__":
    old_tree, *rest = map(Path, sys.argv[1:])
    compare(old_tree, rest[0] if rest else Path())
