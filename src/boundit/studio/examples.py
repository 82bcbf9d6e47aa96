"""Examples to open at the first start; their logs are drawn by the library, here."""

import csv
from collections.abc import Iterable
from io import StringIO

from msgspec import Struct
from msgspec.structs import replace

from boundit.graph.read import draft_graph
from boundit.simulation.environments import paper_environment
from boundit.simulation.pharmacy import COLUMNS, GRAPH, draw_kept_rows
from boundit.studio.drawing import PlacedDrawing, draw_draft, lay_out_drawing
from boundit.studio.errors import StudioError
from boundit.studio.folder import Folder
from boundit.studio.project import DataSource, Drawing, Project, ProjectQuery

PLACE = "boundit-examples"
"""The folder within the folder where the logs of examples lie."""
PAPER_ROWS, PAPER_SEED = 30_000, 1
_PAPER = """\
# The paper's Figure 2. U1, U2 are what is known of a user, X1, X2 what an item is like.
U1 -> X1
U2 -> X2
X1 -> I1
I1 -> Y
X2 -> Y
U1 -> Y

# C1 affects both I1 and the outcome, and is not measured.
C1 -> I1
C1 -> Y
hidden C1

# Rows are kept depending on I1.
I1 -> [S]
"""


class Example(Struct, frozen=True):
    """An example by its name, with a title and a sentence."""

    name: str
    title: str
    words: str


EXAMPLES = (
    Example(
        "pharmacy",
        "Which reminder makes patients refill?",
        "A pharmacy sends letters, texts and calls. Serious cases got more calls and were kept "
        "more carefully, so plain averages mislead.",
    ),
    Example(
        "paper",
        "The paper's example",
        "Two features of a user, two of an item, a hidden cause and a selected log.",
    ),
    Example("empty", "An empty drawing", "Draw your own graph, and drop your own log."),
)


def open_example(name: str, folder: Folder) -> Project:
    """Make the project of an example, and write its log into the folder."""
    if name == "pharmacy":
        return Project(
            name="Pharmacy",
            graph=_draw(GRAPH),
            query=ProjectQuery(outcome="Refill", treatments=("Reminder",), context=("Age",)),
            data=DataSource(file=folder.keep(f"{PLACE}/pharmacy.csv", _write_pharmacy())),
        )
    if name == "paper":
        return Project(
            name="The paper",
            graph=_draw(_PAPER),
            query=ProjectQuery(outcome="Y", treatments=("X1", "X2"), context=("U1", "U2")),
            data=DataSource(file=folder.keep(f"{PLACE}/paper.csv", _write_paper())),
        )
    if name == "empty":
        return Project(name="My question")
    names = ", ".join(example.name for example in EXAMPLES)
    raise StudioError(
        "not_found", f"there is no example {name[:40]!r}; there are {names}", where="name"
    )


def _draw(text: str) -> Drawing:
    """Draw a graph's text, with places for its nodes."""
    _, draft = draft_graph(text)
    drawing = draw_draft(draft, text=text)
    return place_nodes(drawing, lay_out_drawing(drawing))


def place_nodes(drawing: Drawing, placed: PlacedDrawing) -> Drawing:
    """Put the nodes of a drawing where a layout has them."""
    nodes = tuple(
        replace(node, x=placed.positions[node.name].x, y=placed.positions[node.name].y)
        for node in drawing.nodes
    )
    return replace(drawing, nodes=nodes)


def _write_pharmacy() -> str:
    """Write the pharmacy's log as CSV."""
    return _write_csv([COLUMNS, *draw_kept_rows()])


def _write_paper() -> str:
    """Draw rows of the paper's environment and write those that were kept as CSV."""
    columns = paper_environment().draw_columns(PAPER_ROWS, PAPER_SEED)
    return _write_csv([tuple(columns), *zip(*columns.values(), strict=True)])


def _write_csv(rows: Iterable[Iterable[object]]) -> str:
    """Write rows as CSV."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
