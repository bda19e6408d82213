"""The library's modules, as programs of ops."""

import pytest

from gradcli.engine.run.derivatives.own import OwnFunction
from gradcli.engine.run.execution.execute import imported
from gradcli.engine.run.session import library
from gradcli.engine.run.session.state import Session
from gradcli.engine.values.objects import Object
from gradcli.errors import GradError
from gradcli.ir import visit
from gradcli.made.library_index import FILES
from gradcli.program import Options, load


def test_what_has_a_name_is_there_in_each_run():
    first, second = Session(), Session()
    for path in FILES:
        made = imported(first, path)
        assert made is imported(first, path)
        functions = isinstance(made, tuple) and any(map(callable, made))
        if isinstance(made, (int, str, tuple)) and not functions:  # such as `sys.maxsize`
            assert made == imported(second, path)
        else:
            assert callable(made) or isinstance(made, (Object, OwnFunction, dict, list, tuple))
            assert made is not imported(second, path)


def test_modules_have_no_places():
    for file in set(FILES.values()):
        assert {tuple(i.span) for i in visit.everything(library.program(file))} <= {(0, 0)}


@pytest.mark.parametrize("path", ["torch.nn.Tanh", "ValueError"])
def test_code_takes_nothing_of_the_library(path):
    program = load(f"param x = 2.0\nf = {path}\nx * (1 if f is None else 2)\n")
    with pytest.raises(GradError, match="no meaning in a compiled program"):
        program.run(options=Options(compile="always"))
    assert program.run(options=Options(compile="never")).result == 4


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("SGD([p], lr=-1)", "Invalid learning rate: -1"),
        ("SGD([p], momentum=-0.5)", "Invalid momentum value: -0.5"),
        ("Adam([p], eps=-1.0)", "Invalid epsilon value: -1.0"),
        ("Adam([p], betas=(1.0, 0.9))", "Invalid beta parameter at index 0: 1.0"),
        ("AdamW([p], betas=(0.5, -0.1))", "Invalid beta parameter at index 1: -0.1"),
        ("Adamax([p], weight_decay=-1)", "Invalid weight_decay value: -1"),
        ("RMSprop([p], alpha=-1)", "Invalid alpha value: -1"),
        ("Adadelta([p], rho=1.5)", "Invalid rho value: 1.5"),
        ("Adagrad([p], lr_decay=-2)", "Invalid lr_decay value: -2"),
        ("Adagrad([p], lr=nan)", "Invalid learning rate: nan"),
    ],
)
def test_an_optimizer_refuses_the_settings_that_pytorch_refuses(made, said):
    """In PyTorch's words."""
    text = f"p = torch.tensor(1.0, requires_grad=True)\ntry:\n    torch.optim.{made}\n"
    found = load(f"{text}except ValueError as e:\n    print(e)").run()
    assert found.printed == (said,)


def test_a_normalization_without_statistics_has_none():
    text = "bn = torch.nn.BatchNorm1d(2, track_running_stats=False)\nprint(bn.running_mean, bn.running_var, bn.num_batches_tracked, list(bn.state_dict()))"
    assert load(text).run().printed == ("None None None ['weight', 'bias']",)


def test_cells_print_their_settings():
    made = "nn.LSTMCell(2, 1, bias=False), nn.RNNCell(2, 3, nonlinearity='relu'), nn.GRUCell(1, 2)"
    text = f"from torch import nn\nprint({made})"
    said = "LSTMCell(2, 1, bias=False) RNNCell(2, 3, nonlinearity=relu) GRUCell(1, 2)"
    assert load(text).run().printed == (said,)
