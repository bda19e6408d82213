"""Calls of everything that a program can call, with arguments of every kind.

Each call gives a value or an error of the language; an exception of Python's own is a bug of
gradcli. Functions, methods and operators come from the tables of what there is. `python tests sweep
--calls N --seed S` makes N calls drawn at random and prints the bugs, each with a program that has
it.
"""

from __future__ import annotations

import argparse
import random
import time
import traceback
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate, count, islice
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.builtins.names import modules
from gradcli.engine.run.language.names import Builtins
from gradcli.engine.run.language.operators import OPS
from gradcli.errors import GradError, LimitError, ProgramError
from gradcli.grammar.meaning.check import check
from gradcli.grammar.meaning.lower import lower
from gradcli.grammar.meaning.names import analyse
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.parser import parse
from gradcli.library_programs import HOUSE
from gradcli.made.library_index import FILES
from gradcli.program import Limits, Options, Program, check_source, load_source
from gradcli.source import Source, Span

KINDS = {
    "an int": "2",
    "a negative int": "-1",
    "a huge int": "2 ** 62",
    "a float": "1.5",
    "nan": "nan",
    "a bool": "True",
    "a text": "'a,b'",
    "None": "None",
    "no list": "[]",
    "a list of numbers": "[1.0, 2.0]",
    "a mixed list": "['a', None]",
    "a list of tensors": "[ones(2, requires_grad=True), ones(2)]",
    "a dictionary": "{'a': 1.0}",
    "a tuple": "(1, 2)",
    "a tensor": "tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)",
    "a tensor of ints": "tensor([0, 1])",
    "a tensor of bools": "tensor([True, False])",
    "a 0-d tensor": "tensor(0.5, requires_grad=True)",
    "an empty tensor": "zeros(0)",
    "an empty tensor of ints": "zeros(0, dtype=int64)",
    "a float32 tensor": "ones(2, dtype=float32)",
    "a function": "lambda v: v",
    "an object": "Thing()",
    "a class": "Thing",
    "a slice": "slice(0, 1)",
    "a range": "range(3)",
    "a set": "{1, 2}",
    "a dtype": "float32",
    "an ellipsis": "...",
    "an iterator": "iter([1, 2])",
}
"""Arguments of each kind, as expressions; each call makes them anew."""

RECEIVERS = {
    "a tuple with names": "sort(tensor([1.0, 2.0]), 0)",
    "a size": "ones(2).shape",
    "a generator": "(v for v in [1, 2])",
    "a node": "(tensor(1.0, requires_grad=True) * 2).grad_fn",
    "a node of a leaf": "(tensor(1.0, requires_grad=True) * 2).grad_fn.next_functions[0][0]",
    "a handle": "tensor(1.0, requires_grad=True).register_hook(lambda g: g)",
    "a generator of random numbers": "numpy_random_default_rng(0)",
    "a mode": "no_grad()",
    "places": "ones(2).at",
    "a place": "ones(2).at[0]",
    "a picture": "pyplot.figure()",
    "a figure and its axes": "pyplot.subplots()[1]",
    "a rule": "custom_vjp(lambda v: v)",
    "a kind": "type(1)",
    "an exception": "ValueError('a')",
}
"""More values that have methods: those that no kind of argument is."""

WAYS = ("plain", "forward mode", "batched", "without a record", "by a Jacobian")
"""How a call is made where its first argument is a tensor of floats."""

HEAD = """
class Thing:
    def __init__(self):
        self.a = 1.0
def used(r, deep):
    repr(r)
    if isinstance(r, tensor):
        if r.requires_grad:
            r.sum().backward()
    elif deep:
        try:
            for _, item in zip(range(3), r):
                used(item, False)
        except TypeError:
            pass
def done(form, a, b, way):
    if way == 0 or not isinstance(a, tensor) or a.dtype != float64:
        return form(a, b)
    if way == 1:
        return jvp(lambda v: form(v, b), (a,), (a,))
    if way == 2:
        return vmap(lambda v: form(v, b))(a)
    if way == 3:
        with no_grad():
            return form(a, b)
    return jacobian(lambda v: form(v, b), a)
def added(form):
    forms.append(form)
makers = [%s]
forms = []
"""
"""What each program of calls begins with."""

LOOP = """
for k, f, i, j, way in picks.tolist():
    print("@", k)
    try:
        used(done(forms[f], makers[i](), makers[j](), way), True)
    except Exception as error:
        print("!", type(error).__name__, error)
"""

