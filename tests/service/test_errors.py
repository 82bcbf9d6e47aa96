from boundit.service import errors
from boundit.service.errors import ServiceError, StoreUnavailable, Unavailable


def _list_below(kind: type[ServiceError]) -> list[type[ServiceError]]:
    below = [one for one in kind.__subclasses__() if one.__module__ == errors.__name__]
    return below + [found for one in below for found in _list_below(one)]


def test_every_error_has_a_status_and_a_code_of_its_own() -> None:
    found = [one for one in _list_below(ServiceError) if one is not errors.RequestRefused]

    assert len({each.code for each in found}) == len(found)
    assert {each.status for each in found} == {400, 404, 409, 410, 422, 500, 503}


def test_what_is_unavailable_says_when_to_try_again() -> None:
    error = StoreUnavailable("the disk is full", retry_after=7)

    assert isinstance(error, Unavailable)
    assert error.retry_after == 7
    assert "nothing was acknowledged" in str(error)


def test_the_docstring_draws_every_error() -> None:
    drawn = errors.__doc__ or ""

    assert all(each.__name__ in drawn for each in _list_below(ServiceError))
