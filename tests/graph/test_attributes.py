import pytest

from boundit.graph.attributes import is_hidden, is_selected


@pytest.mark.parametrize(
    ("attributes", "hidden"),
    [
        ({"latent": "true"}, True),
        ({"latent": "False"}, False),
        ({"unobserved": 1}, True),
        ({"observed": "no"}, True),
        ({"observed": "yes"}, False),
        ({}, False),
    ],
)
def test_files_have_many_words_for_hidden(attributes: dict[str, object], hidden: bool) -> None:
    assert is_hidden(attributes) is hidden


def test_selected_is_a_flag() -> None:
    assert is_selected({"selected": True})
    assert not is_selected({"selected": "0"})
