"""Programs in the names of JAX, autograd and NumPy give what these give, as `reference/doors.py`
recorded it.
"""

import json
import math
import re
from pathlib import Path

import pytest
from support.programs.door_cases import PROGRAMS

from gradcli.errors import GradError
from gradcli.program import Options, load

RECORDED = json.loads((Path(__file__).parent / "reference/doors.json").read_text("utf-8"))
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_printed_is_theirs(name):
    printed = []
    load(PROGRAMS[name]).run(options=Options(echo=printed.append, explain=False))
    lines = "".join(printed).splitlines()
    assert len(lines) == len(RECORDED[name])
    for line, expected in zip(lines, RECORDED[name], strict=True):
        assert NUMBER.sub("0", line) == NUMBER.sub("0", expected)
        for a, b in zip(NUMBER.findall(line), NUMBER.findall(expected), strict=True):
            assert math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12), (line, expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_check_finds_nothing_wrong(name):
    assert not [f for f in load(PROGRAMS[name]).check({}).findings if f.severity == "error"]


def test_elements_are_views_where_pytorch_is_imported():
    printed = []
    text = (
        "import torch\nimport numpy as np\nx = torch.tensor([1.0, 2.0])\nt = x[0]\nx += 1\nprint(t)"
    )
    load(text).run(options=Options(echo=printed.append))
    assert printed == ["tensor(2.)\n"]


def by_code(program):
    """The result of code, or why there is none."""
    try:
        return program.run(options=Options(compile="always")).result
    except GradError as error:
        return error.diagnostics[0].code


@pytest.mark.parametrize(
    "text",
    [
        "x = np.array([1.0, 2.0])\nfor i in range(9):\n    t = x[0]\n    x = x + t\nx.sum() + t",
        "x = np.array([1.0, 2.0])\nfor i in range(9):\n    t = x[0]\n    x += 0.5\nx.sum() + t",
    ],
)
def test_code_agrees_on_what_elements_are(text):
    program = load("import numpy as np\n" + text)
    interpreted = program.run(options=Options(compile="never")).result
    assert by_code(program) in (interpreted, "not-compilable")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jax.lax.scan(lambda c, x: (c, x), 0, (jnp.ones(5), jnp.ones(4)))", "got 4 and 5"),
        ("jax.lax.scan(lambda c, x: (c, x), 0, {'a': jnp.ones(5), 'b': jnp.ones(4)})", "4 and 5"),
        ("jax.tree.map(lambda a, b: a, [1, 2], [1])", "trees of one structure"),
        ("jax.tree_util.tree_unflatten(jax.tree.flatten([1, 2])[1], [1])", "do not fill the tree"),
        ("jax.custom_vjp(3)", "takes a function"),
    ],
)
def test_what_cannot_be_is_refused(text, said):
    with pytest.raises(GradError) as caught:
        load(f"import jax\nimport jax.numpy as jnp\n{text}").run()
    assert said in caught.value.diagnostics[0].message
