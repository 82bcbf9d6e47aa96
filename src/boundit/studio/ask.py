"""A project made ready to be asked, and what the library refuses in the words of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from boundit.bounds.options import OPTIONS, keep_fitting, list_changed
from boundit.bounds.request import BoundRequest, read_request
from boundit.core.errors import BounditError, DataError, GraphError, QueryError, UnreadableFile
from boundit.core.message import Caveat, Message, Note, Option, Placeholder
from boundit.counts.errors import MissingColumn, NotNumeric
from boundit.counts.files import FileSource, find_files
from boundit.counts.log import Log, read_log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.studio.drawing import make_graph, make_query, without_edges
from boundit.studio.errors import StudioError
from boundit.studio.folder import Folder
from boundit.studio.project import DataSource, Project, Settings

_READ_BY_FOLDER = ("missing", "external")
_ROLES = {"weight": "data.weight", "reward": "query.outcome", "selection": "graph"}
"""Where in a project a column stands that must hold numbers; others are cut into bins."""


@dataclass(frozen=True)
class AskedProject:
    """A project and the folder that its files are in."""

    project: Project
    folder: Folder

    @property
    def graph(self) -> CausalGraph:
        """The graph without the edges that are switched off."""
        return make_graph(without_edges(self.project))

    @property
    def query(self) -> EffectQuery:
        """The question."""
        return make_query(self.project)

    @property
    def log_key(self) -> str:
        """What the counts of the project's logs hang on: files as they are now, and options."""
        data, settings = self.project.data, self.project.settings
        files = [name for name in (data.file, *settings.external) if name]
        return repr((data, settings.missing, [self.folder.stamp(name) for name in files]))

    def open_log(self) -> Log:
        """Open the log as the project says; no row is read."""
        return read_log([self._name_log()], **list_changed(list_data_options(self.project)))

    def open_file(self) -> FileSource:
        """Open the log's file as it is, whatever the project says of it."""
        return find_files([self._name_log()])

    def _name_log(self) -> str:
        """Give the name of the log's file, or say that none is chosen."""
        file = self.project.data.file
        if file is None:
            raise StudioError(
                "refused",
                "no log is chosen",
                where="data.file",
                hint="Drop a CSV or Parquet file on the page, or choose one of the folder.",
            )
        return self._name(file, "data.file")

    def open_external(self) -> list[Log]:
        """Open the tables of everyone, each by those options whose columns it has."""
        named = self.project.settings.external
        return [
            self._open_table(self._name(file, f"settings.external[{i}]"))
            for i, file in enumerate(named)
        ]

    def _open_table(self, file: str) -> Log:
        """Open one table of everyone."""
        return read_log(
            [file], **keep_fitting(list_data_options(self.project), read_log([file]))
        )

    def make_request(self) -> BoundRequest:
        """Check the question and every setting, and open all logs; no row is read."""
        return read_request(
            self.graph,
            self.query,
            self.open_log(),
            external=self.open_external(),
            **self.options,
        )

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``derive_bounds`` that the settings stand for, external tables aside."""
        return list_bound_options(self.project)

    def _name(self, file: str, where: str) -> str:
        """Give the name of a file of the folder, or say what is wrong with it.

        The worker stands in the folder, so that messages name files as people do.
        """
        try:
            self.folder.find(file)
        except StudioError as error:
            error.where = where
            raise
        return file


def list_data_options(project: Project) -> dict[str, Any]:
    """List the options of ``read_log`` as a project has them."""
    data = project.data
    return {
        "columns": data.columns,
        "bins": data.bins,
        "missing": project.settings.missing,
        "weight": data.weight,
    }


def list_bound_options(project: Project) -> dict[str, Any]:
    """List the options of ``derive_bounds`` as a project has them, external data aside."""
    settings = project.settings
    named = [name for name in OPTIONS if name in settings.__struct_fields__]
    options = {name: getattr(settings, name) for name in named if name not in _READ_BY_FOLDER}
    return options | {"domain": project.data.levels}


def refuse(error: BounditError) -> StudioError:
    """Make of an error of the library a refusal that names a part of the project."""
    if isinstance(error, StudioError):
        return error
    if isinstance(error, MissingColumn) and _name_entry(error.message):
        return lack_column(error.name)
    return StudioError("refused", write_for_page(error.message), where=_find_place(error))


def lack_column(name: str) -> StudioError:
    """Say that a node has no column, and what can be done about it on the page."""
    return StudioError(
        "refused",
        f"{name} has no column in the log.",
        where=f"data.columns.{name}",
        hint="Match it to a column, mark it as hidden if nobody recorded it, or as selection "
        "if it says which rows are kept.",
    )


def spell_caveat(caveat: Caveat) -> Caveat:
    """Write a caveat with its options as the page calls them."""
    return caveat.spell(_spell)


def write_for_page(note: Note) -> str:
    """Write an error or caveat with its options as the page calls them.

    >>> write_for_page(Message("cut it with ", Option("bins", {"Age": [Placeholder("...")]})))
    'cut it with bins for Age'
    """
    return note.render(_spell) if isinstance(note, Message) else note


def _spell(option: Option) -> str:
    """Write an option as the page calls it."""
    if option.name not in OPTIONS:
        return str(option)
    words = OPTIONS[option.name].label
    match option.value:
        case Mapping() as entries:
            return f"{words} for {', '.join(map(str, entries))}"
        case None if option.name == "confidence":
            return "no confidence (plug-in ends)"
        case Placeholder() | tuple():
            return words
        case value:
            return f"{words} {value}"


def _find_place(error: BounditError) -> str | None:
    """Find the part of a project that an error is about."""
    if isinstance(error, MissingColumn):
        return f"data.columns.{error.name}"
    if isinstance(error, NotNumeric):
        return _ROLES.get(error.role, f"data.bins.{error.name}")
    if place := _name_option(error.option):
        return place + _name_entry(error.message)
    if isinstance(error, UnreadableFile | UnreadableFile | DataError):
        return "data.file"
    if isinstance(error, QueryError):
        return "query"
    return "graph" if isinstance(error, GraphError) else None


def _name_option(option: str | None) -> str | None:
    """Name the part of a project that holds an option of the library."""
    if option == "domain":
        return "data.levels"
    for part, kind in (("data", DataSource), ("settings", Settings)):
        if option in kind.__struct_fields__:
            return f"{part}.{option}"
    return None


def _name_entry(message: Message) -> str:
    """Name the variable that an option of a message is about, if it is about one."""
    for part in message.parts:
        if (
            isinstance(part, Option)
            and isinstance(part.value, Mapping)
            and len(part.value) == 1
        ):
            return f".{next(iter(part.value))}"
    return ""
