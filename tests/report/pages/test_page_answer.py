from boundit.report.pages.page import render_page
from boundit.report.pages.page_answer import PageAnswer, end_sentence, write_first


def test_the_verdict_has_smaller_letters_where_it_is_long() -> None:
    long = "The choice falls if " + "something unseen moves both; " * 5

    assert '<p class="verdict">' in render_page("t", [], answer=PageAnswer("Use B."))
    assert '<p class="verdict long">' in render_page("t", [], answer=PageAnswer(long))


def test_remarks_begin_as_they_were_written() -> None:
    """The first word may be the name of an arm, and case tells names apart."""
    assert end_sentence("call earns more") == "call earns more."
    assert write_first(["call was merged."], "What to heed") == "call was merged."


def test_a_line_that_leads_to_others_gets_no_full_stop() -> None:
    assert end_sentence("the choice changes:") == "the choice changes:"
    assert end_sentence("it stays") == "it stays."
