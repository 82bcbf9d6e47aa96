import pytest

from boundit.graph.formats.detect import detect_format


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("X -> Y", None),
        ("dag -> Y", None),
        ("// a remark\ndigraph { X -> Y }", "dot"),
        ("strict graph g { }", "dot"),
        ("dag { X -> Y }", "dagitty"),
        ('{"nodes": []}', "json"),
        ("graph [ directed 1 node [ id 0 ] ]", "gml"),
    ],
)
def test_a_text_is_told_by_how_it_opens(text: str, found: str | None) -> None:
    assert detect_format(text) == found
