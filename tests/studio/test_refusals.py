from boundit.core.errors import HasCycle, OutOfTime, RepeatedVariable
from boundit.core.message import ANY, Message, Option, Placeholder
from boundit.counts.errors import InvalidOption, MissingColumn, NoFiles, NotNumeric
from boundit.studio.errors import NoSuchPart
from boundit.studio.refusals import refuse, write_for_page


def test_errors_name_the_part_of_the_project() -> None:
    bins = InvalidOption(Option("bins", {"Age": [3, 1]}), " must increase")

    assert refuse(bins).where == "data.bins.Age"
    assert str(refuse(bins)) == "bins for Age must increase"
    lack = refuse(MissingColumn("Age", ["age"]))
    assert (lack.where, str(lack)) == ("data.columns.Age", "Age has no column in the log.")
    weight = refuse(MissingColumn("n", ["age"], is_node=False))
    assert str(weight) == "the log has no column 'n'; it has age"
    assert refuse(NotNumeric("n", "weight", "text")).where == "data.weight"
    assert refuse(NotNumeric("Age", "the binned column", "text")).where == "data.bins.Age"
    assert refuse(NoFiles("x.csv", "gone")).where == "data.file"
    assert refuse(HasCycle(["X", "Y", "X"])).where == "graph"
    assert refuse(RepeatedVariable("X", "treatments")).where == "query"
    assert refuse(OutOfTime()).where is None
    own = NoSuchPart("gone", where="data.file")
    assert refuse(own) is own


def test_options_have_the_names_of_the_page() -> None:
    low, high = Placeholder("low"), Placeholder("high")
    said = Message(
        "set ", Option("outcome_range", (low, high)), ", ", Option("domain", ANY), " or ",
        Option("confidence", None), " or ", Option("selection_limit", 2), "; ", Option("other"),
    )  # fmt: skip

    assert write_for_page(said) == (
        "set the range of the outcome, the domain or no confidence (plug-in ends) or "
        "the selection limit 2; other"
    )
    assert write_for_page("plain") == "plain"
