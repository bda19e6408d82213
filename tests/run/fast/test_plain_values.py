"""The fast paths for Python's own values and for objects do what is done without them: items,
attributes, methods, unpacking, operators on numbers and strings, and arguments of built-ins.
"""

import inspect
import itertools
import re
from functools import partial, reduce

import pytest

from gradcli.cpython import PROGRAM
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.functions import misfit
from gradcli.engine.run.execution.execute import PROVIDED
from gradcli.engine.run.fast import items
from gradcli.engine.run.language import attributes, operators, strings
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.data import INT64_MAX, INT64_MIN
from gradcli.engine.values.sizes import Size
from gradcli.errors import GradError


def told(function, *args, **keywords):
    """What a call gives, or how it fails."""
    try:
        out = function(*args, **keywords)
    except GradError as error:
        first = error.diagnostics[0]
        return first.code, first.message, first.help, repr(error.raises)
    return type(out), repr(out)


VALUES = {
    "list": lambda: [1.5, "a", [2]],
    "no items": list,
    "tuple": lambda: (1, 2, 3),
    "text": lambda: "abc",
    "size": lambda: Size((2, 3, 4)),
    "dictionary": lambda: {1: "one", "a": "x", 2.5: 0, (1, 2): 3},
    "set": lambda: {1, 2},
    "range": lambda: range(3),
    "tensor": lambda: Tensor(3.0),
    "number": lambda: 2.0,
    "none": lambda: None,
}
INDICES = (
    *(0, 1, 2, 3, -1, -3, -4, 2**40, 2**70, True, 2.5, "a", "b", (1, 2)),
    *(None, slice(0, 2), [0], Number(1.0)),
)


@pytest.mark.parametrize("value", VALUES)
def test_an_item_is_that_of_the_general_path(value):
    for index in INDICES:
        session, of = Session(), VALUES[value]
        fast = items.getter(operators.item, None)
        expected = told(operators.item, session, of(), index, None)
        assert told(fast, session, of(), index) == expected, index


@pytest.mark.parametrize("value", VALUES)
def test_an_item_is_set_as_by_the_general_path(value):
    for index in INDICES:
        session, one, other = Session(), VALUES[value](), VALUES[value]()
        fast = items.setter(operators.set_item, None)
        expected = told(operators.set_item, session, other, index, [7], None)
        assert told(fast, session, one, index, [7]) == expected, index
        assert repr(one) == repr(other), index


CLASSES = """
class Plain:
    shared = 1
    def __init__(self):
        self.own = 2
    @property
    def twice(self):
        return 2 * self.own
    @twice.setter
    def twice(self, value):
        self.own = value / 2
    @property
    def fixed(self):
        return 3
    @staticmethod
    def alone(a, b=2):
        return [a, b]
    @classmethod
    def made(cls, a):
        return [cls.shared, a]
    def method(self, a):
        return [self.own, a]
    def wrong(self):
        return self.method()
class Hooked(Plain):
    def __getattr__(self, name):
        return "hook " + name
    def __setattr__(self, name, value):
        object.__setattr__(self, name, [value])
class Slotted:
    __slots__ = ("own",)
    def __init__(self):
        self.own = 1
class Failed(ValueError):
    def __init__(self):
        self.own = 1
"""
NAMES = ("own", "shared", "twice", "fixed", "alone", "made", "method", "wrong", "absent", "args")
NAMES += (
    "add_note",
    "with_traceback",
    "__dict__",
    "__class__",
    "__init__",
    "__doc__",
    "__setattr__",
)
KINDS = ("Plain", "Hooked", "Slotted", "Failed")
USES = (
    *("r = x.{}", "r = x.{}()", "r = x.{}(3)", "r = x.{}(a=4)", "x.{} = 7\n    r = x.own"),
    "r = {kind}.{}",
)
"""How a program uses an attribute."""


@pytest.mark.parametrize("kind", ["Plain", "Hooked", "Slotted", "Failed"])
def test_attributes_are_those_of_the_general_path(kind, cli, monkeypatch):
    def outcomes():
        for name, use in itertools.product(NAMES, USES):
            lines = [CLASSES, f"x = {kind}()", "try:", f"    {use.format(name, kind=kind)}"]
            lines += ["    print('a function' if callable(r) else r)"]
            lines += ["except Exception as error:", "    print(type(error).__name__, error)"]
            status, out, err = cli("run", "--compile", "never", "-e", "\n".join(lines))
            yield status, re.sub("0x[0-9a-f]+", "0x", out), err

    fast = [*outcomes()]
    monkeypatch.setattr(attributes, "getter", lambda name: attributes.get)
    monkeypatch.setattr(attributes, "setter", lambda name: attributes.put)
    monkeypatch.setattr(attributes, "caller", general_call)
    assert fast == [*outcomes()]
    printed = "".join(out for _, out, _ in fast)
    assert "[2, 3]" in printed or kind in ("Slotted", "Failed", "Hooked")
    assert "has no" in printed


