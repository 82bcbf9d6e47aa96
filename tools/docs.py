"""Put the pages of the site together in build/docs: those we wrote, and the reference.

``make docs`` runs this and then zensical, which turns the folder into site/.
"""

import shutil
from pathlib import Path

from tools import ROOT
from tools.reference import (
    write_cli_page,
    write_glance_page,
    write_http_page,
    write_python_page,
)

TARGET = ROOT / "build" / "docs"


def assemble_pages(target: Path) -> None:
    """Copy docs/ to ``target`` and write the reference beside it, the changelog included."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(
        ROOT / "docs", target, ignore=shutil.ignore_patterns("*.py", "__pycache__", ".*")
    )
    (target / "reference").mkdir()
    pages = {
        "at-a-glance.md": write_glance_page(),
        "python.md": write_python_page(),
        "cli.md": write_cli_page(),
        "http.md": write_http_page(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    }
    for name, text in pages.items():
        (target / "reference" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    assemble_pages(TARGET)