_LIMITS = Limits(10**6, 20.0, 64 * 2**20)
_OPTIONS = Options(limits=_LIMITS, compile="never", explain=False, seed=1)
_BATCH = 96  # callees in one program


class Callee(NamedTuple):
    """Something that a program can call: the ways to write it, with `a` and `b` as arguments, and
    the kinds of `a`, if not all.
    """

    name: str
    forms: tuple[str, ...]
    receivers: tuple[str, ...] = ()


class Call(NamedTuple):
    """A call: its form, the kinds of `a` and `b`, and the way in which it is made."""

    form: str
    a: str
    b: str
    way: str

    @property
    def program(self) -> str:
        """A program of this call alone."""
        text = f"a = {KINDS[self.a]}\nb = {KINDS[self.b]}\n{_body(self.form, '')}"
        if "Thing" in text:
            text = f"class Thing:\n    def __init__(self):\n        self.a = 1.0\n{text}"
        roots = {path.partition(".")[0] for path in paths()}
        return "".join(f"import {root}\n" for root in sorted(roots) if f"{root}." in text) + text


class Bug(NamedTuple):
    """A call that ended in an exception of Python's own, or ran into the limit of time."""

    call: Call
    error: str
    trace: str


# what there is to call ----------------------------------------------------------------------------


@cache
def callees() -> tuple[Callee, ...]:
    """All functions, classes, methods and operators."""
    return (*functions(), *operators(), *methods())


def functions() -> Iterator[Callee]:
    """Built-in functions, those of modules included, and the members of the library."""
    builtins = Builtins()
    for name in builtins.names():
        if builtins[name].constant:
            continue
        known = builtins[name]
        named = (*known.positional[1:], *known.keywords)
        forms = [f"{name}(a)", f"{name}(a, b)", f"{name}(*[a])", f"{name}(*[a, b])"]
        forms += [f"{name}(a, **{{'{key}': b}})" for key in named]
        yield Callee(name, (f"{name}()", *forms))
    for path in paths():
        yield Callee(
            path, (f"{path}()", f"{path}(a)", f"{path}(a, b)", f"{path}(*[a], **{{'a': b}})")
        )


def operators() -> Iterator[Callee]:
    """Operators, and the other places of the language where any value may stand."""
    for sign, operands in OPS:
        if "[]" not in sign:
            update = f"c = a\nc {sign if sign.endswith('=') else f'{sign}='} b\nreturn c"
            plain = f"a {sign} b" if operands == 2 else f"{sign}a"
            yield Callee(
                sign, (update,) if sign.endswith("=") and sign not in _COMPARED else (plain,)
            )
    for name, *forms in _PLACES:
        yield Callee(name, tuple(forms))


_COMPARED = ("==", "!=", "<=", ">=")
_PLACES = (
    ("an item", "a[b]", "a[b, b]", "a[b]\na[b] = 1.0\nreturn a", "a[1.0] = b", "a[None] = b"),
    ("a slice", "a[b:]", "a[:b]", "a[::b]", "a[b:] = 1.0", "a[:b] = [1.0]", "del a[b:]"),
    ("an item that goes", "del a[b]"),
    ("an attribute", "a.grad", "a.grad = b", "a.data = b", "a.a = b", "a.requires_grad = b", "del a.a"),
    ("a call", "a(b)", "a(*b)", "a(**b)"),
    ("a loop", "for c in a:\n    return c", "[c for c in a if b]", "{c: b for c in a}"),
    ("names", "c, d = a\nreturn c", "c, *d = a\nreturn d", "[*a, *b]", "{**a, **b}"),
    ("a test", "a in b", "a is b", "a and b", "not a", "a < b < a", "1.0 if a else b"),
    ("a text", "f'{a:.2f}'", "f'{a!r:>5}'", "f'{a:{b}}'", "'%d %s' % a", "'%.2f' % a", "str(a) + b"),
    ("an error", "raise a", "try:\n    raise ValueError(a)\nexcept b:\n    return 1.0", "assert a, b"),
    ("a context", "with a:\n    return b", "with a as c:\n    return c"),
    ("a class", "class C(a):\n    x = b\nreturn C()", "class C:\n    x = a\nreturn C().x"),
    ("a decorator", "@a\ndef f(x):\n    return x\nreturn f(b)"),
    ("a generator", "def g():\n    yield from a\nreturn list(g())"),
)  # fmt: skip
"""Places of the language, each with the forms of it."""


