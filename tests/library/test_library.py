"""The library's modules, as programs of ops."""

import pytest

from gradcli.engine.run.execution.execute import imported
from gradcli.engine.run.session import library
from gradcli.engine.run.session.state import Session
from gradcli.errors import GradError
from gradcli.ir import visit
from gradcli.made.library_index import FILES
from gradcli.program import Options, load


def test_what_has_a_name_is_there_in_each_run():
    first, second = Session(), Session()
    for path in FILES:
        made = imported(first, path)
        assert callable(made)
        assert made is imported(first, path)
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
