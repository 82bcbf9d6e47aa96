"""Run every benchmark, or those named: ``python -m research.benchmarks speed``.

Options after a single name are its own: ``python -m research.benchmarks service --seconds 1``.
"""

import sys
import warnings
from importlib import import_module

NAMES = ("speed", "thompson", "calls", "widths", "ml", "service")

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # what peers warn of is theirs
    if sys.argv[2:] and sys.argv[2].startswith("--"):
        import_module(f"research.benchmarks.{sys.argv[1]}").run(sys.argv[2:])
        sys.exit()
    for name in sys.argv[1:] or NAMES:
        import_module(f"research.benchmarks.{name}").run()
        print(flush=True)
