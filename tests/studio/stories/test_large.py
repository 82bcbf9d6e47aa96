"""Stories of size: sixty nodes stay fluid; forty columns and a million rows are read."""

from pathlib import Path

from playwright.sync_api import expect

from tests.studio.stories.kit import Visit, heavy

NODES = [f"V{i:02}" for i in range(60)]
WIDE = "\n".join(
    f"{NODES[i]} -> {NODES[j]}" for i in range(60) for j in (i + 1, i + 7) if j < 60
)
COUNT_CHANGES = """() => {
  const changed = new Set();
  const watch = new MutationObserver((seen) => seen.forEach(({ target }) => {
    const part = target.closest?.('.node, .edge');
    if (part) changed.add(part.dataset.name ?? part.dataset.key);
  }));
  watch.observe(document.querySelector('.canvas'),
    {subtree: true, attributes: true, childList: true, attributeFilter: ['transform', 'd']});
  window.readChanges = () => {
    watch.takeRecords();
    return [...changed];
  };
}"""


def test_dragging_one_of_sixty_nodes_draws_only_what_moved(visitor: Visit) -> None:
    """A promise of cost is counted: the node and its edges, of 60 nodes and 112 edges."""
    visitor.begin_empty()
    visitor.type_text(WIDE)
    expect(visitor.find(".node")).to_have_count(60)
    expect(visitor.find(".edge")).to_have_count(112)
    box = visitor.node("V30").locator(".frame").bounding_box()
    assert box is not None
    visitor.page.evaluate(COUNT_CHANGES)
    mouse = visitor.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()
    mouse.move(box["x"] + 40, box["y"] + 60, steps=12)
    visitor.page.evaluate("() => new Promise(requestAnimationFrame)")
    visitor.page.evaluate("() => new Promise(requestAnimationFrame)")
    changed = visitor.page.evaluate("() => window.readChanges()")
    mouse.up()

    touching = [edge for edge in WIDE.split("\n") if "V30" in edge]
    assert "V30" in changed
    assert len(changed) == 1 + len(touching)
    expect(visitor.find("#undo")).to_have_attribute("title", "Undo: move V30 (Ctrl Z)")


@heavy
def test_forty_columns_and_a_million_rows(visitor: Visit, tmp_path: Path) -> None:
    visitor.begin_empty()
    visitor.type_text("C00 -> Arm -> Reward; C00 -> Reward; Arm <-> Reward")
    expect(visitor.find(".node")).to_have_count(3)
    visitor.find("#log-file").set_input_files(write_million(tmp_path / "million.csv"))

    expect(visitor.find("#data-body .state")).to_contain_text("1,000,000 rows, 40 columns")
    expect(visitor.find(".rest summary").first).to_contain_text("37 columns")
    visitor.go("ask")
    for role, name in (("treatment", "Arm"), ("outcome", "Reward"), ("context", "C00")):
        visitor.choose(role, name)
    visitor.ask()
    assert len(visitor.read_intervals()) == 6


def write_million(path: Path) -> Path:
    """Write 40 columns and a million rows, few of them different, so that it is quick."""
    header = ["Arm", "Reward", *(f"C{i:02}" for i in range(38))]
    rows = [
        ",".join(
            [
                "ab"[i % 2],
                str(int(i % 7 < 3 + i % 2)),
                str(i % 3),
                *(str((i * k) % 5) for k in range(1, 38)),
            ]
        )
        for i in range(1_000)
    ]
    block = "\n".join(rows) + "\n"
    with path.open("w") as file:
        file.write(",".join(header) + "\n")
        for _ in range(1_000):
            file.write(block)
    return path