def general_call(name, site):
    return lambda session, receiver, /, *args, **keywords: attributes.method(
        session, site, receiver, name, args, keywords
    )


METHODS = ("append", "pop", "get", "items", "add", "split", "upper", "copy", "index", "send", "sum")


@pytest.mark.parametrize("value", VALUES)
def test_a_method_is_that_of_the_general_path(value):
    for name, args in itertools.product(METHODS, ((), (1,), ("a",), ([],), (1, 2, 3))):
        one, other = VALUES[value](), VALUES[value]()
        fast, general = attributes.caller(name, None), general_call(name, None)
        expected = told(general, Session(), other, *args)
        assert told(fast, Session(), one, *args) == expected, (name, args)
        assert repr(one) == repr(other), name


@pytest.mark.parametrize("value", VALUES)
def test_unpacking_gives_the_items(value):
    for n in (1, 2, 3):
        found = told(lambda: list(PROVIDED["@unpack"](Session(), VALUES[value](), n)))  # noqa: B023
        items_ = told(lambda: Session().items(VALUES[value]()))
        if items_[0] is list and len(Session().items(VALUES[value]())) == n:
            assert found == items_
        else:
            assert type(found[0]) is str  # the code of an error


NUMBERS = (0, 1, -7, INT64_MAX, INT64_MIN, True, False, 0.0, -0.0, 2.5, float("inf"), float("nan"))


@pytest.mark.parametrize("sign", ["+", "-", "*", "<", "<=", ">", ">="])
def test_an_operator_on_numbers_is_that_of_its_op(sign):
    fast, number = operators.function(sign, 2, None), ops[operators.OPS[sign, 2]].value.number
    for x, y in itertools.product(NUMBERS, repeat=2):
        assert told(fast, Session(), x, y) == told(number, x, y), (x, y)


@pytest.mark.parametrize("sign", ["+", "<", "<=", ">", ">=", "==", "!=", "in", "not in"])
def test_an_operator_on_strings_is_python_s(sign):
    fast = operators.function(sign, 2, None)
    for x, y in itertools.product(("", "a", "ab", "b"), repeat=2):
        assert fast(Session(), x, y) == eval(f"x {sign} y"), (x, y)


def test_a_key_is_looked_up_as_python_does():
    for container in ({1: 0, "a": 1, 2.0: 2}, {1, "a", 2.0}):
        for value in (1, True, 1.0, 2, "a", "b", None):
            found = operators.membership(Session(), value, container)
            assert found is (value in container), value


SIGNATURES = ("a", "a, b", "a, b=1", "a, *b", "a, *, b", "a, *, b=1", "a, **b", "*, a")


@pytest.mark.parametrize("parameters", SIGNATURES)
def test_a_call_fits_as_python_says(parameters):
    scope = {}
    exec(compile(f"def f({parameters}): pass", PROGRAM, "exec"), scope)
    for count in range(4):
        try:
            inspect.signature(scope["f"]).bind(*range(count))
        except TypeError:
            assert misfit(scope["f"], count) is not None
        else:
            assert misfit(scope["f"], count) is None


def test_the_least_and_largest_of_several_numbers():
    for several in itertools.product((1, 2.5, -3, True), repeat=3):
        for name, python in (("builtins_min", min), ("builtins_max", max)):
            session = Session()
            values = {"dim": None, "keepdim": False, "key": None, "default": None}
            assert ops[name].host.call(session, *several, **values) == python(several)


@pytest.mark.parametrize("sign", ["+", "-", "*"])
def test_an_update_of_a_number_is_the_operator(sign):
    fast, plain = operators.update(sign, None), operators.function(sign, 2, None)
    for x, y in itertools.product(NUMBERS, repeat=2):
        assert told(fast, Session(), x, y) == told(plain, Session(), x, y), (x, y)


def test_a_sum_adds_numbers_as_the_operator_does():
    add = operators.function("+", 2, None)
    for several in itertools.product(NUMBERS, repeat=3):
        session = Session()
        expected = told(lambda: reduce(partial(add, session), several, 0))  # noqa: B023
        assert told(ops.builtins_sum.host.call, session, iter(several), start=0) == expected


TEXTS = ("", " a, b ", "a\nb", "ABC 12")


@pytest.mark.parametrize("name", sorted(name for name in strings.METHODS if name != "join"))
def test_a_method_of_a_string_is_python_s(name):
    for text, args in itertools.product(TEXTS, [(), ("a",), (",", "b"), ("", "")]):
        found = told(attributes.caller(name, None), Session(), text, *args)
        try:
            made = getattr(text, name)(*args)
        except (TypeError, ValueError):
            assert type(found[0]) is str, (name, text, args)  # the code of an error
        else:
            assert found == (type(made), repr(made)), (name, text, args)
