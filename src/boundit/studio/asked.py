"""A project made ready to be asked: its graph, its question, and its log opened as it says."""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from boundit.bounds.options import OPTIONS, keep_fitting, list_changed
from boundit.bounds.request import BoundRequest, read_request
from boundit.counts.files import FileSource, find_files
from boundit.counts.log import Log, read_log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.studio.drawing import make_graph, make_query, without_edges
from boundit.studio.errors import RefusedRequest, StudioError
from boundit.studio.folder import Folder
from boundit.studio.project import Project

_READ_BY_FOLDER = ("missing", "external")


@dataclass(frozen=True)
class AskedProject:
    """A project and the folder that its files are in."""

    project: Project
    folder: Folder

    @property
    def graph(self) -> CausalGraph:
        """The graph without the edges that are switched off; read by every answer."""
        return make_graph(without_edges(self.project))

    @property
    def query(self) -> EffectQuery:
        """The question; read by every answer but ``answer_check``."""
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
            raise RefusedRequest(
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
        """Open one table of everyone; called by ``AskedProject.open_external``."""
        return read_log(
            [file], **keep_fitting(list_data_options(self.project), read_log([file]))
        )

    def make_request(self, *, limits: bool = True) -> BoundRequest:
        """Check the question and every setting, and open all logs; no row is read.

        Without ``limits`` on hidden confounding where they cannot be used.
        """
        options = self.options
        if not limits:
            options["confounding_limit"] = None
        return read_request(
            self.graph,
            self.query,
            self.open_log(),
            external=self.open_external(),
            **options,
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


def keep_asked(project: Project) -> Project:
    """Keep what answers hang on: no places, no name, no text, no settings of simulations."""
    nodes = tuple(replace(node, x=None, y=None) for node in project.graph.nodes)
    return replace(
        project,
        name="",
        graph=replace(project.graph, nodes=nodes, text=None),
        simulate=type(project.simulate)(),
    )
