"""What stands behind `np.` is differentiated, known before a run, and named in full."""

import pytest

from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError
from gradcli.grammar.meaning import modules
from gradcli.program import Options, load

SMOOTH = [
    *(
        "np.std(v)",
        "np.var(v, axis=0)",
        "np.median(v, axis=1)",
        "np.percentile(v, 30)",
        "np.ptp(v)",
    ),
    *("np.average(v, axis=1, weights=[1.0, 2.0, 3.0])", "np.cumsum(v)", "np.cumprod(v, axis=1)"),
    *("np.sort(v, axis=None)", "np.flip(v)", "np.repeat(v, 2, axis=0)", "np.transpose(v)"),
    *("np.append(v, v)", "np.split(v, 3, axis=1)[1]", "np.dot(v, v.T)", "np.dot(2.0, v)"),
    *("np.gradient(v[0], v[1])", "np.gradient(v[0])", "np.polyval(v[0], v[1])"),
    *("np.interp(v[0] / 4, [0.0, 1.0, 2.0], v[1])", "np.linalg.lstsq(v.T, v[0])[0]"),
    *(
        "np.array([v[0, 0], 2 * v[1, 1]])",
        "np.array(v)",
        "np.max(v, axis=0)",
        "np.clip(v, 1.5, 3.5)",
    ),
    "np.vectorize(lambda a: a * a)(v)",
]


def test_derivatives_are_slopes():
    lines = ["import numpy as np", "x = tensor([[1.0, 4.5, 2.0], [3.0, -1.0, 7.0]])"]
    lines += ["x.requires_grad_()", "with no_grad():", "    np.std(x)"]
    lines += [f"assert gradcheck(lambda v: {f}, x, check_forward_ad=True)" for f in SMOOTH]
    load("\n".join(lines)).run(options=Options(compile="never"))


def test_every_name_is_a_built_in():
    for module, table in modules._others().items():
        missing = {name for name, builtin in table.items() if builtin not in ops}
        assert not missing, module


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("import numpy as np\nnp.sigmoid(1.0)", "`sigmoid` of `numpy` is not part of the language"),
        ("import numpy as np\nnp.stdd([1.0])", "`stdd` of `numpy` is not part of the language"),
        ("import numpy as np\nnp.split(np.arange(5), 2)", "5 elements cannot be split into 2"),
        ("import numpy as np\nnp.random.normal(scale=-1.0)", "`normal` cannot draw: scale < 0"),
        ("import numpy as np\nnp.random.rand(10 ** 12)", "memory"),
        ("import numpy as np\nnp.random.default_rng(1).randn(2)", "this generator has no `randn`"),
        ("import numpy as np\nnp.std('a')", "`np.std` needs a number or tensor, got 'a'"),
        ("import torch\nx = torch.ones(2)\nx.size", "is a method of"),
        ("import torch\nx = torch.ones(2, 2)\nx.dot(x)", "`dot` needs a vector"),
    ],
)
def test_refused(program, says):
    with pytest.raises(GradError) as caught:
        load(f"{program}\n").run()
    assert says in str(caught.value)


def test_sizes_are_known_before_a_run():
    program = load("import numpy as np\nx = np.std(np.ones((2, 3)), axis=0)\nx @ np.ones(2)\n")
    assert program.check({}).findings[0].code == "shape-mismatch"
