"""How much memory a list, tuple or text needs is asked before it is made: so many items."""

import pytest

from gradcli.engine.builtins import alike, create, random
from gradcli.engine.run.language import (
    containers,
    generators,
    joining,
    lists,
    operators,
    percent,
    strings,
)
from gradcli.engine.run.session import evaluator, list_tensors, tensor_methods, text
from gradcli.program import load

MODULES = (
    alike,
    containers,
    create,
    evaluator,
    generators,
    joining,
    list_tensors,
    lists,
    operators,
    percent,
    random,
    strings,
    tensor_methods,
    text,
)
ITEMS = [
    ("['a', 'b', 'c'] + ['d']", 4),
    ("['d'] + ['a', 'b', 'c']", 4),
    ("l += ['d']", 4),
    ("l += (1,)", 4),
    ("l[1:2] = ['d', 'e']", 5),
    ("l[:] = ['d', 'e', 'f', 'g', 'h']", 8),
    ("l * 2", 6),
    ("2 * l", 6),
    ("l * -2", 0),
    ("l *= 3", 9),
    ("(1, 2, 3) + (4,)", 4),
    ("(1, 2) * 3", 6),
    ("3 * (1, 2)", 6),
    ("(1, 2) * -3", 0),
    ("list(l)", 3),
    ("list(range(7))", 7),
]
TEXTS = [
    ("s + 'de'", 5),
    ("'d' + s", 4),
    ("s * 4", 12),
    ("4 * s", 12),
    ("s * -4", 0),
    ("s.center(8)", 8),
    ("s.ljust(9)", 9),
    ("s.replace('a', 'xyz')", 6),
    ("'aa'.replace('a', 'xyz')", 8),
    ("f'{s:12}'", 12),
    ("f'{1:>7.2f}'", 7),
    ("f'{1:.9f}'", 9),
    ("f'{1:b}'", 0),
    ("'%8s' % s", 8),
    ("'%-8s' % s", 8),
    ("'%*s' % (9, s)", 9),
]


SHAPES = [
    ("zeros(2, 3)", (2, 3)),
    ("ones((4, 1))", (4, 1)),
    ("full((2, 5), 1.0)", (2, 5)),
    ("eye(3)", (3, 3)),
    ("eye(3, 5)", (3, 5)),
    ("arange(7)", (7,)),
    ("arange(1, 7, 2)", (3,)),
    ("arange(7, 1, -2)", (3,)),
    ("linspace(0, 1, 6)", (6,)),
    ("logspace(0, 1, 6)", (6,)),
    ("FloatTensor(3, 2)", (3, 2)),
    ("np.r_[1:2:0.25]", (4,)),
    ("np.r_[3:1:-1]", (2,)),
    ("np.r_[1:1]", (0,)),
    ("rand(4, 2)", (4, 2)),
    ("randn((4, 3))", (4, 3)),
    ("randint(5, (2, 6))", (2, 6)),
    ("randperm(9)", (9,)),
    ("normal(0.0, 1.0, (3, 3))", (3, 3)),
    ("multinomial(ones(3), 5, True)", (5,)),
    ("multinomial(ones(2, 3), 2)", (2, 2)),
    ("zeros(2).new_zeros(3, 4)", (3, 4)),
    ("zeros(2).new_full((5, 2), 1.0)", (5, 2)),
]  # fmt: skip


def asked(monkeypatch, name, program):
    """The sizes that were asked for."""
    sizes = []
    for module in MODULES:
        if hasattr(module, name):
            monkeypatch.setattr(module, name, sizes.append)
    load(f"import numpy as np\ns = 'abc'\nl = ['a', 'b', 'c']\n{program}").run()
    return sizes


@pytest.mark.parametrize(("program", "size"), ITEMS)
def test_the_items_of_a_list_or_tuple_are_counted(monkeypatch, program, size):
    assert asked(monkeypatch, "check_items", program)[-1] == size


@pytest.mark.parametrize(("program", "size"), TEXTS)
def test_the_characters_of_a_text_are_counted(monkeypatch, program, size):
    assert size in asked(monkeypatch, "check_text", program)


@pytest.mark.parametrize(("program", "shape"), SHAPES)
def test_the_elements_of_a_tensor_are_counted(monkeypatch, program, shape):
    assert shape in map(tuple, asked(monkeypatch, "check_memory", program))
