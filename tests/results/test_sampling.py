"""Why chance moves an end: values that compare, and that JSON keeps."""

from typing import get_args

from boundit.core.codec import decode, encode
from boundit.results.sampling import EndSampling, HeavyCell, Inference


def test_json_gives_back_what_was_written() -> None:
    heavy = HeavyCell((("Z", 2), ("X", 0)), rows=12.0, share=0.4)
    found = EndSampling(120.5, 0.02, (heavy,), boxes="a table is read twice")

    assert decode(EndSampling, encode(found)) == found
    assert decode(EndSampling, encode(EndSampling(3.0, 0.0))) == EndSampling(3.0, 0.0)


def test_there_are_two_ways_to_allow_for_chance() -> None:
    assert get_args(Inference) == ("exact", "approximate")
