"""Programs that are made of cells, and programs that grow."""

import pytest

from gradcli.cells import CellRun, Growth, load_cells, program_of
from gradcli.engine.run.language.names import Builtins
from gradcli.errors import GradError, ProgramError
from gradcli.ir.validate import faults
from gradcli.program import Options
from gradcli.source import Cell, Source


def source(*texts, name="lesson.ipynb"):
    cells, text = [], ""
    for number, part in enumerate(texts, 1):
        cells.append(Cell(len(text), len(text) + len(part) + 1, number, f"cell {number}", 1, 0))
        text += part + "\n"
    return Source(name, text, 1, tuple(cells))


def shown(*texts):
    """What each cell prints and shows."""
    loaded = load_cells(source(*texts))
    assert loaded.refusal is None
    run = CellRun({}, Options())
    found = []
    for step in loaded.steps:
        assert not faults(step.program.loaded.program, Builtins())
        cell = run.cell(step)
        found.append((cell.printed + cell.shown).rstrip("\n"))
    return found


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["x = 2", "x"], ["", "2"]),
        (["x = 2", "x;"], ["", ""]),
        (["x = 2", "x ; # quiet"], ["", ""]),
        (["x = 2\nx", "# nothing", "'a'"], ["2", "", "'a'"]),
        (["None", "print(1)\n2"], ["", "1\n2"]),
        # a function looks a name up when it runs, a later cell changes it
        (["def f(a):\n    return g(a)", "def g(a):\n    return a + k\nk = 1\nf(2)"], ["", "3"]),
        (["k = 1\nf = lambda: k", "k = 2", "f()"], ["", "", "2"]),
        (["n = 0\ndef f():\n    global n\n    n += 1", "f()\nf()\nn"], ["", "2"]),
        (["x = 3.0", "x = x + 1", "x"], ["", "", "4.0"]),
        (["for i in range(2): print(i)", "i"], ["0\n1", "1"]),
        (["sum([1, 2])", "[i for i in range(3)]"], ["3", "[0, 1, 2]"]),
        (
            ["class A:\n    def f(self): return 1", "class B(A):\n"
             "    def f(self): return super().f() + 1", "B().f(), A().f()"],
            ["", "", "(2, 1)"],
        ),
        (["torch.set_printoptions(precision=1)", "tensor([0.25])"], ["", "tensor([0.2])"]),
        (["torch.manual_seed(0)", "torch.randn(1)"], ["", "tensor([1.5410])"]),
        (["[0.123456789] * 9"], ["[" + ",\n ".join(["0.123456789"] * 9) + "]"]),
        (["([1.5] * 30, {'a': [2.25] * 20})"],
         ["([" + ",\n  ".join(["1.5"] * 30) + "],\n {'a': [" + ",\n   ".join(["2.25"] * 20) + "]})"]),
    ],
)  # fmt: skip
def test_cells_run_one_after_the_other_and_show_their_last_expression(texts, expected):
    assert [text.splitlines() for text in shown(*texts)] == [t.splitlines() for t in expected]


def test_long_containers_are_laid_out_as_ipython_does():
    pretty = pytest.importorskip("IPython.lib.pretty").pretty
    values = [
        [0.5] * 40,
        tuple([1.25] * 40),
        {"a": [1.5] * 40, "b": {"c": (1,), "d": ["x" * 50, "y" * 50]}},
        [[1.5] * 30, [2.5] * 3],
        ([0.123] * 20,),
        list(range(1100)),
        [{"name" * 5: i} for i in range(9)],
    ]
    assert shown(*map(repr, values)) == [pretty(value) for value in values]


def test_all_cells_are_one_program():
    program = program_of(source("x = 3.0", "def f(a):\n    return a ** 2", "f(x)"))

    assert program.grad(wrt="x").grad == {"x": 6.0}
    assert program.inputs == ("x",)


@pytest.mark.parametrize(
    ("texts", "place", "ran"),
    [
        (["x = 1", "y = (1", "z = 2"], "lesson.ipynb:cell 2:1:", 1),
        (["x = 1", "x\n  y", "z = )"], "lesson.ipynb:cell 2:2:1", 1),
        (["x = 1", "\n\nw"], "lesson.ipynb:cell 2:3:1", 1),
        (["w", "x = 1"], "lesson.ipynb:cell 1:1:1", 0),
    ],
)
def test_cells_before_one_that_is_refused_are_loaded(texts, place, ran):
    loaded = load_cells(source(*texts))

    assert str(loaded.refusal).startswith(place)
    assert len(loaded.steps) == ran
    with pytest.raises(ProgramError, match=r"cell"):
        program_of(source(*texts))


def test_errors_while_running_name_the_cell():
    loaded = load_cells(source("def f(a):\n    return a @ a", "x = ones(2, 3)", "\nf(x)"))
    run = CellRun({}, Options())
    with pytest.raises(GradError) as caught:
        [run.cell(step) for step in loaded.steps]

    assert caught.value.diagnostics[0].place == ("lesson.ipynb:cell 1", 2, 12)


def grown(*lines):
    """What each line of a prompt shows, or the code of its error with the names it changed."""
    growth, run, found = Growth("<prompt>"), CellRun({}, Options()), []
    for line in lines:
        before = run.mark()
        try:
            longer = growth.added(line)
            found.append(run.cell(longer.step).shown)
            growth = longer
        except GradError as error:
            found.append((error.diagnostics[0].code, run.restore(before)))
    return found


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["x = 2", "x", "x = 3", "x"], ["", "2", "", "3"]),
        (["y", "y = 1", "y"], [("unknown-name", []), "", "1"]),
        (["def f(a): return h(a)", "f(1)", "def h(a): return a + 1", "f(1)"],
         ["", ("used-before-assigned", []), "", "2"]),
        (["sum([1, 2])", "sum = 5", "sum"], ["3", "", "5"]),
        (["x = 1", "x = 2; y = nothing", "x"], ["", ("unknown-name", []), "1"]),
        (["x = 1", "x = 2; [][1]", "x"], ["", ("index-out-of-range", []), "1"]),
        (["t = zeros(2)", "t.add_(1); [][1]", "t"],
         ["", ("index-out-of-range", ["t"]), "tensor([1., 1.])"]),
        (["torch.manual_seed(0);", "torch.randn(1); [][1]", "torch.randn(1)"],
         ["", ("index-out-of-range", []), "tensor([1.5410])"]),
        (["x = (", "1"], [("unclosed-bracket", []), "1"]),
        (["x = 1.5;", "x ;", "x"], ["", "", "1.5"]),
    ],
)  # fmt: skip
def test_a_program_grows_and_a_failed_line_leaves_it_as_it_was(lines, expected):
    assert grown(*lines) == expected
