import json

import pytest

from boundit.cli.main import main

FRONT_DOOR = "X -> M -> Y; X <-> Y"
SELECTED = "Z -> X -> Y; Z -> Y; Z -> [S]"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["identify", *arguments])
    said = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, said.out, said.err


def test_a_formula_is_printed_with_its_steps(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, FRONT_DOOR, "Y | do(X)")

    assert (code, err) == (0, "")
    first, *steps = out.splitlines()
    assert first == "P(Y | do(X)) = Σ_{M} P(M | X) Σ_{X'} P(X') P(Y | M, X')"
    assert steps
    assert all(step.startswith("  ") for step in steps)


def test_what_is_not_found_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = answer(capsys, SELECTED, "Y | do(X)")

    assert code == 1
    assert out.startswith("P(Y | do(X)): not identified")


def test_an_external_table_can_make_the_difference(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = answer(capsys, SELECTED, "Y | do(X)", "--external", "Z")

    assert code == 0
    assert out.splitlines()[0] == "P(Y | do(X)) = Σ_{Z} P(Y | X, Z, S=1) P(Z)"


def test_latex_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = answer(capsys, "X -> Y", "Y | do(X)", "--latex")

    assert (code, out) == (0, "P(Y \\mid X)\n")


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(answer(capsys, SELECTED, "Y | do(X), Z", "--json")[1])
    lost = json.loads(answer(capsys, SELECTED, "Y | do(X)", "--json")[1])

    assert found["found"]
    assert found["formula"] == "P(Y | X, Z, S=1)"
    assert not lost["found"]
    assert lost["formula"] is lost["latex"] is lost["expression"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([SELECTED, "Y | do("], "expected a treatment"),
        ([SELECTED, "Y | do(Q)"], "no node 'Q'"),
        ([SELECTED, "Y | do(X)", "--external", "Q"], "no node 'Q'"),
        ([SELECTED, "Y | do(Y)"], "'Y'"),
        (["none.dot", "Y | do(X)"], "cannot read 'none.dot'"),
    ],
)
def test_nonsense_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, out, err = answer(capsys, *arguments)

    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err
