"""Projects to ask, each with another setting, and a way to answer one here."""

import csv
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from boundit.core.long_work import say_nothing
from boundit.studio.answers import CountKeeper
from boundit.studio.ask import AskedProject
from boundit.studio.drawing import read_drawing
from boundit.studio.errors import StudioError
from boundit.studio.examples import open_example
from boundit.studio.folder import Folder
from boundit.studio.project import (
    DataSource,
    DrawnEdge,
    Project,
    ProjectQuery,
    Settings,
)
from boundit.studio.worker import ANSWERS, JobKind


def refused(code: str, match: str | None = None) -> pytest.RaisesExc[StudioError]:
    """Expect a refusal of the studio with a code."""
    return pytest.raises(StudioError, match=match, check=lambda error: error.code == code)


def answer(project: Project, kind: JobKind, folder: Path) -> Any:
    """Answer a job here, as plain values that JSON has; the test stands in the folder."""
    asked = AskedProject(project, Folder(folder))
    found = ANSWERS[kind](asked, CountKeeper(), say_nothing)
    return msgspec.json.decode(msgspec.json.encode(found))


def write_shop(folder: Path, rows: int = 600) -> None:
    """Write a log with odd names, numbers to cut and gaps, and a census of everyone."""
    rng = random.Random(3)
    with (folder / "the shop's log.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age in years", "Ad kind", "Click", "n"])
        for _ in range(rows):
            age = rng.randint(18, 79)
            ad = rng.choice(["A", "B, large"]) if age > 40 else "A"
            click = int(rng.random() < (0.3 if ad == "A" else 0.5))
            writer.writerow([age if rng.random() > 0.02 else "", ad, click, rng.choice([1, 2])])
    with (folder / "census.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age in years"])
        writer.writerows([[rng.randint(18, 79)] for _ in range(400)])


def list_projects(folder: Path) -> dict[str, Project]:
    """List projects by what is set in them; their files are written into the folder."""
    place = Folder(folder)
    pharmacy, paper = open_example("pharmacy", place), open_example("paper", place)
    write_shop(folder)
    shop = Project(
        name="Shop",
        graph=read_drawing(
            'Age -> "Ad kind"; Age -> Click; "Ad kind" -> Click; Age -> [S]; U -> Click; '
            'U -> "Ad kind"; hidden U'
        ).graph,
        query=ProjectQuery(outcome="Click", treatments=("Ad kind",), context=("Age",)),
        data=DataSource(
            file="the shop's log.csv",
            columns={"Age": "age in years"},
            bins={"Age": (30.0, 45.5)},
            weight="n",
        ),
    )
    cut = (DrawnEdge(tail="Refill", head="Answered", kind="<->"),)

    def set_(project: Project, **options: Any) -> Project:
        return replace(project, settings=replace(project.settings, **options))

    return {
        "pharmacy": pharmacy,
        "paper": paper,
        "shop": shop,
        "rate": set_(pharmacy, selection_rate=0.6),
        "rates": set_(pharmacy, selection_rate=(0.5, 0.7), selection_limit=2.0),
        "confidence": set_(pharmacy, confidence=0.8, inference="approximate"),
        "plug-in": set_(paper, confidence=None),
        "confounding_limit": set_(shop, confounding_limit={'Click <-> "Ad kind"': 1.5}),
        "external": set_(shop, external=("census.csv",), missing="level"),
        "range": set_(paper, outcome_range=(0.0, 1.0)),
        "without": replace(pharmacy, without_edges=cut),
        "levels": replace(
            pharmacy,
            data=replace(pharmacy.data, levels={"Illness": ("none",), "Answered": (2,)}),
        ),
        "plain settings": replace(pharmacy, settings=Settings()),
    }


def make_small(folder: Path) -> Project:
    """Make a project that even the longest search is soon done with."""
    rng = random.Random(5)
    with (folder / "small.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["X", "Y"])
        for _ in range(300):
            x = int(rng.random() < 0.5)
            writer.writerow([x, int(rng.random() < 0.3 + 0.4 * x)])
    return Project(
        graph=read_drawing("X -> Y; U -> X; U -> Y; hidden U").graph,
        query=ProjectQuery(outcome="Y", treatments=("X",)),
        data=DataSource(file="small.csv"),
    )


NAMES = (
    "pharmacy",
    "paper",
    "shop",
    "rate",
    "rates",
    "confidence",
    "plug-in",
    "confounding_limit",
    "external",
    "range",
    "without",
    "levels",
    "plain settings",
)
