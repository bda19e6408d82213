"""docs/gradcli.schema.json tells of all JSON that gradcli prints, and of nothing else.

Every command line that a test runs in its process is held to it, too (in_process.py).
"""

import json

import pytest
from support.pages.schemas import KEYWORDS, PAGE, definitions, faults, hold, printed

from gradcli.cli.app import commands

COMMANDS = {
    "run": ["run", "-e", "x = 2.0; y = relu(x - 2); y", "--graph", "--kinks"],
    "grad": ["grad", "-e", "abs(x)", "x=0", "--kinks"],
    "elasticity": ["grad", "-e", "x ** 2", "x=2", "--elasticity"],
    "vjp": ["vjp", "-e", "x * 2", "x=[1, 2]", "--cotangent", "[1, 0]"],
    "jvp": ["jvp", "-e", "log(x)", "x=0", "--tangent", "x=1"],
    "jacobian": ["jacobian", "-e", "a = [x, x ** 2]; b = x", "x=2", "--of", "a,b"],
    "hessian": ["hessian", "-e", "x ** 2 * y", "x=2", "y=3"],
    "diagonal": ["hessian", "-e", "x ** 2 * y", "x=2", "y=3", "--diagonal"],
    "hvp": ["hvp", "-e", "x ** 2", "x=2", "--tangent", "x=1"],
    "gradcheck": ["gradcheck", "-e", "x ** 2", "x=2"],
    "minimize": ["minimize", "-e", "(x - a) ** 2", "x=1", "a=2", "--wrt", "x", "--starts", "2"],
    "root": ["root", "-e", "x ** 2 - a", "x=1", "a=2", "--wrt", "x", "--sensitivity", "a"],
    "propagate": ["propagate", "-e", "x / y", "x=2+/-0.1", "y=3(1):dof=9", "--monte-carlo", "200"],
    "check": ["check", "-e", "input x = 1.0", "-e", "x == 0.5"],
    "graph": ["graph", "-e", "x ** 2", "x=2"],
    "trace": ["trace", "-e", "x ** 2", "x=2"],
    "plot": ["plot", "-e", "abs(x)", "--over", "x=-1:1:3"],
    "fit": ["fit", "a * x", "a=1", "--rows", "samples/rat43.csv", "--observed", "y"],
    "fits": [
        "fit",
        "a * x",
        "a * x + b",
        "a=1",
        "b=0",
        *("--rows", "samples/rat43.csv", "--observed", "y", "--nested"),
    ],
    "ops": ["ops"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_prints_what_the_schema_says(cli, name):
    (found,) = printed(cli(*COMMANDS[name], "--json", "-q" if name != "ops" else "-v")[1])
    hold(found)
    kind = {"diagonal": "hessian", "elasticity": "grad"}.get(name, name)
    for field in definitions()[kind]["required"] if name != "ops" else ():  # it is long
        less = {key: value for key, value in found.items() if key != field}
        assert [*faults(less, definitions()[kind], kind)] == [f"{kind}.{field} is missing"]
    assert [*faults({**found, "new": 1}, definitions()[kind], kind)] == [
        f"{kind}.new is not told of"
    ]


def test_rows_and_messages_are_told_of(cli):
    asked = ["grad", "-e", "x ** 2", "--rows", "-", "-f", "ndjson", "--keep", "x"]
    status, out, _ = cli(*asked, "--on-error", "record", stdin="x\n1\na\n")
    assert (status, [*map(hold, printed(out))]) == (4, [None, None])
    status, _, err = cli("run", "-e", "sinn(1)", "--diagnostics", "json")
    assert (status, [*map(hold, printed(err))]) == (3, [None])


def test_every_command_that_prints_json_has_a_definition():
    without = {"explain", "export", "fmt", "lsp", "repl", "serve", "samples", "completion", "help"}
    assert {*commands()} - definitions().keys() == without
    page = json.loads(PAGE.read_text("utf-8"))
    named = {way["$ref"].rpartition("/")[2] for way in page["anyOf"]}
    assert named == ({*commands()} & definitions().keys()) | {
        *("fits", "bad_row", "bad_group", "diagnostic"),
        *("describe", "value_alone", "bad_question"),
    }
    assert KEYWORDS.isdisjoint({"description", "title"})
