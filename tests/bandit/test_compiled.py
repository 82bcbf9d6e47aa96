"""First use is never silent: every call that compiles says so before it compiles."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

_CALLS = """
import json, logging, sys
import boundit as bd
from boundit.simulation.environments import paper_environment
from numba.core import event

said, compiled = [], []
class Said(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())
class Compiled(event.Listener):
    def on_start(self, found):
        if (found.data["dispatcher"].py_func.__module__ or "").startswith("boundit"):
            compiled.append(list(said))  # what was said by then
    def on_end(self, found): ...
logger = logging.getLogger("boundit")
logger.addHandler(Said()), logger.setLevel("INFO")
world = paper_environment()
policy = getattr(bd, sys.argv[1])(arms=[(0, 0), (0, 1), (1, 0)], context=["U1", "U2"], seed=1)
event.register("numba:compile", Compiled())
calls = {
    "decide": lambda: policy.decide((0, 1)),
    "learn": lambda: policy.learn(policy.decide((0, 1)), 1.0),
    "decide_many": lambda: policy.decide_many([(0, 1), (0, 0)]),
    "simulations": lambda: bd.simulate(world, {"it": policy}, rounds=5, runs=1, workers=1),
}
for name, call in calls.items():
    said.clear(), compiled.clear()
    call()
    print(json.dumps([name, compiled]))
"""


@pytest.mark.full
@pytest.mark.parametrize("kind", ["UCB", "LinUCB", "TS", "LinTS", "OAM", "Fused"])
def test_every_call_that_compiles_says_so_first(kind: str, tmp_path: Path) -> None:
    main, terminal = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-c", _CALLS, kind],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        check=True,
    )
    os.close(terminal)
    shown = os.read(main, 100_000).decode()
    calls = dict(map(json.loads, ran.stdout.splitlines()))
    assert calls["decide"]
    assert calls["simulations"]
    for name, compiled in calls.items():
        for said in compiled:
            assert any(f"compiling {kind}" in line for line in said), name
            assert all(line in shown for line in said if "compiling" in line)
