"""Results as Python shows them."""

import pytest

import gradcli
from gradcli.errors import GradError
from gradcli.formats.writers.forms import VIEWS
from gradcli.render.looks import LOOKS
from gradcli.results import GradResult, GraphResult, Shown

PROGRAM = gradcli.load("input x = 2.0\ny = x ** 2\ny")
ASKED = {
    "run": {},
    "grad": {},
    "vjp": {},
    "jvp": {"tangents": {"x": 1.0}},
    "jacobian": {},
    "hessian": {},
    "hvp": {"tangents": {"x": 1.0}},
    "graph": {},
    "gradcheck": {},
    "trace": {},
    "propagate": {"uncertainties": {"x": 0.1}},
    "sparse_jacobian": {},
    "sparse_hessian": {},
    "elasticity": {},
}
COMMANDS = {
    "sparse_jacobian": ("jacobian", "--sparse"),
    "sparse_hessian": ("hessian", "--sparse"),
    "elasticity": ("grad", "--elasticity"),
}
"""The commands that are not named like their method."""


@pytest.mark.parametrize("question", ASKED)
def test_print_shows_what_the_command_shows(question, cli):
    result = getattr(PROGRAM, question)(**ASKED[question])
    options = [
        o for name in ASKED[question].get("tangents", ()) for o in ("--tangent", f"{name}=1")
    ]
    options += ["--uncertainty", "x=0.1"] if question == "propagate" else []
    form = "tree" if question == "graph" else "human"
    text = "\n".join(PROGRAM.source.text.splitlines())
    command = COMMANDS.get(question, (question,))
    status, out, _ = cli(*command, "-e", text, *options, "-f", form)
    assert (status, out) == (0, f"{result}\n")


def test_every_result_that_is_shown_is_asked_for():
    def kinds(kind):
        return {k for c in kind.__subclasses__() for k in (kinds(c) or {c})}

    asked = {type(getattr(PROGRAM, q)(**a)) for q, a in ASKED.items()}
    left = {
        kind.__name__ for kind in kinds(Shown) - asked if kind.__module__.startswith("gradcli.")
    }
    assert left == {
        *("FitResult", "FitGroups", "FitComparison"),  # of data in a file
        *("MinimizeResult", "RootResult"),  # of SciPy
        "PlotResult",  # drawn by a package that tests may not have
        "Names",  # what --show leaves of a run
        "NotebookResult",  # of cells
        "ValueResult",  # of no command
    }


def test_a_value_alone_is_shown_like_the_last_line_of_a_run():
    assert str(PROGRAM.value()) == f"{PROGRAM.run()}".splitlines()[-1] == "y = 4"


def test_a_result_tells_what_it_holds():
    assert repr(PROGRAM.grad()) == (
        "GradResult(output='y', value=4.0, grad={'x': 4.0}, inputs={'x': 2.0})"
    )
    rows = gradcli.load("\n".join(["y = x", *["y = y * x"] * 9, "y"])).trace(x=1.0)
    assert "... 10 in all)" in repr(rows)


def test_a_program_tells_its_inputs():
    assert repr(PROGRAM) == "<Program <text>: x -> y>"
    assert repr(gradcli.load("assert True")) == "<Program <text>: no inputs -> no result>"


def test_a_notebook_draws_a_graph():
    drawn = PROGRAM.graph()._repr_svg_()
    assert drawn.startswith("<svg ")
    assert "y = x ** 2" in drawn


def test_a_result_made_by_hand_is_its_repr():
    assert str(GradResult("y", 4.0, {"x": 4.0}, {})).startswith("GradResult(output='y'")
    assert GraphResult("y", 4.0, PROGRAM.graph().graph)._repr_svg_() is None


def test_the_text_of_an_error_has_its_place():
    with pytest.raises(GradError) as refused:
        gradcli.load("x = 1\ny = sinn(2)\nz = coss(3)")
    assert str(refused.value) == (
        "<text>:2:5: `sinn` is called and never defined\n"
        "<text>:3:5: `coss` is called and never defined"
    )
    assert repr(refused.value.diagnostics[0]).startswith("<error[unknown-name] <text>:2:5: ")
    with pytest.raises(GradError) as without:
        PROGRAM.grad(of="q")
    assert str(without.value).startswith("--of names `q`")


def test_each_view_is_drawn_in_the_forms_that_it_names():
    named = {(view.name, form) for view in VIEWS.values() for form in view.drawn}
    for_print = {("graph", "human")}  # which the command calls a tree
    assert named | for_print == LOOKS.keys()
