"""A small log of clicks that stories ask about."""

import csv
import random
from pathlib import Path

from playwright.sync_api import expect

from tests.studio.stories.kit import Visit

GRAPH = "Age -> Ad -> Click; Age -> Click"
CONFOUNDED = f"{GRAPH}; Ad <-> Click"


def ask_of_clicks(visitor: Visit, folder: Path, graph: str) -> None:
    """Ask what ads earn by a graph of three nodes; all is worked out quickly."""
    visitor.begin_empty()
    visitor.type_text(graph)
    expect(visitor.find(".node")).to_have_count(3)
    visitor.go("data")
    visitor.find("#log-file").set_input_files(write_log(folder / "clicks.csv", grouped=True))
    expect(visitor.find("#data-body .state")).to_contain_text("300 rows")
    visitor.go("ask")
    for role, name in (("treatment", "Ad"), ("outcome", "Click")):
        visitor.choose(role, name)
    visitor.ask()


def write_log(path: Path, age: str = "Age", *, grouped: bool = False) -> Path:
    """Write a log of 300 clicks, ages as numbers unless ``grouped``."""
    draw = random.Random(1)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([age, "Ad", "Click"])
        for _ in range(300):
            years = round(draw.uniform(18, 80), 1)
            said = ("young" if years < 50 else "old") if grouped else years
            rows.writerow([said, draw.choice("AB"), int(draw.random() < years / 100)])
    return path
