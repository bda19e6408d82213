"""`set_printoptions`: what PyTorch prints with float64 as its default dtype."""

import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

X = "x = torch.tensor([0.123456789, 1000.5, 3.25])\n"
LONG = "torch.arange(20.0).reshape(4, 5)"
CASES = [
    ("precision=2", "x", "tensor([1.23e-01, 1.00e+03, 3.25e+00])"),
    ("precision=8", "x", "tensor([1.23456789e-01, 1.00050000e+03, 3.25000000e+00])"),
    ("8", "x[2:]", "tensor([3.25000000])"),
    ("sci_mode=False", "torch.tensor([1e-6, 1e6])", "tensor([      0.0000, 1000000.0000])"),
    ("sci_mode=True", "torch.tensor([1.0, 2.0])", "tensor([1.0000e+00, 2.0000e+00])"),
    ("sci_mode=True", "torch.tensor([1, 2])", "tensor([1, 2])"),
    ("threshold=5, edgeitems=2", "torch.arange(10)", "tensor([0, 1,  ..., 8, 9])"),
    (
        "threshold=5, edgeitems=1",
        LONG,
        "tensor([[ 0.,  ...,  4.],\n        ...,\n        [15.,  ..., 19.]])",
    ),
    ("linewidth=20", "torch.arange(4.0)", "tensor([0., 1., 2.,\n        3.])"),
    ("profile='short'", "x[:1]", "tensor([0.12])"),
    ("profile='full'", "len(str(torch.zeros(1200))) > 5000", "True"),
    ("profile='default'", "x[:1]", "tensor([0.1235])"),
]


def printed(text):
    found = []
    load("import torch\nimport numpy as np\n" + X + text).run(options=Options(echo=found.append))
    return "".join(found)


@pytest.mark.parametrize(("options", "value", "text"), CASES)
def test_tensors_are_printed_so(options, value, text):
    assert printed(f"torch.set_printoptions({options})\nprint({value})") == text + "\n"


def test_another_run_begins_as_usual():
    assert printed("torch.set_printoptions(2, sci_mode=False)\nprint(x)") == (
        "tensor([   0.12, 1000.50,    3.25])\n"
    )
    assert printed("print(x[:1])") == "tensor([0.1235])\n"
    with pytest.raises(GradError):
        printed("torch.set_printoptions(precision=1)\nassert False")
    assert (
        printed("print(x[:1], f'{x[:1]}', str(x[:1]))") == " ".join(["tensor([0.1235])"] * 3) + "\n"
    )


@pytest.mark.parametrize("options", ["profile='long'", "precision=-1", "linewidth=10 ** 9"])
def test_what_is_no_option_is_refused(options):
    with pytest.raises(GradError):
        printed(f"torch.set_printoptions({options})")
