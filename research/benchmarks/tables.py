"""Bound tables of very many rows: what every use of one costs, as contexts grow.

Thirty arms in 100, 1,000 and 10,000 contexts. Each size has a process of its own; seconds are
the processor's, memory is the most that a step had beyond what there was before it, where the
system tells. The page is opened in Chromium, where there is one: when it first shows something,
when all of it is there and its search can be used, and how long searching its rows takes, by the
browser's clock.
"""

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import boundit as bd
from boundit.report.pages.bound_page import write_bound_page

ARMS, CONTEXTS = 30, (100, 1_000, 10_000)
STRATA = 4
GRAPHS = {
    "derive_bounds": "C -> X; C -> Y; X -> Y; C -> [S]",
    "derive_bounds, confounded": "C -> X; C -> Y; X -> Y; C -> [S]; X <-> Y",
    "derive_bounds, in strata": "C -> X; C -> Y; X -> Y; C -> Z; Z -> X; Z -> Y; C -> [S]",
}
PAINTED = """() => [
  performance.getEntriesByName("first-contentful-paint")[0].startTime,
  performance.getEntriesByType("navigation")[0].duration,
]"""
SEARCHED = """(words) => {
  const element = document.querySelector("[type=search]");
  const started = performance.now();
  element.value = words;
  element.dispatchEvent(new Event("input"));
  document.body.getBoundingClientRect();
  return performance.now() - started;
}"""
Measured = dict[str, tuple[float, float | None]]
"""Seconds and megabytes of each step; the page's own size counts as its memory."""


def run() -> None:
    found = {n: _measure_apart(n) for n in CONTEXTS}
    print(f"{ARMS} arms, contexts:{'':<13}" + "".join(f"{n:>18,}" for n in CONTEXTS))
    for step in found[CONTEXTS[-1]]:
        cells = (_format_cell(*measured[step]) for measured in found.values())
        print(f"{step:<31}" + "".join(f"{cell:>18}" for cell in cells))


def _format_cell(seconds: float, megabytes: float | None) -> str:
    """A step's cost as text."""
    return f"{seconds:.3f} s" + ("" if megabytes is None else f"{megabytes:>6.0f} MB")


def _measure_apart(contexts: int) -> Measured:
    """Measure all steps in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-m", "research.benchmarks.tables", str(contexts)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: Measured = json.loads(ran.stdout)
    return found


def _measure(contexts: int) -> Measured:
    """Measure what is done with a table of so many contexts, step by step."""
    rows, log = _draw_rows(contexts), _draw_log(contexts)
    found: Measured = {}

    def measure(step: str, call: Callable[[], object]) -> object:
        before = _start_peak()
        started = time.process_time()
        made = call()
        seconds, peak = time.process_time() - started, _read_status("VmHWM")
        found[step] = seconds, None if before is None or peak is None else peak - before
        return made

    _warm_up()
    for step, graph in GRAPHS.items():
        measure(step, partial(bd.derive_bounds, bd.parse_graph(graph), "Y | do(X), C", log))
    table = measure("BoundTable.from_rows", lambda: _make_table(rows))
    assert isinstance(table, bd.BoundTable)
    rows.clear()
    _measure_table(table, measure)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bounds.json"
        measure("save", lambda: table.save(file))
        measure("load", lambda: bd.BoundTable.load(file))
        _measure_policy(table, measure)
        page = Path(folder) / "bounds.html"
        measure("page", lambda: page.write_text(write_bound_page(table), encoding="utf-8"))
        found["page: its size"] = 0.0, page.stat().st_size / 1e6
        found.update({step: (seconds, None) for step, seconds in _open_page(page)})
    return found


def _measure_table(
    table: bd.BoundTable, measure: Callable[[str, Callable[[], object]], object]
) -> None:
    """Measure what users ask of a table."""
    measure("arms, contexts", lambda: (table.arms, table.contexts))
    keys = random.Random(0).sample(list(table.bounds), 1_000)
    measure("explain, the first", lambda: table.explain(*keys[0]))
    measure("explain, a thousand", lambda: [table.explain(*key) for key in keys])
    measure("dominated, every context", lambda: [table.ruled_out(c) for c in table.contexts])
    measure(
        "difference, a thousand",
        lambda: [table.find_largest_difference(a, table.arms[0], c) for a, c in keys],
    )
    measure("str", lambda: str(table))
    measure("rows", table.rows)
    measure("frame", table.frame)
    measure("record", table.record)


def _measure_policy(
    table: bd.BoundTable, measure: Callable[[str, Callable[[], object]], object]
) -> None:
    """Measure a policy that starts from the table."""
    policy = measure("UCB(prior=...)", lambda: bd.UCB(prior=table, horizon=1_000))
    assert isinstance(policy, bd.UCB)
    measure("decide, the first", lambda: policy.decide(table.contexts[0]))
    some = table.contexts[:100]
    measure("decide, a hundred contexts", lambda: [policy.decide(one) for one in some])
    state = measure("state", policy.state)
    assert isinstance(state, Mapping)
    measure("from_state", lambda: bd.UCB.from_state(state))


def _open_page(page: Path) -> Iterator[tuple[str, float]]:
    """Open a page in Chromium and yield seconds until it can be used, and of its use."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return
    from playwright.sync_api import sync_playwright  # noqa: PLC0415, for tests and here

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(page.as_uri())
        painted, loaded = tab.evaluate(PAINTED)
        yield "page: first paint", painted / 1e3
        yield "page: all there", loaded / 1e3
        for words in ("arm", "arm 07 C=99"):
            yield f"page: search {words!r}", tab.evaluate(SEARCHED, words) / 1e3
        browser.close()


def _draw_rows(contexts: int) -> list[dict[str, object]]:
    """Rows as an expert or another tool writes them, every end another number."""
    draw = random.Random(0).random
    rows = list[dict[str, object]]()
    for arm in range(ARMS):
        for context in range(contexts):
            lower = 0.8 * draw()
            upper = lower + (1 - lower) * draw()
            ends = {"lower": lower, "upper": upper, "n": int(50 * draw())}
            rows.append({"X": f"arm {arm:02d}", "C": context, **ends})
    return rows


def _make_table(rows: list[dict[str, object]]) -> bd.BoundTable:
    """The table of these rows."""
    return bd.BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )


def _draw_log(contexts: int) -> pd.DataFrame:
    """A log with two rows for each arm and context on average."""
    rng, n = np.random.default_rng(0), 2 * ARMS * contexts
    x, c = rng.integers(0, ARMS, n), rng.integers(0, contexts, n)
    y = rng.random(n) < 0.2 + 0.05 * ((7 * x + c) % 11)
    z = rng.integers(0, STRATA, n)
    return pd.DataFrame({"X": x, "C": c, "Y": y.astype(int), "Z": z})


def _warm_up() -> None:
    """Import and compile what every first call does, on a small table."""
    table = _make_table(_draw_rows(7))
    bd.UCB(prior=table, horizon=10).decide(table.contexts[0])
    table.frame()
    write_bound_page(table)
    for graph in GRAPHS.values():
        bd.derive_bounds(bd.parse_graph(graph), "Y | do(X), C", _draw_log(7))


def _start_peak() -> float | None:
    """Let the peak of this process's memory start anew; its memory now in megabytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _read_status("VmRSS")


def _read_status(name: str) -> float | None:
    """A size of this process in megabytes, where the system tells."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return None
    match = re.search(rf"{name}:\s+(\d+) kB", status)
    return int(match[1]) / 1024 if match else None


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
