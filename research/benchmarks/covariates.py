"""What a group of covariates costs: ``python -m research.benchmarks.covariates``.

The same log of many covariates, an arm and a reward is bounded by the graph that has them in a
group, by one that draws an arrow from each, and by one that draws all relations in some order.
"""

import time

import numpy as np

import boundit as bd

ROWS = 20_000


def draw_rows(n_covariates: int, seed: int = 0) -> dict[str, list[int]]:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=ROWS)
    names = [f"X{i}" for i in range(n_covariates)]
    drawn = {x: (rng.normal(size=ROWS) + 0.5 * common > 0).astype(int) for x in names}
    share = sum(drawn.values()) / n_covariates
    t = (rng.random(ROWS) < 0.2 + 0.6 * share).astype(int)
    y = (rng.random(ROWS) < 0.1 + 0.3 * t + 0.5 * share).astype(int)
    return {name: column.tolist() for name, column in (drawn | {"T": t, "Y": y}).items()}


def write_graphs(names: list[str]) -> dict[str, str]:
    each = "; ".join(f"{x} -> T; {x} -> Y" for x in names) + "; T -> Y"
    order = "; ".join(f"{a} -> {b}" for i, b in enumerate(names) for a in names[:i])
    group = f"Z = {{{', '.join(names)}}}; Z -> T; Z -> Y; T -> Y"
    return {"group": group, "each": each, "order": f"{each}; {order}"}


def run(n_covariates: int = 15) -> None:
    rows = draw_rows(n_covariates)
    graphs = write_graphs([name for name in rows if name not in {"T", "Y"}])
    bd.derive_bounds("T -> Y", "Y | do(T)", rows)  # compiles what is compiled
    for name, text in graphs.items():
        start = time.process_time()
        table = bd.derive_bounds(text, "Y | do(T)", rows)
        seconds = time.process_time() - start
        widths = [bound.upper - bound.lower for bound in table.bounds.values()]
        print(f"{name:>6} {seconds:6.2f} s, widths {widths[0]:.2f} and {widths[1]:.2f}")


if __name__ == "__main__":
    run()
