import msgspec

from boundit.studio.project import FORMAT, VERSION, Project


def test_a_project_with_nothing_in_it_has_every_default() -> None:
    project = msgspec.json.decode(b"{}", type=Project)

    assert project == Project()
    assert (project.format, project.version) == (FORMAT, VERSION)
    assert project.settings.confidence == 0.95
    assert project.settings.missing == "drop"
