"""Links between pages lead somewhere, and every page of the site can be reached."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from tools.docs import assemble_pages

from tests.docs.pages import PAGES, ROOT, name_page

LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
CODE_OR_MATH = re.compile(r"`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site") / "docs"
    assemble_pages(target)
    return target


def list_links(page: Path) -> Iterator[str]:
    text = CODE_OR_MATH.sub("code", FENCED.sub("", page.read_text(encoding="utf-8")))
    yield from (link for link in LINK.findall(text) if "://" not in link)


def list_anchors(page: Path) -> set[str]:
    """The names of headings, as the site and code hosts make them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", head).strip().lower() for head in heads]
    return {re.sub(r"\s", "-", head) for head in plain}


def find_broken(page: Path) -> list[str]:
    found = []
    for link in list_links(page):
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in list_anchors(target)):
            found.append(link)
    return found


def list_pages(nav: object) -> Iterator[str]:
    match nav:
        case str():
            yield nav
        case list():
            for entry in nav:
                yield from list_pages(entry)
        case dict():
            yield from list_pages(list(nav.values()))
        case _:
            raise TypeError(nav)


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.md"))

    assert len(pages) > len(PAGES)
    assert {page.name: found for page in pages if (found := find_broken(page))} == {}


def test_every_link_of_the_readme_leads_somewhere() -> None:
    assert find_broken(ROOT / "README.md") == []


def test_navigation_names_every_page_once(site: Path) -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    named_there = list(list_pages(config["project"]["nav"]))
    there = {page.relative_to(site).as_posix() for page in site.rglob("*.md")}

    assert len(set(named_there)) == len(named_there)
    assert set(named_there) <= there
    assert there - set(named_there) == set()


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_every_page_opens_with_one_title(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))

    assert text.startswith("# ")
    assert len(re.findall(r"^# ", text, flags=re.MULTILINE)) == 1


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    """The checks above can fail."""
    page = tmp_path / "page.md"
    page.write_text("# A title\n[a](#a-title) [b](#b) [c](c.md) [d](https://d.e)\n")

    assert find_broken(page) == ["#b", "c.md"]
