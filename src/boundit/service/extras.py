"""Which extra to install for a package that the service needs and that is not there."""

from boundit.core.errors import MissingExtra

_EXTRAS = {
    "httptools": "service",
    "msgspec": "service",
    "prometheus_client": "service",
    "psycopg": "postgres",
    "psycopg_pool": "postgres",
    "starlette": "service",
    "uvicorn": "service",
    "uvloop": "service",
}


def name_extra(error: ImportError) -> ImportError | MissingExtra:
    """Turn a failed import into the line that says what to install; others stay as they are.

    >>> name_extra(ImportError(name="msgspec"))
    MissingExtra("this needs msgspec; install it with: pip install 'boundit[service]'")
    """
    package = str(error.name).partition(".")[0]
    return MissingExtra(package, _EXTRAS[package]) if package in _EXTRAS else error
