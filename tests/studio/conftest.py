from collections.abc import Iterator

import pytest

from tests.studio.served import ServedStudio, run_studio


@pytest.fixture(scope="package")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedStudio]:
    """One studio for all tests of the package; each names files of its own."""
    with run_studio(tmp_path_factory.mktemp("studio")) as found:
        yield found
