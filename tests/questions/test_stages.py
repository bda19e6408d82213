"""The stages of a program on its way to code, as text."""

from importlib.util import find_spec

import pytest
from support.programs.code_stages import GOLDEN, cases, printed

from gradcli.errors import GradError
from gradcli.program import load, stage_text
from gradcli.questions.coded import stages
from gradcli.source import Source

CASES = {name: rest for name, *rest in cases()}


@pytest.mark.parametrize("name", CASES)
def test_a_stage_is_what_its_golden_file_says(name):
    if name.endswith("-llvm.txt"):
        pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")
    wanted = (GOLDEN / name).read_text("utf-8")
    assert printed(*CASES[name]) == wanted, "`python tests code_stages` writes it anew"


def test_every_golden_file_has_a_program():
    assert {path.name for path in GOLDEN.glob("*")} == set(CASES)


def test_the_python_code_that_is_printed_gives_the_values():
    text = load("x * 3.5 - 2 * x\n").stage("python", x=1.5, wrt="x")
    scope = {}
    exec(text, scope)
    assert scope["compiled"](None, 10, 0, None, 4.0) == (6.0, 4.0, 1.5)


@pytest.mark.skipif(find_spec("llvmlite") is None, reason="machine code needs the extra `fast`")
def test_no_address_is_printed():
    text = load("sin(x) * i0(x)\n").stage("llvm")
    assert "inttoptr" not in text
    assert "@outside0" in text


REFUSED = [
    ("x = randn(3)\nsum(x[x > 0])", {}, 3, (2, 5), "an item is taken by a value known only"),
    ("y = x", {"wrt": "x"}, 3, None, "the program has no result"),
    ("input x: float[2]\nx * 2", {"wrt": "x"}, 3, (2, 1), "the result is no float"),
    ("input x: float[n]\nsum(x)", {}, 4, (1, 1), "input `x` has no value"),
    ("x * 2", {"wrt": "y"}, 2, None, "--wrt names `y`, which the program does not have"),
]


@pytest.mark.parametrize("stage", ["typed", "python"])
@pytest.mark.parametrize(("text", "asked", "status", "place", "said"), REFUSED)
def test_where_there_is_no_stage_the_reason_is_told(stage, text, asked, status, place, said):
    with pytest.raises(GradError) as found:
        stage_text(Source("p.grad", f"{text}\n"), {}, stage, **asked)
    (told,) = found.value.diagnostics
    assert (found.value.status, said in told.message) == (status, True), told.message
    assert (told.span and told.source.position(told.span.start)) == place
    assert told.help


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("input x: float[2]\nsum(x * x)", "inputs %0: float, %1: float"),
        (
            "input n: int\ninput b: bool\ninput x\nx * n if b else x",
            "inputs %0: int, %1: bool, %2: float",
        ),
        ("input x: float[2, 3] = ones(2, 3)\nsum(x)", "inputs"),
    ],
)
def test_an_input_without_a_value_has_its_declared_type_and_sizes(text, inputs):
    assert load(f"{text}\n").stage("typed").splitlines()[0].rstrip() == inputs


def test_machine_code_tells_what_to_install(monkeypatch):
    monkeypatch.setattr(stages, "has_machine_code", lambda: False)
    with pytest.raises(GradError) as found:
        load("x * 2\n").stage("llvm")
    (told,) = found.value.diagnostics
    assert (found.value.status, told.code) == (2, "missing-extra")
    assert "gradcli[fast]" in told.help
