"""The page that ``boundit bound --report`` writes, for a project: one file to take away."""

from msgspec import Struct

from boundit.core.long_work import Progress
from boundit.report.pages.bound_page import write_bound_page
from boundit.studio.answers.bound import CountKeeper, choose_arms, derive
from boundit.studio.ask import AskedProject
from boundit.studio.project import name_file
from boundit.studio.take import write_command


class ReportAnswer(Struct, frozen=True):
    """A page as HTML, and the name of a file for it."""

    html: str
    name: str


def answer_report(asked: AskedProject, keeper: CountKeeper, progress: Progress) -> ReportAnswer:
    """Write the page of a project's bounds.

    A worker finds it in ``ANSWERS`` for the kind "report".
    """
    table = derive(asked, keeper, progress)
    progress("write the page", 0, 1)
    page = write_bound_page(
        table,
        graph=asked.graph,
        query=asked.query,
        command=write_command(asked.project, "report", asked.folder) or "",
        choice=choose_arms(table),
        title=asked.project.name,
    )
    name = name_file(asked.project).removesuffix(".boundit.json")
    return ReportAnswer(page, f"{name}.html")
