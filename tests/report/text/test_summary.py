import boundit as bd


def make(*rows: tuple[str, str, float, float]) -> bd.BoundTable:
    return bd.BoundTable.from_rows(
        [{"Ad": ad, "Age": age, "lower": low, "upper": high} for ad, age, low, high in rows],
        outcome="Click",
        treatments=["Ad"],
        context=["Age"],
        outcome_range=(0, 1),
    )


def test_a_winner_is_named_with_its_context() -> None:
    said = make(
        ("A", "old", 0.1, 0.2), ("B", "old", 0.3, 0.5), ("A", "new", 0, 1), ("B", "new", 0, 1)
    ).summary()

    assert said.splitlines() == [
        "4 intervals for Click: 2 arms in 2 contexts.",
        "0.100 to 1.000 wide, 0.575 on average.",
        "One arm surely has the highest mean in 1 of 2 contexts (Age=old: B); in 0 "
        "others some arms are "
        "ruled out, in 1 none.",
        "Sampling error is not allowed for.",
    ]


def test_without_a_context_it_speaks_of_the_arms() -> None:
    table = bd.BoundTable.from_rows(
        [{"Ad": "A", "lower": 0.1, "upper": 0.2}, {"Ad": "B", "lower": 0.3, "upper": 0.4}],
        outcome="Click",
        treatments=["Ad"],
        outcome_range=(0, 1),
    )
    assert "B surely has the highest mean." in table.summary()
    assert (
        "No arm is ruled out in any context."
        in make(("A", "old", 0, 1), ("B", "old", 0, 1)).summary()
    )


def test_a_table_of_a_log_says_how_sure_it_is_and_what_rows_would_take_away() -> None:
    world = bd.simulation.flipped_environment()
    said = bd.derive_bounds(world.graph, world.query, world.log(2000, seed=1)).summary()

    assert "would stay with endless rows" in said
    assert "Confidence 0.95 for all of it at once, exact inference." in said
    assert "logged rows." in said


def test_a_table_without_rows_says_so() -> None:
    assert make().summary() == "No intervals for Click."