def methods() -> Iterator[Callee]:
    """Every member of every kind of value, objects of the library's classes included."""
    of_names: dict[tuple[str, ...], list[str]] = {}
    for kind, value in KINDS.items():
        of_names.setdefault(_names(value), []).append(kind)
    for names, kinds in of_names.items():
        yield from (_member(name, "a", "b", tuple(kinds)) for name in names)
    for value in (*RECEIVERS.values(), *_objects()):
        yield from (_member(name, f"({value})", "a, b", ()) for name in _names(value))


def _member(name: str, receiver: str, given: str, receivers: tuple[str, ...]) -> Callee:
    call = f"{receiver}.{name}"
    forms = (f"{call}()", f"{call}({given[0]})", f"{call}({given})", f"{call}(*[{given}])")
    if receivers:
        forms = (*forms, f"{call}(b, b)")
    return Callee(call, (*forms, call), receivers)


_LARGE = {"torch.nn.Transformer"}
"""Classes whose objects exceed the limits of memory, without arguments: 44 million parameters."""


@cache
def _objects() -> list[str]:
    """Expressions for an object of each class of the library that takes arguments of such kinds."""
    few = [value for kind, value in KINDS.items() if kind != "a huge int"][:11]  # limits end a run
    some = [*few, KINDS["a list of tensors"], KINDS["a function"]]
    given = ["", *some, *(f"{a}, {b}" for a in some for b in some)]
    classes = [path for path in paths() if _is_class(path) and path not in _LARGE]
    made = "".join(f"tried('{path}', lambda *a: {path}(*a))\n" for path in classes)
    printed: list[str] = []
    makers = ", ".join(f"lambda: [{arguments}]" for arguments in given)
    text = f"{_imports()}{_FIRST.replace('%s', makers)}{made}"
    patient = Limits(10**6, 600.0, 64 * 2**20)
    load_source(Source("p", text)).run(
        options=_OPTIONS.changed(echo=printed.append, limits=patient)
    )
    pairs = [line.split() for line in "".join(printed).splitlines() if line.startswith("@ ")]
    return [f"{path}({given[int(at)]})" for _, path, at in pairs]


def _is_class(path: str) -> bool:
    """True of a class of the library, and of what is not written in the language."""
    file, name = FILES.get(path), path.rpartition(".")[2]
    return file is None or f"\nclass {name}" in f"\n{(HOUSE / f'{file}.grad').read_text('utf-8')}"


_FIRST = """
makers = [%s]
def tried(path, form):
    for i, maker in enumerate(makers):
        try:
            if type(form(*maker())).__name__ == path.split('.')[-1]:
                print('@', path, i)
                return
        except Exception:
            pass
"""


@cache
def _names(value: str) -> tuple[str, ...]:
    """The members that a value has."""
    printed: list[str] = []
    head = _imports() + HEAD.partition("def used")[0]
    text = f"{head}for name in dir({value}):\n    print(name)"
    load_source(Source("p", text)).run(options=_OPTIONS.changed(echo=printed.append))
    return tuple(name for name in "".join(printed).split() if name.isidentifier())


@cache
def _imports() -> str:
    return "".join(
        f"import {root}\n" for root in sorted({path.partition(".")[0] for path in paths()})
    )


@cache
def paths() -> tuple[str, ...]:
    """The members of the library whose modules a program can import."""
    found = []
    for path in FILES:
        with suppress(ProgramError):
            load_source(Source("p", f"import {path.partition('.')[0]}\n{path}"))
            found.append(path)
    return tuple(found)


# calls --------------------------------------------------------------------------------------------


def draw(
    count: int, seed: int, among: Iterable[Callee] | None = None
) -> Iterator[tuple[Callee, list[Call]]]:
    """So many calls, drawn evenly among all that there is to call, or among some of it."""
    chance, found = random.Random(seed), [*(callees() if among is None else among)]
    each, more = divmod(count, len(found))
    chance.shuffle(found)
    kinds = [*KINDS]
    for at, callee in enumerate(found):
        calls = []
        for k in range(each + (at < more)):
            a = chance.choice(callee.receivers or kinds)
            way = chance.choice(WAYS) if chance.random() < 0.3 else "plain"
            if k % 2 == 0:  # a form is made once for two calls: it takes longer than the calls
                form = chance.choice(callee.forms)
            calls.append(Call(form, a, chance.choice(kinds), way))
        yield callee, calls


