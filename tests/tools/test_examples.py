"""Outputs of examples are written anew where they changed, and nowhere else."""

from tools.examples import update_page

PAGE = """\
```python
>>> print("a\\n\\nb")
old
>>> 1 + 1
2
>>> 2 + 2
x...5
>>> 1 / 0
0
>>> 3 + 3  # doctest: +SKIP
7

```
"""


def test_changed_outputs_are_rewritten_and_others_are_left() -> None:
    new, by_hand = update_page(PAGE)

    assert new == PAGE.replace("old\n", "a\n<BLANKLINE>\nb\n")
    assert by_hand == [6, 8]


def test_a_rewritten_page_is_stable() -> None:
    text, _ = update_page(">>> 1 + 1\n3\n")

    assert update_page(text) == (text, []) == (">>> 1 + 1\n2\n", [])
