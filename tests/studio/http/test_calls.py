from boundit import __version__
from boundit.studio.http.calls import CALLS
from tests.studio.served import ServedStudio

GRAPH = {
    "nodes": [{"name": "X"}, {"name": "Y"}],
    "edges": [{"tail": "X", "head": "Y"}, {"tail": "X", "head": "Y", "kind": "<->"}],
}


def test_the_page_begins_with_version_folder_examples_and_draft(studio: ServedStudio) -> None:
    project = {"name": "kept", "graph": GRAPH}
    assert studio.post("/api/draft", {"project": project}).json == {}
    begun = studio.get("/api/start").json

    assert (begun["version"], begun["folder"]) == (__version__, str(studio.folder))
    assert [example["name"] for example in begun["examples"]] == ["pharmacy", "paper", "empty"]
    assert begun["draft"]["name"] == "kept"
    assert begun["draft"]["graph"]["edges"][1]["kind"] == "<->"
    assert begun["limits"]["upload"] > 0


def test_a_draft_is_kept_in_the_middle_of_work(studio: ServedStudio) -> None:
    half = {"nodes": [{"name": "X"}, {"name": "X"}], "text": "X -> -> "}

    assert studio.post("/api/draft", {"project": {"graph": half}}).status == 200
    assert studio.get("/api/start").json["draft"]["graph"]["text"] == "X -> -> "


def test_a_damaged_draft_is_no_draft(studio: ServedStudio) -> None:
    studio.server.studio.folder.save_draft('{"format": "boundit project", "version": 9}')

    assert studio.get("/api/start").json["draft"] is None


def test_a_project_goes_into_a_file_and_back(studio: ServedStudio) -> None:
    opened = studio.post("/api/examples/open", {"name": "pharmacy"}).json["project"]
    written = studio.post("/api/project/write", {"project": opened}).json
    read = studio.post("/api/project/read", {"text": written["text"]}).json

    assert read["project"] == opened
    assert written["name"] == "pharmacy.boundit.json"
    assert studio.server.token.secret not in written["text"]
    assert str(studio.port) not in written["text"]
    assert str(studio.folder) not in written["text"]


def test_a_graph_is_read_written_laid_out_and_told(studio: ServedStudio) -> None:
    read = studio.post("/api/graph/read", {"text": "dag { X -> Y X <-> Y }"}).json
    assert (read["format"], read["text"]) == ("dagitty", "X -> Y\nX <-> Y\n")
    drawn = read["graph"]
    for form in ("boundit", "dagitty", "dot", "json"):
        said = studio.post("/api/graph/write", {"graph": drawn, "format": form}).json["text"]
        assert studio.post("/api/graph/read", {"text": said}).json["graph"] == drawn
    placed = studio.post("/api/graph/layout", {"graph": drawn}).json
    assert placed["positions"]["X"]["y"] < placed["positions"]["Y"]["y"]
    query = {"outcome": "Y", "treatments": ["X"]}
    claims = studio.post("/api/graph/claims", {"graph": drawn, "query": query}).json
    assert claims["edges"][0]["claim"] == "X may change Y directly."
    assert claims["problems"] == []
    svg = studio.post("/api/graph/write", {"graph": drawn, "format": "svg", "query": query})
    assert svg.json["text"].startswith("<svg")


def test_a_fault_of_the_text_has_its_line(studio: ServedStudio) -> None:
    answer = studio.post("/api/graph/read", {"text": "X -> Y\nX ->"})

    assert answer.status == 400
    assert (answer.error["where"], answer.error["line"]) == ("text", 2)


def test_files_of_the_folder_are_listed(studio: ServedStudio) -> None:
    (studio.folder / "listed.csv").write_text("X\n1\n")

    files = studio.get("/api/files").json["files"]
    assert {"name": "listed.csv", "bytes": 4, "kind": "CSV"} in files


def test_no_two_calls_share_a_path() -> None:
    paths = [call.path for call in CALLS]

    assert len(paths) == len(set(paths))
