"""The commands beyond `grad`, in every form, as real command lines."""

import json

import numpy as np
import pytest

PAIR = ["-e", "stack([x * y, x + y])", "x=2", "y=3"]
CUBES = ["-e", "sum(x ** 3) * k", "x=[1, 2]", "k=2"]

PLAIN = [
    (["jvp", *PAIR, "--tangent", "x=1"], "result\t[6.0,5.0]\njvp\t[3.0,1.0]\n"),
    (
        ["jvp", *PAIR, "--tangent", "x=1", "--tangent", "y=-1"],
        "result\t[6.0,5.0]\njvp\t[1.0,0.0]\n",
    ),
    (["vjp", *PAIR, "--cotangent", "[1, 10]"], "result\t[6.0,5.0]\nvjp.x\t13.0\nvjp.y\t12.0\n"),
    (["vjp", *PAIR, "--cotangent", "[1, 10]", "--wrt", "y"], "result\t[6.0,5.0]\nvjp.y\t12.0\n"),
    (["vjp", *PAIR, "--cotangent", "2", "--wrt", "y"], "result\t[6.0,5.0]\nvjp.y\t6.0\n"),
    (["jacobian", *PAIR], "result\t[6.0,5.0]\njacobian.x\t[3.0,1.0]\njacobian.y\t[2.0,1.0]\n"),
    (
        ["hessian", *CUBES],
        "result\t18.0\ngrad.x\t[6.0,24.0]\ngrad.k\t9.0\nhessian.x.x\t[[12.0,0.0],[0.0,24.0]]\n"
        "hessian.x.k\t[3.0,12.0]\nhessian.k.x\t[3.0,12.0]\nhessian.k.k\t0.0\n",
    ),
    (
        ["hessian", *CUBES, "--diagonal"],
        "result\t18.0\ngrad.x\t[6.0,24.0]\ngrad.k\t9.0\ndiagonal.x\t[12.0,24.0]\ndiagonal.k\t0.0\n",
    ),
    (["hvp", *CUBES, "--tangent", "x=[1, 0]"], "result\t18.0\nhvp.x\t[12.0,0.0]\nhvp.k\t3.0\n"),
    (["hvp", *CUBES, "--tangent", "k=1", "--wrt", "x"], "result\t18.0\nhvp.x\t[3.0,12.0]\n"),
]

JSON = [
    (
        ["jvp", *PAIR, "--tangent", "x=1"],
        {"schema": "gradcli.jvp/1", "output": "result", "value": [6.0, 5.0], "jvp": [3.0, 1.0]},
    ),
    (
        ["vjp", *PAIR, "--cotangent", "[1, 0]"],
        {
            "schema": "gradcli.vjp/1",
            "output": "result",
            "value": [6.0, 5.0],
            "vjp": {"x": 3.0, "y": 2.0},
        },
    ),
    (
        ["jacobian", *PAIR, "--mode", "reverse"],
        {
            "schema": "gradcli.jacobian/1",
            "output": "result",
            "value": [6.0, 5.0],
            "jacobian": {"x": [3.0, 1.0], "y": [2.0, 1.0]},
            "mode": "reverse",
        },
    ),
    (
        ["hessian", "-e", "x * y", "x=2", "y=3"],
        {
            "schema": "gradcli.hessian/1",
            "output": "result",
            "value": 6.0,
            "grad": {"x": 3.0, "y": 2.0},
            "hessian": {"x": {"x": 0.0, "y": 1.0}, "y": {"x": 1.0, "y": 0.0}},
            "mode": "reverse",
        },
    ),
    (
        ["hessian", "-e", "x ** 2", "x=2", "--diagonal"],
        {
            "schema": "gradcli.hessian/1",
            "output": "result",
            "value": 4.0,
            "grad": {"x": 4.0},
            "diagonal": {"x": 2.0},
            "mode": "reverse",
        },
    ),
    (
        ["hvp", "-e", "x ** 2", "x=2", "--tangent", "x=3"],
        {
            "schema": "gradcli.hvp/1",
            "output": "result",
            "value": 4.0,
            "hvp": {"x": 6.0},
            "mode": "forward",
        },
    ),
]

RAW = [
    (["jacobian", *PAIR], "3.0\n1.0\n2.0\n1.0\n"),
    (["hessian", "-e", "x * y", "x=2", "y=3"], "0.0\n1.0\n1.0\n0.0\n"),
    (["jvp", *PAIR, "--tangent", "x=1"], "3.0\n1.0\n"),
    (["hvp", *CUBES, "--tangent", "x=[1, 0]"], "12.0\n0.0\n3.0\n"),
]

