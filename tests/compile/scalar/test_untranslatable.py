"""Functions whose Python text has no scalar form, one for each reason."""

import pytest

from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.forms import Forms, Unknown
from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.piecewise import pieces


def repeats(x, n):
    for _ in n:
        x = x + 1.0
    return x


def forgets(x, n):
    x + 1.0
    return x


def waits(x, n):
    while x < 1.0:
        x = x + 1.0
    return x


def puts(x, n):
    x.real = 1.0
    return x


def ends(x, n):
    if x < 1.0:
        x = x + 1.0


def one(x):
    return x


def several(*xs):
    return xs[0]


def parted(x, on, more=()):
    return pieces(x, on, (0.0,), (lambda x, on: x, lambda x, on: x * 2.0))


def long(x, on):
    for _ in range(3_100):
        x = x * x
    return pieces(x, on, (0.0,), (lambda x, on: x, lambda x, on: x * 2.0))


FUNCTIONS = {
    "a loop over an unknown value": repeats,
    "a value that nobody reads": forgets,
    "a statement: While": waits,
    "an assignment to x.real": puts,
    "a function ends without a value": ends,
    "the method is_integer": lambda x, n: x.is_integer(),
    "`there_is_none` is not known": lambda x, n: there_is_none + x,  # noqa: F821  # as it is to say
    "`one` takes fewer arguments": lambda x, n: one(x, n) + 1.0,
    "`one` takes other arguments": lambda x, n: one(y=x),
    "str where a number of 64 bits must be": lambda x, n: x + "a",
    "a number in place of a known value": lambda x, n: len(several(x)),
    "it raises": lambda x, n: x + int("a"),
    "operator MatMult": lambda x, n: x @ x,
    "a float where only ints can be": lambda x, n: x & 1,
    "an int that is not exact as a float": lambda x, n: 1.0 if x < 2**60 + 1 else 2.0,
    "a piecewise function of another type than float": lambda x, n: parted(n, ieee),
    "an argument that cannot be compared": lambda x, n: parted(x, ieee, [1.0]),
    "a long function": lambda x, n: long(x, ieee),
    "an int or a float": lambda x, n: (x if x > 0.0 else n) + 1,
    "an int or a float, compared": lambda x, n: 1.0 if (x if x > 0.0 else n) > 1 else 2.0,
    "an int or a float, as an int": lambda x, n: float(int(x if x > 0.0 else n)),
    "an int or a float, as a condition": lambda x, n: 1.0 if (x if x > 0.0 else n) else 2.0,
}


@pytest.mark.parametrize("reason", FUNCTIONS)
def test_what_has_no_form_says_why(reason):
    with pytest.raises(Untranslatable) as refused:
        Forms().function("f", FUNCTIONS[reason], [Unknown("float"), Unknown("int")], {}, "float")
    assert str(refused.value).startswith(reason.partition(", ")[0])
