import pytest

from boundit.graph.attributes import says_hidden, says_selected


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
    assert says_hidden(attributes) is hidden


def test_selected_is_a_flag() -> None:
    assert says_selected({"selected": True})
    assert not says_selected({"selected": "0"})