REFUSED = [
    (["jvp", *PAIR], 2, "no direction"),
    (["jvp", *PAIR, "--tangent", "1"], 2, "`1` in --tangent has no name"),
    (["jvp", *PAIR, "--tangent", "z=1"], 2, "--tangent names `z`"),
    (["jvp", *PAIR, "--tangent", "x=[1, 2]"], 4, "the tangent of `x` has the shape [2]"),
    (["vjp", *PAIR], 5, "the result has shape [2]"),
    (["hessian", *PAIR], 5, "the result has shape [2]"),
    (["vjp", *PAIR, "--cotangent", "'a'"], 4, "the cotangent must be a number or tensor"),
    (["vjp", *PAIR, "--cotangent", "[1, 2, 3]"], 4, "given as --cotangent [1, 2, 3]"),
    (["vjp", *PAIR, "--cotangent", "[1, [2]]"], 4, "given as --cotangent [1, [2]]"),
    (["jvp", *PAIR, "--tangent", "x='a'"], 4, "the tangent of `x` must be a number or tensor"),
    (["jvp", *PAIR, "--tangent", "x=q"], 4, "<expr>:1:13: error[bad-input]: `q` has no value here"),
    (["hvp", *PAIR, "--tangent", "z=1"], 2, "--tangent names `z`"),
    (["vjp", *PAIR], 5, "<expr>:1:1: error[needs-cotangent]"),
    (["jacobian", "-e", "(x, x ** 2)", "x=2"], 5, "<expr>:1:2: error[not-differentiable]"),
    (["jacobian", "-e", "argmax(x)", "x=[1, 2]"], 5, "<expr>:1:1: error[needs-float]"),
    (["grad", "-e", "x * 2", "x=[1, 'a']"], 4, "a string in a list cannot become part"),
    (["jacobian", *PAIR, "--mode", "sideways"], 2, "invalid value for `--mode`"),
    (["jacobian", *PAIR, "-o", "a.npy"], 2, "`a.npy` holds one array"),
]


@pytest.mark.parametrize(
    ("arguments", "text"), PLAIN, ids=lambda a: " ".join(a) if isinstance(a, list) else ""
)
def test_plain(cli, arguments, text):
    assert cli(*arguments) == (0, text, "")


