"""``python -m boundit``: the command line without its name on the path."""

from boundit.cli.main import main

if __name__ == "__main__":
    main()
