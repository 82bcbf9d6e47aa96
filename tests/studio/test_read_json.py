import pytest

from boundit.studio.errors import MalformedProject
from boundit.studio.project import Project
from boundit.studio.read_json import read_json


@pytest.mark.parametrize(
    ("body", "where", "said"),
    [
        ('{"graf": {}}', None, "'graf' is no field here; there are format, version, name"),
        ('{"graph": {"edges": [{"tail": "X", "head": "Y"}, {"tail": 3}]}}',
         "graph.edges[1].tail", "expected str, got int"),
        ('{"graph": {"edges": [{"tail": "X", "head": "Y", "kind": "--"}]}}',
         "graph.edges[0].kind", "invalid enum value '--'"),
        ('{"graph": {"edges": [{"tail": "X"}]}}',
         "graph.edges[0]", "object missing required field head"),
        ('{"data": {"bins": {"Age": [1, "x"]}}}',
         "data.bins.Age[1]", "expected float, got str"),
        ('{"settings": {"confidence": 2}}', "settings.confidence", "expected float < 1.0"),
        ('{"version": 7}', "version", "invalid enum value 7"),
        ("{", None, "this is no JSON"),
        ('{"name": "a", "name": "b"}', None, "a key stands twice in one object"),
        ('{"name": "\\u003a", "graph": {"text": "A", "text": "B"}}', None, "a key stands "),
        ("[" * 100_000, None, "this is no JSON"),
        ('{"name": "\udcff"}', None, "this is no JSON"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_its_place(
    body: str, where: str | None, said: str
) -> None:
    with pytest.raises(MalformedProject) as caught:
        read_json(Project, body.encode("utf-8", "surrogatepass"))

    assert caught.value.field == where
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
