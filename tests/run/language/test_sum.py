"""`sum` of what Python's adds up, and of tensors."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load

BEFORE = "a = tensor([1.0, 2.0], requires_grad=True)\nb = tensor([[3.0, 4.0], [5.0, 6.0]])\n"

PRINTS = {
    "sum([a, a * a])": "tensor([2., 6.], grad_fn=<AddBackward0>)",
    "sum([a, a], 1)": "tensor([3., 5.], grad_fn=<AddBackward0>)",
    "sum([a.detach(), tensor([3.0])], start=1)": "tensor([5., 6.])",
    "sum([1.0, 2.5]) / 2": "1.75",
    "sum([1, True])": "2",
    "sum([])": "0",
    "sum([a, [1.0, 2.0]])": "tensor([2., 4.], grad_fn=<AddBackward0>)",
    "sum((b[0], 2))": "tensor([5., 6.])",
    "sum([1, 2, 3], 10)": "16",
    "sum([1, 2.5], 0)": "3.5",
    "sum(range(4))": "6",
    "sum(range(4), 2)": "8",
    "sum(b.shape)": "4",
    "sum([[1], [2]], [])": "[1, 2]",
    "sum([(1,), (2,)], ())": "(1, 2)",
    "sum([], 3)": "3",
    "sum([[1, 2], [3, 4]])": "tensor(10)",
    "sum([[1, 2], [3, 4]], 0)": "tensor([4, 6])",
    "sum([b[0], b[1]], dim=1)": "tensor([ 7., 11.])",
    "sum(b)": "tensor(18.)",
    "sum(b, 0)": "tensor([ 8., 10.])",
    "sum(b, (0, 1))": "tensor(18.)",
    "torch.sum(b, 1)": "tensor([ 7., 11.])",
    "b.sum(1)": "tensor([ 7., 11.])",
    "sum(b, 1, True)": "tensor([[ 7.],\n        [11.]])",
    "sum(b > 3, 0)": "tensor([1, 2])",
    "sum(2.0, 0)": "2.0",
}


@pytest.mark.parametrize("text", PRINTS)
def test_a_sum_is_python_s_of_a_list_and_pytorch_s_of_a_tensor(text):
    assert "\n".join(load(f"{BEFORE}print({text})").run().printed) == PRINTS[text]


@pytest.mark.parametrize("text", PRINTS)
def test_check_has_nothing_against_it(text):
    assert [f for f in load(f"{BEFORE}{text}").check().findings if f.severity == "error"] == []


@pytest.mark.parametrize("text", ["sum(['a'], 1)", "sum(['a', 'b'])", "sum('ab', 1)", "sum(b, 2)"])
def test_what_cannot_be_added_is_refused(text):
    with pytest.raises(GradError):
        load(BEFORE + text).run()


def test_a_sum_of_tensors_is_differentiated():
    program = load("input x = tensor([1.0, 2.0])\nsum([x * x, x], 1.0) @ tensor([1.0, 10.0])")
    assert program.grad().grad["x"].tolist() == [3.0, 50.0]
    assert program.gradcheck(order=2).passed
