from math import inf

from boundit.checks.evidence import Evidence
from boundit.checks.words import write_evidence, write_question, write_silence, write_statement
from boundit.graph.implications import Independence

BARE = Independence("Ad", "Income", frozenset(), selected=False)
LOGGED = Independence("Ad", "Income", frozenset({"Region", "Age", "Day"}), selected=True)


def test_a_statement_reads_as_a_sentence_to_agree_with() -> None:
    assert write_statement(BARE) == "Among rows, Ad tells nothing about Income."
    assert write_statement(LOGGED) == (
        "Among logged rows with the same Age, Day and Region, Ad tells nothing about Income."
    )


def test_the_question_names_what_could_be_missing() -> None:
    assert write_question(BARE) == (
        "Can Ad move Income, or Income move Ad, or something else move both?"
    )
    assert write_question(LOGGED) == (
        "Can Ad move Income, or Income move Ad, or something else move both, other than by way "
        "of Age, Day and Region? Or do both have a say in which rows are logged?"
    )


def test_evidence_is_said_in_shares_of_rows() -> None:
    place = (("Age", "young"),)
    found = Evidence("A", "high", place, 0.62, 0.485, 1200.0, pooled=False)

    assert write_evidence(BARE, found) == (
        "Where Age = young: Income = high in 62.0% of the 1,200 rows with Ad = A; "
        "if Ad told nothing it would be 48.5%."
    )
    assert write_evidence(BARE, Evidence(0, 1, (), 0.5, 0.4, 1.0, pooled=True), exact=True) == (
        "Over all groups: Income = 1 in 50.0% of the rows with Ad = 0; "
        "if Ad told nothing it would be 40.0%."
    )


def test_silence_is_worth_what_could_have_been_found() -> None:
    assert write_silence(0.05, groups=1) == (
        "An association of V = 0.05 would be found in 8 logs of 10."
    )
    assert write_silence(0.45, groups=3) == (
        "This says little: only an association of V = 0.45 would be found in 8 logs of 10, "
        "if it is alike in all groups."
    )
    assert write_silence(inf, groups=1).startswith("This says little")
