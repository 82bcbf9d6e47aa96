"""Who wins where, and where we lose: against Fused as told, and told rewards alone."""

from research.tests.online.rival_examples import make_rival_study

from boundit_research.online.rival_study import group_rows
from boundit_research.online.rival_tables import (
    describe_standing,
    list_ahead,
    tabulate_best,
    tabulate_counts,
    tabulate_losses,
    tabulate_rows,
    write_less,
)


def test_a_rival_may_beat_the_blind_alone() -> None:
    settings = group_rows(make_rival_study(60.0))
    losses = tabulate_losses(settings)

    assert [row.plain.policy for row in list_ahead(settings[0], "Fused-unseen")] == ["GLUE*"]
    assert not list_ahead(settings[0], "Fused")
    assert [row[:2] for row in losses.rows] == [
        ("paper, 1,000 points", "GLUE*"),
        ("paper, 30,000 points", "GLUE*"),
    ]
    assert "every policy of another paper in 2 of 2 settings" in describe_standing(
        settings, "Fused"
    )
    assert describe_standing(settings, "Fused").endswith("beyond chance in none.")
    assert "in 0 of 2 settings" in describe_standing(settings, "Fused-unseen")
    assert "beyond chance in 2: paper, 1,000 points" in describe_standing(
        settings, "Fused-unseen"
    )


def test_where_nobody_is_ahead_the_table_of_losses_is_empty() -> None:
    assert not tabulate_losses(group_rows(make_rival_study(90.0))).rows


def test_settings_are_counted_by_verdict() -> None:
    counted = {
        row[0]: row[1:] for row in tabulate_counts(group_rows(make_rival_study(60.0))).rows
    }

    assert counted["LinUCB"] == ("0, 0, 2", "0, 0, 2")
    assert counted["GLUE*"] == ("0, 0, 2", "2, 0, 0")
    assert counted["Fused"] == ("", "2, 0, 0")
    assert counted["Fused-unseen"] == ("0, 0, 2", "")


def test_tables_have_a_row_for_each_setting_and_policy() -> None:
    (first, second) = group_rows(make_rival_study(60.0, worlds=2))

    assert [row[4] for row in tabulate_best([first, second]).rows] == ["GLUE*"] * 2
    assert [row[0] for row in tabulate_rows(first).rows] == [
        *("LinUCB", "Fused", "Fused-unseen", "GLUE*")
    ]
    assert write_less(first.find("GLUE*").blind).endswith("; less in 2, more in 0")
