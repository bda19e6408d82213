"""Attributes of objects that a built-in asks for."""

import pytest

from gradcli.program import load

KEYED = """class A:
    {}
    def __getitem__(self, key):
        return key * 2
dict(A())
"""


@pytest.mark.parametrize(
    "keys",
    [
        "def keys(self): return ['a', 'b']",
        "def __init__(self): self.keys = lambda: ['a', 'b']",
        "keys = staticmethod(lambda: ['a', 'b'])",
    ],
)
def test_a_dictionary_is_made_of_an_object_with_keys_of_its_own_or_of_its_class(keys):
    assert load(KEYED.format(keys)).run().result == {"a": "aa", "b": "bb"}


def test_a_name_with_a_type_alone_is_an_attribute():
    text = (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    k: float\n    m: float\n"
        "    def total(self):\n        return self.k * self.m\nP(2.0, 3.0).total()"
    )
    assert load(text).run().result == 6.0
