"""How a trace becomes a walk."""

from pathlib import Path

from tools.house.source import Source
from tools.house.walks import Call, follow_calls, write_walks

CODE = {
    "bounds/a.py": '''
def start():
    """Begin here."""
def helper():
    """Help in the same file."""
''',
    "bounds/b.py": '''
def step():
    """Take a step; the second sentence is not shown."""
class Value:
    def __init__(self): ...
''',
    "counts/c.py": '''
def count():
    """Count."""
def inside():
    """Work inside another room."""
''',
    "terms/d.py": '''
def sort():
    """Sort."""
''',
}


def test_hops_are_calls_into_other_files_and_stop_at_other_rooms(tmp_path: Path) -> None:
    for name, text in CODE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    source = Source(tmp_path)
    calls = [
        Call(0, "bounds/a.py", "start"),
        Call(1, "bounds/a.py", "helper"),
        Call(2, "bounds/b.py", "step"),
        Call(3, "counts/c.py", "count"),
        Call(4, "counts/c.py", "inside"),
        Call(3, "terms/d.py", "sort"),
        Call(1, "bounds/b.py", "Value.__init__"),
        Call(1, "bounds/b.py", "step"),
    ]
    walk = follow_calls("start", calls, 9, source)

    assert [(hop.depth, hop.qualname) for hop in walk.hops] == [
        (0, "start"),
        (1, "step"),
        (2, "count"),
    ]
    assert walk.length == 2
    assert follow_calls("start", calls, 1, source).length == 1
    assert "    - `bounds/b.py` `step`: Take a step\n" in write_walks([walk], source)