def bugs(calls: Iterable[tuple[Callee, list[Call]]]) -> Iterator[Bug]:
    """The bugs that these calls find. Sleeping takes no time meanwhile."""
    clock = modules.time
    modules.time = no_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a warning of Python's is a bug, too
            todo = iter(calls)
            while batch := [call for _, some in islice(todo, _BATCH) for call in some]:
                yield from _of_batch(batch)
    finally:
        modules.time = clock


def no_time() -> Any:
    """A clock for `sleep` by which nobody sleeps long."""
    ages = count(step=2**70)
    return SimpleNamespace(monotonic=lambda: next(ages), sleep=lambda seconds: None)


def _of_batch(calls: Sequence[Call]) -> Iterator[Bug]:
    """The bugs of calls in one program. After a bug or a limit it goes on behind that call."""
    kinds = [*KINDS]
    program, forms = _program([*dict.fromkeys(call.form for call in calls)])
    calls = [call for call in calls if call.form in forms]
    picks = [
        (k, forms.index(c.form), kinds.index(c.a), kinds.index(c.b), WAYS.index(c.way))
        for k, c in enumerate(calls)
    ]
    at = 0
    while at < len(picks):
        printed: list[str] = []
        try:
            program.run(
                {"picks": np.array(picks[at:])}, options=_OPTIONS.changed(echo=printed.append)
            )
            return
        except LimitError as error:
            at = _last(printed)
            if error.diagnostics[0].code == "time-limit":
                yield Bug(calls[at], str(error), "")
        except Exception as error:
            at = _last(printed)
            yield Bug(
                calls[at], repr(error), "".join(traceback.format_tb(error.__traceback__)[-2:])
            )
        at += 1


def _last(printed: Sequence[str]) -> int:
    """The number of the last call that began."""
    return next(int(text[2:]) for text in reversed(printed) if text.startswith("@ "))


def _program(forms: list[str]) -> tuple[Program, list[str]]:
    """A program that makes calls of these forms, and those that it has: the others are refused
    before a run. It is parsed and checked once, and lowered without them.
    """
    head = HEAD % ", ".join(f"lambda: {value}" for value in KINDS.values())
    head = f"input picks: int[n, 5]\n{_imports()}{head}"
    written = [*map(_written, forms)]
    ends = [*accumulate(map(len, written), initial=len(head))]
    source, builtins = Source("p", f"{head}{''.join(written)}{LOOP}"), Builtins()

    def form_at(span: Span) -> int:
        return bisect_right(ends, span.start) - 1

    try:
        module = parse(source)
    except ProgramError as error:
        unread = {form_at(found.span) for found in error.diagnostics}
        return _program([form for k, form in enumerate(forms) if k not in unread])
    found = check(module, source, builtins, frozenset())
    refused = {form_at(fault.span) for fault in found if fault.severity == "error"}
    kept = tuple(part for part in module.body if form_at(part.span) not in refused)
    module = ast.Module(module.span, kept)
    program = lower(module, analyse(module, builtins, frozenset()), source)
    return Program(source, program), [f for k, f in enumerate(forms) if k not in refused]


def _written(form: str) -> str:
    """A statement that adds a form to those of the program."""
    if _is_statement(form):
        return f"@added\ndef call(a, b):\n    {_body(form, '    ')}\n"
    return f"forms.append(lambda a, b: {form})\n"


def _body(form: str, indent: str) -> str:
    """A form as the statements of a function, or of a program."""
    text = form if _is_statement(form) else f"return {form}" if indent else form
    return text.replace("\n", f"\n{indent}") if indent else text.replace("return ", "")


def _is_statement(form: str) -> bool:
    """True if a form is no expression."""
    return "\n" in form or form.startswith(("del ", "raise ", "assert ")) or " = " in form


# programs -----------------------------------------------------------------------------------------


def asked(call: Call) -> Iterator[tuple[str, GradError | None]]:
    """What `check`, a run and a compiled run of a program of the call end in.

    Raises:
        Exception: Of Python's own if that is a bug.
    """
    source = Source("p", call.program)
    check_source(source, {})
    for compile in ("never", "always"):
        try:
            load_source(source).run(options=_OPTIONS.changed(compile=compile))
            yield compile, None
        except GradError as error:
            yield compile, error


def main() -> None:
    """Make the calls that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python tests sweep")
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started, found = time.process_time(), 0
    for bug in bugs(draw(options.calls, options.seed)):
        found += 1
        print(f"--- {bug.call}\n{bug.error}\n{bug.trace}")
    print(f"{found} bugs in {options.calls} calls, {time.process_time() - started:.0f} s")


if __name__ == "__main__":
    main()
