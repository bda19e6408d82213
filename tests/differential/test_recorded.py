"""Random programs give what PyTorch gave, in all modes, row by row and together."""

import functools

import pytest
from support.checks.amounts import chunks

from differential import by_gradcli
from differential.compare import difference
from differential.modes import differentiable, of_backward, of_modes, of_rows
from differential.recorded import PROGRAMS, read
from gradcli.program import load

CHUNK = 50
OFTEN = 1000  # of them are run in every run
SHARE = 10  # one of so many is asked by rows
recorded = functools.cache(read)
FEW = 50  # are asked in all modes in every run
some = pytest.mark.parametrize("first", chunks(FEW, PROGRAMS, FEW))


def test_all_are_there():
    assert len(recorded()) == PROGRAMS


@pytest.mark.parametrize("first", chunks(OFTEN, PROGRAMS, CHUNK))
def test_programs_give_what_pytorch_gives(first):
    for program, facts in recorded()[first : first + CHUNK]:
        found = difference(by_gradcli.ask(program), facts, program.rtol)
        assert found is None, f"{program.text}\n{found}"


def differentiated(first):
    """Programs of a chunk that have a gradient, and their facts."""
    return [one for one in recorded()[first : first + FEW] if differentiable(one[1])]


@some
def test_modes_agree(first):
    for program, _ in differentiated(first):
        assert not of_modes(program, load(program.text)), program.text


@some
def test_backward_leaves_the_gradient(first):
    for program, facts in differentiated(first):
        assert not of_backward(program, facts), program.text


@some
def test_rows_one_by_one_and_together(first):
    for number, (program, _) in enumerate(differentiated(first)[::SHARE]):
        assert not of_rows(program, 1 if number % 5 else 2), program.text
