"""``python -m tests.golden``: write the files of formats that have none yet.

A file that is there is never written again: what a release wrote has to stay readable. Whoever
changes a format raises its version, keeps reading the file of the old one, and writes another
under a new name.
"""

from tests.golden.make import FILES, FOLDER


def main() -> None:
    """Write what is missing."""
    for name, make in FILES.items():
        path = FOLDER / name
        if path.exists():
            print(f"{name} is there")  # noqa: T201
            continue
        make(path)
        print(f"{name} is written")  # noqa: T201


if __name__ == "__main__":
    main()
