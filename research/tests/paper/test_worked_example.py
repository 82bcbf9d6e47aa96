from boundit_research.paper.worked_example import check_worked_example


def test_none_of_the_examples_sentences_holds_on_its_own_graph() -> None:
    """D-1, D-3 and D-7."""
    claims = {claim.place: claim for claim in check_worked_example()}

    assert not any(claim.holds for claim in claims.values())
    assert claims["worked example, D"].found == "{I1, U1, U2, Y}"
    assert "Q[U1] and Q[I1, Y]" in claims["worked example, c-factors"].found
    assert "observing {I1} brackets" in claims["worked example, substitutes"].found
