"""Run every benchmark, or those named: ``python -m benchmarks separation``."""

import sys
import warnings
from importlib import import_module

NAMES = (
    "separation",
    "recover",
    "counts",
    "programs",
    "bandits",
    "many",
    "vector_steps",
    "scaling",
    "check",
    "tables",
    "widths",
    "plans",
    "memory",
    "propensities",
    "many_arms",
)

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # what peers warn of is theirs
    for name in sys.argv[1:] or NAMES:
        import_module(f"benchmarks.{name}").run()
        print(flush=True)
