"""Settings of a program: each at its default, changed, and back."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options

MINUS = "x = torch.tensor(-1.0, requires_grad=True)\n"
NAN = "x.sqrt().backward()\nprint(x.grad)"


def printed(text):
    lines = []
    load(f"import torch\n{text}\n").run(options=Options(echo=lines.append))
    return "".join(lines)


@pytest.mark.parametrize(
    ("profile", "few", "many"),
    [
        ("short", "[1.23, 2.50]", "[   0,    1,  ...,  999, 1000]"),
        ("default", "[1.2346, 2.5000]", "[   0,    1,    2,  ...,  998,  999, 1000]"),
    ],
)
def test_a_profile_of_printing_sets_digits_edges_and_the_threshold(profile, few, many):
    text = (
        "torch.set_printoptions(precision=6, edgeitems=4, threshold=3, linewidth=30)\n"
        f"torch.set_printoptions(profile='{profile}')\n"
        "print(torch.tensor([1.23456, 2.5]))\nprint(torch.arange(1001))\n"
        "print('...' in str(torch.arange(1000)))"
    )
    assert printed(text) == f"tensor({few})\ntensor({many})\nFalse\n"


def test_the_full_profile_shows_all():
    text = "torch.set_printoptions(profile='full')\ns = str(torch.arange(3000))\nprint('...' in s, s.count(','))"
    assert printed(text) == "False 2999\n"


def test_no_edges_may_be_shown():
    text = "torch.set_printoptions(edgeitems=0, threshold=2)\n"
    assert printed(f"{text}print(torch.arange(3))") == "tensor([ ...])\n"
    assert printed(f"{text}print(torch.ones(3, 3))") == "tensor([...])\n"


@pytest.mark.parametrize("name", ["precision", "edgeitems", "linewidth"])
def test_a_number_of_printing_is_from_0_to_10000(name):
    assert printed(f"torch.set_printoptions({name}=10000)\nprint(1)") == "1\n"
    assert printed(f"torch.set_printoptions({name}=0)\nprint(1)") == "1\n"
    for wrong in (-1, 10001):
        with pytest.raises(GradError) as error:
            printed(f"torch.set_printoptions({name}={wrong})")
        assert error.value.diagnostics[0].message == f"`{name}` is a number from 0 to 10000"


@pytest.mark.parametrize(
    ("before", "enabled", "refused"),
    [
        ("", False, False),
        ("torch.autograd.set_detect_anomaly(True)", True, True),
        ("torch.autograd.set_detect_anomaly(False)", False, False),
        ("torch.autograd.set_detect_anomaly(True, check_nan=True)", True, True),
        ("torch.autograd.set_detect_anomaly(True, check_nan=False)", False, False),
        ("with torch.autograd.detect_anomaly(): pass", False, False),
        ("torch.autograd.set_detect_anomaly(True)\ntorch.autograd.set_detect_anomaly(False)", False, False),
    ],
)  # fmt: skip
def test_anomalies_are_refused_where_they_are_asked_for(before, enabled, refused):
    assert printed(f"{before}\nprint(torch.is_anomaly_enabled())") == f"{enabled}\n"
    if refused:
        with pytest.raises(GradError) as error:
            printed(f"{before}\n{MINUS}{NAN}")
        assert error.value.diagnostics[0].code == "non-finite"
    else:
        assert printed(f"{before}\n{MINUS}{NAN}") == "tensor(nan)\n"


@pytest.mark.parametrize(
    ("context", "refused"),
    [
        ("torch.autograd.detect_anomaly()", True),
        ("torch.autograd.detect_anomaly(check_nan=False)", False),
        ("torch.autograd.detect_anomaly(True)", True),
        ("torch.autograd.set_detect_anomaly(True)", True),
        ("torch.autograd.set_detect_anomaly(False)", False),
    ],
)
def test_a_context_refuses_anomalies_inside_and_no_longer(context, refused):
    inside = f"with {context}:\n    x.sqrt().backward()\nprint('done')"
    if refused:
        with pytest.raises(GradError) as error:
            printed(MINUS + inside)
        assert error.value.diagnostics[0].code == "non-finite"
    else:
        assert printed(MINUS + inside) == "done\n"
    behind = f"with {context}:\n    pass\nprint(torch.is_anomaly_enabled())\n{NAN}"
    assert printed(MINUS + behind) == "False\ntensor(nan)\n"


@pytest.mark.parametrize("name", ["float64", "float32", "float16"])
def test_the_default_dtype_is_that_of_floats_that_the_program_writes(name):
    text = (
        f"torch.set_default_dtype(torch.{name})\n"
        "print(torch.get_default_dtype(), torch.tensor(1.5).dtype, torch.ones(1).dtype)\n"
        "print(torch.arange(3).dtype, (torch.arange(3) / 2).dtype, torch.tensor([1]).dtype)\n"
        "print(torch.FloatTensor([1]).dtype, torch.tensor([1.5], dtype=torch.float64).dtype)"
    )
    default = f"torch.{name}"
    assert printed(text) == (
        f"{default} {default} {default}\ntorch.int64 {default} torch.int64\n"
        f"{default} torch.float64\n"
    )
    assert printed("print(torch.get_default_dtype())") == "torch.float64\n"


def test_there_is_one_device():
    assert printed("print(torch.cuda.is_available(), torch.cuda.device_count())") == "False 0\n"
    assert printed("print(torch.device('cpu'), torch.ones(1, device='cpu:0'))") == (
        "cpu tensor([1.])\n"
    )
