import pytest

from boundit.estimand.ask import recover
from boundit.estimand.query import EffectQuery
from boundit.graph.text import parse
from boundit.terms.errors import OverlappingRoles, UnknownNode

SELECTED = parse("Z -> X -> Y; Z -> Y; Z -> [S]")


def test_questions_may_be_text_or_a_query_and_tables_any_names() -> None:
    by_text = recover(SELECTED, "Y | do(X)", external=["Z"])
    by_query = recover(SELECTED, EffectQuery(("Y",), ("X",)), external=[{"Z"}])

    assert str(by_text) == str(by_query) == "Σ_{Z} P(Y | X, Z, S=1) P(Z)"
    assert by_text.latex().startswith(r"\sum")


def test_an_effect_in_a_context_can_be_known_where_the_joint_one_is_not() -> None:
    """The text before Algorithm 1 says "if and only if"; under selection it is not so."""
    assert recover(SELECTED, "Y | do(X), Z")
    assert not recover(SELECTED, "Y, Z | do(X)")


def test_senseless_questions_are_refused() -> None:
    with pytest.raises(UnknownNode, match="no node 'W'"):
        recover(SELECTED, "Y | do(W)")
    with pytest.raises(UnknownNode, match="no node 'W'"):
        recover(SELECTED, "Y | do(X)", external=["W"])
    with pytest.raises(OverlappingRoles, match="selection node"):
        recover(SELECTED, "S | do(X)")
