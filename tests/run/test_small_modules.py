"""Keys of `ModuleDict` are attributes, as in PyTorch; and small parts of Python's modules."""

import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

MADE = ["{'wte': nn.Linear(2, 3)}", "dict(wte=nn.Linear(2, 3))"]


def printed(text):
    found = []
    load("import torch\nimport torch.nn as nn\n" + text).run(options=Options(echo=found.append))
    return "".join(found)


@pytest.mark.parametrize("made", MADE)
def test_a_module_is_read_by_its_key(made):
    text = f"d = nn.ModuleDict({made})\nprint(d.wte(torch.ones(2)).shape, d['wte'] is d.wte)"
    assert printed(text) == "torch.Size([3]) True\n"


@pytest.mark.parametrize("made", MADE)
def test_another_name_is_refused(made):
    with pytest.raises(GradError, match="no value has `wta`"):
        printed(f"d = nn.ModuleDict({made})\nprint(d.wta)")


def test_a_weak_reference_gives_what_it_refers_to():
    text = "import weakref\nclass A:\n    pass\na = A()\nr = weakref.ref(a)\nprint(r() is a)"
    assert printed(text) == "True\n"


def test_what_is_written_stands_before_what_is_printed_next():
    text = "import sys\nsys.stdout.write('a')\nprint('b')\nsys.stdout.write('c\\nd')\nsys.stdout.flush()"
    assert printed(text) == "ab\nc\nd"