@pytest.mark.parametrize(
    ("arguments", "fields"), JSON, ids=lambda a: " ".join(a) if isinstance(a, list) else ""
)
def test_json(cli, arguments, fields):
    status, out, err = cli(*arguments, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == {**fields, "warnings": []}
    assert list(json.loads(out)) == [*fields, "warnings"]
    assert cli(*arguments, "-f", "ndjson")[1] == out


@pytest.mark.parametrize(
    ("arguments", "text"), RAW, ids=lambda a: " ".join(a) if isinstance(a, list) else ""
)
def test_raw(cli, arguments, text):
    assert cli(*arguments, "-r") == (0, text, "")


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_csv_has_a_column_for_each_number(cli, delimiter):
    form = "csv" if delimiter == "," else "tsv"
    _, out, _ = cli("grad", "w = [x, 2]; (w * w).sum()", "x=3", "--wrt", "w,x", "-f", form)
    names = ["result", "grad.w.0", "grad.w.1", "grad.x"]
    assert out.splitlines() == [
        delimiter.join(names),
        delimiter.join(["13.0", "6.0", "4.0", "6.0"]),
    ]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_vectors_of_one_length_are_columns(cli, delimiter):
    form = "csv" if delimiter == "," else "tsv"
    _, out, _ = cli("jacobian", *PAIR, "-f", form)
    assert out.splitlines() == [
        delimiter.join(["result", "jacobian.x", "jacobian.y"]),
        delimiter.join(["6.0", "3.0", "2.0"]),
        delimiter.join(["5.0", "1.0", "1.0"]),
    ]
    program = "t = linspace(0, 1, 3); W = outer(t, tensor([1.0, 2.0]))"
    _, out, _ = cli("run", program, "--show", "t,W", "-f", form)
    assert out.splitlines()[0] == delimiter.join(["t", "W.0", "W.1"])
    assert out.splitlines()[2] == delimiter.join(["0.5", "0.5", "1.0"])
    _, out, _ = cli("run", program, "--show", "t,W", "-f", form, "t=[]")
    assert len(out.splitlines()) <= 2


def test_what_is_printed_as_columns_is_read_as_columns(cli, tmp_path):
    file = tmp_path / "t.csv"
    assert cli("run", "t = linspace(0, 1, 3); p = t ** 2", "--show", "t,p", "-o", str(file))[0] == 0
    _, out, _ = cli("run", "input t: float[3]; input p: float[3]; (t * p).sum()", "-i", str(file))
    assert out == "1.125\n"


@pytest.mark.parametrize("rows", [[], ["--rows", "-"]])
def test_markdown(cli, rows):
    given = [] if rows else ["x=3"]
    _, out, err = cli("grad", "x ** 2", *given, *rows, "-f", "md", stdin="x\n3\n")
    assert out == "| result | grad.x |\n|---:|---:|\n| 9.0 | 6.0 |\n", err


def test_markdown_keeps_texts_in_their_cells(cli):
    stdin = 'x,id\n1,a|b\n2,"c\nd"\n'
    _, out, _ = cli("run", "x * 2", "--rows", "-", "-f", "md", "--keep", "id", stdin=stdin)
    assert out == "| id | result |\n|---:|---:|\n| a\\|b | 2.0 |\n| c d | 4.0 |\n"


def test_csv_of_a_run_quotes_what_must_be(cli):
    _, out, _ = cli(
        "run", "-e", "t = 'a,b'", "-e", "n = nan", "-e", "t", "--show", "t,n", "-f", "csv"
    )
    assert out == 't,n\n"a,b",nan\n'


def test_arrays_in_files(cli, tmp_path):
    assert cli("jacobian", *PAIR, "--wrt", "x", "-o", str(tmp_path / "j.npy"))[0] == 0
    assert np.array_equal(np.load(tmp_path / "j.npy"), [3.0, 1.0])
    assert cli("hessian", "-e", "x * y", "x=2", "y=3", "-o", str(tmp_path / "h.npz"))[0] == 0
    with np.load(tmp_path / "h.npz") as found:
        assert found["hessian.x.y"] == 1.0
        assert list(found)[:3] == ["result", "grad.x", "grad.y"]
    assert cli("run", "-e", "x * 2", "x=[1, 2]", "-o", str(tmp_path / "r.npy"))[0] == 0
    assert np.array_equal(np.load(tmp_path / "r.npy"), [2.0, 4.0])


@pytest.mark.parametrize(
    ("suffix", "form"),
    [("json", "json"), ("csv", "csv"), ("txt", "plain"), ("ndjson", "json"), ("tsv", "tsv")],
)
def test_the_suffix_chooses_the_form(cli, tmp_path, suffix, form):
    path = tmp_path / f"out.{suffix}"
    assert cli("grad", "-e", "x ** 2", "x=3", "-o", str(path)) == (0, "", "")
    assert path.read_text() == cli("grad", "-e", "x ** 2", "x=3", "-f", form)[1]


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    REFUSED,
    ids=lambda a: " ".join(a) if isinstance(a, list) else "",
)
def test_refusals(cli, arguments, status, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    got, out, err = cli(*arguments)
    assert (got, out) == (status, ""), err
    assert says in err
    assert list(tmp_path.iterdir()) == []


def test_suffixes_in_any_case_and_both_json_forms(cli, tmp_path):
    for name, option in (("a.JSON", []), ("b.ndjson", ["--json"]), ("c.json", ["-f", "ndjson"])):
        path = tmp_path / name
        assert cli("grad", "-e", "x ** 2", "x=3", "-o", str(path), *option)[0] == 0
        assert json.loads(path.read_text())["grad"] == {"x": 6.0}


def test_run_shows_what_is_asked_for_in_every_form(cli):
    program = ["run", "-e", "y = x * 2", "-e", "y + 1", "x=3", "--show", "y"]
    assert json.loads(cli(*program, "--json")[1])["values"] == {"y": 6.0}
    assert cli(*program)[1] == "y\t6.0\n"
    assert cli(*program, "-r")[1] == "6.0\n"
    assert cli(*program, "-f", "csv")[1] == "y\n6.0\n"
    shown = cli(*program, "-f", "human")[1]
    assert shown.split() == ["name", "dtype", "value", "y", "float64", "6"]


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_no_result_is_an_error_where_a_value_is_wanted(cli, form):
    status, out, err = cli("run", "-e", "x = 1.0", "-f", form)
    assert (status, out) == (2, "")
    assert "error[no-result]" in err
    assert "--show" in err


def test_an_empty_program_is_told_as_one(cli):
    assert "the program is empty" in cli("grad", "-e", "")[2]


def test_a_person_sees_one_matrix_and_the_mode(cli):
    _, out, _ = cli("jacobian", "-e", "x * k", "x=[1, 2]", "k=3", "-f", "human")
    assert out == (
        "result = [3, 6]\n\njacobian   x[0]  x[1]  k\nresult[0]  3     0     1\n"
        "result[1]  0     3     2\n\nby reverse mode\n"
    )


UNUSED = [
    (["vjp"], "result\t2.0\nvjp.x\t2.0\nvjp.y\t[0.0,0.0]\n"),
    (["jacobian"], "result\t2.0\njacobian.x\t2.0\njacobian.y\t[0.0,0.0]\n"),
    (["jvp", "--tangent", "y=[1, 1]"], "result\t2.0\njvp\t0.0\n"),
    (
        ["hessian", "--diagonal"],
        "result\t2.0\ngrad.x\t2.0\ngrad.y\t[0.0,0.0]\ndiagonal.x\t0.0\ndiagonal.y\t[0.0,0.0]\n",
    ),
]


@pytest.mark.parametrize(("arguments", "text"), UNUSED, ids=lambda a: a[0])
def test_an_unused_input_is_zeros_with_a_warning(cli, arguments, text):
    program = ["-e", "input x = 1.0", "-e", "input y = [1.0, 2.0]", "-e", "x * 2"]
    status, out, err = cli(*arguments, *program)
    assert (status, out) == (0, text)
    assert "warning[unused-input]: `result` does not depend on `y`" in err
    assert cli(*arguments, *program, "-q")[2] == ""


COUPLED = ["-e", "sum(x ** 3) * k + sin(x[0] * x[1]) * k ** 2", "x=[1, 2]", "k=3"]
SECOND = [
    ["hessian", *COUPLED],
    ["hessian", *COUPLED, "--diagonal"],
    ["hvp", *COUPLED, "--tangent", "x=[1, -2]", "--tangent", "k=0.5"],
    ["hvp", *COUPLED, "--tangent", "k=0.5", "--wrt", "x"],
    ["hessian", *COUPLED, "--wrt", "x"],
]


@pytest.mark.parametrize("arguments", SECOND, ids=lambda a: " ".join(a[:1] + a[5:]))
def test_second_derivatives_by_both_modes(cli, arguments):
    found = {}
    for mode in ("forward", "reverse"):
        status, out, err = cli(*arguments, "--mode", mode, "--json")
        assert (status, err) == (0, "")
        found[mode] = json.loads(out)
        assert found[mode].pop("mode") == mode
    numbers = {mode: leaves(result) for mode, result in found.items()}
    assert np.allclose(numbers["forward"], numbers["reverse"], rtol=1e-14)


def leaves(value):
    if isinstance(value, dict):
        value = [value[key] for key in value if key not in ("schema", "output", "warnings")]
    return [x for item in value for x in leaves(item)] if isinstance(value, list) else [value]


def test_a_name_that_is_computed_from_another_moves_with_it(cli):
    program = ["-e", "a = x * 2", "-e", "a ** 2", "x=1"]
    both = ["--tangent", "a=1", "--tangent", "x=1"]
    assert cli("jvp", *program, *both, "-r")[1] == "12.0\n"
    for mode in ("forward", "reverse"):
        jacobian = cli("jacobian", *program, "--wrt", "a,x", "--mode", mode, "-r")
        assert jacobian == (0, "4.0\n8.0\n", "")
        assert cli("hvp", *program, *both, "--mode", mode, "-r") == (0, "12.0\n6.0\n", "")


NOT_FINITE = [
    (["grad", "-e", "param x = 1.0", "-e", "x ** 2", "x=nan"], 1, "as the input `x` is not"),
    (["run", "-e", "x * 1.0", "x=nan"], 1, "the result is not finite, as the input `x` is not"),
    (["hessian", "-e", "y = 1", "-e", "x ** 1.5 + y", "x=0"], 2, "the derivative of `pow` is not"),
    (
        ["hvp", "-e", "x ** 1.5", "x=0", "--tangent", "x=1"],
        1,
        "the second derivative is not finite",
    ),
    (
        ["hessian", "-e", "sqrt(x)", "x=0"],
        1,
        "the gradient is not finite: the derivative of `sqrt`",
    ),
    (["jvp", "-e", "x * 2", "x=1", "--tangent", "x=nan"], 1, "the derivative is not finite"),
]


@pytest.mark.parametrize(
    ("arguments", "line", "says"), NOT_FINITE, ids=lambda a: a[0] if isinstance(a, list) else ""
)
def test_a_derivative_that_is_not_finite_is_told_with_its_place(cli, arguments, line, says):
    status, _, err = cli(*arguments)
    assert status == 0
    assert err.startswith(f"<expr>:{line}:1: warning[non-finite]: ")
    assert says in err
    assert err.count("warning") == 1
    status, _, err = cli(*arguments, "--check-nan")
    assert (status, err.partition("[")[0]) == (5, f"<expr>:{line}:1: error")


OWN = """\
input x = [1.0, 2.0]
input y = [3.0, 4.0]
class Mul(Function):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = y * g if ctx.needs_input_grad[0] else None
        gy = x * g if ctx.needs_input_grad[1] else None
        return gx, gy
"""


def test_an_own_rule_is_asked_for_what_the_command_differentiates(cli):
    program = ["-e", OWN + "sum(Mul.apply(x, y))"]
    assert cli("grad", *program, "-r")[1] == "3.0\n4.0\n1.0\n2.0\n"
    assert cli("grad", *program, "--wrt", "x", "-r")[1] == "3.0\n4.0\n"
    assert cli("jvp", *program, "--tangent", "x=[1, 0]", "-r")[1] == "3.0\n"
    assert cli("hvp", *program, "--tangent", "x=[1, 0]", "--wrt", "y", "-r")[1] == "1.0\n0.0\n"
    inner = ["-e", OWN + "grad(lambda a: sum(Mul.apply(a, y)))(x)"]
    assert cli("run", *inner, "-r")[1] == "3.0\n4.0\n"


def test_a_hook_is_run_by_reverse_mode_which_auto_takes(cli):
    lines = "param x = [1.0, 2.0]", "y = x * x", "y.register_hook(lambda g: g * 10)"
    program = ["-e", "\n".join(lines), "-e", "sum(y) + 0 * stack([x, x, x]).sum(1)"]
    assert json.loads(cli("jacobian", *program, "--json")[1])["mode"] == "reverse"
    assert cli("jacobian", *program, "-r")[1].split()[:2] == ["20.0", "40.0"]
    assert cli("jacobian", *program, "--mode", "forward", "-r")[1].split()[:2] == ["2.0", "4.0"]
    hvp = ["hvp", *program[:2], "-e", "sum(y)", "--tangent", "x=[1, 0]"]
    assert cli(*hvp, "-r") == cli(*hvp, "--mode", "reverse", "-r")


def test_what_fails_in_an_own_rule_has_a_place(cli):
    program = OWN.replace("x, y = ctx", "x, y, z = ctx") + "sum(Mul.apply(x, y))"
    for command in ("grad", "jacobian", "hessian"):
        status, _, err = cli(command, "-e", program)
        assert (status, err.partition(": ")[0]) == (5, "<expr>:8:9")


def test_users_functions_see_one_direction_at_a_time(cli):
    rule = (
        "class Square(Function):\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n"
        "        return x ** 2\n"
        "    def backward(ctx, g):\n"
        "        print(g.shape)\n"
        "        return 2 * ctx.saved_tensors[0] * g\n"
    )
    program = ["-e", "param x = [1.0, 2.0, 3.0]", "-e", rule + "Square.apply(x)"]
    diagonal = [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    status, out, err = cli("jacobian", *program, "--mode", "reverse", "--json")
    assert (status, err) == (0, "torch.Size([3])\n" * 3)
    assert json.loads(out)["jacobian"]["x"] == diagonal
    hook = ["-e", "param x = [1.0, 2.0, 3.0]", "-e", "y = x ** 2", "-e", "def f(g): print(g.shape)"]
    hook += ["-e", "y.register_hook(f)", "-e", "y * 1"]
    status, out, err = cli("jacobian", *hook, "--json")
    assert (status, err) == (0, "torch.Size([3])\n" * 3)
    assert json.loads(out)["jacobian"]["x"] == diagonal


def test_auto_is_forward_where_both_modes_have_as_many_directions(cli):
    found = json.loads(cli("jacobian", "-e", "x ** 2", "x=[1, 2]", "--json")[1])
    assert found["mode"] == "forward"


def test_an_own_rule_of_the_wrong_shape_is_told_by_every_command(cli):
    rule = (
        "class Total(Function):\n"
        "    def forward(ctx, x): return x.sum()\n"
        "    def backward(ctx, g): return g\n"
    )
    program = ["-e", rule + "x = tensor([0.5, 2.3, 1.0])", "-e", "Total.apply(x)"]
    for command in (["grad"], ["jvp", "--tangent", "x=[1, 1, 1]"], ["jacobian"], ["gradcheck"]):
        status, out, err = cli(*command, *program)
        assert (status, out) == (5, ""), command
        assert err.startswith("<expr>:3:5: error[wrong-rule]: `backward` of `Total` returns"), err
