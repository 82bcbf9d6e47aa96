from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.language.expression import P
from boundit.graph.text import parse
from tests.nodes import make_nodes

RATE = SelectionFacts((0.4, 0.4))


def test_what_steers_selection_is_its_markov_blanket_among_the_variables() -> None:
    """Section 3.5: with hidden companions, pa(S), its district and the district's parents."""
    graph = parse("A -> B; B <-> [S]; C -> [S]; D -> A")

    everything = Reweighting.from_graph(graph, graph.observed, RATE)
    some = Reweighting.from_graph(graph, make_nodes("A", "D"), RATE)

    assert everything.steering == make_nodes("A", "B", "C")
    assert some.steering == make_nodes()
    assert Reweighting.from_graph(graph, make_nodes("B", "D"), RATE).steering == make_nodes(
        "B", "D"
    )


def test_it_reads_the_others_given_the_steering_variables() -> None:
    graph = parse("X -> M -> Y; M -> [S]")
    plain = Reweighting.from_graph(graph, make_nodes("X", "M"), SelectionFacts())
    informed = Reweighting.from_graph(graph, make_nodes("X", "M"), RATE, [make_nodes("Y")])

    assert plain.axes == ("M", "X")
    assert plain.formulas == (P(make_nodes("X"), make_nodes("M")),)
    assert informed.variables == make_nodes("X", "M", "Y")
    assert informed.formulas == (
        P(make_nodes("X", "Y"), make_nodes("M")),
        P(make_nodes("M")),
        P(make_nodes("Y"), logged=False),
    )


def test_what_steers_is_counted_when_nothing_else_shows_who_was_logged() -> None:
    graph = parse("X -> [S]; X -> Y")
    alone = Reweighting.from_graph(graph, make_nodes("X"), SelectionFacts(), [make_nodes("X")])

    assert alone.formulas == (P(make_nodes("X")), P(make_nodes("X"), logged=False))
    assert Reweighting.from_graph(graph, make_nodes("X"), SelectionFacts()).formulas == ()


def test_what_is_known_is_said() -> None:
    graph = parse("X -> M -> Y; M -> [S]")

    assert (
        Reweighting.from_graph(graph, make_nodes("M"), SelectionFacts()).statement
        == "nothing is known of r"
    )
    assert Reweighting.from_graph(
        graph, make_nodes("M"), RATE, [make_nodes("X", "M")]
    ).statement == ("r >= 0.4 (selection rate), P(M, X) is that of an unselected table")


def test_its_step_names_what_shields_selection_from_what() -> None:
    graph = parse("X -> M -> Y; M -> [S]")
    (step,) = Reweighting.from_graph(graph, make_nodes("X", "M"), RATE).steps

    assert str(step) == "Rule 1: given M, selection tells nothing of X"
    assert (step.between, step.given) == ((("S",), ("X",)), ("M",))
    assert Reweighting.from_graph(graph, make_nodes("M"), RATE).steps == ()
    assert Reweighting(make_nodes("X", "M"), make_nodes("M")).steps[0].between is None
